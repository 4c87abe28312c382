"""What `pegboard doctor` says of strangers' plugins: whether they are what was reviewed, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pegboard.plugins.claims import is_stranger

if TYPE_CHECKING:
    from pegboard.entries import Entry

    from pegboard_cli.plugin_list import Installed

Row = tuple[str, bool, str, str | None]
"""Id of the check, whether all is well, what was seen, and what to do where it is not well."""


def reviewed(installed: Installed) -> Iterator[Row]:
    """Everything there is to say."""
    yield from _lock(installed)
    yield from _manifests(installed)


def _lock(installed: Installed) -> Iterator[Row]:
    """Whether what was installed after a review is still that."""
    from pegboard_cli.reviewed import lock

    fixes = {
        "changed": "`pegboard plugin install {source}` looks at it and installs it anew; if you do not know who changed it, "
        "`pegboard plugin uninstall {name}`",
        "other version": "`pegboard plugin install {name}=={version}` shows what is new in it, and asks",
        "gone": "`pegboard plugin uninstall {name}` takes it out of the lock",
    }
    rows = lock.read().plugins
    for row in rows:
        how, text = lock.state(row)
        there = next((e.version for e in installed.entries if e.distribution == row.distribution), row.version)
        fix = fixes.get(how, "").format(source=row.source, name=row.distribution, version=there)
        yield "lock", not fix, text, fix or None
    known = {row.distribution for row in rows}
    for name in sorted({e.distribution for e in installed.entries if is_stranger(e)} - known):
        text = f"{name} was installed without a review; `pegboard plugin install {name}` shows what it declares"
        yield "lock", True, text, None


def _manifests(installed: Installed) -> Iterator[Row]:
    """What strangers' plugins say of themselves and is not believed."""
    from pegboard import manifest

    for entry in (entry for entry in installed.entries if is_stranger(entry)):
        said = manifest.read(entry)
        why = manifest.stale(said, entry) if said else manifest.unreadable(entry)
        if why is not None:
            text = f"what {entry.distribution} says of {entry.name!r} in its pegboard.json is passed over: {why}"
            yield "manifest", True, text, None
        elif said is not None and entry.group == "pegboard.toolsets":
            yield from _lie(installed, entry)


def _lie(installed: Installed, entry: Entry) -> Iterator[Row]:
    """Whether what a plugin says of its tools is what they are, seen in a child process."""
    from pegboard.believing import belied

    from pegboard_cli.reviewed.look import look

    seen = look(entry, dict(installed.loaded.config.tables.get(entry.name, {}))).said
    lie = belied(entry, seen.tools) if seen is not None else None
    if lie is not None:
        text = f"what {entry.distribution} says of {entry.name!r} in its pegboard.json is not true: {lie}"
        fix = f"tell its author, or `pegboard plugin uninstall {entry.distribution}`"
        yield "manifest", False, text, fix
