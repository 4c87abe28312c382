"""A tool that counts lines by kind of file, and how its result is drawn everywhere but in the app."""

from typing import Annotated

import msgspec
from pegboard import Reads, SyncContext, ToolError, hookimpl, tool
from pegboard.blocks import AnyBlock, Custom, Table
from pegboard.errors import DoorError

MOST_FILES = 5_000
MOST_BYTES = 1024 * 1024  # of one file


class Share(msgspec.Struct):
    """The files of one ending."""

    kind: str
    files: int
    lines: int


class Lines(msgspec.Struct):
    """Lines below a folder, most first. left_out: files too large, unreadable or beyond the first thousands."""

    path: str
    shares: list[Share]
    left_out: int = 0

    def __str__(self) -> str:
        rows = [f"{share.kind} {share.lines} lines in {share.files} files" for share in self.shares]
        more = [f"({self.left_out} files were left out)"] if self.left_out else []
        return "\n".join([*rows, *more]) or f"There are no files in {self.path}."


@tool(category="search", verb="Count", short="count lines by kind of file", examples=["count the lines in {path}"])
def code_lines(ctx: SyncContext, path: Annotated[str, Reads("Folder, relative to the workspace root")] = ".") -> Lines:
    """Count lines of text below a folder, by the ending of the files."""
    shares: dict[str, Share] = {}
    waiting, seen, left_out = [path], 0, 0
    while waiting:
        here = waiting.pop()
        try:
            entries = ctx.workspace.scan(here)
        except DoorError as error:
            if here == path:
                raise ToolError(f"{error} Nothing was changed.") from error
            continue
        for entry in entries:
            inner = f"{here}/{entry.name}" if here != "." else entry.name
            if entry.name.startswith(".") or ctx.workspace.refuses("read", inner):
                continue
            if entry.kind == "folder":
                waiting.append(inner)
            elif entry.kind == "file":
                seen += 1
                lines = _lines(ctx, inner) if seen <= MOST_FILES else None
                if lines is None:
                    left_out += 1
                    continue
                _, dot, ending = entry.name.rpartition(".")
                share = shares.setdefault(dot + ending if dot else "other", Share("", 0, 0))
                share.files, share.lines = share.files + 1, share.lines + lines
    found = [Share(kind, share.files, share.lines) for kind, share in shares.items()]
    return Lines(path, sorted(found, key=lambda share: (-share.lines, share.kind)), left_out)


def _lines(ctx: SyncContext, path: str) -> int | None:
    """None: it is no text, too large, or may not be read."""
    try:
        body = ctx.workspace.read_bytes(path, MOST_BYTES)
    except DoorError:
        return None
    return None if b"\0" in body else body.count(b"\n") + (not body.endswith(b"\n") and body != b"")


def draw(found: Lines) -> list[AnyBlock]:
    """A block of our own, with a table for whoever does not know it."""
    rows = [[share.kind, str(share.files), str(share.lines)] for share in found.shares]
    plain: list[AnyBlock] = [Table(columns=["kind", "files", "lines"], rows=rows)]
    return [Custom(kind="bar-chart", data=msgspec.to_builtins(found.shares), plain=plain)]


@hookimpl
def pegboard_tools():
    return [code_lines]


@hookimpl
def pegboard_renderers():
    return {Lines: draw}
