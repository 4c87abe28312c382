"""What of a text reaches the model: limits, where to cut, and the marker that says so (decision 41)."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias

import msgspec

from pegboard.kit.settings import OutputSettings

Keep: TypeAlias = Literal["head", "ends"]


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one text; the first one hit wins. 0 switches a limit off. `max_bytes` counts UTF-8."""

    max_chars: int = 30_000
    max_bytes: int = 51_200
    max_lines: int = 2_000
    surely: int = 0

    def __post_init__(self) -> None:
        """`surely`: characters that fit whatever they are: a line end each, four bytes each."""
        limits = [n for n in (self.max_chars, self.max_bytes // 4, self.max_lines) if n > 0]
        msgspec.structs.force_setattr(self, "surely", min(limits, default=sys.maxsize))

    @classmethod
    def of(cls, settings: OutputSettings) -> Caps:
        """The limits in `[output]`."""
        return cls(max_chars=settings.max_chars, max_bytes=settings.max_bytes, max_lines=settings.max_lines)

    def exceeded(self, *, chars: int, size: int, lines: int) -> bool:
        """Whether a text of these measures is more than what fits."""
        return 0 < self.max_chars < chars or 0 < self.max_bytes < size or 0 < self.max_lines < lines

    def exceeded_by(self, text: str) -> bool:
        """Whether `text` is more than what fits."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return self.exceeded(chars=len(text), size=size, lines=lines_of(text))

    def halved(self) -> Caps:
        """Half of each limit, for each end of a text that is cut in its middle."""
        chars, size, lines = (max(1, n // 2) if n else 0 for n in (self.max_chars, self.max_bytes, self.max_lines))
        return Caps(max_chars=chars, max_bytes=size, max_lines=lines)

    def less(self, text: str, lines: int = 4) -> Caps:
        """What is left beside `text` and so many more lines, of each limit at least 1."""
        size = len(text.encode("utf-8", "surrogatepass"))
        wanted = ((self.max_chars, len(text) + lines), (self.max_bytes, size + lines), (self.max_lines, lines))
        chars, size, count = (max(1, limit - taken) if limit else 0 for limit, taken in wanted)
        return Caps(max_chars=chars, max_bytes=size, max_lines=count)

    def most_bytes(self) -> int:
        """How many bytes of output are enough to hold what fits, and one character more."""
        limits = [n + 4 for n in (self.max_bytes, 4 * self.max_chars) if n > 0]
        return min(limits, default=sys.maxsize)


class Capped(msgspec.Struct, frozen=True, kw_only=True):
    """A text as the model gets it. `full_output` names where the rest is kept, such as `session:out/c7.txt`."""

    text: str
    truncated: bool
    full_output: str | None


def lines_of(text: str) -> int:
    """Lines of a text; a last one without a line end counts."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def head_of(text: str, caps: Caps) -> str:
    """The beginning of `text` that fits, cut at a line end.

    Where that would throw away more than half of what fits (one very long line) it is cut inside the line instead.
    """
    end = min(caps.max_chars, len(text)) if caps.max_chars else len(text)
    if caps.max_bytes and 4 * end > caps.max_bytes:
        fits = text[:end].encode("utf-8", "surrogatepass")[: caps.max_bytes]
        end = min(end, len(fits.decode("utf-8", "ignore")))
    if caps.max_lines:
        end = min(end, _after_line(text, caps.max_lines, end))
    if end == len(text) or text[end - 1 : end] == "\n":
        return text[:end]
    line_end = text.rfind("\n", 0, end) + 1
    return text[: line_end if 2 * line_end >= end else end]


def tail_of(text: str, caps: Caps) -> str:
    """The end of `text` that fits, begun at a line start (with the same exception as `head_of`)."""
    start = max(0, len(text) - caps.max_chars) if caps.max_chars else 0
    if caps.max_bytes and 4 * (len(text) - start) > caps.max_bytes:
        fits = text[start:].encode("utf-8", "surrogatepass")[-caps.max_bytes :]
        start = max(start, len(text) - len(fits.decode("utf-8", "ignore")))
    if caps.max_lines:
        start = max(start, _before_last_lines(text, caps.max_lines, start))
    if start == 0 or text[start - 1] == "\n":
        return text[start:]
    line_start = text.find("\n", start) + 1
    return text[line_start if line_start and 2 * (len(text) - line_start) >= len(text) - start else start :]


def _after_line(text: str, number: int, end: int) -> int:
    """Where line `number` (counted from 1) ends, or `end` where there are fewer before it."""
    at = 0
    for _ in range(number):
        at = text.find("\n", at, end) + 1
        if not at:
            return end
    return at


def _before_last_lines(text: str, number: int, start: int) -> int:
    """Where the last `number` lines begin, or `start` where there are fewer after it."""
    at = len(text) - 1 if text.endswith("\n") else len(text)
    for _ in range(number):
        at = text.rfind("\n", start, at)
        if at < 0:
            return start
    return at + 1


def shortened(head: str, tail: str, total: int, *, caps: Caps, keep: Keep, rest: str) -> str:
    """The text of `total` chars that begins with `head` and ends with `tail`, cut to `caps`, with the marker.

    `rest` says where the whole is, as `Spool.rest` does; empty where it is nowhere.
    """
    if keep == "head":
        kept = head_of(head, caps)
        return _line(kept) + marker(total - len(kept), rest)
    first, last = head_of(head, caps.halved()), tail_of(tail, caps.halved())
    return _line(first) + marker(total - len(first) - len(last), rest) + "\n" + last


def _line(text: str) -> str:
    return text + "\n" if text and not text.endswith("\n") else text


def marker(chars: int, rest: str = "") -> str:
    """The line that stands where something was left out."""
    return f"... [truncated {chars:,} chars{'; ' if rest else ''}{rest}]"
