"""What a model and programs get of a command that was run, or that goes on in the background."""

from __future__ import annotations

from typing import Any

import msgspec

from pegboard.calls import Result
from pegboard.errors import Interrupted
from pegboard.kit.process import Finished
from pegboard.kit.sink import Sink

DEFAULT_MS = 120_000
LONGEST_MS = 600_000


def milliseconds(seconds: Any) -> int:
    """A limit that another dialect gives in seconds."""
    return round(float(seconds) * 1000)


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a command. `exit_code` is null when a signal ended it, which `signal` names."""

    exit_code: int | None
    signal: str | None
    stdout: str
    stderr: str


class Background(Ran, frozen=True, kw_only=True):
    """The same of one that goes on in the background as `job`, so `exit_code` is null: what it printed up to then."""

    job: str


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A command that went on in the background as a job. `text` says so, and how to go on with it."""

    job: str
    text: str


def result_of(done: Finished | Moved, output: Sink, timeout: float | None = None) -> Result:
    """The result of a command whose output went to `output`. `timeout`: its limit, in seconds.

    Raises:
        Interrupted: it was stopped at its limit.
    """
    if isinstance(done, Finished) and done.timed_out:
        raise Interrupted("timeout", limit=timeout)
    printed = output.close().text
    stdout, stderr = output.stream("stdout"), output.stream("stderr")
    if isinstance(done, Moved):
        data: Ran = Background(exit_code=None, signal=None, stdout=stdout, stderr=stderr, job=done.job)
        return Result(text=_below(printed, [f"({done.text})"]), data=data)
    data = Ran(exit_code=done.exit_code, signal=done.signal, stdout=stdout, stderr=stderr)
    return Result(text=_below(printed, [f"({said})" for said in endings(printed, done)]), data=data)


def endings(printed: str, done: Finished) -> list[str]:
    """What there is to say of how a command ended, besides what it printed."""
    said = []
    if done.signal:
        said.append(f"killed by {done.signal}")
    elif done.exit_code:
        said.append(f"exit code {done.exit_code}")
    elif not printed:
        said.append("no output")
    if done.left_running:
        said.append("what it had left running in the background was ended")
    return said


def _below(printed: str, notes: list[str]) -> str:
    if printed and notes and not printed.endswith("\n"):
        printed += "\n"
    return printed + "\n".join(notes)
