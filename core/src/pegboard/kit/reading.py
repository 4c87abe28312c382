"""A file as it is shown: its lines numbered below a header, what programs are told of it, and what was seen of it now.

Whatever shows files to a model stands on this, so that one file reads the same everywhere.
"""

from __future__ import annotations

import msgspec

from pegboard.kit.caps import Caps
from pegboard.kit.names import printable
from pegboard.kit.readlines import Window, read_window
from pegboard.kit.seen import Seen, SeenFiles, seen_in
from pegboard.kit.text import TITLES
from pegboard.kit.workspace import SESSION, Workspace

LAST_LINE = 2**53 - 1
"""No file has more lines; the largest number that every JSON reader takes exactly."""


class FileRead(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a file that was read: lines and characters of the whole file, and which lines were shown."""

    path: str
    lines: int
    chars: int
    first: int
    last: int
    encoding: str


class CutRead(FileRead, frozen=True, kw_only=True):
    """The caps let through less than was asked for."""

    @property
    def truncated(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A window of a file as text. `seen`: what the session has seen of the file now, if that is more than before."""

    text: str
    data: FileRead
    seen: Seen | None


def read_shown(workspace: Workspace, path: str, *, offset: int, limit: int, caps: Caps, seen: SeenFiles) -> Shown:
    """At most `limit` lines from `offset` (1-based, LAST_LINE at most) on, as far as the caps let through; limit 0: the
    header alone.

    Blocks. Nothing is noted as seen: that is for the caller, once the text is given out. Raises DoorError, BinaryFile.
    """
    now: Seen | None = None
    offset = min(offset, LAST_LINE)
    with workspace.open(path) as opened:
        window = read_window(opened, offset, limit, caps)
        if limit and not opened.at.startswith(SESSION):
            known = seen.get(opened.at)
            now = seen_in(opened, [window.shown], known)
            now = None if now == known else now
    stopped = window.cut or (window.more and window.last - window.first + 1 < limit)
    data = (CutRead if stopped else FileRead)(
        path=opened.at,
        lines=window.total_lines,
        chars=window.total_chars,
        first=window.first,
        last=window.last,
        encoding=window.encoding,
    )
    return Shown(text=numbered(opened.at, window, limit), data=data, seen=now)


def numbered(at: str, window: Window, limit: int) -> str:
    """The header, the lines as `N: text`, and how to go on."""
    header = f"# {printable(at)} - {window.total_lines} lines, {window.total_chars} chars"
    if window.encoding != "utf-8":
        header += f", {TITLES[window.encoding]}"
    if window.line_ends == "mixed":
        header += ", mixed line ends"
    if not limit:
        return header
    if window.lines and not window.whole:
        header += f" (showing {window.first}-{window.last})"
    rows = [header, *(f"{number}: {line}" for number, line in enumerate(window.lines, window.first))]
    if not window.lines and window.total_lines:
        rows.append(f"(there is no line {window.first}: the last one is {window.total_lines})")
    if window.cut:
        rows.append(f"... (line {window.first} is too long to be shown whole)")
    if window.more and window.lines:
        rows.append(f"... (more: offset={window.last + 1})")
    return "\n".join(rows)
