"""The two engines as command lines, and how what they print is read.

rg is asked for places only (path, line, column, offset): the text of a hit is read afterwards, through the workspace's
door. So its output is small whatever the lines are like, and a name may hold colons and line breaks.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from pegboard.errors import ConfigError, ToolError
from pegboard.kit.process import Finished
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk.job import Job

OLDEST_RG = (14, 0)
_VERSION = re.compile(rb"ripgrep (\d+)\.(\d+)")
_ALWAYS = (
    "--no-config", "--color=never", "--null", "--no-ignore-global", "--no-ignore-exclude",
    "--no-ignore-parent", "--no-ignore-messages", "--glob=!.git", "--glob=!node_modules",
)  # fmt: skip
_WHERE = ("--no-heading", "--with-filename", "--line-number", "--column", "--byte-offset", "--max-columns=1")
_BINARY = re.compile(
    rb': (?:WARNING: stopped searching binary file after match|binary file matches) \(found "\\0" byte'
    rb" around offset (\d+)\)\n"
)


class Run(Protocol):
    """How programs are run: `kit.process.run`, or `Context.run`."""

    def __call__(
        self,
        argv: Sequence[str],
        /,
        *,
        cwd: str,
        stdin: bytes = b"",
        timeout: float | None = None,
        each: Callable[[str, bytes], bool | None] | None = None,
    ) -> Awaitable[Finished]: ...


class Rg(NamedTuple):
    """A usable rg, or why there is none."""

    path: str | None
    why: str = ""


_checked: dict[tuple[str, int, int], str] = {}
"""Which programs were asked for their version in this process, and what is wrong with them ("" nothing)."""


async def find_rg(settings: SearchSettings, run: Run) -> Rg:
    """The rg to use: `search.rg`, else the wheel's (beside the interpreter), else the one on PATH.

    Raises ConfigError when the engine is to be `rg` and there is none of version 14 or newer.
    """
    if settings.engine == "python":
        return Rg(None)
    found = await _usable(_candidate(settings), run)
    if found.path is None and settings.engine == "rg":
        text = f'search.engine is "rg", but {found.why}. Install ripgrep 14 or newer, or set search.engine to "auto".'
        raise ConfigError(text)
    return found


def _candidate(settings: SearchSettings) -> str | None:
    if settings.rg:
        return shutil.which(os.path.expanduser(settings.rg)) or settings.rg
    name = "rg.exe" if os.name == "nt" else "rg"
    wheel = os.path.join(os.path.dirname(sys.executable or ""), name)
    return wheel if sys.executable and os.access(wheel, os.X_OK) else shutil.which("rg")


async def _usable(path: str | None, run: Run) -> Rg:
    if path is None:
        return Rg(None, "rg was not found")
    try:
        info = os.stat(path)
    except OSError:
        return Rg(None, f"there is no program {path}")
    key = (path, info.st_mtime_ns, info.st_size)
    if key not in _checked:
        _checked[key] = await _fault(path, run)
    return Rg(None if _checked[key] else path, _checked[key])


async def _fault(path: str, run: Run) -> str:
    try:
        done = await run([path, "--version"], cwd=".", timeout=10)
    except ToolError:
        return f"{path} cannot be run"
    version = _VERSION.search(done.stdout)
    if not version:
        return f"{path} does not say that it is ripgrep"
    if (int(version[1]), int(version[2])) < OLDEST_RG:
        return f"{path} is ripgrep {version[1].decode()}.{version[2].decode()}, older than 14"
    return ""


class Command(NamedTuple):
    """How an engine is run. fine: the exit codes that say that it did what was asked."""

    argv: list[str]
    stdin: bytes
    fine: tuple[int, ...]


def rg_command(rg: str, job: Job, files: Sequence[bytes] = (), *, ordered: bool = True) -> Command:
    """rg for a job, in one thread. `files` are searched instead of the start."""
    argv = [rg, *_ALWAYS, "--sort=path" if ordered else "--threads=1"]
    argv += ["--hidden"] * job.hidden + ["--no-ignore"] * job.ignored + ["--no-require-git"] * job.git
    stdin = b""
    if job.outer and not job.ignored and os.path.exists("/dev/stdin"):
        argv.append("--ignore-file=/dev/stdin")
        stdin = job.outer
    if job.names:
        argv += [f"--type-add=wanted:{name}" for name in job.names] + ["--type=wanted"]
    match job.mode:
        case "list":
            argv.append("--files")
        case "files":
            argv.append("--files-with-matches")
        case "count":
            argv += ["--count", "--with-filename"]
        case "content":
            argv += _WHERE
    if job.mode != "list":
        argv += ["--no-mmap", "--ignore-case" if job.ignore_case else "--case-sensitive"]
        argv += ["--crlf"] * job.crlf + ["--fixed-strings"] * (not job.regex) + ["--text"] * job.named
        argv.append(f"--regexp={job.pattern}")
    names = [os.fsdecode(job.before + path) for path in files or [job.start]]
    return Command([*argv, "--", *names], stdin, fine=(0, 1))


_BOOT = "import sys; sys.path[:0] = sys.argv[1:]; from pegboard.kit.walk.child import main; sys.exit(main())"


def python_command(job: Job) -> Command:
    """Our own engine, in a process that inherits no Python settings from the environment. (1 is a traceback's code.)"""
    import pegboard

    folder = os.path.dirname(os.path.dirname(os.path.abspath(pegboard.__file__)))
    return Command([sys.executable, "-I", "-c", _BOOT, folder], job.to_json(), fine=(0,))


class Record(NamedTuple):
    """One thing an engine said: a place in a file, a count of lines (`line`), or a file alone (0).

    nul: where a NUL ended the search of this file."""

    path: bytes
    line: int = 0
    column: int = 0
    offset: int = 0
    nul: int | None = None


class Reader:
    """Takes an engine's output piece by piece and gives its records. What is malformed is left out and counted."""

    MAX_PENDING = 1024 * 1024

    def __init__(self, mode: str, before: bytes = b"./") -> None:
        """`before`: what stands in front of the paths that were asked for."""
        self._lines = mode in ("content", "count")
        self._before = before
        self._rest = b""
        self.malformed = 0

    def feed(self, data: bytes) -> list[Record]:
        """The records that are complete with this piece."""
        data = self._rest + data
        records: list[Record] = []
        at = self._take_lines(data, records) if self._lines else self._take_names(data, records)
        self._rest = data[at:]
        if len(self._rest) > self.MAX_PENDING:
            self._rest = b""
            self.malformed += 1
        return records

    def _take_names(self, data: bytes, records: list[Record]) -> int:
        *names, rest = data.split(b"\0")
        records.extend(Record(self._plain(name)) for name in names if name)
        return len(data) - len(rest)

    def _take_lines(self, data: bytes, records: list[Record]) -> int:
        at = 0
        while (middle := data.find(b"\0", at)) >= 0 and (end := data.find(b"\n", middle)) >= 0:
            records.extend(self._place(self._after_notices(data[at:middle], records), data[middle + 1 : end]))
            at = end + 1
        return at

    def finish(self) -> list[Record]:
        """What was said at the very end, once there is no more."""
        records: list[Record] = []
        self.malformed += bool(self._after_notices(self._rest, records))
        return records if self._lines else []

    def _after_notices(self, text: bytes, records: list[Record]) -> bytes:
        """What follows rg's notices of binary files, which have no NUL after their path."""
        while told := _BINARY.search(text):
            records.append(Record(self._plain(text[: told.start()]), nul=int(told[1])))
            text = text[told.end() :]
        return self._plain(text)

    def _place(self, path: bytes, text: bytes) -> list[Record]:
        numbers = [
            int(number) for number in text.rstrip(b"\r").split(b":", 3)[:3] if number.isdigit() and len(number) < 19
        ]
        match numbers:
            case [line, column, offset]:
                return [Record(path, line, column, offset)]
            case [line, offset]:  # rg found no match when it looked for the column
                return [Record(path, line, 1, offset)]
            case [count]:
                return [Record(path, count)]
        self.malformed += 1
        return []

    def _plain(self, path: bytes) -> bytes:
        return path.removeprefix(self._before)
