"""The router over the tools that are really there: a project of files, and what is chosen, asked back on, and told."""

from __future__ import annotations

import pytest
from pegboard.models import ChatMessage, EndPart, ProviderSettings, Request, TextPart, ToolReply
from pegboard_offline import answer, provider
from pegboard_offline.route import Router


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A small project; the router looks only at which paths exist."""
    top = tmp_path_factory.mktemp("project")
    for path in (
        "src/main.py",
        "src/app/cart.py",
        "docs/guide.md",
        "docs/notes.txt",
        "lib/util.js",
        "tests/test_cart.py",
        "scripts/a.sh",
    ):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("")
    for name in ("config.py", "README.md", "server.log"):
        (top / name).write_text("")
    return Router(str(top))


@pytest.fixture(params=["real", "core", "everything"])
def offers(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize(
    ("request_", "pattern", "path"),
    [
        ("find every TODO in docs", "TODO", "docs"),
        ("find all TODOs under src/app", "TODO", "src/app"),
        ("find all usages of foo in src", "foo", "src"),
        ("any FIXME below lib?", "FIXME", "lib"),
        ("are there any TODOs left in src?", "TODO", "src"),
        ("search TODO under docs", "TODO", "docs"),
        ("look for parse_args in the tests folder", "parse_args", "tests"),
        ("show me every TODO in src", "TODO", "src"),
        ("list all FIXMEs in lib", "FIXME", "lib"),
        ("find ValueError in src", "ValueError", "src"),
        ("find Cart in src", "Cart", "src"),
        ("find SQL in src", "SQL", "src"),
        ("find the function main in src", "main", "src"),
        ("does src/main.py contain parse_args?", "parse_args", "src/main.py"),
        ("grep for x in y", "x", "y"),
        ('grep "def run" in scripts', "def run", "scripts"),
        ("serach for TODO in src", "TODO", "src"),
    ],
)
def test_what_looks_like_text_is_searched_for_and_no_folder_is_listed(request_, pattern, path, project, offers):
    plan = project.plan(request_, offers)
    assert [(c.tool, c.arguments) for c in plan.choices] == [("grep", {"pattern": pattern, "path": path})]
    assert plan.acts


def test_a_search_keeps_to_the_files_named(project, offers):
    for text in ("find python files that contain TODO", "which python files import sys"):
        plan = project.plan(text, offers)
        assert plan.acts and plan.choices[0].tool == "grep"
        assert plan.choices[0].arguments["include"] == "*.py"


def test_several_places_are_searched_one_after_the_other(project, offers):
    plan = project.plan("search lib and src for FIXME", offers)
    assert plan.acts
    assert [c.arguments for c in plan.choices] == [{"pattern": "FIXME", "path": at} for at in ("lib", "src")]


def test_a_word_that_is_searched_for_is_no_setting(project, offers):
    assert project.choose("does anything call total?", offers).arguments == {"pattern": "total"}


def test_a_folder_is_listed_whole_where_nothing_else_is_spoken_of(project, real):
    for text in ("list docs", "what's in docs", "open docs", "ls docs"):
        plan = project.plan(text, real)
        assert plan.acts and plan.choices[0].arguments == {"pattern": "docs/**/*"}
    assert project.choose("which files are in docs and lib", real).arguments == {"pattern": "{docs,lib}/**/*"}
    for text in (
        "find bugs in src",
        "find dead code in src",
        "search docs",
        "what changed in docs",
        "show hidden stuff in src",
    ):
        assert not project.plan(text, real).acts, text


@pytest.mark.parametrize(
    ("request_", "window"),
    [
        ("read lines 1 to 3 of README.md", (1, 3)),
        ("show me lines 2-4 of src/main.py", (2, 3)),
        ("lines 3-5 of config.py", (3, 3)),
        ("line 3 of config.py", (3, 1)),
        ("what's on line 4 of src/main.py", (4, 1)),
        ("read src/main.py from line 4", (4, None)),
        ("the first 2 lines of README.md", (None, 2)),
    ],
)
def test_lines_that_are_named_are_the_ones_read(request_, window, project, real, core):
    for offers in (real, core):
        plan = project.plan(request_, offers)
        assert plan.acts and plan.choices[0].tool == "read_file"
        assert tuple(plan.choices[0].arguments.get(name) for name in ("offset", "limit")) == window


@pytest.mark.parametrize("request_", ["the last 5 lines of src/main.py", "show me the end of server.log"])
def test_lines_counted_from_the_end_are_not_taken_from_the_start(request_, project, real):
    plan = project.plan(request_, real)
    assert not plan.acts and "end" in plan.choices[0].reason


@pytest.mark.parametrize(
    ("request_", "command"),
    [
        ("cat config.py | grep PORT", "cat config.py | grep PORT"),
        ("cat config.py > other.py", "cat config.py > other.py"),
        ("find . -name '*.py'", "find . -name '*.py'"),
        ("echo hi > x.txt", "echo hi > x.txt"),
        ("go ahead and run make check", "make check"),
    ],
)
def test_a_line_that_only_a_shell_can_read_is_taken_as_one(request_, command, project, offers):
    plan = project.plan(request_, offers)
    assert plan.acts and [(c.tool, c.arguments) for c in plan.choices] == [("bash", {"command": command})]


@pytest.mark.parametrize(
    "request_",
    [
        "create b.txt with 'x' and c.txt with 'y'",
        "write 'a' to x.txt and 'b' to y.txt",
        "clear config.py",
        "clean up config.py",
        "strip config.py",
        "rename src/main.py to src/start.py",
        "make a folder called stuff",
        "replace 'a' with 'b'",
        "replace 'a' with 'b' and 'c' with 'd' in config.py",
        "append 'x' to docs/notes.txt and config.py",
        "read `rm -rf src`",
        "show me $(rm -rf src)",
        "read the file",
        "list hidden files",
    ],
)
def test_what_no_tool_can_do_as_said_is_asked_back_on(request_, project, offers):
    plan = project.plan(request_, offers)
    assert not plan.acts, plan.choices


def test_a_file_is_not_deleted_by_replacing_its_text(project, real):
    plan = project.plan("delete docs/notes.txt", real)
    assert not plan.acts and plan.choices[0].tool is None
    assert "nothing was changed" in answer.ask(plan, real)


def test_two_dots_and_a_slash_are_a_path_and_no_revision(project, everything):
    assert project.choose("show ../../etc/passwd", everything).tool != "git_show"


@pytest.mark.parametrize("text", ["opne config.py", "shwo me config.py", "raed config.py", "wat is in config.py"])
def test_a_slip_of_the_finger_in_a_verb_of_reading_is_mended(text, project, offers):
    assert project.choose(text, offers).arguments == {"path": "config.py"}


@pytest.mark.parametrize(
    "text", ["delte config.py", "ready config.py", "rn rm config.py", "overwirte config.py with 'x'"]
)
def test_no_other_slip_is_mended(text, project, offers):
    assert not project.plan(text, offers).acts


def reply(text: str, outcome: str = "ok", data: object = None) -> ToolReply:
    return ToolReply(id="c1", name="any", text=text, outcome=outcome, data=data)


def test_a_failed_step_says_which_and_that_nothing_further_was_run(project, real):
    plan = project.plan("read nosuch.txt, then search for TODO in docs", real)
    told = answer.final(plan, [reply("Error: No such file: nosuch.txt", "error")])
    assert told == (
        "That failed (step 1 of 2, read nosuch.txt): No such file: nosuch.txt\n\n"
        "Nothing further was run; not done: search for TODO in docs."
    )


async def replies(offers, *messages):
    offline = provider(ProviderSettings(name="offline", root=None))
    request = Request(model="offline", system="", messages=list(messages), tools=offers)
    return [part async for part in offline.reply(request)]


@pytest.mark.parametrize("code", [3, None])
async def test_nothing_follows_a_program_that_failed(code, real):
    ask = ChatMessage(role="user", text="run npm test, then run npm publish")
    done = ChatMessage(role="tool", reply=reply("(it failed)", data={"exit_code": code}))
    text, end = await replies(real, ask, done)
    assert isinstance(text, TextPart) and isinstance(end, EndPart)
    assert "Nothing further was run; not done: run npm publish." in text.text


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("Write a python file fib.py with a fibonacci function", "fib.py"),
        ("add a new file tests/test_math.py with one passing test", "tests/test_math.py"),
    ],
)
async def test_content_that_is_only_described_is_asked_for_and_nothing_is_claimed(request_, path, real):
    text, end = await replies(real, ChatMessage(role="user", text=request_))
    assert isinstance(text, TextPart) and isinstance(end, EndPart)
    assert end.asks_back
    assert text.text.startswith(f"I would use write_file with path '{path}', but I need content")


@pytest.mark.parametrize("text", ["help", "what can you do", "what can you do?", "how do I use this"])
async def test_who_asks_for_help_is_shown_what_can_be_said(text, real):
    said, end = await replies(real, ChatMessage(role="user", text=text))
    assert isinstance(said, TextPart) and isinstance(end, EndPart)
    assert end.asks_back and said.text.startswith("I am a router") and "You can say" in said.text
