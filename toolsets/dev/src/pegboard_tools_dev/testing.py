"""`code_test`: run the tests, and say which failed."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from pegboard.calls import Result
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.kit.process import Finished
from pegboard.touches import Lists, Reads

from pegboard_tools_dev.reading.report import Failure, Report, matched
from pegboard_tools_dev.running import ALIASES, Ends, Timeout, judged, preview, run, told
from pegboard_tools_dev.targets import file_part, paths_of


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a test run. Counts are null where the test program does not say. failures: at most 200, the
    first with up to 8,000 characters of its text. exit_code is null when a signal ended it, which `signal` names."""

    passed: int | None
    failed: int | None
    skipped: int | None
    failures: list[Failure]
    command: str
    exit_code: int | None
    signal: str | None


def _touches(arguments: Any, ctx: Context) -> Iterator[tuple[Literal["read", "run"], str]]:
    """The command line, found out from settings and files; and of `file::test` the file."""
    from pegboard_tools_dev import commands

    for path in paths_of(arguments.path):
        if file_part(path) != path:
            yield "read", file_part(path)
    yield "run", commands.testing(arguments, ctx)


@tool(
    touches=_touches,
    kinds=["run"],
    permission="bash",
    category="exec",
    verb="Test",
    aliases=["run_tests", "test"],
    param_aliases={
        **ALIASES,
        "pattern": "filter",
        "test_name": "filter",
        "testName": "filter",
        "name": "filter",
        "keyword": "filter",
        "k": "filter",
    },
    short="run the tests",
    key_arg="path",
    echo=True,
    pages=True,
    keep="ends",
    preview=preview,
    examples=[
        "execute the test suite",
        "run all tests",
        "run the unit tests",
        "do the tests pass",
        "test {path}",
        "run the tests in {path}",
        "execute pytest for {path}",
        "do the tests in {path} pass",
        "run the tests called {filter}",
        "run the test {filter}",
        "run the tests matching {filter}",
        "run the tests with {filter} in the name",
    ],
)
async def code_test(
    ctx: Context,
    path: Annotated[str | list[str] | None, Reads("Test files or folders, or file::test; default: all")] = None,
    filter: Annotated[str, msgspec.Meta(description="Only tests with this in their name", min_length=1)] | None = None,
    timeout: Timeout | None = None,
    cwd: Annotated[str, Lists("Folder of the project")] = ".",
) -> Result:
    """Run the project's tests and get counts and failures; for this rather than bash."""
    ends = Ends()
    done = await run(ctx, cwd, timeout, ends.take)
    argv = judged(ctx)
    report = await asyncio.to_thread(_read, argv, ends)
    if done.exit_code != 0:
        report = matched(report, done.signal or f"exit code {done.exit_code}")
    notes = [said for said in (_came_to(report, done, named=bool(path or filter)), foreign(argv)) if said]
    data = Tested(
        passed=report.passed,
        failed=report.failed,
        skipped=report.skipped,
        failures=report.failures,
        command=shlex.join(argv),
        exit_code=done.exit_code,
        signal=done.signal,
    )
    return Result(text=told(argv, cwd, ctx.output.close().text, done, notes), data=data)


def _came_to(report: Report, done: Finished, *, named: bool) -> str:
    """The counts, or why there are none. That nothing was tested is no success."""
    if report.doubt:
        return report.doubt
    if report.passed == report.failed == report.skipped == 0:
        if named:
            return "nothing was tested: no tests fit what was named; leave path and filter out to run all"
        return "nothing was tested: no tests were found; test_cmd under [dev] sets another command"
    if report.counts or done.exit_code != 0:
        return report.counts
    return "no summary that is known here was printed, so what was tested is not known"


def _read(argv: list[str], ends: Ends) -> Report:
    """What the output says."""
    from pegboard_tools_dev.fitting import kind_of
    from pegboard_tools_dev.reading.readers import SPEAKS_ON, read
    from pegboard_tools_dev.reading.report import UNKNOWN

    kind = kind_of(argv)
    report = read(kind, ends.text(SPEAKS_ON[kind])) if kind in SPEAKS_ON else UNKNOWN
    return report if report != UNKNOWN else read(kind, ends.text())


def foreign(argv: list[str]) -> str:
    """What there is to say of pytest that came from where Pegboard is installed: its plugins are not the project's."""
    if argv[:3] != [sys.executable, "-m", "pytest"] or os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return ""
    return "with the pytest and the plugins beside Pegboard; a .venv in the project, or test_cmd under [dev], brings others"
