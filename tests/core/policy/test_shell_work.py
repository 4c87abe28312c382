"""No line keeps a session waiting: what is done for one is bounded, and a line that takes more is not passed.

Work is counted by what is called, not by a clock."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pegboard.policy.shell import judge as judging
from pegboard.policy.shell import read_line

PATTERNS = {
    "watch": "watch " * 1600, "exec": "find " + "-exec " * 1500, "eval": "eval " * 1900, "ssh": "ssh " * 1990,
    "eval quoted": 'eval "' * 1400, "pipes": "f(){ " + "a|" * 4500 + "a;};f", "globs": "ls " + "* " * 4900,
    "some globs": "ls " + "* " * 900, "background": "a&" * 4900, "time": "time " * 1990, "functions": "f(){ " * 1900,
    "list": "ls;" * 3000, "brackets": "(" * 5000, "backticks": "`" * 9000, "substitutions": "echo " + '"$(x)"' * 1600,
    "open": "$(" * 4000, "folders": "cat " + "*/" * 1500, "deep": "cat " + "a/" * 4900, "sudo": "sudo " * 1900,
    "bash -c": "bash -c " * 1200, "braces": "${" * 4000, "documents": "cat <<E\n" * 1100, "long": "ls;" * 40_000,
    "recursion": "grep -r a " + ". " * 1500, "options": "sudo -a " * 1200, "xargs": "echo a | " + "xargs " * 1500,
    "fed": "echo a" + " | bash" * 1300, "parallel": "parallel " + "a " * 900 + "::: " + "b " * 900,
    "tests": "[ a ];" * 1600, "through": "uv run " * 1400, "npx": "npx -y " * 1400, "git": "git -c " * 1400,
    "pieces": "{" * 9000, "cats": "echo a" + " | cat" * 1600 + " | bash",
}  # fmt: skip
MOST = 600_000
"""Calls of functions. An ordinary line takes some hundreds; this many take well under a second."""


@pytest.mark.parametrize("text", PATTERNS.values(), ids=PATTERNS)
def test_a_line_takes_no_more_than_so_much_work(text: str, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"f{number}").touch()
    read_line("ls | cat", root=str(tmp_path))  # what is read once is read
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        line = read_line(text, root=str(tmp_path))
    finally:
        sys.setprofile(None)

    assert calls < MOST
    assert line.error is not None or all(command.reads is None for command in line.commands)
    assert len(line.commands) < 5000


def test_what_is_beyond_the_work_is_not_passed_and_rules_nothing_out() -> None:
    line = read_line("eval ls; " + "eval 'ls; ls; ls' " * 200)
    assert line.error is not None and line.error.rule == "R13"


@pytest.mark.parametrize("fault", [RecursionError(), MemoryError(), ValueError("x"), KeyError("x")])
def test_a_fault_of_ours_makes_a_line_not_understood(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise fault

    monkeypatch.setattr(judging, "scan", fail)
    line = read_line("ls")
    assert line.error is not None and line.error.rule == "R0"
    assert line.commands == ()


def test_a_deep_glob_is_asked_about(tmp_path: Path) -> None:
    line = read_line("cat " + "*/" * 1500, root=str(tmp_path))
    assert line.error is None
    assert line.commands[0].reads is None
