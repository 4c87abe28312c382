"""What the scripts that write references share: rows and values as Markdown, and a page that is written or checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec


def header(*names: str) -> list[str]:
    """The first two lines of a table."""
    return [" ".join(["|", *(f"{name} |".lstrip() for name in names)]), "|" + "---|" * len(names)]


def row(*cells: str) -> str:
    """A row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def value(given: Any) -> str:
    """A value as it would be written in a file, or in a call."""
    return f"`{msgspec.json.encode(given).decode()}`"


def settle(page: Path, wanted: str, *, named: str, source: str, check: bool) -> bool:
    """Write a page that is not as it should be; `check` only says so. False: a check found it wrong."""
    if page.read_text("utf-8") == wanted:
        return True
    if check:
        print(f"{named} is not what the {source} say; `make docs` writes it")
        return False
    page.write_text(wanted, "utf-8")
    print(f"{named} written")
    return True
