"""`read_file`: a window of a text file, through the workspace's door."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from pegboard import Context, Reads, Result, ToolError, tool
from pegboard.errors import DoorError
from pegboard.kit.aside import PATH_ALIASES, apart
from pegboard.kit.handles import BLOCK
from pegboard.kit.readlines import Window, read_window
from pegboard.kit.seen import Seen, seen_in
from pegboard.kit.text import TITLES
from pegboard.kit.workspace import SESSION


class FileRead(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of `read_file`: lines and characters of the whole file, and which lines were shown."""

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


@tool(
    replay="safe",
    overlap="parallel",
    aliases=["file_read", "read", "view", "read_file_range"],
    param_aliases={**PATH_ALIASES, "start_line": "offset", "max_lines": "limit"},
    category="read",
    short="read a file",
    pages=True,
    examples=[
        "take a look at {path}",
        "view the file {path}",
        "the first {limit} lines of {path}",
        "open {path}",
        "print {path}",
        "cat {path}",
        "read the file {path}",
        "what is in {path}",
        "what is in the file {path}",
        "display the content of {path}",
        "let me see {path}",
        "read {limit} lines of {path} from line {offset}",
    ],
)
async def read_file(
    path: Annotated[str, Reads("File, relative to the workspace root")],
    ctx: Context,
    offset: Annotated[int, msgspec.Meta(description="First line, from 1", ge=1)] = 1,
    limit: Annotated[int, msgspec.Meta(description="Most lines; 0: only the counts", ge=0)] = 2000,
) -> Result:
    """Read a text file: its lines, numbered as `N: text`, below a header with the counts of the whole file."""
    try:
        info = ctx.workspace.stat(path)
        small = info is None or info.st_size <= BLOCK
        work = partial(_read, ctx, path, offset, limit)
        result, seen = work() if small else await apart(work)
        if seen is not None:
            ctx.seen.put(seen)
        return result
    except DoorError as error:
        if error.reason != "folder":
            raise
    listing = await ctx.call("list_dir", path=path)
    if listing.outcome == "ok":
        return Result(text=listing.text, data=listing.data)
    raise ToolError(f"{path} is a folder, not a file. See what is in it with glob: pattern=*, path={path}")


def _read(ctx: Context, path: str, offset: int, limit: int) -> tuple[Result, Seen | None]:
    """The result, and what the session has seen of the file now, if that is more than before."""
    seen: Seen | None = None
    with ctx.workspace.open(path) as opened:
        window = read_window(opened, offset, limit, ctx.output.caps)
        if limit and not opened.at.startswith(SESSION):
            known = ctx.seen.get(opened.at)
            seen = seen_in(opened, [window.shown], known)
            seen = None if seen == known else seen
    stopped = window.cut or (window.more and window.last - window.first + 1 < limit)
    data = (CutRead if stopped else FileRead)(
        path=opened.at,
        lines=window.total_lines,
        chars=window.total_chars,
        first=window.first,
        last=window.last,
        encoding=window.encoding,
    )
    return Result(text=_numbered(opened.at, window, limit), data=data), seen


def _numbered(at: str, window: Window, limit: int) -> str:
    """The header, the lines, and how to go on."""
    header = f"# {at} - {window.total_lines} lines, {window.total_chars} chars"
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
