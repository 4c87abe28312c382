"""What a viewer says of several calls at once, and of an answer that is kept."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pegboard import events
from pegboard.calls import Answer, Decision, Source
from pegboard.config.schema import UISettings
from pegboard.registry import Registry
from pegboard.tooling import Tool, tool
from pegboard.touches import Writes
from pegboard_cli.screen import Screen
from pegboard_cli.viewer import Viewer


@tool
def put(path: Annotated[str, Writes("Where")]) -> str:
    """Put."""
    return path


class Shown:
    """A viewer, and the lines that it wrote."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        registry = Registry()
        registry.add(Tool.of(put, owner="fs", set="fs"))
        self.viewer = Viewer(Screen(), registry, UISettings())
        self._captured = captured

    def __call__(self, *told: Any) -> list[str]:
        for event in told:
            self.viewer.show(event)
        return self._captured.readouterr().err.splitlines()


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    return Shown(capsys)


def asked(id: str) -> events.CallAsked:
    return events.CallAsked(
        turn=1, lane="root", id=id, tool="put", requested="put", set="fs", caller="model", summary=id,
        arguments={"path": f"{id}.txt"},
    )  # fmt: skip


def started(id: str) -> events.CallStarted:
    return events.CallStarted(lane="root", id=id, touches=[], decision=Decision(action="allow", rule="r"))


def declined(id: str) -> events.CallFinished:
    no = Decision(action="ask", rule="r", answer=Answer(granted=False, by="person"))
    return events.CallFinished(
        lane="root", id=id, outcome="blocked", block="denied", why=None, text="", data=None, truncated=False,
        decision=no, duration_ms=1.0,
    )  # fmt: skip


def question(id: str, batch: int) -> events.ApprovalAsked:
    return events.ApprovalAsked(
        lane="root", id=f"a-{id}", call=id, rule="r", layer="default", batch=batch, arguments={}
    )


def test_of_several_that_were_asked_about_together_each_refusal_names_its_call(shown: Shown) -> None:
    shown(asked("c1"), asked("c2"))
    for id in ("c1", "c2"):
        shown.viewer.question(question(id, 2))
    lines = shown(declined("c1"), declined("c2"))
    assert [line.endswith("Error: declined by you") for line in lines] == [True, True]
    assert "c1.txt" in lines[0] and "c2.txt" in lines[1]


def test_a_result_below_another_calls_line_names_its_own(shown: Shown) -> None:
    shown(asked("c1"), asked("c2"), started("c1"), started("c2"))
    (first,), (second,) = shown(declined("c1")), shown(declined("c2"))
    assert "c1.txt: Error" in first and "c2.txt: Error" in second


def test_a_result_below_its_own_line_names_nothing(shown: Shown) -> None:
    assert shown(asked("c1"), started("c1"), declined("c1"))[-1] == "! Error: declined by you"
    shown(asked("c2"), asked("c3"))
    assert shown(started("c2"), declined("c2"))[-1] == "! Error: declined by you"
    assert shown(started("c3"), declined("c3"))[-1] == "! Error: declined by you"
    assert shown(asked("c4"), started("c4"), declined("c4"))[-1] == "! Error: declined by you"


@pytest.mark.parametrize(("scope", "where"), [("user", "in every project"), ("project", "in this project")])
def test_an_answer_that_is_kept_says_where_and_how_it_is_taken_back(shown: Shown, scope: Any, where: str) -> None:
    given: dict[str, Any] = {"granted": True, "by": "person", "remember": ["make \x1b[2J …"]}
    kept = events.ApprovalAnswered(id="a-c1", scope=scope, source=Source("/c.toml", 7), **given)
    assert shown(asked("c1"), question("c1", 1), kept) == [
        f"  kept {where}: make \\x1b[2J … (/c.toml:7). To take it back, delete that rule there."
    ]
    assert shown(asked("c2"), events.ApprovalAnswered(id="a-c2", scope="session", **given)) == []
