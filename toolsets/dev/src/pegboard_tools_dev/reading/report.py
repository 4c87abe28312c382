"""What is made of a test program's output: counts, and which tests failed with what text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

FIRST_CHARS = 8_000
LATER_CHARS = 2_000
ALL_CHARS = 64_000
MOST_FAILURES = 200
LINE_CHARS = 2_000
"""Of a line, for looking at it; no line that means something is longer."""
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-Z]|[@-Z\\^_=>])")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A test that failed, or could not be run: its name as its program takes it, and what was said of it."""

    name: str
    text: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was read. A count is None where the program does not say. failed: also what could not be run. skipped: also
    what was expected to fail and did. doubt: why the counts that were printed are not given."""

    passed: int | None
    failed: int | None
    skipped: int | None
    failures: list[Failure]
    doubt: str = ""

    @property
    def counts(self) -> str:
        """`1 failed, 2 passed`; empty where nothing is known."""
        said = [(self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped")]
        return ", ".join(f"{n} {word}" for n, word in said if n or (n is not None and word == "passed"))


UNKNOWN = Report(passed=None, failed=None, skipped=None, failures=[])


def doubted(report: Report, why: str) -> Report:
    """The report without its counts: what printed them may have been a test."""
    return Report(passed=None, failed=None, skipped=None, failures=report.failures, doubt=f"no counts: {why}")


def matched(report: Report, ended: str) -> Report:
    """The report of a run that went wrong (`ended`: `exit code 1`), doubted where it says that nothing failed.

    None of nothing is no contradiction: a run without tests ends so, too."""
    if report.failed != 0 or report.passed == report.skipped == 0:
        return report
    return doubted(
        report, f"its last summary says that none failed ({report.counts or 'no more'}), and it ended with {ended}"
    )


def lines_of(text: str) -> list[str]:
    """The lines as they would stand at a terminal without colours."""
    return [line.rpartition("\r")[2][:LINE_CHARS] for line in _ANSI.sub("", text.replace("\r\n", "\n")).split("\n")]


def failures_of(found: Iterable[tuple[str, Iterable[str]]]) -> list[Failure]:
    """Failures from names and lines: each name once, the first with more of its text than the others."""
    texts: dict[str, str] = {}
    for name, lines in found:
        text = "\n".join(lines).strip("\n").rstrip()
        if not name or (name not in texts and len(texts) >= MOST_FAILURES):
            continue
        texts[name] = texts.get(name) or text
    left, kept = ALL_CHARS, []
    for index, (name, text) in enumerate(texts.items()):
        text = shortened(text, min(left, LATER_CHARS if index else FIRST_CHARS))
        left -= len(text)
        kept.append(Failure(name=name[:500], text=text))
    return kept


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters: its beginning and its end, where what matters stands."""
    if len(text) <= most:
        return text
    mark = "\n[...]\n"
    half = (most - len(mark)) // 2
    return text[:half] + mark + text[-half:] if half > 0 else ""


def total(counts: dict[str, int], *words: str) -> int:
    """The sum of what was counted under these words."""
    return sum(counts.get(word, 0) for word in words)


def counted(parts: Iterable[str]) -> dict[str, int]:
    """Of `3 passed`: how many of what. What reads otherwise is left out."""
    found: dict[str, int] = {}
    for part in parts:
        number, _, word = part.strip().partition(" ")
        if number.isascii() and number.isdigit() and len(number) < 10:
            found[word] = found.get(word, 0) + int(number)
    return found
