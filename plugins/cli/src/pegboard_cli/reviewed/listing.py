"""`pegboard plugin list`: the installed plugins, with how each stands to the lock."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import msgspec
import typer
from pegboard.terminal import visible

from pegboard_cli.installing import CannotInstall
from pegboard_cli.plugin_lines import for_people, state
from pegboard_cli.plugin_list import Installed, PluginRow
from pegboard_cli.render import table_lines
from pegboard_cli.reviewed import lock
from pegboard_cli.styles import Styles, columns, takes_colour
from pegboard_cli.widths import shortened


class LockedRow(PluginRow, frozen=True, kw_only=True):
    """A row of `pegboard plugins`. `lock`: ours, as reviewed, changed, other version, editable, not reviewed; None: the lock
    cannot be read, or it is a file of a project. `reviewed`: the version in the lock."""

    lock: str | None
    reviewed: str | None


class LockedList(msgspec.Struct, frozen=True, kw_only=True):
    """As `PluginList`. `gone`: packages in the lock that are not installed."""

    python: str
    api: int
    plugins: list[LockedRow]
    gone: list[str]


def show(path: str | None, *, json: bool) -> int:
    """The exit code, which is 0."""
    from pegboard_cli.options import print_json

    installed = Installed(path)
    listed = installed.rows()
    try:
        kept: lock.Lock | None = lock.read()
    except CannotInstall as error:
        kept = None
        typer.echo(f"note: {visible(str(error))}", err=True)
    states = {row.distribution: lock.state(row)[0] for row in kept.plugins} if kept else {}
    rows = [_locked(row, kept, states) for row in listed.plugins]
    gone = sorted(name for name, how in states.items() if how == "gone")
    if json:
        print_json(LockedList(python=listed.python, api=listed.api, plugins=rows, gone=gone))
        return 0
    quiet = for_people(listed)[0]
    shown = [row for row, plain in zip(rows, listed.plugins, strict=True) if plain in quiet]
    sys.stdout.write("".join(f"{line}\n" for line in _lines(shown, gone)))
    return 0


def _locked(row: PluginRow, kept: lock.Lock | None, states: dict[str, lock.State]) -> LockedRow:
    entry = kept.row(row.distribution) if kept else None
    how = "ours" if row.own else None if kept is None else states.get(row.distribution, "not reviewed")
    if row.group == "project":
        how = None
    return LockedRow(**msgspec.structs.asdict(row), lock=how, reviewed=entry.version if entry else None)


def _lines(rows: list[LockedRow], gone: list[str]) -> Iterator[str]:
    styles, width = Styles(takes_colour(sys.stdout)), columns(sys.stdout)
    table = [[row.name, row.kind, state(row), f"{row.distribution} {row.version}", row.lock or ""] for row in rows]
    lines = table_lines([["plugin", "kind", "state", "from", "lock"], *table], width=width)
    yield styles.bold("Plugins")
    yield ""
    yield from (shortened(line, width) if width is not None else line for line in lines)
    for name in gone:
        yield styles.warn(visible(f"{name} is in the lock, and is not installed"))
