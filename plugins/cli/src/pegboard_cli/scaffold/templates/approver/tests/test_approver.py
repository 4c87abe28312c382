"""The approver's answers, and that it is asked only where the person's own file names it."""

import asyncio
from types import ModuleType
from typing import Annotated

import pytest
from pegboard import Board, Call, Context, Touch, Writes, hookimpl, tool
from pegboard.calls import Decision
from pegboard.hooks import Asked
from pegboard.plugins import given

import pegboard_sample_plugin as plugin
from pegboard_sample_plugin import Settings, pegboard_approvers

NAME = "sample-plugin"
NAMED = f'[plugins]\napprovers = ["{NAME}"]\n'


def answer(*touches, policy="documents", layer="default"):
    decision = Decision(action="ask", rule="a rule", layer=layer)
    call = Call(id="c1", name="put")
    asked = Asked(id="c1", call=call, tool="put", touches=list(touches), decision=decision)
    [approve] = pegboard_approvers(Settings(policy=policy))
    return asyncio.run(approve(asked))


def test_a_change_of_documents_is_granted():
    assert answer(Touch("edit", "a.md", "a.md"), Touch("edit", "b.txt", "b.txt")).granted


@pytest.mark.parametrize(
    "touch",
    [
        Touch("edit", "a.py", "a.py"),
        Touch("edit", "/elsewhere/a.md", "/elsewhere/a.md", outside=True),
        Touch("edit", "link.md", "a.py"),
        Touch("run", "make a.md"),
        Touch("net", "https://example.com/a.md"),
    ],
)
def test_everything_else_is_left_to_the_person(touch):
    assert answer(touch) is None
    assert answer(Touch("edit", "a.md", "a.md"), touch) is None


def test_a_call_that_touches_nothing_known_is_left_to_the_person():
    assert answer() is None


def test_what_a_guard_asks_about_is_left_to_the_person():
    assert answer(Touch("edit", "a.md", "a.md"), layer="plugin") is None


def test_the_offline_policy_refuses_the_network_and_says_why():
    said = answer(Touch("net", "https://example.com"), policy="offline")
    assert not said.granted and "offline" in said.reason


@tool
def put(path: Annotated[str, Writes("File")], ctx: Context) -> str:
    """Make an empty file."""
    with ctx.commit() as files:
        files.write(path, b"")
    return "done"


@hookimpl
def pegboard_tools():
    return [put]


@pytest.fixture
def call(tmp_path):
    """A call with nobody there to answer. `file`: what the person's own settings file says."""
    root = tmp_path / "workspace"
    root.mkdir()
    tools = ModuleType("tools_of_this_test")
    tools.pegboard_tools = pegboard_tools

    def call(file, path):
        (tmp_path / "config.toml").write_text(file, encoding="utf-8")
        board = Board.build(
            str(root),
            user_file=tmp_path / "config.toml",
            state=tmp_path / "state",
            environ={},
            discover=False,
            extra=[
                given(NAME, "pegboard.approvers", plugin),
                given("tools-of-this-test", "pegboard.toolsets", tools, own=True),
            ],
        )

        async def made():
            try:
                return await board.call("put", {"path": path})
            finally:
                await board.close()

        return asyncio.run(made())

    return call


def test_named_in_the_persons_own_file_it_answers(call):
    record = call(NAMED, "notes.md")
    assert record.outcome == "ok"
    assert record.decision.answer.by == f"plugin:{NAME}"


def test_installed_alone_it_says_nothing(call):
    record = call("", "notes.md")
    assert record.outcome == "blocked"
    assert record.decision.answer.by == "headless"


def test_its_settings_count(call):
    file = NAMED + f'[{NAME}]\nendings = [".rst"]\n'
    assert call(file, "notes.rst").outcome == "ok"
    assert call(file, "notes.md").outcome == "blocked"
