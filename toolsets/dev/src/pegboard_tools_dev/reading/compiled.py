"""The output of `cargo test` and of `go test`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegboard_tools_dev.reading.report import Report, counted, failures_of, total

_CARGO_RESULT = re.compile(r"test result: \w+\. (.+)")
_CARGO_FAILED = re.compile(r"test (.+?)(?: - should panic)? \.\.\. FAILED")
_CARGO_TEXT = re.compile(r"---- (.+) (?:stdout|stderr) ----")


def cargo(lines: list[str]) -> Report | None:
    """None where it is not cargo's output. The results of several test programs are added up."""
    results = [found[1] for line in lines if (found := _CARGO_RESULT.fullmatch(line))]
    if not results:
        return None
    counts = counted(part for result in results for part in result.split(";"))
    return Report(
        passed=total(counts, "passed", "measured"),
        failed=total(counts, "failed"),
        skipped=total(counts, "ignored"),
        failures=failures_of(_cargo_texts(lines)),
    )


def _cargo_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    names = [found[1] for line in lines if (found := _CARGO_FAILED.fullmatch(line))]
    texts: dict[str, list[str]] = {}
    text: list[str] | None = None
    for line in lines:
        if found := _CARGO_TEXT.fullmatch(line):
            text = texts.setdefault(found[1], [])
        elif line == "failures:" or _CARGO_RESULT.fullmatch(line):
            text = None
        elif text is not None:
            text.append(line)
    for name in dict.fromkeys([*names, *texts]):
        yield name, texts.get(name, [])


_GO_TEST = re.compile(r"( *)--- (FAIL|PASS|SKIP): (\S+) \([\d.]+s\)")
_GO_PACKAGE = re.compile(r"(ok|FAIL|\?|---)\s*\t(\S+).*")
_GO_BROKEN = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]")


def go(lines: list[str]) -> Report | None:
    """None where it is not go's output. Passed and skipped tests are known with `-v` alone; else they are None."""
    tests = [found for line in lines if (found := _GO_TEST.fullmatch(line))]
    broken = [found[1] for line in lines if (found := _GO_BROKEN.fullmatch(line))]
    if not tests and not any(_GO_PACKAGE.fullmatch(line) for line in lines):
        return None
    counts: dict[str, int] = {}
    for test in tests:
        if not test[1]:
            counts[test[2]] = counts.get(test[2], 0) + 1
    said = _go_builds(lines) if broken else {}
    verbose = any(line.startswith("=== RUN ") for line in lines)
    return Report(
        passed=total(counts, "PASS") if verbose else None,
        failed=total(counts, "FAIL") + len(broken),
        skipped=total(counts, "SKIP") if verbose else None,
        failures=failures_of([*_go_texts(lines), *((name, said.get(name, [])) for name in broken)]),
    )


def _go_texts(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What is indented below `--- FAIL:`; of a test with failing subtests those, unless it said something itself."""
    name, text = "", list[str]()
    for line in [*lines, ""]:
        if (test := _GO_TEST.fullmatch(line)) or not line.startswith((" ", "\t")):
            if name and (text or test is None or not test[3].startswith(f"{name}/")):
                yield name, text
            name, text = (test[3], []) if test and test[2] == "FAIL" else ("", [])
        elif name:
            text.append(line)


def _go_builds(lines: list[str]) -> dict[str, list[str]]:
    """What the compiler said of packages: below `# PACKAGE`."""
    found: dict[str, list[str]] = {}
    text: list[str] | None = None
    for line in lines:
        if line.startswith("# "):
            text = found.setdefault(line.split(" ")[1], [])
        elif line.startswith(("FAIL", "ok ", "? ")):
            text = None
        elif text is not None:
            text.append(line)
    return found
