"""What edits make of a file, not yet written: its old and new content, and where they differ.

Work is done on bytes in which LF is one byte; UTF-16 files are narrowed to UTF-8 for it and widened afterwards, which
gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pegboard.blocks import Diff
from pegboard.errors import ToolError
from pegboard.kit.diffs import ChangeName, diff_of_hunks, diff_of_texts
from pegboard.kit.hunks import Hunk, Span, difference, spans_of
from pegboard.kit.text import BOMS, HEAD, Encoding, binary_error, is_binary, sniff

MAX_LISTED = 5
"""Lines that an error names."""


class EditError(ToolError):
    """An edit does not fit the file. Nothing was changed."""


class Plan:
    """What edits make of a file, not yet written.

    `hunks` are the replaced places; with `exact` each holds nothing else. `notes`: what whoever asked for the edits should
    know of how they were made.
    """

    def __init__(
        self,
        path: str,
        before: bytes,
        after: bytes,
        hunks: Sequence[Hunk],
        *,
        replaced: int,
        exact: bool = True,
        notes: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.hunks = hunks
        self.replaced = replaced
        self.exact = exact
        self.notes = tuple(notes)

    @cached_property
    def spans(self) -> list[Span]:
        """What was replaced, for undoing it."""
        return spans_of(self.before, self.after, self.hunks)

    @cached_property
    def _diff(self) -> Diff:
        if not self.exact or sniff(self.before[:HEAD]) is not None:
            return diff_of(self.before, self.after, self.path)
        return diff_of_hunks(self.before, self.after, self.hunks, self.path)

    def diff(self) -> Diff:
        """What is shown of it; made once."""
        return self._diff

    @property
    def added(self) -> int:
        """Lines."""
        return self._diff.added

    @property
    def removed(self) -> int:
        """Lines."""
        return self._diff.removed


def narrowed(data: bytes, path: str) -> tuple[bytes, Encoding | None]:
    """A file's content for work on bytes, and its encoding where it was turned to UTF-8 for that.

    Raises BinaryFile, and EditError for what begins as UTF-16 and is not.
    """
    encoding = sniff(data[:HEAD])
    if encoding == "binary":
        raise binary_error(path, data[:HEAD], len(data))
    if encoding is None:
        return data, None
    try:
        return data[len(BOMS[encoding]) :].decode(encoding).encode(), encoding
    except UnicodeError:
        text = f"{path} begins as {encoding.upper()} text but goes on as something else. Nothing was changed."
        raise EditError(text) from None


def widened(
    path: str,
    data: bytes,
    wide: Encoding | None,
    after: bytes,
    hunks: Sequence[Hunk],
    *,
    replaced: int,
    exact: bool = True,
    notes: Sequence[str] = (),
) -> Plan:
    """The plan for the file that `narrowed` was given, from what was made of the narrowed content."""
    if wide is None:
        return Plan(path, data, after, hunks, replaced=replaced, exact=exact, notes=notes)
    whole = BOMS[wide] + after.decode().encode(wide)
    return Plan(path, data, whole, difference(data, whole), replaced=replaced, exact=False, notes=notes)


def body_of(data: bytes) -> int:
    """Where the text begins: a byte order mark is no part of it."""
    return len(BOMS["utf-8-sig"]) if data.startswith(BOMS["utf-8-sig"]) else 0


def listed(lines: Sequence[int], times: int = 0) -> str:
    """The first of the line numbers that an error names. `times`: how many there are, where `lines` has not all."""
    more = max(times, len(lines)) > MAX_LISTED
    return ", ".join(map(str, lines[:MAX_LISTED])) + (", ..." if more else "")


def plan_whole(path: str, old: bytes, new: bytes) -> Plan:
    """The plan of replacing a file's whole content."""
    return Plan(path, old, new, difference(old, new), replaced=1, exact=False)


def diff_of(old: bytes | None, new: bytes | None, path: str) -> Diff:
    """The diff of writing a whole file (`old` None: it is new) or deleting one (`new` None)."""
    change: ChangeName = "created" if old is None else "deleted" if new is None else "changed"
    before, after = _narrow(old or b""), _narrow(new or b"")
    if before is None or after is None:
        return Diff(path=path, change=change, added=0, removed=0, text="\\ Binary content is not shown\n")
    return diff_of_texts(before, after, path, change)


def _narrow(data: bytes) -> bytes | None:
    """The content in an encoding in which LF is one byte; None for binary."""
    if is_binary(data):
        return None
    encoding = sniff(data[:HEAD])
    if encoding in ("utf-16-le", "utf-16-be"):
        return data[2:].decode(encoding, "replace").encode()
    return data
