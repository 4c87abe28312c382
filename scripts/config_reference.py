"""Write the tables of docs/configuration.md from the settings themselves: `config_reference.py [--check]`.

What stands between the two marks of the page is replaced; the rest is written by hand. `--check` writes nothing, and exits
with 1 when the page is not what it would be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pegboard.config.published import Key, listed, tables
from reference_pages import header, row, settle, value

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
BEGIN, END = "<!-- keys: begin (make docs writes these) -->\n", "<!-- keys: end -->\n"
FIRST = "Before any table"


def reference() -> str:
    """The tables of every key, as Markdown."""
    return "\n".join(line for table, about, keys in (*tables(), *listed()) for line in section(table, about, keys))


def section(table: str, about: str, keys: list[Key]) -> Iterator[str]:
    """One table of settings: a heading, and a row a key."""
    yield f"### {f'`[{table}]`' if table else FIRST}\n"
    yield f"{about}\n" if about else "These stand at the top of the file, before the first `[table]`.\n"
    yield from header("key", "takes", "default", "what it does", "a project may")
    for key in keys:
        name = key.name.removeprefix(f"{table}.") if table else key.name
        effect = f" **{key.effect[:1].upper()}{key.effect[1:]}.**" if key.effect else ""
        said = "set it " + key.project if key.project in ("to true", "to false", "to less") else key.project
        default = "" if key.default is None else value(key.default)
        yield row(f"`{name}`", key.wanted, default, key.description + effect, said or "")
    yield ""


def page(text: str) -> str:
    """The page with its tables as they should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    wanted = page(PAGE.read_text("utf-8"))
    return int(not settle(PAGE, wanted, named=PAGE.name, source="settings", check="--check" in arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
