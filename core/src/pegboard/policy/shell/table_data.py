"""The tables of commands, read once from the TOML files beside this module when a command is judged.

What the keys mean stands at the top of each file. `Options` is one program's row in either table.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec


class Risks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `risky.toml`: with which options a program runs another, loads code or writes a named file."""

    style: str = "getopt"
    same: list[str] = []
    runs: list[str] = []
    loads: list[str] = []
    writes: list[str] = []
    values: str = ""
    exact: list[str] = []
    prefixes: list[str] = []
    fine: dict[str, str] = {}
    until: str = ""
    stop: str = ""
    operand: str = ""
    why: str = ""
    unless: list[str] = []
    always: str = ""
    bare: bool = False

    @property
    def options(self) -> dict[str, str]:
        """Each risky option, and what it does."""
        return {
            **dict.fromkeys(self.runs, "runs another program"),
            **dict.fromkeys(self.loads, "loads code or settings named on the line"),
            **dict.fromkeys(self.writes, "writes or deletes files named on the line"),
        }


class Reads(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `reads.toml`: with which options and operands a program only reads."""

    style: str = "getopt"
    same: list[str] = []
    options: list[str] | str = []
    operands: str = "path"
    first: str = ""
    first_is: str = ""
    pattern: list[str] = []
    most: int | None = None
    operand: str = ""
    listing: list[str] = []
    needs: list[str] = []
    names: bool = False
    recursive: list[str] | str = []
    follows: list[str] | str = []
    only: list[str] = []
    hidden: list[str] = []
    numbers: bool = False
    starts: list[str] = []
    tests: list[str] = []
    valued: list[str] = []
    paths: list[str] = []
    globals: list[str] = []
    folder: list[str] = []
    config: list[str] = []

    @property
    def kinds(self) -> dict[str, str]:
        """Each option that is allowed, and what its value is: `flag` (none), `maybe` (only joined), `text`, `path`."""
        found: dict[str, str] = {}
        for written in self.options if isinstance(self.options, list) else ():
            name, has_value, kind = written.partition("=")
            found[name.rstrip("?")] = kind if has_value else "maybe" if name.endswith("?") else "flag"
        return found


class Secrets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not read unasked: the table `[secrets]` of `reads.toml`."""

    names: list[str]
    shared: list[str]
    passed: list[str]
    most: int


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`names.toml`: how many words name a command, and for which none is offered."""

    words: dict[str, int]
    runners: dict[str, list[str]]
    between: dict[str, list[str]]
    scripts: list[str]
    anything: frozenset[str]
    writers: frozenset[str]


def _table(name: str) -> dict[str, Any]:
    import tomllib
    from importlib.resources import files

    return tomllib.loads((files(__package__) / "data" / f"{name}.toml").read_text("utf-8"))


@cache
def risks() -> dict[str, Risks]:
    """`risky.toml`, by program or by program and subcommand."""
    rows = msgspec.convert(_table("risky"), dict[str, Risks])
    return rows | {name: row for row in rows.values() for name in row.same if name not in rows}


@cache
def reads() -> dict[str, Reads]:
    """`reads.toml`, by program or by program and subcommand."""
    table = _table("reads")
    rows = msgspec.convert(
        {name: row for name, row in table.items() if name not in ("versions", "secrets")}, dict[str, Reads]
    )
    return rows | {name: row for row in rows.values() for name in row.same if name not in rows}


@cache
def versions() -> dict[str, frozenset[str]]:
    """Which programs tell their version when an option is their only argument, by option."""
    return msgspec.convert(_table("reads")["versions"], dict[str, frozenset[str]])


@cache
def secrets() -> Secrets:
    """Names of files and folders that hold secrets."""
    return msgspec.convert(_table("reads")["secrets"], Secrets)


@cache
def names() -> Names:
    """`names.toml`."""
    table = _table("names")
    for key in ("scripts", "anything", "writers"):
        table[key] = table[key]["names"]
    return msgspec.convert(table, Names)
