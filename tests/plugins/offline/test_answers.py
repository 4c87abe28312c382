"""Answers follow the shape of the data, never the name of the tool."""

from __future__ import annotations

import pytest
from pegboard.models import ToolReply
from pegboard_offline import answer


def told(text: str, data: object = None, outcome: str = "ok") -> str:
    return answer.result(ToolReply(id="c1", name="any", text=text, outcome=outcome, data=data))


@pytest.mark.parametrize(
    ("text", "data", "expected"),
    [
        ("(no matches)", {"hits": [], "engine": "rg"}, "no hits:\n(no matches)"),
        ("a.py\nb.py", {"paths": ["a.py", "b.py"]}, "2 paths:\na.py\nb.py"),
        ("", {"exit_code": 0, "signal": None, "stdout": "", "stderr": ""}, "exit code 0:"),
        ("boom", {"exit_code": 2, "signal": None, "stdout": "", "stderr": "boom"}, "exit code 2:\nboom"),
        ("x", {"exit_code": None, "signal": "SIGKILL", "stdout": "", "stderr": ""}, "ended by signal SIGKILL:\nx"),
        ("t", {"passed": 9, "failed": 1, "failures": [{"name": "t"}]}, "1 failure, 9 passed, 1 failed:\nt"),
        ("# a - 2 lines", {"path": "a", "lines": 2, "chars": 9}, "# a - 2 lines"),
        ("plain", None, "plain"),
        ("", None, "Done; there is nothing to show."),
        ("", [1, 2], "2 items:"),
    ],
)  # fmt: skip
def test_a_result_is_told_from_its_data_and_text(text, data, expected):
    assert told(text, data) == expected


def test_long_results_are_cut_and_say_so():
    text = told("\n".join(str(n) for n in range(100)))
    assert text.endswith("… 60 more lines")
    assert len(told("x" * 5_000)) <= 300


def test_a_refusal_says_that_nothing_was_changed():
    assert told("denied by rule x", outcome="blocked") == "Not done, nothing was changed: denied by rule x"
