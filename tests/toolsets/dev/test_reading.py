"""What is read off the output of test programs: counts, names, texts; and that no text whatever is too much."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pegboard_tools_dev.reading.readers import READERS, read
from pegboard_tools_dev.reading.report import ALL_CHARS, FIRST_CHARS, LATER_CHARS, MOST_FAILURES, failures_of, lines_of

PYTEST = """\
_________ TestOld.test_deep _________
E   not in this part
=================== FAILURES ===================
____________________ test_one ____________________
first test_one
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
a.py:3: AssertionError
____________________ test_one ____________________
second test_one
________________ TestC.__call__[_] ________________
third
=========== short test summary info ============
FAILED a.py::test_one - assert 1 == 2
FAILED b.py::test_one - assert 3 == 4
FAILED b.py::TestC::__call__[_] - x - y
FAILED c.py::test_no_text[p - [q] - r] - message - more
SUBFAILED(i=1) d.py::test_sub - assert 0
SKIPPED [1] b.py:3: later
3 apples in 2.0s
= 4 failed, 5 passed, 1 skipped, 2 xfailed, 1 xpassed, 3 warnings in 61.10s (0:01:01) =
"""


def test_pytest() -> None:
    report = read("pytest", PYTEST)

    assert (report.passed, report.failed, report.skipped) == (6, 4, 3)
    assert [(failure.name, failure.text) for failure in report.failures] == [
        ("a.py::test_one", f"first test_one\n{' '.join('_' * 25)}\na.py:3: AssertionError"),
        ("b.py::test_one", "second test_one"),
        ("b.py::TestC::__call__[_]", "third"),
        ("c.py::test_no_text[p - [q] - r]", "message - more"),
        ("d.py::test_sub", "assert 0"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no tests ran in 0.01s", (0, 0, 0)),
        ("==== no tests ran in 0.01s ====", (0, 0, 0)),
        ("1 passed in 0.01s", (1, 0, 0)),
        ("5 deselected in 0.01s", (0, 0, 0)),
        ("2 failed, 1 error in 0.1s\n", (0, 3, 0)),
        ("1 passed in 0.01s\n3 things in 2.00s", (1, 0, 0)),
        ("3 things in 2.00s", (None, None, None)),
        ("\x1b[32m=== \x1b[1m1 passed\x1b[0m in 0.01s ===\x1b[0m\r\n", (1, 0, 0)),
    ],
)
def test_pytests_last_line(text: str, expected: tuple[int | None, ...]) -> None:
    report = read("pytest", text)

    assert (report.passed, report.failed, report.skipped) == expected


UNITTEST = f"""\
F.E
{"=" * 70}
ERROR: test_old (pkg.mod.Case)
{"-" * 70}
Traceback one
ValueError

{"=" * 70}
FAIL: test_new (pkg.mod.Case.test_new) [message] (i=1)
What the test says of itself
{"-" * 70}
Traceback two

{"=" * 70}
ERROR: test_gone (unittest.loader._FailedTest.test_gone)
{"-" * 70}
ImportError

{"-" * 70}
Ran 9 tests in 0.010s

FAILED (failures=1, errors=2, skipped=2, expected failures=1)
"""


def test_unittest() -> None:
    report = read("unittest", UNITTEST)

    assert (report.passed, report.failed, report.skipped) == (3, 3, 3)
    assert [(failure.name, failure.text) for failure in report.failures] == [
        ("pkg.mod.Case.test_old", "Traceback one\nValueError"),
        ("pkg.mod.Case.test_new [message] (i=1)", "What the test says of itself\nTraceback two"),
        ("test_gone", "ImportError"),
    ]


CARGO = """\
running 2 tests
test mod::fine ... ok
test mod::broken - should panic ... FAILED

failures:

---- mod::broken stdout ----
note: it did not panic

failures:
    mod::broken

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

