"""Running an engine: its output taken as it comes, stopped at the limit, and its troubles put into words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

import msgspec

from pegboard.errors import ToolError
from pegboard.kit.names import shown
from pegboard.kit.process import Finished
from pegboard.kit.walk.dialect import HINT
from pegboard.kit.walk.engine import Command, Reader, Record, Run
from pegboard.kit.walk.job import SLOW, Job

MOST_NOTES = 5
MOST_MALFORMED = 100
"""An engine that prints more of what cannot be understood is stopped."""
_TROUBLE = re.compile(
    rb"^rg: (.*?)(?:: IO error for operation on .*?)?: ([^:\n]*) \(os error \d+\)$\n?", re.MULTILINE | re.DOTALL
)
_REGEX = re.compile(rb"regex parse error|not allowed in a regex|error parsing|size limit|look-around|backreference")
_REASON = re.compile(rb"^error: (.*)", re.MULTILINE)
_LACKS = re.compile(r"look-around|look-ahead|backreference")


class TooSlow(ToolError):
    """The pattern takes too long on the file `path`."""

    def __init__(self, path: bytes) -> None:
        where = _name(path)
        text = f"The pattern takes too long on {where}, so the search was given up. Simplify it: avoid nested repeats."
        super().__init__(text)
        self.path = path


class Answer(msgspec.Struct):
    """What an engine said: records that were wanted, files where a NUL ended the search, what could not be read.

    more: it was stopped at the limit. failed: it broke down, and why.
    """

    records: list[Record] = []
    nuls: list[bytes] = []
    trouble: list[tuple[bytes, str]] = []
    more: bool = False
    failed: str = ""


async def ask(
    command: Command,
    job: Job,
    limit: int | None,
    wanted: Callable[[bytes], bool],
    run: Run,
    cwd: str,
    told: Callable[[Record], None] | None = None,
) -> Answer:
    """Run an engine until it ends or has said more than `limit` wanted things; each is `told` as it comes.

    Raises ToolError for a pattern that it does not take, TooSlow for one that never ends.
    """
    answer, reader = Answer(records=[], nuls=[], trouble=[]), Reader(job.mode, job.before)

    def take(records: Iterable[Record]) -> bool:
        for record in records:
            if not wanted(record.path):
                continue
            if record.nul is not None:
                answer.nuls.append(record.path)
            else:
                answer.records.append(record)
                if limit is not None and len(answer.records) > limit:
                    answer.more = True
                    answer.records.pop()
                    return True
                if told is not None:
                    told(record)
        return False

    def each(stream: str, data: bytes) -> bool:
        if stream != "stdout" or answer.more:
            return False
        return take(reader.feed(data)) or reader.malformed > MOST_MALFORMED

    done = await run(command.argv, cwd=cwd, stdin=command.stdin, each=each)
    if not answer.more:
        take(reader.finish())
        _judge(done, command.fine, answer, reader.malformed, job.before)
    return answer


def _judge(done: Finished, fine: tuple[int, ...], answer: Answer, malformed: int, before: bytes) -> None:
    """What the way it ended means."""
    if done.exit_code == SLOW:
        raise TooSlow(done.stderr.rpartition(b"\0slow: ")[2])
    if malformed:
        answer.failed = "it printed what could not be understood"
    if done.exit_code in fine or done.stopped:
        return
    if done.exit_code == 2 and _REGEX.search(done.stderr):
        raise ToolError(invalid_regex(done.stderr))
    for path, why in _TROUBLE.findall(done.stderr):
        answer.trouble.append((path.removeprefix(before), why.decode(errors="replace")))
    other = _TROUBLE.sub(b"", done.stderr).strip()
    if done.exit_code != 2 or other or not answer.trouble:
        first = other.partition(b"\n")[0].decode(errors="replace")[:200]
        answer.failed = f"it ended with {done.signal or f'exit status {done.exit_code}'}{': ' if first else ''}{first}"


def invalid_regex(stderr: bytes) -> str:
    """An engine's complaint about a pattern, in our words."""
    reasons = _REASON.findall(stderr)
    text = (reasons[-1] if reasons else stderr.strip().partition(b"\n")[0].removeprefix(b"rg: ")).decode(
        errors="replace"
    )
    hint = HINT
    if _LACKS.search(text):
        hint = 'Write it without look-around and back-references, or set search.engine = "python", which has them.'
    return f"Invalid regex: {text}. {hint}"


def trouble_notes(answer: Answer) -> list[str]:
    """What was not searched, or not wholly."""
    unique = list(dict.fromkeys(answer.trouble))
    notes = [f"not searched: {_name(path)} ({why})" for path, why in unique[:MOST_NOTES]]
    if len(unique) > MOST_NOTES:
        notes.append(f"not searched: {len(unique) - MOST_NOTES} more that could not be read")
    for path in answer.nuls[:MOST_NOTES]:
        notes.append(f"{_name(path)} is binary further down: searched up to its first NUL only")
    return notes


def _name(path: bytes) -> str:
    return shown(os.fsdecode(path)) or "."
