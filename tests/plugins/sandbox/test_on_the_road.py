"""Calls of real tools whose programs run in the sandbox."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from typing import Any

import pegboard_tools_core
import pegboard_tools_exec
import pytest
from pegboard.board import Board
from pegboard.calls import Record
from pegboard.desk import Answers
from pegboard.entries import Entry
from pegboard.plugins import given
from pegboard.testing.scripted import Scripted
from pegboard_tools_git import reads
from sandboxed import CHECKOUT, SECRET, Place

ALLOWED = '[[permission.rules]]\nkey = "bash"\naction = "allow"\nsandbox = true\n'
SETS = {"core": pegboard_tools_core, "exec": pegboard_tools_exec, "git": reads}


class Boards:
    """Boards over the workspace of a place, with an agent each; closed at the end."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.loop = asyncio.new_event_loop()
        self.made: list[Board] = []

    def agent(self, settings: str, answers: Answers = "headless") -> Agent:
        file = self.place.state / "config.toml"
        file.write_text(settings)
        sandbox = Entry(
            name="sandbox",
            group="pegboard.launchers",
            value="pegboard_sandbox:Sandbox",
            distribution="pegboard-sandbox",
            version="0",
            own=True,
        )
        extra = [sandbox, *(given(name, "pegboard.toolsets", module, own=True) for name, module in SETS.items())]
        board = Board.build(
            str(self.place.root),
            user_file=file,
            state=self.place.state,
            environ=self.place.env,
            extra=extra,
            discover=False,
        )
        self.made.append(board)
        return Agent(self.loop, board, answers)


class Agent:
    """Calls down the road of one board."""

    def __init__(self, loop: asyncio.AbstractEventLoop, board: Board, answers: Answers) -> None:
        self.loop, self.board = loop, board
        self.agent = board.agent(board.session(), answers=answers, model="scripted", provider=Scripted(()))

    def __call__(self, name: str, /, **arguments: Any) -> Record:
        return self.loop.run_until_complete(self.agent.call(name, arguments, "program"))


@pytest.fixture
def boards(place: Place) -> Iterator[Boards]:
    made = Boards(place)
    yield made
    for board in made.made:
        made.loop.run_until_complete(board.close())
    made.loop.close()


@pytest.mark.row("Z-046", "U-008")
def test_bash_runs_directly_or_in_the_sandbox_by_configuration(boards: Boards, place: Place) -> None:
    line = f"echo said; cat .env {place.home}/.ssh/id_rsa"
    inside = boards.agent(ALLOWED)("bash", command=line, cwd="sub")
    outside = boards.agent('[tool_permission]\nbash = "allow"\n')("bash", command=line)
    required = boards.agent('[tool_permission]\nbash = "allow"\n[sandbox]\nmode = "require"\n')("bash", command=line)

    assert SECRET in outside.text and outside.decision.sandbox is False
    for record in (inside, required):
        assert record.outcome == "ok" and record.text.startswith("said\n") and SECRET not in record.text
        assert record.data["exit_code"] == 1
    assert inside.decision.sandbox is True
    assert boards.made[0].registry.find("bash").tool.effect == "side_effecting"


def test_what_it_stopped_is_a_new_question_and_a_yes_runs_it_outside(boards: Boards, place: Place) -> None:
    line = f"touch {place.home}/made && echo done"
    agent = boards.agent(ALLOWED, "--yes")

    stopped, again = agent("bash", command=line), agent("bash", command=line)

    assert "Read-only file system" in stopped.text and "(stopped by the sandbox: " in stopped.text
    assert (again.text, again.decision.rule, again.decision.answer.by) == (
        "done\n",
        "sandbox: stopped it before",
        "--yes",
    )


def test_once_a_file_was_changed_it_is_tried_in_the_sandbox_again(boards: Boards, place: Place) -> None:
    line = f"cat b.txt && test -e {place.root}/b.txt || (echo Permission denied >&2; exit 1)"
    agent = boards.agent(f'{ALLOWED}[tool_permission]\nedit = "allow"\n')

    assert "stopped by the sandbox" in agent("bash", command=line).text
    assert agent("write_file", path="b.txt", content="new\n").outcome == "ok"
    assert agent("bash", command=line).text == "new\n"


@pytest.mark.parametrize("keep", [False, True])
def test_a_job_in_the_background_is_in_it(boards: Boards, place: Place, keep: bool) -> None:
    agent = boards.agent(ALLOWED)
    line = f"cat .env {place.home}/.ssh/id_rsa; touch .git/hooks/x; echo over; exit 3"

    job = agent("bg", action="start", command=line, keep=keep).data["id"]
    told = agent("bg", action="wait", id=job, timeout=20000).text

    assert (
        "over" in told and "exit code 3" in told and SECRET not in told and not (place.root / ".git/hooks/x").exists()
    )
    until = time.monotonic() + 60
    while os.path.lexists(place.root / ".envrc") and time.monotonic() < until:
        time.sleep(0.02)
    assert not os.path.lexists(place.root / ".envrc")


def test_tools_that_only_read_work_where_everything_is_held(boards: Boards, place: Place) -> None:
    agent = boards.agent('[sandbox]\nmode = "require"\n')

    assert "a.txt" in agent("git_status").text and "first" in agent("git_log").text
    assert "a.txt:1:one" in agent("grep", pattern="one").text.replace(": ", ":")


def test_where_it_is_required_the_stop_says_that_nothing_runs_outside(boards: Boards, place: Place) -> None:
    agent = boards.agent(f'{ALLOWED}[sandbox]\nmode = "require"\n')

    assert 'With sandbox.mode = "require" nothing runs outside' in agent("bash", command="touch /etc/x").text


def test_ordinary_commands_run_in_it_as_they_do_outside(works: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the corpus; `bench/confined.py` runs it whole and says which share is stopped."""
    monkeypatch.syspath_prepend(CHECKOUT / "bench")
    import confined as corpus

    told = corpus.replay(every=9)

    assert [one for one in told if one.stopped is not None] == []
    assert sum(one.counts for one in told) > len(told) / 2
