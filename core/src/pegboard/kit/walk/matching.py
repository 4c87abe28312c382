"""Where a pattern matches in a block of lines: what the Python engine does most of the time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pegboard.kit.walk.dialect import BadPattern, to_python
from pegboard.kit.walk.job import Job
from pegboard.kit.walk.lines import Block


class Match(NamedTuple):
    """A line that matches: its number, the byte column of the first match (from 1), the offset of its first byte."""

    line: int
    column: int
    offset: int


Matcher = Callable[[Block], Iterator[Match]]


def matcher(job: Job) -> Matcher:
    """What finds the lines that match in a block. Raises BadPattern."""
    plain = not job.regex or re.fullmatch(r"[\w\s\"'#%&,/:;<=>@`~!-]+", job.pattern, re.ASCII)
    if plain and not job.ignore_case:
        return _literal(job.pattern.encode())
    return _regex(_compiled(job), crlf=job.crlf)


def _compiled(job: Job) -> re.Pattern[str]:
    warnings.simplefilter("error", FutureWarning)
    try:
        source = to_python(job.pattern) if job.regex else re.escape(job.pattern)
        return re.compile(source, re.IGNORECASE if job.ignore_case else 0)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise BadPattern(f"Invalid regex: {error}") from None


def _literal(needle: bytes) -> Matcher:
    def find(block: Block) -> Iterator[Match]:
        data, at, line, counted = block.data, 0, block.number, 0
        while (at := data.find(needle, at)) >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            line += data.count(b"\n", counted, start)
            counted = start
            yield Match(line, at - start + 1, block.offset + start)
            at = data.find(b"\n", at) + 1
            if not at:
                return

    return find


def _regex(regex: re.Pattern[str], *, crlf: bool) -> Matcher:
    search = regex.search

    def find(block: Block) -> Iterator[Match]:
        if not block.data:
            return
        data = block.data.removesuffix(b"\n")
        returns = crlf and b"\r" in data
        offset, done = block.offset, 0
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        if returns and not block.data.endswith(b"\n") and lines[-1].endswith("\r"):
            lines[-1] += "\r"  # the one that is no part of a line end, and dropped below
        for index, text in enumerate(lines):
            column = _between_returns(search, text) if returns else _column(search, text)
            if column:
                offset += sum(len(_bytes(line)) + 1 for line in lines[done:index])
                done = index
                yield Match(block.number + index, column, offset)

    return find


def _column(search: Callable[[str], re.Match[str] | None], text: str) -> int:
    found = search(text)
    return len(_bytes(text[: found.start()])) + 1 if found else 0


def _between_returns(search: Callable[[str], re.Match[str] | None], text: str) -> int:
    """CRs are no part of what a pattern sees, and as good as the ends of a line to it."""
    before = 0
    for piece in text.removesuffix("\r").split("\r"):
        if column := _column(search, piece):
            return before + column
        before += len(_bytes(piece)) + 1
    return 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
