"""The output of node's own test runner, of anything that speaks TAP, and of jest, vitest and mocha."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegboard_tools_dev.reading.report import Report, counted, failures_of, total

_TAP = re.compile(r"( *)(not ok|ok)\b(?: (\d+))?(?: -)? ?(.*)")
_TAP_DIRECTIVE = re.compile(r" # (skip|todo)\b.*", re.IGNORECASE)
_TAP_PLAN = re.compile(r"1\.\.\d+(?: .*)?")
_SUBTEST = re.compile(r"( *)# Subtest: (.*)")
_NODE_COUNT = re.compile(r"(?:# |ℹ )(tests|pass|fail|cancelled|skipped|todo) (\d{1,9})")
_SPEC_FAILED = re.compile(r"✖ (.*?)(?: \([\d.]+ms\))?")


def node(lines: list[str]) -> Report | None:
    """node --test, in either of its forms, or plain TAP. None where it is neither."""
    counts = {found[1]: int(found[2]) for line in lines if (found := _NODE_COUNT.fullmatch(line))}
    texts = [*_tap_texts(lines), *_spec_texts(lines)]
    if {"pass", "fail"} <= counts.keys():
        return Report(
            passed=counts["pass"],
            failed=total(counts, "fail", "cancelled"),
            skipped=total(counts, "skipped", "todo"),
            failures=failures_of(texts),
        )
    points = [found for line in lines if (found := _TAP.fullmatch(line)) and not found[1]]
    if not points or not any(map(_TAP_PLAN.fullmatch, lines)):
        return None
    aside = [point for point in points if _TAP_DIRECTIVE.search(" " + point[4])]
    failed = [point for point in points if point[2] == "not ok" and point not in aside]
    return Report(
        passed=len(points) - len(aside) - len(failed),
        failed=len(failed),
        skipped=len(aside),
        failures=failures_of(texts),
    )


def _tap_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Failed points, under the names of those around them, with the YAML below; not the points that stand for others."""
    around: dict[int, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := _SUBTEST.fullmatch(line):
            around[len(found[1])] = found[2]
        elif (point := _TAP.fullmatch(line)) and point[2] == "not ok" and not _TAP_DIRECTIVE.search(" " + point[4]):
            indent = len(point[1])
            text, at = _yaml(lines, at, indent + 2)
            if "failureType: 'subtestsFailed'" not in text:
                names = [name for level, name in sorted(around.items()) if level < indent]
                yield " > ".join([*names, point[4] or f"test {point[3]}"]), text


def _yaml(lines: list[str], at: int, indent: int) -> tuple[list[str], int]:
    """The block between `---` and `...`, and where it ends."""
    margin = " " * indent
    if at >= len(lines) or lines[at] != f"{margin}---":
        return [], at
    end = next((n for n in range(at + 1, len(lines)) if lines[n] == f"{margin}..."), len(lines))
    return [line.removeprefix(margin) for line in lines[at + 1 : end]], end + 1


def _spec_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The list at the end of node's other form."""
    if "✖ failing tests:" not in lines:
        return
    name, text = "", list[str]()
    for line in [*lines[lines.index("✖ failing tests:") + 1 :], "✖ "]:
        if found := _SPEC_FAILED.fullmatch(line):
            if name:
                yield name, text
            name, text = found[1], []
        elif not line.startswith("test at "):
            text.append(line.removeprefix("  "))


_JEST_COUNT = re.compile(r"Tests:\s+(.+)")
_JEST_FAILED = re.compile(r"  ● (.+)")


def jest(lines: list[str]) -> Report | None:
    """None where it is not jest's output."""
    found = [match[1] for line in lines if (match := _JEST_COUNT.fullmatch(line))]
    if not found:
        return None
    counts = counted(found[-1].split(","))
    return Report(
        passed=total(counts, "passed"),
        failed=total(counts, "failed"),
        skipped=total(counts, "skipped", "todo"),
        failures=failures_of(_jest_texts(lines)),
    )


def _jest_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    name, text = "", list[str]()
    for line in [*lines, "Tests:"]:
        found = _JEST_FAILED.fullmatch(line)
        if found or line.startswith(("Tests:", "Test Suites:", "PASS ", "FAIL ", "Summary of all")):
            if name and name != "Console":
                yield name, text
            name, text = (found[1] if found else ""), []
        else:
            text.append(line.removeprefix("    "))


_VITEST_COUNT = re.compile(r" *Tests  +(.+?) \(\d+\)")
_VITEST_FAILED = re.compile(r" FAIL  (.+)")


def vitest(lines: list[str]) -> Report | None:
    """None where it is not vitest's output."""
    found = [match[1] for line in lines if (match := _VITEST_COUNT.fullmatch(line))]
    if not found:
        return None
    counts = counted(found[-1].split("|"))
    return Report(
        passed=total(counts, "passed"),
        failed=total(counts, "failed"),
        skipped=total(counts, "skipped", "todo"),
        failures=failures_of(_vitest_texts(lines)),
    )


def _vitest_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    name, text = "", list[str]()
    for line in [*lines, "⎯"]:
        found = _VITEST_FAILED.fullmatch(line)
        if found or line.startswith("⎯"):
            if name:
                yield name, text
            name, text = (found[1] if found else ""), []
        else:
            text.append(line)


_MOCHA_COUNT = re.compile(r" +(\d{1,9}) (passing|pending|failing)(?: \(.*\))?")
_MOCHA_FAILED = re.compile(r"  \d+\) (.+)")


def mocha(lines: list[str]) -> Report | None:
    """None where it is not mocha's output."""
    found = [(at, match) for at, line in enumerate(lines) if (match := _MOCHA_COUNT.fullmatch(line))]
    if not any(match[2] == "passing" for _, match in found):
        return None
    counts = {match[2]: int(match[1]) for _, match in found}
    return Report(
        passed=total(counts, "passing"),
        failed=total(counts, "failing"),
        skipped=total(counts, "pending"),
        failures=failures_of(_mocha_texts(lines[found[-1][0] + 1 :])),
    )


def _mocha_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """`1) suite`, the names below it up to the one that ends with a colon, and the text."""
    names, text, naming = list[str](), list[str](), False
    for line in lines:
        if found := _MOCHA_FAILED.fullmatch(line):
            if names:
                yield " > ".join(names).removesuffix(":"), text
            names, text, naming = [found[1]], [], not found[1].endswith(":")
        elif naming:
            names.append(line.strip())
            naming = not line.endswith(":") and len(names) < 20
        else:
            text.append(line.strip())
    if names:
        yield " > ".join(names).removesuffix(":"), text
