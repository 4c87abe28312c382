"""The Python engine: a process of our own interpreter that walks and searches, so that it can be stopped at any time.

Its job is one JSON document on stdin. It prints what rg prints for `engine.rg_argv`, so that one reader serves both:
`path NUL line:column:offset:` for hits, `path NUL` for files, `path NUL count` for counts, trouble on stderr.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import NoReturn

import msgspec

from pegboard.kit.walk.dialect import BadPattern, to_python
from pegboard.kit.walk.ignore import top_scope
from pegboard.kit.walk.job import INVALID, SLOW, Job
from pegboard.kit.walk.lines import Line, lines_of
from pegboard.kit.walk.walker import Rules, walk

SLOW_SECONDS = 5.0
"""A pattern may take this long on one block of one file; then it is one that never ends."""


class _Slow(Exception):
    """The pattern takes too long."""


def main() -> int:
    """Do the job on stdin; the exit code is rg's, or SLOW."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    search = _Search(job)
    at = ""
    try:
        for path in search.files():
            at = path.decode(errors="replace")
            search.file(path)
            sys.stdout.buffer.flush()
    except _Slow:
        sys.stderr.write(f"slow: {at}\n")
        return SLOW
    except BrokenPipeError:
        os._exit(0)
    return INVALID if search.troubled else 0 if search.found else 1


class _Search:
    """What one job needs: where files are found, how a line is matched, what is printed."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.top = job.top
        self.found = self.troubled = False
        self.only = re.compile(job.only.decode("utf-8", "surrogatepass"), re.DOTALL) if job.only else None
        self.match = _matcher(job) if job.mode != "list" else None
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _too_slow)

    def files(self) -> Iterator[bytes]:
        """The files to look at, relative to the top."""
        start = self.job.start
        if self.job.named:
            yield start
            return
        scope = top_scope(self.top, require_git=self.job.require_git)
        scope = scope.descend([part for part in start.split(b"/") if part])
        rules = Rules(hidden=self.job.hidden, ignored=self.job.ignored, links=self.job.links)
        for path in walk(self.top, start, scope, rules, self.trouble):
            if self.only is None or self.only.match(os.fsdecode(path)):
                yield path

    def trouble(self, path: bytes, error: OSError) -> None:
        """As rg words it."""
        self.troubled = True
        text = b"rg: ./" + path + f": {error.strerror} (os error {error.errno})\n".encode()
        sys.stderr.buffer.write(text)

    def file(self, path: bytes) -> None:
        """Print what the job asks of one file."""
        if self.match is None:
            self.found = True
            sys.stdout.buffer.write(path + b"\0")
            return
        count, stopped = 0, None
        try:
            for line in lines_of(os.path.join(self.top, path), self.trouble, path, text=self.job.named):
                if isinstance(line, int):
                    stopped = line
                    break
                column = self._column(line)
                if column is None:
                    continue
                count += 1
                if self.job.mode == "files":
                    break
                if self.job.mode == "content":
                    where = f"{line.number}:{column}:{line.offset}:\n"
                    sys.stdout.buffer.write(path + b"\0" + where.encode())
        finally:
            _alarm(0)
        self.found |= count > 0
        self._total(path, count, stopped)

    def _column(self, line: Line) -> int | None:
        if line.first:  # of a block
            _alarm(SLOW_SECONDS)
        return self.match(line.text) if self.match else None

    def _total(self, path: bytes, count: int, stopped: int | None) -> None:
        if count and self.job.mode == "files":
            sys.stdout.buffer.write(path + b"\0")
        elif count and self.job.mode == "count" and stopped is None:
            sys.stdout.buffer.write(path + f"\0{count}\n".encode())
        elif count and stopped is not None:
            text = f': WARNING: stopped searching binary file after match (found "\\0" byte around offset {stopped})\n'
            sys.stdout.buffer.write(path + text.encode())


def _matcher(job: Job) -> Callable[[bytes], int | None]:
    """A function from a line without its line end to the byte column of the first match, from 1; None: no match."""
    if not job.regex and not job.ignore_case:
        needle = job.pattern.encode()
        return lambda line: line.find(needle) + 1 or None
    regex = _compiled(job)

    def match(line: bytes) -> int | None:
        before = 0
        for piece in _pieces(line) if job.crlf else (line,):
            text = piece.decode("utf-8", "surrogateescape")
            if found := regex.search(text):
                return before + len(text[: found.start()].encode("utf-8", "surrogateescape")) + 1
            before += len(piece) + 1
        return None

    return match


def _pieces(line: bytes) -> list[bytes]:
    """A line between its CRs, which a pattern does not see."""
    if b"\r" not in line:
        return [line]
    return line.removesuffix(b"\r").split(b"\r")


def _compiled(job: Job) -> re.Pattern[str]:
    warnings.simplefilter("error", FutureWarning)
    try:
        source = to_python(job.pattern) if job.regex else re.escape(job.pattern)
        return re.compile(source, re.IGNORECASE if job.ignore_case else 0)
    except BadPattern as error:
        _invalid(str(error).removeprefix("Invalid regex: "))
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        _invalid(str(error))


def _invalid(reason: str) -> NoReturn:
    sys.stderr.write(f"rg: regex parse error:\n    {reason!r}\nerror: {reason}\n")
    sys.exit(INVALID)


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _too_slow(number: int, frame: object) -> NoReturn:
    raise _Slow


if __name__ == "__main__":
    sys.exit(main())
