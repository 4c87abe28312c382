"""What tools of this set answer that change files, and how several files are changed all or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pegboard import Context, Result, ToolError
from pegboard.errors import Interrupted
from pegboard.kit.changes import Change, counts, told
from pegboard.kit.names import printable

if TYPE_CHECKING:
    from pegboard.kit.writer import Writer

_BACK = "What had been changed before was put back: nothing is changed."


@contextmanager
def all_or_none(ctx: Context, files: Writer) -> Iterator[None]:
    """Changes inside are made all or none. An error says that they were put back. What could not be put back of a call that
    was stopped, whose errors nobody reads, is said by its output."""
    from pegboard.kit.undo import all_or_none as kept_together

    before = made = len(files.changes)
    try:
        with kept_together(ctx.workspace, files):
            try:
                yield
            finally:
                made = len(files.changes)
    except ToolError as error:
        if isinstance(error.__cause__, Interrupted):
            ctx.output.feed("stderr", str(error).encode())
        elif made > before and len(files.changes) == before:
            raise ToolError(f"{error} {_BACK}") from error
        raise


def changed(
    heading: str, changes: Sequence[Change], undo: str | None, notes: Iterable[str | None] = (), *, diffs: bool = True
) -> Result:
    """The result of a call that made these changes: a line each below the heading, then what should be known of them."""
    lines = [_line(change) for change in changes]
    said = dict.fromkeys(note for note in (*(change.note for change in changes), *notes) if note)
    blocks = [change.diff for change in changes if change.diff is not None and diffs]
    text = f"{heading} {lines[0]}" if len(lines) == 1 else "\n  ".join([heading, *lines])
    return Result(text="\n".join([text, *said]), data=told(changes, undo), blocks=[*blocks])


def _line(change: Change) -> str:
    lines = counts(change.added, change.removed)
    name = f"{change.path} to {change.to}" if change.to else change.path
    return f"{change.change} {printable(name)}" + (f" ({lines} lines)" if lines else "")