test src/lib.rs - f (line 3) ... FAILED
---- src/lib.rs - f (line 3) stdout ----
error: nothing
test result: FAILED. 2 passed; 1 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


def test_cargo_adds_up_its_programs() -> None:
    report = read("cargo", CARGO)

    assert (report.passed, report.failed, report.skipped) == (3, 2, 3)
    assert [(failure.name, failure.text) for failure in report.failures] == [
        ("mod::broken", "note: it did not panic"),
        ("src/lib.rs - f (line 3)", "error: nothing"),
    ]


GO = """\
# example.com/m/broken
broken/a.go:3:1: undefined: x
FAIL\texample.com/m/broken [build failed]
--- FAIL: TestOuter (0.00s)
    --- FAIL: TestOuter/inner (0.00s)
        a_test.go:7: wrong
--- FAIL: TestPlain (0.01s)
    a_test.go:9: also wrong
FAIL
FAIL\texample.com/m\t0.004s
ok  \texample.com/m/fine\t0.002s
"""


def test_go_knows_what_passed_only_when_it_says_so() -> None:
    report = read("go", GO)
    assert (report.passed, report.failed, report.skipped) == (None, 3, None)
    assert [(failure.name, failure.text.strip()) for failure in report.failures] == [
        ("TestOuter/inner", "a_test.go:7: wrong"),
        ("TestPlain", "a_test.go:9: also wrong"),
        ("example.com/m/broken", "broken/a.go:3:1: undefined: x"),
    ]

    passed = "--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\n"
    verbose = f"=== RUN   TestA\n{passed}--- SKIP: TestB (0.00s)\nok  \tm\t0.1s\n"
    told = read("go", verbose)
    assert (told.passed, told.failed, told.skipped) == (1, 0, 1)
    quiet = read("go", "ok  \tm\t0.1s\n")
    assert (quiet.passed, quiet.failed, quiet.skipped, quiet.counts) == (None, 0, None, "")


TAP = """\
TAP version 13
# Subtest: outer
    # Subtest: inner
    not ok 1 - inner
      ---
      error: 'boom'
      ...
    1..1
not ok 1 - outer
  ---
  failureType: 'subtestsFailed'
  ...
ok 2 - later # SKIP no time
not ok 3 - planned # TODO
1..3
"""
NODE = "# tests 4\n# pass 0\n# fail 2\n# cancelled 1\n# skipped 1\n# todo 1\n"
SPEC = """\
✖ outer (3.1ms)
ℹ tests 4
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ skipped 2
ℹ todo 0

✖ failing tests:

test at a.test.js:3:1
✖ inner (1.2ms)
  Error: boom
      at a.test.js:4
"""


def test_node_and_plain_tap() -> None:
    node = read("script", TAP + NODE)
    assert (node.passed, node.failed, node.skipped) == (0, 3, 2)
    assert [(failure.name, failure.text) for failure in node.failures] == [("outer > inner", "error: 'boom'")]

    plain = read("make", TAP)
    assert (plain.passed, plain.failed, plain.skipped) == (0, 1, 2)

    spec = read("script", SPEC)
    assert (spec.passed, spec.failed, spec.skipped) == (1, 1, 2)
    assert [(failure.name, failure.text) for failure in spec.failures] == [("inner", "Error: boom\n    at a.test.js:4")]


JEST = """\
FAIL ./sum.test.js
  ● adds › two numbers

    expect(received).toBe(expected)
    at sum.test.js:4

  ● Console

    console.log

Summary of all failing tests
FAIL ./sum.test.js
  ● adds › two numbers

    expect(received).toBe(expected)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 skipped, 2 todo, 3 passed, 7 total
"""
VITEST = """\
 FAIL  src/a.test.ts > outer > inner
AssertionError: expected 1 to be 2
⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯
 Test Files  1 failed (1)
      Tests  1 failed | 2 passed | 1 skipped (4)
"""
MOCHA = """\
  outer
    ✔ fine
    1) inner

  1 passing (4ms)
  2 pending
  2 failing

  1) outer
       inner:
     AssertionError: 1 == 2
      at a.js:3

  2) "before each" hook:
     Error: no
"""


