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
from pegboard.calls import Call, Record
from pegboard.lane import Lane
from pegboard.models import ProviderSettings
from pegboard.testing.bench import TestBoard
from pegboard.tooling import Tool
from pegboard.touches import effect_of
from pegboard_offline import provider
from pegboard_tools_exec.background import bg
from running import alive, pid_in

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


@pytest.mark.row("U-009", "U-033")
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
    assert board.call("bg", action="start", command="make all").block == "denied"
    assert board.call("bg", action="cancel", id="j1").outcome == "ok"


@pytest.mark.row("U-033")
def test_in_strict_mode_cancelling_asks_and_looking_does_not(pegboard_board: Make) -> None:
    start(pegboard_board(modules=SETS, session="s", answers="--yes"), "sleep 60", keep=True)
    strict = pegboard_board(modules=SETS, session="s", answers="--no", settings={"approval.strict": True})

    assert strict.call("bg", action="list").outcome == strict.call("bg", action="output", id="j1").outcome == "ok"
    assert strict.call("bg", action="cancel", id="j1").block == "denied"
    assert pegboard_board(modules=SETS, session="s").call("bg", action="cancel", id="j1").outcome == "ok"


@pytest.mark.row("U-009")
def test_cancelling_ends_it_and_says_so(board: TestBoard, tmp_path: Path) -> None:
    start(board, "sleep 60 & echo $! > pid; sleep 60")
    pid = pid_in(tmp_path / "pid")

    record = board.call("bg", action="cancel", id="j1")

    assert record.text.startswith("j1: cancelled after ") and record.text.endswith("Its output: session:out/j1.txt")
    assert record.data["state"] == "cancelled"
    assert board.call("bg", action="cancel", id="j1").text.startswith("j1 was over already: cancelled")
    assert not alive(pid)


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

    said = "; of its output the first 10 bytes are kept, the rest is dropped (output.max_saved_bytes))"
    assert board.call("bg", action="wait", id="j1").text.endswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "start"}, "action=start needs a command; nothing was started."),
        ({"action": "output"}, "action=output needs the job's id; nothing was done. There are j1."),
        ({"action": "wait", "id": "j7"}, "there is no job 'j7'; nothing was done. There are j1."),
        ({"action": "cancel", "command": "ls"}, "command is for action=start, and this says action=cancel"),
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
    assert not alive(record.data["pid"])
    kept = await board.call("bg", {"action": "start", "command": "sleep 60", "keep": True}, answers="--yes")
    assert kept.outcome == "error" and "Nothing was started" in kept.text
    await board.close()


@pytest.mark.parametrize("name", ["command", "cmd"])
def test_a_command_without_an_action_is_started(board: TestBoard, name: str) -> None:
    record = board.call("bg", **{name: "echo $((6 * 7))"})

    assert record.outcome == "ok" and record.text.startswith("started as job j1")
    assert board.call("bg", action="wait", id="j1").text.startswith("42\n")


@pytest.mark.parametrize("action", ["list", "output", "wait", "cancel"])
def test_a_command_with_another_action_is_refused_before_anybody_is_asked(
    pegboard_board: Make, tmp_path: Path, action: str
) -> None:
    board = pegboard_board(modules=SETS, answers="--no")

    record = board.call("bg", action=action, command="touch made", id="j1")

    assert (record.outcome, record.block) == ("error", None)
    assert f"command is for action=start, and this says action={action}; nothing was started." in record.text
    assert board.call("bg").text == "(no jobs)" and not (tmp_path / "made").exists()


def test_what_is_judged_and_asked_about_is_what_is_run(pegboard_board: Make) -> None:
    board = pegboard_board(modules=SETS, answers="--no")

    for arguments in ({"command": "touch x"}, {"action": "start", "command": "touch x"}):
        record = board.call("bg", **arguments)
        assert (record.block, record.decision and record.decision.rule) == ("denied", "tool_permission.bash")
    asked = [event for event in board.events if type(event).__name__ == "CallAsked"]
    assert [event.summary for event in asked] == ["Job start touch x"] * 2  # type: ignore[union-attr]
    assert board.call("bg").text == "(no jobs)"


