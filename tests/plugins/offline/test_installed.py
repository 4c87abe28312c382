"""The router over every installed set: what a person types, and the call that comes of it."""

from __future__ import annotations

import pytest
from pegboard_offline import answer
from pegboard_offline.route import Router


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    """A router that looks at a small project."""
    root = tmp_path_factory.mktemp("root")
    (root / "tests").mkdir()
    for name in ("a.txt", "f", "s.ini", "fix.patch", "tests/test_cart.py"):
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
        ("check the formatting", "code_format", {"check": True}),
        ("format check", "code_format", {"check": True}),
        ("check the format of the project", "code_format", {"check": True}),
        ("check the formatting of a.txt", "code_format", {"path": "a.txt", "check": True}),
        ("verify the formatting", "code_format", {"check": True}),
        ("check the code", "code_lint", {}),
        ("add a line 'c=3' to the end of s.ini", "write_file", {"path": "s.ini", "content": "c=3\n", "mode": "append"}),
        ("add 'c=3' as a new line at the end of f", "write_file", {"path": "f", "content": "c=3\n", "mode": "append"}),
        ("add a line saying hello to a.txt", "write_file", {"path": "a.txt", "content": "hello\n", "mode": "append"}),
        ("append 'c=3' to s.ini", "write_file", {"path": "s.ini", "content": "c=3", "mode": "append"}),
        ("replace 'line 2' with 'x' in a.txt", "edit_file", {"path": "a.txt", "old_string": "line 2", "new_string": "x"}),
        ("change 1 to 2 in f", "edit_file", {"path": "f", "old_string": "1", "new_string": "2"}),
        ("send a DELETE to " + AT, "http_request", {"method": "DELETE", "url": AT}),
        ("send an http DELETE request to " + AT, "http_request", {"method": "DELETE", "url": AT}),
        ("send a delete request to " + AT, "http_request", {"method": "DELETE", "url": AT}),
        ("post to " + AT, "http_request", {"method": "POST", "url": AT}),
        ("put to " + AT, "http_request", {"method": "PUT", "url": AT}),
        ("fetch " + AT + " with POST", "http_request", {"method": "POST", "url": AT}),
        ("show the output of j1", "bg", {"action": "output", "id": "j1"}),
        ("show me the output of job j1", "bg", {"action": "output", "id": "j1"}),
        ("what did job j1 print", "bg", {"action": "output", "id": "j1"}),
        ("wait for j1", "bg", {"action": "wait", "id": "j1"}),
        ("wait for job j1", "bg", {"action": "wait", "id": "j1"}),
        ("stop job j1", "bg", {"action": "cancel", "id": "j1"}),
        ("kill the job j1", "bg", {"action": "cancel", "id": "j1"}),
        ("stop the background job j1", "bg", {"action": "cancel", "id": "j1"}),
        ("cancel job j3", "bg", {"action": "cancel", "id": "j3"}),
        ("which background jobs are running", "bg", {}),
        ("commit with message 'Pink'", "git_commit", {"message": "Pink"}),
        ("commit everything with message 'Pink'", "git_commit", {"message": "Pink", "all": True}),
        ("commit 'Pink'", "git_commit", {"message": "Pink"}),
        ("stage everything", "git_add", {"paths": ["."]}),
        ("stage all changes", "git_add", {"paths": ["."]}),
        ("show the staged changes", "git_diff", {"staged": True}),
        ("what is staged", "git_diff", {"staged": True}),
        ("show me what's staged", "git_diff", {"staged": True}),
        ("show me what HEAD~1 changed", "git_show", {"ref": "HEAD~1"}),
        ("show me the last commit", "git_show", {}),
        ("what did the last commit change", "git_show", {}),
        ("diff between main and feature/tax", "git_diff", {"ref": "main..feature/tax"}),
        ("show the diff between HEAD~1 and HEAD", "git_diff", {"ref": "HEAD~1..HEAD"}),
        ("what changed between HEAD~1 and HEAD", "git_diff", {"ref": "HEAD~1..HEAD"}),
        ("compare main with feature/tax", "git_diff", {"ref": "main..feature/tax"}),
        ("run the tests in tests/test_cart.py", "code_test", {"path": "tests/test_cart.py"}),
        ("run only the tests with tax in the name", "code_test", {"filter": "tax"}),
        ("run the test test_tax", "code_test", {"filter": "test_tax"}),
        ("run the test suite", "code_test", {}),
        ("run the program echo with the arguments a and b", "exec", {"command": "echo", "args": ["a", "b"]}),
        ("run the program echo with the arguments a, b and c", "exec", {"command": "echo", "args": ["a", "b", "c"]}),
        ("execute printf with 'a|b'", "exec", {"command": "printf", "args": ["a|b"]}),
        ("show the contents of a.txt", "read_file", {"path": "a.txt"}),
        ("show the output of a.txt", "read_file", {"path": "a.txt"}),
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


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("is the code formatted?", ""),
        ("only check the formatting, change nothing", '"not"'),
        ("replace line 2 of s.ini with 'b=3'", "by its number"),
        ("in s.ini replace line 2 with 'b=3'", "by its number"),
        ("change line 1 of f to 'x'", "by its number"),
        ("change the first line of f to 'x'", "by its number"),
        ("delete line 2 of s.ini", "by its number"),
        ("put 'x' on line 3 of a.txt", "by its number"),
        ("apply the patch fix.patch", "name of a file"),
        ("put fix.patch to http://localhost:8000/x", "fix.patch"),
        ("post about http://localhost:8000/x", "POST"),
        ("send a DELETE or a GET to http://localhost:8000/x", "two ways"),
        ("delete http://localhost:8000/x", "an address"),
        ("remove a.txt and http://localhost:8000/x", "an address"),
        ("delete the branch x", "nothing was changed"),
        ("remove the branch feature/tax", "nothing was changed"),
        ("delete the tag v1.0", "nothing was changed"),
        ("delete everything", ""),
        ("stage everything except a.txt", '"not"'),
        ("don't stage everything", '"not"'),
        ("diff between a.txt and f", ""),
        ("run pytest with coverage", "backticks"),
    ],
)
def test_what_is_not_understood_beyond_doubt_is_asked_back_on(request_, said, router, installed):
    plan = router.plan(request_, installed)
    assert not plan.acts, plan.choices
    assert any(said in choice.reason for choice in plan.choices if not choice.acts)


def test_what_is_missing_is_asked_for_with_an_example_of_how_it_is_said(router, installed):
    asked = answer.ask(router.plan("create x.txt with a haiku", installed), installed)
    assert "For example: write '<content>' to x.txt" in asked
    assert "Begin Patch" not in answer.ask(router.plan("apply a patch", installed), installed)
