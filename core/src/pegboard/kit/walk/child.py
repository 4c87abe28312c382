"""The Python engine: a process of our own interpreter that walks and searches, so that it can be stopped at any time.

Its job is one JSON document on stdin. It prints what rg prints for `engine.rg_command`, so that one reader serves both:
`path NUL line:column:offset:` for hits, `path NUL` for files, `path NUL count` for counts, trouble on stderr.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from typing import NoReturn

from pegboard.kit.walk.dialect import BadPattern
from pegboard.kit.walk.ignore import top_scope
from pegboard.kit.walk.job import INVALID, SLOW, Job
from pegboard.kit.walk.lines import blocks_of
from pegboard.kit.walk.matching import matcher
from pegboard.kit.walk.walker import Rules, walk

SLOW_SECONDS = 5.0
"""A pattern may take this long on one block of a file; then it is one that never ends."""


class _Slow(Exception):
    """The pattern takes too long."""


def main() -> int:
    """Do the job on stdin; the exit code is 0, INVALID (also when something could not be read) or SLOW."""
    job = Job.from_json(sys.stdin.buffer.read())
    at = b""
    try:
        search = _Search(job)
        for at in search.files():
            search.file(at)
    except BadPattern as error:
        reason = str(error).removeprefix("Invalid regex: ")
        sys.stderr.write(f"rg: regex parse error:\nerror: {reason}\n")
        return INVALID
    except _Slow:
        sys.stdout.buffer.flush()
        sys.stderr.buffer.write(b"\0slow: " + at)
        return SLOW
    sys.stdout.buffer.flush()
    return INVALID if search.troubled else 0


class _Search:
    """What one job needs: where files are found, how lines are matched, what is printed."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.troubled = False
        self.only = re.compile(job.only.decode("utf-8", "surrogatepass"), re.DOTALL) if job.only else None
        self.match = None if job.mode == "list" else matcher(job)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _too_slow)

    def files(self) -> Iterator[bytes]:
        """The files to look at, relative to the top."""
        job = self.job
        if job.named:
            yield job.start
            return
        if job.files:
            yield from job.files
            return
        scope = top_scope(job.top, require_git=job.require_git)
        scope = scope.descend([part for part in job.start.split(b"/") if part])
        rules = Rules(hidden=job.hidden, ignored=job.ignored, links=job.links)
        for path in walk(job.top, job.start, scope, rules, self.trouble):
            if self.only is None or self.only.match(os.fsdecode(path)):
                yield path

    def trouble(self, path: bytes, error: OSError) -> None:
        """As rg words it."""
        self.troubled = True
        text = b"rg: ./" + path + f": {error.strerror} (os error {error.errno})\n".encode()
        sys.stderr.buffer.write(text)

    def file(self, path: bytes) -> None:
        """Print what the job asks of one file."""
        out = sys.stdout.buffer
        if self.match is None:
            out.write(path + b"\0")
            return
        count, nul = 0, None
        for block in blocks_of(os.path.join(self.job.top, path), self.trouble, path, text=self.job.named):
            nul = block.nul
            _alarm(SLOW_SECONDS)
            for line, column, offset in self.match(block):
                count += 1
                if self.job.mode == "files":
                    break
                if self.job.mode == "content":
                    out.write(path + f"\0{line}:{column}:{offset}:\n".encode())
            _alarm(0)
            if count:
                out.flush()
                if self.job.mode == "files":
                    break
        if count and self.job.mode == "files":
            out.write(path + b"\0")
        elif count and self.job.mode == "count" and nul is None:
            out.write(path + f"\0{count}\n".encode())
        elif count and nul is not None and self.job.mode == "content":
            text = f': WARNING: stopped searching binary file after match (found "\\0" byte around offset {nul})\n'
            out.write(path + text.encode())


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _too_slow(number: int, frame: object) -> NoReturn:
    raise _Slow


if __name__ == "__main__":
    sys.exit(main())
