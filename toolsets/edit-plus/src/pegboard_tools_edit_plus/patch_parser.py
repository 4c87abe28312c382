"""The patch form that models know: `*** Begin Patch`, a section a file, `*** End Patch`.

    *** Begin Patch
    *** Add File: notes.txt
    +a line of the new file
    *** Update File: src/app.py
    *** Move to: src/main.py
    @@ def greet():
     a line that stays
    -a line that goes
    +a line that comes
    *** Delete File: old.txt
    *** End Patch

Read strictly: a line that is none of these is an error that names it, for what is passed over in silence is lost. Taken
as meant are only variations that can mean one thing: white space behind a marker (but not behind a name), CRLF throughout,
a shell's here-document or a code fence around it all, an empty line for an empty line of context, line numbers between the
@@.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NoReturn

import msgspec
from pegboard import ToolError

FORM = (
    "The form is: *** Begin Patch, then for each file *** Add File: PATH (with + lines), *** Delete File: PATH, or "
    "*** Update File: PATH (with @@ and lines that begin with a blank, - or +), then *** End Patch"
)
BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
_SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File:(.*)")
_MOVE = re.compile(r"\*\*\* Move to:(.*)")
_NUMBERS = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@|$)")
_HEREDOC = re.compile(r"(?:[\w./-]+\s+)?<<-?\s*(['\"]?)(?P<end>[^\s'\"]+)\1")

Action = Literal["add", "update", "delete"]
Sign = Literal[" ", "-", "+"]


class PatchError(ToolError):
    """The patch cannot be read, or does not fit. Nothing was changed."""


class Hunk(msgspec.Struct, kw_only=True):
    """Lines to find, and what becomes of them. `line`: where it begins in the patch, from 1. `anchors`: what its @@ lines
    say stands somewhere above it. `at_end`: it is at the end of the file."""

    line: int
    anchors: list[str]
    lines: list[tuple[Sign, str]]
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        """The lines to find."""
        return [text for sign, text in self.lines if sign != "+"]


class Section(msgspec.Struct, kw_only=True):
    """What becomes of one file. `content`: the lines of a new one. `to`: its new name, for one that is moved."""

    action: Action
    path: str
    line: int
    to: str | None = None
    content: list[str] = []
    hunks: list[Hunk] = []


def parse(patch: str) -> list[Section]:
    """The sections of a patch, in order, one at least. Raises PatchError, which names the line of the patch."""
    if "\0" in patch:
        raise PatchError("The patch holds a NUL, which would make a file binary. Nothing was changed.")
    if 0 < patch.count("\n") == patch.count("\r\n"):
        patch = patch.replace("\r\n", "\n").removesuffix("\r")
    lines = patch.split("\n")
    first, last = _unwrapped(lines)
    if first >= last or lines[first].strip() != BEGIN:
        _no_patch(lines, first)
    if lines[last - 1].rstrip() != END:
        late = next((n for n in range(last - 1, first, -1) if lines[n].rstrip() == END), None)
        if late is not None:
            _fail(late + 2, f"text stands behind {END}: {_quoted(lines[late + 1])}")
        _fail(last, f"the patch does not end with {END}: it may have been cut off")
    return _Reader(lines, first + 1, last - 1).sections()


def _unwrapped(lines: Sequence[str]) -> tuple[int, int]:
    """The range of lines without empty ones around, a here-document's first and last line, or a code fence's."""
    first, last = _stripped(lines, 0, len(lines))
    if last - first < 2:
        return first, last
    heredoc = _HEREDOC.fullmatch(lines[first].strip())
    if heredoc and lines[last - 1].strip() == heredoc["end"]:
        return _stripped(lines, first + 1, last - 1)
    if re.fullmatch(r"```\w*", lines[first].strip()) and lines[last - 1].strip() == "```":
        return _stripped(lines, first + 1, last - 1)
    return first, last


def _stripped(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    while first < last and not lines[first].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    return first, last


def _no_patch(lines: Sequence[str], first: int) -> NoReturn:
    if not any(line.strip() for line in lines):
        raise PatchError(f"The patch is empty. Nothing was changed. {FORM}.")
    if lines[first].startswith(("--- ", "diff ", "Index: ")):
        raise PatchError(f"That is a unified diff, which is not taken. Nothing was changed. {FORM}.")
    _fail(first + 1, f"the patch begins with {_quoted(lines[first])}, not with {BEGIN}", FORM)


class _Reader:
    """Reads the lines between the first and the last marker. `at` counts from 0, errors from 1."""

    def __init__(self, lines: Sequence[str], at: int, end: int) -> None:
        self._lines = lines
        self._at = at
        self._end = end

    def sections(self) -> list[Section]:
        found: list[Section] = []
        while self._skip_empty():
            line = self._lines[self._at]
            header = _SECTION.fullmatch(line)
            if header is None:
                _fail(self._at + 1, f"expected a file's section, got {_quoted(line)}", FORM)
            action: Action = header[1].lower()  # type: ignore[assignment]
            section = Section(action=action, path=self._path(header[2]), line=self._at + 1)
            self._at += 1
            if action == "add":
                section.content = self._content()
            elif action == "update":
                self._update(section)
            found.append(section)
        if not found:
            raise PatchError(f"The patch names no file. Nothing was changed. {FORM}.")
        return found

    def _skip_empty(self) -> bool:
        while self._at < self._end and not self._lines[self._at].strip():
            self._at += 1
        return self._at < self._end

    def _path(self, text: str) -> str:
        """The name behind a colon. The blank between is no part of it; every other one is, for files may be called so."""
        if not text.strip():
            _fail(self._at + 1, "the name of the file is missing")
        return text.removeprefix(" ").removesuffix("\r")

    def _marker(self) -> bool:
        """Whether the next line begins something other than lines of a file."""
        return self._at >= self._end or self._lines[self._at].startswith("***")

    def _content(self) -> list[str]:
        found: list[str] = []
        while not self._marker():
            line = self._lines[self._at]
            if not line.strip() and not self._more_content():
                break
            if not line.startswith("+"):
                _fail(self._at + 1, f"every line of a new file begins with +, got {_quoted(line)}")
            found.append(line[1:])
            self._at += 1
        self._end_of_file()
        return found

    def _more_content(self) -> bool:
        """Whether anything but empty lines comes before the next marker."""
        for line in self._lines[self._at : self._end]:
            if line.strip():
                return not line.startswith("***")
        return False

    def _update(self, section: Section) -> None:
        if self._at < self._end and (move := _MOVE.fullmatch(self._lines[self._at])):
            section.to = self._path(move[1])
            self._at += 1
        while True:
            self._skip_blank_before_hunk()
            if self._marker():
                break
            section.hunks.append(self._hunk(first=not section.hunks))
        if not section.hunks and section.to is None:
            _fail(section.line, f"the update of {section.path} has no hunk: nothing says what to change")

    def _skip_blank_before_hunk(self) -> None:
        at = self._at
        if self._skip_empty() and not self._lines[self._at].startswith(("***", "@@")):
            self._at = at

    def _hunk(self, *, first: bool) -> Hunk:
        hunk = Hunk(line=self._at + 1, anchors=[], lines=[])
        while self._at < self._end and self._lines[self._at].startswith("@@"):
            anchor = _anchor(self._lines[self._at])
            if anchor:
                hunk.anchors.append(anchor)
            self._at += 1
        if not first and self._at + 1 == hunk.line:
            _fail(hunk.line, f"expected @@ or the next file's section, got {_quoted(self._lines[self._at])}")
        while not self._marker() and not self._lines[self._at].startswith("@@"):
            hunk.lines.append(self._line())
            self._at += 1
        hunk.at_end = self._end_of_file()
        if not hunk.at_end:
            self._drop_spacing(hunk)
        if not hunk.lines:
            _fail(hunk.line, "a hunk without lines")
        return hunk

    def _line(self) -> tuple[Sign, str]:
        line = self._lines[self._at]
        match line[:1]:
            case "":
                return " ", ""
            case " " | "-" | "+" as sign:
                return sign, line[1:]
            case "\\":
                _fail(self._at + 1, f"{_quoted(line)} is not of this form; a missing last line end is kept as it is")
        _fail(self._at + 1, f"a line of a hunk begins with a blank, - or +, got {_quoted(line)}")

    def _drop_spacing(self, hunk: Hunk) -> None:
        """Empty lines between a hunk and what follows space the patch; they are no lines of the file."""
        at = self._at
        while hunk.lines and not self._lines[at - 1]:
            hunk.lines.pop()
            at -= 1

    def _end_of_file(self) -> bool:
        if self._at < self._end and self._lines[self._at].rstrip() == END_OF_FILE:
            self._at += 1
            return True
        return False


def _anchor(line: str) -> str:
    """What an @@ line says beyond line numbers, which are often wrong."""
    text = line[2:].strip()
    text = _NUMBERS.sub("", text, count=1) if _NUMBERS.match(text) else text
    return text.removesuffix("@@").strip()


def _fail(line: int, what: str, hint: str = "") -> NoReturn:
    raise PatchError(f"patch line {line}: {what}. Nothing was changed." + (f" {hint}." if hint else ""))


def _quoted(line: str) -> str:
    text = msgspec.json.encode(line[:80].encode("utf-8", "replace").decode()).decode()
    return text if len(line) <= 80 else f'{text[:-1]}..."'
