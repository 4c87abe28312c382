"""The tool `bg`, through the whole road of a real board."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pegboard_tools_core
import pegboard_tools_exec
import pytest
from pegboard.calls import Record
from pegboard.testing.bench import TestBoard
from pegboard.tooling import Tool
from pegboard.touches import effect_of
from pegboard_tools_exec.background import bg

Make = Callable[..., TestBoard]
SETS = {"exec": pegboard_tools_exec}


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(modules=SETS)


def start(board: TestBoard, command: str, **arguments: Any) -> Record:
    record = board.call("bg", action="start", command=command, **arguments)
    assert record.outcome == "ok", record.text
    return record


def test_a_command_is_started_heard_waited_for_and_listed(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    started = start(board, "pwd; while [ ! -e ../go ]; do sleep 0.01; done; echo two | tr a-z A-Z; exit 3", cwd="sub")

    assert started.text.startswith("started as job j1 (process ") and "it ends when Pegboard does" in started.text
    assert (started.data["id"], started.data["state"], started.data["exit_code"]) == ("j1", "running", None)
    while not (heard := board.call("bg", action="output", id="j1")).data["next"]:
        time.sleep(0.01)
    assert heard.text.startswith(f"{tmp_path}/sub\n(j1 running for ")
    assert heard.text.endswith(f"; go on with since={heard.data['next']})")
    (tmp_path / "go").touch()
    ended = board.call("bg", action="wait", id="j1", since=heard.data["next"])
    assert ended.text.startswith("TWO\n(j1 ended after ") and ended.text.endswith(": exit code 3)")
    assert (ended.data["state"], ended.data["exit_code"]) == ("ended", 3)
    listed = board.call("bg", action="list")
    assert listed.text.startswith("j1  ended after ") and "exit code 3: pwd; while" in listed.text
    assert [job["id"] for job in listed.data["jobs"]] == ["j1"]


@pytest.mark.row("U-009")
def test_looking_reads_only_and_is_free_and_cancelling_has_side_effects_and_is_allowed(
    pegboard_board: Make, tmp_path: Path
) -> None:
    tool = Tool.of(bg)

    def effect(**arguments: Any) -> str:
        return effect_of(tool.touches(tool.read(arguments).value))

    assert {effect(action=action, id="j1") for action in ("list", "output", "wait")} == {"read_only"}
    assert effect(action="cancel", id="j1") == effect(action="start", command="ls") == "side_effecting"
    start(pegboard_board(modules=SETS, session="s", answers="--yes"), "sleep 60", keep=True)
    board = pegboard_board(modules=SETS, session="s", answers="--no")
    for action in ("list", "output"):
        assert board.call("bg", action=action, id="j1").outcome == "ok"
    assert board.call("bg", action="wait", id="j1", timeout=1).outcome == "ok"
    assert board.call("bg", action="start", command="ls").block == "denied"
    assert board.call("bg", action="cancel", id="j1").outcome == "ok"


def test_in_strict_mode_cancelling_asks_and_looking_does_not(pegboard_board: Make) -> None:
    start(pegboard_board(modules=SETS, session="s", answers="--yes"), "sleep 60", keep=True)
    strict = pegboard_board(modules=SETS, session="s", answers="--no", settings={"approval.strict": True})

    assert strict.call("bg", action="list").outcome == strict.call("bg", action="output", id="j1").outcome == "ok"
    assert strict.call("bg", action="cancel", id="j1").block == "denied"
    assert pegboard_board(modules=SETS, session="s").call("bg", action="cancel", id="j1").outcome == "ok"


@pytest.mark.row("U-009")
def test_cancelling_ends_it_and_says_so(board: TestBoard, tmp_path: Path) -> None:
    start(board, "(sleep 1; touch late) & sleep 60")

    record = board.call("bg", action="cancel", id="j1")

    assert record.text.startswith("j1: cancelled after ") and record.text.endswith("Its output: session:out/j1.txt")
    assert record.data["state"] == "cancelled"
    assert board.call("bg", action="cancel", id="j1").text.startswith("j1 was over already: cancelled")
    time.sleep(1.1)
    assert not (tmp_path / "late").exists()


def test_it_survives_the_turn_and_ends_with_the_board(pegboard_board: Make) -> None:
    steps = [("bg", {"action": "start", "command": "sleep 60"}), "started", ("bg", {"action": "list"}), "seen"]
    board = pegboard_board(modules=SETS, steps=steps, session="s")
    board.prompt("start")
    board.prompt("look")

    reply = board.model.requests[-1].messages[-1].reply
    assert reply is not None and reply.text.startswith("j1  running for ")
    board.close()
    later = pegboard_board(modules=SETS, session="s")
    assert "ended with Pegboard" in later.call("bg", action="list").text


@pytest.mark.row("C-005")
def test_waiting_shows_output_as_it_comes(board: TestBoard, tmp_path: Path) -> None:
    start(board, "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two")
    seen: list[str] = []

    async def call() -> None:
        viewer = board.session.watch(board.session.last)

        async def look() -> None:
            async for event in viewer:
                if type(event).__name__ == "CallOutput":
                    seen.append(event.text)  # type: ignore[union-attr]
                    (tmp_path / "go").touch()

        looking = asyncio.ensure_future(look())
        record = await board.agent.call("bg", {"action": "wait", "id": "j1"}, "program")
        assert record.text.startswith("one\ntwo\n(j1 ended")
        await asyncio.sleep(0.05)
        looking.cancel()

    board.run(call())
    assert seen == ["one\n", "one\ntwo\n"]


def test_waiting_ends_at_its_limit_and_the_job_goes_on(board: TestBoard) -> None:
    start(board, "echo hi; sleep 60")

    record = board.call("bg", action="wait", id="j1", timeout=300)

    assert record.outcome == "ok" and record.text.startswith("hi\n(j1 running for ")
    assert board.call("bg", action="list").data["jobs"][0]["state"] == "running"


def test_long_output_comes_in_pieces_that_follow_each_other(board: TestBoard) -> None:
    start(board, "seq 6000")
    board.call("bg", action="wait", id="j1")
    text, since, pieces = "", 0, 0
    while True:
        record = board.call("bg", action="output", id="j1", since=since)
        body, _, _ = record.text.rpartition("(j1 ended")
        assert len(body) <= 30_000 and not record.truncated
        text, since, pieces = text + body, record.data["next"], pieces + 1
        if "more: since=" not in record.text:
            break
        assert f"more: since={since})" in record.text

    assert text == "".join(f"{n}\n" for n in range(1, 6001)) and pieces == 3


def test_the_output_can_be_read_and_searched_as_other_kept_output(pegboard_board: Make) -> None:
    board = pegboard_board(modules={"core": pegboard_tools_core, **SETS})
    start(board, "echo needle")
    named = board.call("bg", action="wait", id="j1").data["output"]

    assert "1: needle" in board.call("read_file", path=named).text


def test_an_output_that_was_cut_says_so(pegboard_board: Make) -> None:
    board = pegboard_board(modules=SETS, settings={"output.max_saved_bytes": 10})
    start(board, "seq 100")

    assert board.call("bg", action="wait", id="j1").text.endswith("; the rest was not kept (output.max_saved_bytes))")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "start"}, "action=start needs a command; nothing was started."),
        ({"action": "output"}, "action=output needs the job's id; nothing was done. There are j1."),
        ({"action": "wait", "id": "j7"}, "there is no job 'j7'; nothing was done. There are j1."),
        ({"action": "cancel", "command": "ls"}, "command is for action=start; nothing was started."),
        ({"action": "start", "command": "ls", "cwd": "none"}, "none"),
    ],
)
def test_what_cannot_be_done_is_told_with_what_can(board: TestBoard, arguments: dict[str, Any], said: str) -> None:
    start(board, "true")
    record = board.call("bg", **arguments)

    assert record.outcome == "error" and said in record.text
    assert len(board.call("bg").data["jobs"]) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bg", {"action": "output", "job_id": "j1", "cursor": 0}),
        ("bg", {"action": "output", "shellId": "j1"}),
        ("BashOutput", {"bash_id": "j1"}),
    ],
)
def test_names_of_other_agents_mean_it(board: TestBoard, name: str, arguments: dict[str, Any]) -> None:
    start(board, "echo hi")
    board.call("bg", action="wait", id="j1")

    assert board.call(name, **arguments).text.startswith("hi\n")
    assert "was over already" in board.call("KillShell", shell_id="j1").text


def test_a_secret_in_a_command_is_not_kept_with_it(pegboard_board: Make) -> None:
    from pegboard.session.redaction import Redactor

    board = pegboard_board(modules=SETS)
    board.session.redactor = Redactor(values={"API_TOKEN": "correct-horse-battery"})
    start(board, "echo correct-horse-battery")
    board.call("bg", action="wait", id="j1")

    assert board.session.folder is not None
    assert "correct-horse" not in (board.session.folder / "jobs" / "j1.json").read_text()
    assert board.call("bg", action="output", id="j1").text.startswith("correct-horse-battery\n")


def test_a_session_is_not_deleted_under_a_job_that_is_kept(pegboard_board: Make) -> None:
    from pegboard.session.removal import SessionInUse, delete

    board = pegboard_board(modules=SETS, session="s")
    store = board.board.sessions_folder
    assert store is not None
    start(board, "sleep 60", keep=True)
    board.close()
    with pytest.raises(SessionInUse, match="nothing was deleted"):
        delete(store, "s")
    later = pegboard_board(modules=SETS, session="s")
    assert later.call("bg", action="cancel", id="j1").outcome == "ok"
    later.close()
    assert delete(store, "s") > 0


async def test_a_program_s_own_call_leaves_nothing_running(tmp_path: Path) -> None:
    from pegboard.board import Board
    from pegboard.plugins import given

    board = Board.build(
        str(tmp_path),
        user_file=tmp_path / "none.toml",
        environ={},
        state=tmp_path / "state",
        extra=[given("exec", "pegboard.toolsets", pegboard_tools_exec, own=True)],
        discover=False,
    )
    record = await board.call("bg", {"action": "start", "command": "sleep 60"}, answers="--yes")

    assert record.outcome == "ok"
    await asyncio.sleep(0.05)
    assert not Path(f"/proc/{record.data['pid']}").exists()
    kept = await board.call("bg", {"action": "start", "command": "sleep 60", "keep": True}, answers="--yes")
    assert kept.outcome == "error" and "Nothing was started" in kept.text
    await board.close()
