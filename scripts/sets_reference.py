"""Write the reference of each tool set into its page from the tools themselves: `sets_reference.py [--check]`.

A page of docs/sets ends with `<!-- reference: SET ... -->`, the sets it is about; what stands below that line is replaced.
`--check` writes nothing, and exits with 1 when a page is not what it would be.
"""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
from pegboard.board import Board
from pegboard.config.published import keys_of
from pegboard.tooling import Tool
from reference_pages import header, row, settle, value

PAGES = Path(__file__).resolve().parents[1] / "docs" / "sets"
MARK = re.compile(r"^<!-- reference: ([a-z ,-]+?) -->\n", re.MULTILINE)
EFFECTS = {
    "read_only": "reads only",
    "side_effecting": "changes something",
    "user_mediated": "asks you",
    "delegating": "hands work to an agent",
}


def board() -> Board:
    """Every installed set, under the settings that Pegboard is shipped with."""
    empty = Path(tempfile.mkdtemp())
    return Board.build(str(empty), user_file=empty / "none.toml", environ={}, state=empty / "state")


def reference(loaded: Board, name: str) -> Iterator[str]:
    """The reference of one set."""
    tools = loaded.registry.expand([name])
    if not tools:
        raise SystemExit(f"there is no set {name!r} with tools; is it installed? `make setup` installs all")
    yield f"## Reference: `{name}`\n"
    yield "Generated from the tools by `make docs`.\n"
    for tool in tools:
        yield from tool_lines(tool)
    plugin = next(plugin for plugin in loaded.assembled.plugged.plugins if plugin.entry.name == name)
    if isinstance(plugin.settings, msgspec.Struct):
        yield f"### Settings: `[{name}]`\n"
        yield from header("key", "takes", "default", "what it does")
        for key in keys_of(name, type(plugin.settings)):
            set_to = "" if key.default is None else value(key.default)
            yield row(f"`{key.name.removeprefix(name + '.')}`", key.wanted, set_to, key.description)
        yield ""


def tool_lines(tool: Tool) -> Iterator[str]:
    """One tool: what the model is told, its parameters, and what else there is to know."""
    yield f"### `{tool.name}`\n"
    yield f"{tool.description}\n"
    required = tool.parameters.get("required", ())
    if tool.parameters["properties"]:
        yield from header("parameter", "takes", "default", "")
        for name, part in tool.parameters["properties"].items():
            given = "required" if name in required else default(tool, name, part)
            yield row(f"`{name}`", takes(part), given, part.get("description", ""))
        yield ""
    aliases = [alias if isinstance(alias, str) else alias[0] for alias in tool.declaration.aliases]
    notes = [f"It {EFFECTS[tool.effect]}" + ("." if tool.declaration.touches is None else ", at most.")]
    if aliases:
        notes.append(f"Also called {', '.join(f'`{alias}`' for alias in aliases)}.")
    notes.append(f"{tool.wire_size()} bytes of each request.")
    yield " ".join(notes) + "\n"


def default(tool: Tool, name: str, part: dict[str, Any]) -> str:
    """What a parameter is where a call leaves it out. A schema does not say `false`, which each request would pay for;
    where it depends on a setting, `extra={"default": ...}` of the parameter's Meta tells it."""
    if "default" in part:
        return value(part["default"])
    parameter = inspect.signature(tool.function).parameters[name]
    if parameter.default is False:
        return value(False)
    hint = get_type_hints(tool.function, include_extras=True)[name]
    told = (one.extra.get("default") for one in get_args(hint) if isinstance(one, msgspec.Meta) and one.extra)
    return next((str(text) for text in told if text is not None), "")


def takes(part: dict[str, Any]) -> str:
    """A parameter's type in words."""
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "anyOf" in part:
        return " or ".join(takes(option) for option in part["anyOf"])
    kind = str(part.get("type", "anything"))
    match kind:
        case "array":
            return f"list of {takes(part.get('items', {}))}"
        case "object" if "properties" in part:
            return "object with " + ", ".join(f"`{name}`" for name in part["properties"])
        case "integer":
            low, high = part.get("minimum"), part.get("maximum")
            bounds = [f"from {low}" if low is not None else "", f"to {high}" if high is not None else ""]
            return " ".join(["integer", *(bound for bound in bounds if bound)])
    return kind


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    loaded, right = board(), True
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text("utf-8")
        mark = MARK.search(text)
        if mark is None:
            continue
        names = re.split(r"[ ,]+", mark[1])
        made = "\n".join(line for name in names for line in reference(loaded, name)).rstrip("\n")
        wanted = f"{text[: mark.end()]}\n{made}\n"
        named = f"docs/sets/{page.name}"
        right &= settle(page, wanted, named=named, source="tools", check="--check" in arguments)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
