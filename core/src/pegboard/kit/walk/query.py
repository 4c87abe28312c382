"""What is asked of a search, and what it answers: plain data that reads as text for a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from pegboard.kit.caps import Caps

OutputMode: TypeAlias = Literal["content", "files", "count"]
Sort: TypeAlias = Literal["path", "mtime"]


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A search for lines. regex None: as `search.grep_default` says. max_hits None: `search.max_hits`.

    include: a glob for files: without a slash at any depth below `path`, with one from `path` on; `!` in front: all but
    those.
    """

    pattern: str
    path: str = "."
    include: str = ""
    regex: bool | None = None
    ignore_case: bool = False
    output_mode: OutputMode = "content"
    include_hidden: bool = False
    include_ignored: bool = False
    max_hits: int | None = None


class GlobQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A search for files by name, the pattern taken from `path` on. limit None: `search.max_hits`."""

    pattern: str
    path: str = "."
    limit: int | None = None
    sort: Sort = "path"
    include_hidden: bool = False
    include_ignored: bool = False


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A line that matches, from 1; `cut`: text is only a part of it, around the match.

    In mode files there is no line; in mode count `count` is the number of lines that match.
    """

    path: str
    line: int | None = None
    text: str = ""
    cut: bool = False
    count: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{one_line(self.path)}:{self.line}: {self.text}{' [cut]' if self.cut else ''}"
        return one_line(self.path) + (f": {self.count}" if self.count is not None else "")


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found. more: there is more than this. left_out: protected files in its range, which it says
    nothing of: as many for every pattern; 0 too when a search that was cut short did not find out.

    notes: what a reader must know: what could not be read, which engine stood in.
    """

    hits: list[Hit]
    engine: Literal["rg", "python"]
    pattern: str
    more: bool = False
    left_out: int = 0
    notes: list[str] = []

    def __str__(self) -> str:
        lines = [str(hit) for hit in self.hits] or [f'(no matches for "{one_line(self.pattern)}")']
        what = "hits" if any(hit.line is not None for hit in self.hits) else "files"
        how = f"... (more: showing the first {len(self.hits)} {what}; narrow pattern, path or include)"
        return "\n".join([*lines, *([how] if self.more else []), *_notes(self.notes, self.left_out)])

    def fitted(self, caps: Caps) -> Hits:
        """As many of the hits as fit into `caps`."""
        kept = fitting(self.hits, caps)
        return self if kept == len(self.hits) else msgspec.structs.replace(self, hits=self.hits[:kept], more=True)


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """The files found, relative to the root. more, left_out, notes: as in `Hits`."""

    paths: list[str]
    pattern: str
    more: bool = False
    left_out: int = 0
    notes: list[str] = []

    def __str__(self) -> str:
        lines = [one_line(path) for path in self.paths] or [f'(no matches for "{one_line(self.pattern)}")']
        how = f"... (more: showing the first {len(self.paths)} files; narrow the pattern or raise limit)"
        return "\n".join([*lines, *([how] if self.more else []), *_notes(self.notes, self.left_out)])

    def fitted(self, caps: Caps) -> Paths:
        """As many of the paths as fit into `caps`."""
        kept = fitting(self.paths, caps)
        return self if kept == len(self.paths) else msgspec.structs.replace(self, paths=self.paths[:kept], more=True)


RESERVE = 1000
"""Characters kept free for what stands below the hits."""


def fitting(items: Sequence[object], caps: Caps) -> int:
    """How many of the items, one a line, fit into the caps together with some notes."""
    chars = size = 0
    reserve = min(RESERVE, *(limit // 4 for limit in (caps.max_chars, caps.max_bytes) if limit), RESERVE)
    for number, item in enumerate(items):
        text = str(item)
        chars += len(text) + 1
        size += len(text.encode()) + 1
        if caps.exceeded(chars=chars + reserve, size=size + reserve, lines=number + 1 + 10):
            return number
    return len(items)


def one_line(text: str) -> str:
    """A name or pattern as it can stand within a line."""
    return text.replace("\n", "\\n").replace("\r", "\\r")


def _notes(notes: Sequence[str], left_out: int) -> list[str]:
    protected = f"{left_out} protected file{'s were' if left_out != 1 else ' was'} left out"
    return [f"({note})" for note in (*([protected] if left_out else []), *notes)]
