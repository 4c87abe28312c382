"""The output of pytest and of unittest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegboard_tools_dev.reading.report import Report, counted, doubted, failures_of, total

_PYTEST_END = re.compile(r"=* ?(no tests ran|\d[^=]*?) in [\d.]+s(?: \([\d:.]+\))? ?=*")
_PYTEST_WORDS = frozenset({"passed", "failed", "skipped", "error", "errors", "xfailed", "xpassed", "deselected"})
_PYTEST_FAILED = re.compile(r"(?:SUB)?(FAILED|ERROR)(?:\([^)]*\)|\[[^\]]*\])? (.+)")
_ERROR_TITLE = re.compile(r"ERROR (?:at (?:setup|teardown) of|collecting) (.+)")


def pytest(lines: list[str]) -> Report | None:
    """None where it is not pytest's output."""
    ends = [found for line in lines if (found := _PYTEST_END.fullmatch(line)) and _is_end(found[1])]
    texts, summary = _pytest_parts(lines)
    if not ends and not summary:
        return None
    failures = failures_of(
        (name, texts.get(_title(name), [[message]]).pop(0)) for name, message in _named(summary, texts)
    )
    if not ends:
        return Report(passed=None, failed=None, skipped=None, failures=failures)
    counts = counted(ends[-1][1].split(", "))
    return _matched(
        Report(
            passed=total(counts, "passed", "xpassed"),
            failed=total(counts, "failed", "error", "errors"),
            skipped=total(counts, "skipped", "xfailed"),
            failures=failures,
        ),
        sum(line.startswith(("FAILED ", "ERROR ")) for line in summary),  # subtests are counted apart
    )


def _matched(report: Report, listed: int) -> Report:
    """The report, doubted where more failures are listed than it counts: then not all of it is of one run."""
    if report.failed is None or listed <= report.failed:
        return report
    return doubted(report, f"its last summary says {report.failed} failed, and {listed} are listed")


def _is_end(said: str) -> bool:
    return said == "no tests ran" or not _PYTEST_WORDS.isdisjoint(counted(said.split(", ")))


def _pytest_parts(lines: list[str]) -> tuple[dict[str, list[list[str]]], list[str]]:
    """Texts by the titles above them, several of one title in their order; and the lines of the short summary."""
    texts: dict[str, list[list[str]]] = {}
    summary: list[str] = []
    part = ""
    text: list[str] | None = None
    for line in lines:
        if (title := _ruled(line, "=")) is not None:
            part, text = title, None
            if title == "short test summary info":
                summary.clear()  # an earlier one was printed by a test
        elif part == "short test summary info":
            summary.append(line)
        elif part in ("FAILURES", "ERRORS"):
            if (title := _ruled(line, "_")) is not None:
                text = []
                texts.setdefault(_bare(title), []).append(text)
            elif text is not None:
                text.append(line)
    return texts, summary


def _ruled(line: str, mark: str) -> str | None:
    """The title of `=== title ===`; None for any other line, also for a rule without a title."""
    if not line.startswith(mark) or not line.endswith(mark):
        return None
    inside = line.strip(mark)
    titled = inside.startswith(" ") and inside.endswith(" ") and inside.strip(f"{mark} ")
    return inside[1:-1] if titled else None


def _bare(title: str) -> str:
    found = _ERROR_TITLE.fullmatch(title)
    return found[1] if found else title


def _title(name: str) -> str:
    """The title above the text of a test: its name without the file, `Class.method`."""
    file, colons, rest = name.partition("::")
    return rest.replace("::", ".") if colons else file


def _named(summary: list[str], texts: dict[str, list[list[str]]]) -> Iterator[tuple[str, str]]:
    """Names and messages of the short summary: `FAILED tests/test_a.py::test_one[a - b] - AssertionError`."""
    for line in summary:
        if (found := _PYTEST_FAILED.fullmatch(line)) is None:
            continue
        parts = found[2].split(" - ")
        at = _end_of_name(parts)
        name = " - ".join(parts[:at])
        if texts.get(_title(name)) == []:
            del texts[_title(name)]
        yield name, " - ".join(parts[at:])


def _end_of_name(parts: list[str]) -> int:
    """How many of the parts are the name: up to where its brackets are closed, for what is in them may hold a ` - `."""
    level = 0
    for at, part in enumerate(parts, 1):
        level += part.count("[") - part.count("]")
        if level == 0:
            return at
    return len(parts)


_RAN = re.compile(r"Ran (\d{1,9}) tests? in [\d.]+s")
_OUTCOME = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?")
_HEAD = re.compile(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)")
_UNITTEST_NAME = re.compile(r"(\S+) \(([\w.<>]+)\)(.*)")
_FIXTURES = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
_DOUBLE, _SINGLE = "=" * 70, "-" * 70


def unittest(lines: list[str], *, once: bool = False) -> Report | None:
    """None where it is not unittest's output. Several runs are added up; of one (`once`) the last summary is its own."""
    ends = [(at, int(found[1])) for at, line in enumerate(lines) if (found := _RAN.fullmatch(line))]
    if not ends:
        return None
    ran = [number for _, number in ends[-1:] if once] or [number for _, number in ends]
    counts: dict[str, int] = {}
    for line in lines[ends[-1][0] :] if once else lines:
        for part in (found[1] or "").split(", ") if (found := _OUTCOME.fullmatch(line)) else ():
            word, _, number = part.partition("=")
            if number.isascii() and number.isdigit() and len(number) < 10:
                counts[word] = counts.get(word, 0) + int(number)
    failed = total(counts, "failures", "errors", "unexpected successes")
    skipped = total(counts, "skipped", "expected failures")
    texts = list(_unittest_texts(lines))
    # What is listed is more than tests: each failed subtest, and fixtures of classes and modules.
    fallen = {name.split(" ")[0] for name, _ in texts if not name.split(" ")[0].endswith(_FIXTURES)}
    passed = max(0, sum(ran) - len(fallen) - skipped)
    return _matched(Report(passed=passed, failed=failed, skipped=skipped, failures=failures_of(texts)), len(texts))


def _unittest_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    name, text = "", list[str]()
    for before, line in zip(["", *lines], lines, strict=False):
        if before == _DOUBLE and (found := _HEAD.fullmatch(line)):
            if name:
                yield name, text
            name, text = _unittest_name(found[1]), []
        elif _RAN.fullmatch(line):
            if name:
                yield name, text
            name, text = "", []
        elif line not in (_DOUBLE, _SINGLE):
            text.append(line)
    if name:
        yield name, text


def _unittest_name(head: str) -> str:
    """`pkg.mod.Case.test_x` from `test_x (pkg.mod.Case.test_x)`, or, before Python 3.11, from `test_x (pkg.mod.Case)`."""
    if (found := _UNITTEST_NAME.fullmatch(head)) is None:
        return head
    method, place, rest = found.groups()
    if "_FailedTest" in place:
        return method + rest
    return (place if place.endswith(f".{method}") else f"{place}.{method}") + rest
