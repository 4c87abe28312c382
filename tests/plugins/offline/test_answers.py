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
        ("(no matches)", {"hits": [], "engine": "rg"}, "(no matches)"),
        ("a.py\nb.py", {"paths": ["a.py", "b.py"]}, "2 paths:\na.py\nb.py"),
        ("", {"exit_code": 0, "signal": None, "stdout": "", "stderr": ""}, "exit code: 0"),
        ("boom\n(exit code 2)", {"exit_code": 2, "signal": None, "stderr": "boom"}, "boom\n(exit code 2)"),
        ("(killed by SIGKILL)", {"exit_code": None, "signal": "SIGKILL"}, "(killed by SIGKILL)"),
        ("a.py\nb.py", {"paths": ["a.py", "b.py"], "more": False, "left_out": 0, "notes": []}, "2 paths:\na.py\nb.py"),
        ("a.py", {"paths": ["a.py"], "left_out": 2, "notes": []}, "1 path, 2 left out:\na.py"),
        ("a.py\n(b: odd)", {"paths": ["a.py"], "notes": ["b: odd", "c: odd"]}, "1 path:\na.py\n(b: odd)\nc: odd"),
        ("Replaced 1 place in a.py", {"files": [{"path": "a.py", "added": 1}], "undo": "c1"}, "Replaced 1 place in a.py"),
        ("# a - 9 lines (showing 1-3)", {"path": "a", "lines": 9, "first": 1, "last": 3}, "# a - 9 lines (showing 1-3)"),
        ("", {"paths": ["a.py", "b.py"], "left_out": 0}, "2 paths:\na.py\nb.py"),
        ("", {"rows": [{"name": "x", "size": 3}]}, "1 row:\nname: x, size: 3"),
        ("t", {"passed": 9, "failed": 1, "failures": [{"name": "t"}]}, "1 failure, 9 passed, 1 failed:\nt"),
        ("# a - 2 lines", {"path": "a", "lines": 2, "chars": 9}, "# a - 2 lines"),
        ("plain", None, "plain"),
        ("", None, "Done; there is nothing to show."),
        ("", [1, 2], "2 items:\n1\n2"),
    ],
)  # fmt: skip
def test_a_result_is_told_from_its_data_and_text(text, data, expected):
    assert told(text, data) == expected


def test_long_results_are_told_whole():
    """A tool's text is capped by the tool, which says so; nothing more is taken off."""
    text = "\n".join(f"{n} " + "x" * 500 for n in range(100))
    assert told(text) == text
    assert told(f"Error: {text}", outcome="error") == f"That failed: {text}"


def test_a_refusal_says_that_nothing_was_changed():
    assert told("denied by rule x", outcome="blocked") == "Not done, nothing was changed: denied by rule x"
    assert told("the file is protected. Nothing was run.", outcome="blocked").startswith("Not done: the file is")


def test_a_refusal_speaks_to_the_person_who_reads_it():
    """It is worded for a model; the router has nobody else to ask."""
    declined = (
        "Error: the person declined this call. Nothing was run. Ask the person for an alternative, or take another way."
    )
    assert told(declined, outcome="blocked") == "Not done: you declined. Nothing was changed."
    alone = (
        "Error: this call needs a person's consent (it runs a command) and there is no one to ask. Nothing was run. "
        "Ask the person for an alternative, or take another way."
    )
    assert told(alone, outcome="blocked") == (
        "Not done: it needs your consent and there is nobody to ask. Run it at a terminal, or with --yes."
    )
    guarded = "Error: /etc is protected and was not read. Nothing was run."
    assert told(guarded, outcome="blocked").count("protected") == 1
    protected = (
        'Error: .env is protected and was not read. If it should be read, ask the person to add "/.env" to guard.allow in '
        "their own configuration; do not work around this with another tool. Nothing was run."
    )
    assert told(protected, outcome="blocked").endswith(
        'If it should be read, add "/.env" to guard.allow in your own configuration. Nothing was run.'
    )


def test_an_interruption_says_once_that_its_effects_are_unknown():
    text = "Error: The command was stopped at its time limit. It did not finish, so its effects are unknown."
    assert told(text, outcome="interrupted") == f"Interrupted: {text.removeprefix('Error: ')}"
    assert "not known" in told("", outcome="interrupted")