def test_a_plain_request_starts_the_command_it_names(pegboard_board: Make, tmp_path: Path) -> None:
    board = pegboard_board(modules=SETS)
    router = provider(ProviderSettings(name="offline", root=str(tmp_path)))
    board.agent = board.board.agent(board.session, answers="--yes", model="offline", provider=router)
    board.prompt('start "touch made" in the background')

    [job] = board.call("bg").data["jobs"]
    assert job["command"] == "touch made"
    board.call("bg", action="wait", id="j1")
    assert (tmp_path / "made").exists()


def test_waiting_shows_a_page_and_goes_on_behind_what_it_showed(board: TestBoard) -> None:
    start(board, "seq 60000")
    text, since, pages = "", 0, 0
    while True:
        record = board.call("bg", action="wait", id="j1", since=since)
        body, _, said = record.text.rpartition("(j1 ended")
        assert len(body) <= 30_000 and not record.truncated and record.full_output is None
        text, since, pages = text + body, record.data["next"], pages + 1
        if f"more: since={since})" not in said:
            break

    assert text == "".join(f"{n}\n" for n in range(1, 60_001)) and pages > 10


def test_what_waiting_leaves_for_later_is_kept_once(board: TestBoard) -> None:
    start(board, "head -c 3000000 /dev/zero | tr '\\0' x")
    board.call("bg", action="wait", id="j1")

    assert board.session.folder is not None
    assert [(file.name, file.stat().st_size) for file in (board.session.folder / "out").iterdir()] == [
        ("j1.txt", 3_000_000)
    ]


def test_waiting_at_a_full_page_waits_for_the_end_all_the_same(board: TestBoard, tmp_path: Path) -> None:
    start(board, "seq 60000; touch printed; while [ ! -e go ]; do sleep 0.01; done; exit 4")
    while not (tmp_path / "printed").exists():
        time.sleep(0.01)
    still = board.call("bg", action="wait", id="j1", timeout=100)
    assert "(j1 running for " in still.text and f"; more: since={still.data['next']})" in still.text
    (tmp_path / "go").touch()
    ended = board.call("bg", action="wait", id="j1", since=still.data["next"])

    assert ended.data["exit_code"] == 4 and ended.text.startswith(f"{len(still.text.rpartition('(')[0].split()) + 1}\n")


@pytest.mark.parametrize("action", ["output", "wait"])
@pytest.mark.parametrize("runs", [True, False])
def test_a_byte_beyond_the_end_is_answered_with_the_end(board: TestBoard, action: str, runs: bool) -> None:
    start(board, f"echo hello; {'sleep 60' if runs else 'true'}")
    while runs and board.call("bg", action="output", id="j1").data["next"] < 6:
        time.sleep(0.01)
    if not runs:
        board.call("bg", action="wait", id="j1")

    record = board.call("bg", action=action, id="j1", since=1_000_000, timeout=100)

    assert record.data["next"] == 6
    assert "since=1000000 is beyond the end, which was at 6" in record.text
    assert ("go on with since=6" in record.text) == runs


def test_a_job_that_runs_and_prints_more_than_is_kept_says_so(pegboard_board: Make) -> None:
    board = pegboard_board(modules=SETS, settings={"output.max_saved_bytes": 10})
    start(board, "seq 100; sleep 60")
    while board.call("bg", action="output", id="j1").data["next"] < 10:
        time.sleep(0.01)
    said = "of its output the first 10 bytes are kept, the rest is dropped (output.max_saved_bytes)"

    until = time.monotonic() + 60
    while said not in board.call("bg").text and time.monotonic() < until:
        time.sleep(0.01)
    for arguments in ({}, {"action": "output", "id": "j1"}, {"action": "wait", "id": "j1", "timeout": 1}):
        assert said in board.call("bg", **arguments).text
    board.call("bg", action="cancel", id="j1")
    assert said in board.call("bg").text


def test_it_is_said_until_when_a_job_lives(pegboard_board: Make, tmp_path: Path) -> None:
    board = pegboard_board(modules=SETS, session="s")

    assert "; it ends when Pegboard does, unless started with keep=true." in start(board, "true").text
    assert "; it goes on when Pegboard ends." in start(board, "true", keep=True).text
    road = board.board.road(board.session, answers="--yes")  # of a process that makes one call
    call = Call(id="", name="bg", arguments={"command": "sleep 60"}, caller="person")
    record = board.run(road.travel(call, Lane()))
    assert "; it ends with this call, at once: nothing else holds the session open. keep=true" in record.text