def test_jest_vitest_and_mocha() -> None:
    jest = read("script", JEST)
    assert (jest.passed, jest.failed, jest.skipped) == (3, 1, 3)
    [failure] = jest.failures
    assert failure.name == "adds › two numbers" and failure.text.endswith("at sum.test.js:4")

    vitest = read("script", VITEST)
    assert (vitest.passed, vitest.failed, vitest.skipped) == (2, 1, 1)
    assert [(f.name, f.text) for f in vitest.failures] == [
        ("src/a.test.ts > outer > inner", "AssertionError: expected 1 to be 2")
    ]

    mocha = read("script", MOCHA)
    assert (mocha.passed, mocha.failed, mocha.skipped) == (1, 2, 2)
    assert [(f.name, f.text) for f in mocha.failures] == [
        ("outer > inner", "AssertionError: 1 == 2\nat a.js:3"),
        ('"before each" hook', "Error: no"),
    ]


def test_the_first_text_is_longer_and_all_of_them_are_bounded() -> None:
    failures = failures_of((f"t{n}", ["x" * 40_000, "end"]) for n in range(MOST_FAILURES + 100))

    assert len(failures) == MOST_FAILURES
    assert len(failures[0].text) <= FIRST_CHARS and failures[0].text.endswith("end")
    assert len(failures[1].text) <= LATER_CHARS
    assert sum(len(failure.text) for failure in failures) <= ALL_CHARS


def test_a_name_that_comes_twice_is_one_failure() -> None:
    [failure] = failures_of([("t", []), ("t", ["text"])])

    assert (failure.name, failure.text) == ("t", "text")


SAMPLES = [PYTEST, UNITTEST, CARGO, GO, TAP, NODE, SPEC, JEST, VITEST, MOCHA]
PIECES = sorted({line for text in SAMPLES for line in text.splitlines()})
OUTPUT = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=30))).map("\n".join)


@settings(max_examples=150)
@given(st.sampled_from([*READERS, "make", ""]), OUTPUT | st.text())
@example("node", "    not ok 1 - x\n      ---\n      a")
@example("pytest", "=\n==\n= =\n_ _\n=== short test summary info ===\nFAILED \nFAILED  - ")
@example("go", "# \n#  \n--- FAIL: A (0.1s)\nFAIL\tx [build failed]")
@example("", "=" * 50_000)
@example("", "= " * 50_000)
@example("", "test " * 20_000 + "(" * 10_000)
def test_no_output_is_too_much(kind: str, text: str) -> None:
    report = read(kind, text)

    assert all(count is None or count >= 0 for count in (report.passed, report.failed, report.skipped))
    assert len(report.failures) <= MOST_FAILURES
    assert all(failure.name and len(failure.name) <= 500 for failure in report.failures)


@pytest.mark.parametrize("kind", READERS)
def test_another_programs_output_is_not_taken_for_its_own(kind: str) -> None:
    own = {"pytest": PYTEST, "unittest": UNITTEST, "cargo": CARGO, "go": GO, "jest": JEST, "vitest": VITEST}
    own |= {"mocha": MOCHA, "node": SPEC}
    for other, text in own.items():
        assert (READERS[kind](lines_of(text)) is not None) == (other == kind), (kind, other)


@given(st.lists(st.text(st.characters(exclude_characters="\x1b\r\n"), max_size=40)))
def test_lines_without_escapes_are_as_they_were(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert lines_of(text) == text.split("\n")
    coloured = "".join(chain.from_iterable(("\x1b[1;31m", char, "\x1b[0m") if char != "\n" else char for char in text))
    assert lines_of(coloured) == text.split("\n")
