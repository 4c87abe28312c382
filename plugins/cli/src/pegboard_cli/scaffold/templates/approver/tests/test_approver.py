"""The approver's answers, and that it is asked only where the person's own file names it."""

import asyncio
from typing import Annotated

import pytest
from pegboard import Call, Context, Touch, Writes, tool
from pegboard.calls import Decision
from pegboard.hooks import Asked

import pegboard_sample_plugin as plugin
from pegboard_sample_plugin import Settings, pegboard_approvers

NAME = "sample-plugin"


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


@pytest.fixture
def make(pegboard_board):
    """A board with nobody there to answer. `named`: the person's own file names the approver."""

    def make(**given):
        return pegboard_board(
            tools=[put],
            approvers={NAME: plugin},
            answers="headless",
            **given,
        )

    return make


def test_named_in_the_persons_own_file_it_answers(make):
    make().call("put", path="notes.md").expect("ok", by=f"plugin:{NAME}")


def test_installed_alone_it_says_nothing(make):
    make(named=False).call("put", path="notes.md").expect("blocked", by="headless")


def test_its_settings_count(make):
    board = make(settings={f"{NAME}.endings": [".rst"]})
    board.call("put", path="notes.rst").expect("ok")
    board.call("put", path="notes.md").expect("blocked")
