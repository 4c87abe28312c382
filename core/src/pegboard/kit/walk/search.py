"""grep and glob: two engines behind one interface, with the same answers."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from pegboard.errors import DoorError, ToolError
from pegboard.kit import process
from pegboard.kit.caps import Caps
from pegboard.kit.names import shown
from pegboard.kit.refusals import escape_error
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import dialect
from pegboard.kit.walk.engine import Record, Run
from pegboard.kit.walk.gate import Gate
from pegboard.kit.walk.job import Job
from pegboard.kit.walk.paths import PathGlob
from pegboard.kit.walk.place import Ground, ground, narrowed
from pegboard.kit.walk.query import GlobQuery, Hits, Paths, Query, one_line
from pegboard.kit.walk.running import TooSlow
from pegboard.kit.walk.seeking import Seeking
from pegboard.kit.walk.texts import texts
from pegboard.kit.workspace import Workspace

Told: TypeAlias = Callable[[str], None]
"""Takes what was found so far as it comes: a line with a path, or `path:line`."""
_NEVER = ".git and node_modules are never searched"


async def grep(
    workspace: Workspace,
    query: Query,
    settings: SearchSettings,
    *,
    run: Run = process.run,
    caps: Caps | None = None,
    told: Told | None = None,
) -> Hits:
    """The lines that match, by path and line, at most `max_hits`, in the form `output_mode` names.

    `caps`: the limits of the text. `told`: given the places of hits as they are found. Raises ToolError for a pattern
    that is empty, invalid or spans lines, and DoorError for a path that is not there or that the door does not let
    through; ConfigError when rg must be there and is not.
    """
    regex = settings.grep_default == "regex" if query.regex is None else query.regex
    try:
        dialect.check(query.pattern, regex=regex)
    except dialect.BadPattern as error:
        raise ToolError(str(error)) from None
    limit = settings.max_hits if query.max_hits is None else query.max_hits
    place = ground(workspace, query.path, "read", require_git=settings.require_git)
    only = _include(query, place)
    nothing = Hits(hits=[], engine="python" if settings.engine == "python" else "rg", pattern=query.pattern)
    if place.never:
        return msgspec.structs.replace(nothing, notes=[_NEVER])
    inner = narrowed(place, only, ignored=query.include_ignored)
    if inner is None:
        return msgspec.structs.replace(nothing, notes=_no_start(only))
    job = _job(workspace.root, inner, only, settings, query)._replace(
        mode=query.output_mode,
        pattern=dialect.plain_anchors(query.pattern) if regex else query.pattern,
        regex=regex,
        ignore_case=query.ignore_case,
        crlf=not dialect.names_cr(query.pattern, regex=regex),
    )
    gate = _gate(workspace, inner, only, query)
    seeking = Seeking(inner, job, gate, run, workspace.root, _telling(told, job, inner.prefix))
    while True:
        try:
            answer = await seeking.answer(settings, limit)
        except TooSlow as slow:
            if await asyncio.to_thread(_is_protected, workspace, inner, slow.path) and gate.bar([slow.path]):
                continue
            raise
        found = await asyncio.to_thread(
            texts, workspace, inner.prefix, query.output_mode, answer.records, settings.max_line_chars
        )
        # Second names of protected files are seen by the door alone; their hits must not take the place of others.
        if not (gate.bar(found.protected) and answer.more):
            break
    answer.nuls = [path for path in answer.nuls if path not in found.protected]
    answer.trouble = [(path, why) for path, why in answer.trouble if not gate.refuses(path)]
    hits = Hits(
        hits=found.hits,
        engine=seeking.engine,
        pattern=query.pattern,
        more=answer.more,
        left_out=seeking.left_out,
        notes=seeking.told(answer) + _door_notes(found.refused, found.changed),
    )
    return hits.fitted(caps) if caps else hits


async def glob(
    workspace: Workspace,
    query: GlobQuery,
    settings: SearchSettings,
    *,
    run: Run = process.run,
    caps: Caps | None = None,
    told: Told | None = None,
) -> Paths:
    """The files whose path matches, at most `limit`, by path or the newest first; each is `told` as it is found.

    A pattern that is exactly an existing name is taken as that name. Raises as `grep` does; a pattern that leaves the
    root is a DoorError (escapes).
    """
    if not query.pattern or "\0" in query.pattern:
        raise ToolError("The pattern is empty or holds a NUL. Nothing was searched; use ** for all files.")
    limit = settings.max_hits if query.limit is None else query.limit
    pattern, path = _below_root(workspace, query)
    place = ground(workspace, path, "list", require_git=settings.require_git)
    if place.named:
        raise DoorError(
            f"{shown(path)} is a file, not a folder. Search in the folder it is in.", reason="missing", path=path
        )
    only = PathGlob(pattern, below=os.fsdecode(place.start), hidden=query.include_hidden)
    paths = Paths(paths=[], pattern=query.pattern)
    if place.never:
        return msgspec.structs.replace(paths, notes=[_NEVER])
    exact = _exact(workspace, place, pattern)
    if isinstance(exact, Paths):
        return exact
    inner = narrowed(place, only, ignored=query.include_ignored)
    if inner is None:
        return msgspec.structs.replace(paths, notes=_no_start(only) + exact)
    gate = _gate(workspace, inner, only, query)
    job = _job(workspace.root, inner, only, settings, query)
    seeking = Seeking(inner, job, gate, run, workspace.root, _telling(told, job, inner.prefix))
    answer = await seeking.answer(settings, None if query.sort == "mtime" else limit)
    records = answer.records
    if query.sort == "mtime":
        records = await asyncio.to_thread(_newest_first, inner.top, records)
    names = [inner.prefix + shown(os.fsdecode(record.path)) for record in records[:limit]]
    more = answer.more or len(records) > limit
    paths = Paths(
        paths=names, pattern=query.pattern, more=more, left_out=len(gate.protected), notes=seeking.told(answer) + exact
    )
    return paths.fitted(caps) if caps else paths


def _telling(told: Told | None, job: Job, prefix: str) -> Callable[[Record], None] | None:
    """Records as lines for whoever watches; texts are not among them.

    That the pattern is in a file is told only where the file has one name, and so was judged by it: of further names
    of protected files the door knows when the search is over."""
    if told is None:
        return None

    def tell(record: Record) -> None:
        if job.mode == "list" or (not job.links and _has_one_name(os.path.join(job.top, record.path))):
            line = f":{record.line}\n" if job.mode == "content" else "\n"
            told(one_line(prefix + shown(os.fsdecode(record.path))) + line)

    return tell


def _has_one_name(path: bytes) -> bool:
    try:
        info = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(info.st_mode) and info.st_nlink == 1


def _include(query: Query, place: Ground) -> PathGlob | None:
    if query.include in ("", "*", "**", "**/*") or place.named:
        return None
    return PathGlob(query.include, below=os.fsdecode(place.start), hidden=query.include_hidden, anywhere=True)


def _job(root: str, place: Ground, only: PathGlob | None, settings: SearchSettings, query: Query | GlobQuery) -> Job:
    scope = place.scope
    return Job(
        mode="list",
        top=place.top,
        before=b"./" if place.top == os.fsencode(root) else os.path.join(place.top, b""),
        start=place.start,
        named=place.named,
        only=only.regex.encode("utf-8", "surrogatepass") if only else b"",
        names=tuple(only.file_names) if only else (),
        hidden=query.include_hidden or (only is not None and only.names_hidden),
        ignored=query.include_ignored,
        links=settings.follow_links,
        require_git=settings.require_git,
        git=scope is None or scope.git,
        outer=b"".join(scope.lines()) if scope else b"",
    )


def _gate(workspace: Workspace, place: Ground, only: PathGlob | None, query: Query | GlobQuery) -> Gate:
    scope = None if query.include_ignored else place.scope
    hidden = query.include_hidden or (only is not None and not only.negated)
    return Gate(workspace, place, scope, only, hidden=hidden)


def _is_protected(workspace: Workspace, place: Ground, path: bytes) -> bool:
    """Whether the door refuses the file, by whichever of its names. Blocks; call it in a thread."""
    try:
        with workspace.open(place.prefix + os.fsdecode(path)):
            return False
    except DoorError as error:
        return error.reason == "protected"


def _no_start(only: PathGlob | None) -> list[str]:
    folder = "/".join(only.start) if only else ""
    return [f"{shown(folder)} is not there, or is ignored, a link or never searched"]


def _door_notes(refused: Sequence[DoorError], changed: Sequence[str]) -> list[str]:
    notes = [f"not shown: {error}" for error in refused if error.reason not in ("escapes", "missing")]
    names = list(dict.fromkeys(changed))
    return notes[:5] + [f"{name} changed while it was searched" for name in names[:5]]


def _below_root(workspace: Workspace, query: GlobQuery) -> tuple[str, str]:
    """The pattern and the path to take it from: an absolute pattern is taken from the root."""
    if not query.pattern.startswith("/"):
        return query.pattern, query.path
    root = workspace.root.rstrip("/") + "/"
    if not query.pattern.startswith(root):
        raise escape_error(query.pattern)
    return query.pattern.removeprefix(root) or "**", "."


def _exact(workspace: Workspace, place: Ground, pattern: str) -> Paths | list[str]:
    """The file that the pattern names letter for letter; else notes about what it names instead."""
    folder = place.prefix + shown(os.fsdecode(place.start))
    try:
        with workspace.find(os.path.join(folder, pattern)) as found:
            at, mode = found.at, found.info.st_mode
    except DoorError:
        return []
    if stat.S_ISDIR(mode) and not pattern.endswith("/"):
        return [f"{at} is a folder; {at}/** names what is in it"]
    if not stat.S_ISREG(mode) or not {".git", "node_modules"}.isdisjoint(at.split("/")):
        return []
    refused = workspace.refusal("read", at) is not None
    return Paths(paths=[] if refused else [at], pattern=pattern, left_out=int(refused))


def _newest_first(top: bytes, records: Sequence[Record]) -> list[Record]:
    def age(record: Record) -> int:
        try:
            return -os.stat(os.path.join(top, record.path)).st_mtime_ns
        except OSError:
            return 0

    return sorted(records, key=age)  # stable: equal times stay in the order of paths
