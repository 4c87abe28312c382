"""/diff and /export: what this session changed in files; the session itself as a file."""

from __future__ import annotations

import asyncio
import os

from pegboard.blocks import AnyBlock, Note
from pegboard.changed import changed
from pegboard.errors import ConfigError, DoorError
from pegboard.slash import Said, Slash


async def _diff(said: Said) -> list[AnyBlock]:
    folder = said.session.folder
    if folder is None:
        raise ConfigError("this session is in memory only: what it changed is not kept")
    log = list(said.session.read())
    found = await asyncio.to_thread(changed, folder, log, said.board.workspace)
    wanted = said.rest.strip().rstrip("/")
    diffs = [one for one in found.diffs if not wanted or _below(one.path, wanted) or _below(one.to or "", wanted)]
    if not diffs:
        where = f" at {wanted}" if wanted else ""
        return [Note(text=f"no change of this session stands{where}"), *(Note(text=note) for note in found.notes)]
    added, removed = sum(one.added for one in diffs), sum(one.removed for one in diffs)
    count = "1 file" if len(diffs) == 1 else f"{len(diffs)} files"
    return [Note(text=f"{count} changed, +{added} -{removed}"), *diffs, *(Note(text=note) for note in found.notes)]


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _export(said: Said) -> list[AnyBlock]:
    from pegboard.session.store import info_of

    from pegboard_cli.exporting import exported

    info = info_of(said.session.folder) if said.session.folder is not None else None
    if info is None:
        raise ConfigError("there is nothing of this session to export yet; nothing was written")
    name = said.rest.strip() or f"pegboard-{said.session.id}.md"
    format = "json" if name.endswith(".json") else "markdown"
    data = exported(info, list(said.session.read()), format, said.board.redactor)
    at = _write(said, name, data)
    return [Note(text=f"wrote {at} ({len(data):,} bytes, for you alone), with what looks like a credential taken out")]


def _write(said: Said, name: str, data: bytes) -> str:
    """Write a new file where the workspace's rules let files be written; returns its place.

    Raises:
        ConfigError, DoorError: it is not; nothing was written.
    """
    from pegboard.kit.target import target_of

    from pegboard_cli.exported import new_file

    with target_of(said.board.workspace, os.path.expanduser(name)) as target:
        deny = said.policy.door("edit", target.at)
        if deny is not None:
            raise DoorError(f"{deny.rule} denies {target.at}. Nothing was written.", reason="protected", path=target.at)
        with target.folders():
            new_file(target.name, data, target.folder, shown=target.at)
        return target.at


def _seen(said: Said) -> list[str]:
    """Files that the session was shown, those that it changed among them."""
    return sorted(said.session.fold.seen)


diff = Slash(
    usage="/diff [PATH]",
    help="what this session has changed in files, as it stands now",
    run=_diff,
    complete=_seen,
)
export = Slash(
    usage="/export [FILE]",
    help="write this session into a new file: Markdown, or its events where FILE ends with .json",
    run=_export,
)
