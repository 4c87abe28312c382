"""Write the tables of docs/configuration.md from the settings themselves: `config_reference.py [--check]`.

What stands between the two marks of the page is replaced; the rest is written by hand. `--check` writes nothing, and exits
with 1 when the page is not what it would be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from pegboard.config.published import Key, tables

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
BEGIN, END = "<!-- keys: begin (make docs writes these) -->\n", "<!-- keys: end -->\n"
FIRST = "Before any table"


def reference() -> str:
    """The tables of every key, as Markdown."""
    return "\n".join(line for table, about, keys in tables() for line in section(table, about, keys))


def section(table: str, about: str, keys: list[Key]) -> Iterator[str]:
    """One table of settings: a heading, and a row a key."""
    yield f"### {f'`[{table}]`' if table else FIRST}\n"
    yield f"{about}\n" if about else "These stand at the top of the file, before the first `[table]`.\n"
    yield "| key | takes | default | what it does | a project may |"
    yield "|---|---|---|---|---|"
    for key in keys:
        name = key.name.removeprefix(f"{table}.") if table else key.name
        effect = f" **{key.effect[:1].upper()}{key.effect[1:]}.**" if key.effect else ""
        said = "set it " + key.project if key.project in ("to true", "to false", "to less") else key.project
        cells = [f"`{name}`", key.wanted, default(key), key.description + effect, said or ""]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def default(key: Key) -> str:
    """The default as it would be written in the file."""
    return "" if key.default is None else f"`{msgspec.json.encode(key.default).decode()}`"


def page(text: str) -> str:
    """The page with its tables as they should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    text = PAGE.read_text("utf-8")
    wanted = page(text)
    if text == wanted:
        return 0
    if "--check" in arguments:
        print(f"{PAGE.name} is not what the settings say; `make docs` writes it")
        return 1
    PAGE.write_text(wanted, "utf-8")
    print(f"{PAGE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
