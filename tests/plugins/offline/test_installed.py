"""The router over every installed set: what a person types, and the call that comes of it."""

from __future__ import annotations

import pytest
from pegboard_offline.route import Router


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    """A router that looks at a small project."""
    root = tmp_path_factory.mktemp("root")
    for name in ("a.txt", "f"):
        (root / name).write_text("one\n")
    return Router(str(root))


TWO = [{"old_string": "x", "new_string": "y"}, {"old_string": "z", "new_string": "w"}]
AT = "http://localhost:8000/x"


@pytest.mark.parametrize(
    ("request_", "tool", "arguments"),
    [
        ("git add f", "git_add", {"paths": ["f"]}),
        ("git add nosuch", "git_add", {"paths": ["nosuch"]}),
        ("git add .", "git_add", {"paths": ["."]}),
        ("git branch x", "git_branch_create", {"name": "x"}),
        ("create branch x", "git_branch_create", {"name": "x"}),
        ("create a branch called x", "git_branch_create", {"name": "x"}),
        ("create a branch named test", "git_branch_create", {"name": "test"}),
        ("create a branch called x from main", "git_branch_create", {"name": "x", "start": "main"}),
        ("commit with the message fix it", "git_commit", {"message": "fix it"}),
        ("commit everything as fix it", "git_commit", {"message": "fix it", "all": True}),
        ("commit all changes with the message 'a and b'", "git_commit", {"message": "a and b", "all": True}),
        ("git commit -m 'not now'", "git_commit", {"message": "not now"}),
        ("push to origin", "git_push", {"remote": "origin"}),
        ("in a.txt replace x with y and z with w", "multi_edit", {"path": "a.txt", "edits": TWO}),
        ("in a.txt, replace 'x' with 'y', 'z' with 'w'", "multi_edit", {"path": "a.txt", "edits": TWO}),
        ("replace x with y and z with w in a.txt", "multi_edit", {"path": "a.txt", "edits": TWO}),
        ("send a GET request to " + AT, "http_request", {"method": "GET", "url": AT}),
        ('POST {"a": {"b": 1}} to ' + AT, "http_request", {"method": "POST", "url": AT, "body": '{"a": {"b": 1}}'}),
        ("post '{\"a\": 1}' to " + AT, "http_request", {"method": "POST", "url": AT, "body": '{"a": 1}'}),
        ("search the web for python asyncio", "web_search", {"query": "python asyncio"}),
        ("look up python asyncio online", "web_search", {"query": "python asyncio"}),
        ("run the program printf with the argument hi", "exec", {"command": "printf", "args": ["hi"]}),
        ("run the program git with the arguments 'a b' and 'c'", "exec", {"command": "git", "args": ["a b", "c"]}),
        ("run ls -la in the background", "bg", {"command": "ls -la"}),
        ("run `ls | wc -l` in the background", "bg", {"command": "ls | wc -l"}),
        ("start sleep 1 in the background", "bg", {"action": "start", "command": "sleep 1"}),
        ("start 'sleep 1' in the background", "bg", {"action": "start", "command": "sleep 1"}),
        ("cancel the background job j1", "bg", {"action": "cancel", "id": "j1"}),
        ("wait for the background job j1", "bg", {"action": "wait", "id": "j1"}),
        ("delete a.txt and b.txt", "delete_files", {"paths": ["a.txt", "b.txt"]}),
        ("remove 'foo' from a.txt", "edit_file", {"path": "a.txt", "old_string": "foo", "new_string": ""}),
        ("""replace 'a "b"' with 'x' in a.txt""", "edit_file", {"path": "a.txt", "old_string": 'a "b"', "new_string": "x"}),
    ],
)  # fmt: skip
def test_a_plain_request_becomes_the_call_of_the_set_that_is_for_it(request_, tool, arguments, router, installed):
    plan = router.plan(request_, installed)
    assert plan.acts, plan.choices
    assert [(choice.tool, choice.arguments) for choice in plan.choices] == [(tool, arguments)]


def test_a_tool_that_is_always_given_something_is_not_called_with_nothing(router, installed):
    plan = router.plan("search the web for it", installed)
    assert not plan.acts and plan.choices[0].missing == ("query",)
