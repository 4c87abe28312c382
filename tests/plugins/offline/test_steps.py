"""Requests in several steps."""

from __future__ import annotations

import pytest
from pegboard_offline.route import Router


@pytest.mark.parametrize(
    ("request_", "tools"),
    [
        ("read a.txt and then search for TODO in src", ["read_file", "grep"]),
        ("read a.txt; list the files in src; run make test", ["read_file", "list_dir", "bash"]),
        ("find all python files and count them", ["glob"]),
        ("download http://localhost:8000/health and show me the response", ["web_fetch"]),
        ("run npm install, then npm test", ["bash", "bash"]),
        ("1. read a.py\n2. read b.py\n3. run pytest", ["read_file", "read_file", "code_test"]),
        ("create x.txt with the text 'a and then b' and then read it", ["write_file", "read_file"]),
        ("Create a file x.txt that says hello and goodbye", ["write_file"]),
        ("find and replace foo with bar in a.txt", ["edit_file"]),
        ("run the tests and tell me how many failed", ["code_test"]),
        ("Show the last 5 commits and then the diff", ["git_log", "git_diff"]),
        ("read a.txt. Then read b.txt.", ["read_file", "read_file"]),
        ("run npm install && npm test", ["bash"]),
    ],
)
def test_each_step_is_routed(request_, tools, everything):
    plan = Router().plan(request_, everything)
    assert plan.acts
    assert [choice.tool for choice in plan.choices] == tools


def test_nothing_acts_unless_every_step_is_understood(everything):
    plan = Router().plan("read a.txt, then fly to the moon", everything)
    assert [choice.acts for choice in plan.choices] == [True, False]
    assert not plan.acts


def test_several_files_take_a_call_each_where_no_tool_takes_them_together(core, everything):
    for offers, tools in ((core, ["read_file", "read_file"]), (everything, ["read_many_files"])):
        plan = Router().plan("show me a.py and b.py", offers)
        assert plan.acts
        assert [choice.tool for choice in plan.choices] == tools
    assert [c.arguments for c in Router().plan("show me a.py and b.py", core).choices] == [
        {"path": "a.py"},
        {"path": "b.py"},
    ]


def test_it_means_the_file_before_where_nothing_is_changed_by_it(everything):
    assert not Router().plan("read a.txt and delete it", everything).acts
    assert Router().plan("replace 'a' with 'b' in x.txt and then show it to me", everything).acts


def test_a_request_of_very_many_steps_is_asked_back_on(core):
    assert not Router().plan("read a.txt and " * 30 + "read b.txt", core).acts
