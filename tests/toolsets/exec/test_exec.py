"""The tool `exec`, and commands that go to the background by themselves, through the whole road of a real board."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pegboard_tools_core
import pegboard_tools_exec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.calls import Record
from pegboard.events import Prompt
from pegboard.port import Cancel
from pegboard.testing.bench import TestBoard
from pegboard.tooling import Tool
from pegboard_tools_exec.program import run_program
from running import alive, given_time, pid_in

Make = Callable[..., TestBoard]
SETS = {"exec": pegboard_tools_exec}
linux = pytest.mark.skipif(sys.platform != "linux", reason="a running program is handed over on Linux alone")


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(modules=SETS)


@pytest.mark.row("C-056")
def test_what_a_shell_would_take_for_itself_arrives_as_it_is(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    args = ["%s\n", "|", "*", "$HOME", "a  b", ">out", "$(id)", "'", "", "~", ";", "ü"]

    record = board.call("exec", command="printf", args=args)

    assert (record.outcome, record.text) == ("ok", "".join(f"{arg}\n" for arg in args[1:]))
    assert record.data == {"exit_code": 0, "signal": None, "stdout": record.text, "stderr": ""}
    assert not (tmp_path / "out").exists()


def test_both_streams_and_the_status_are_told(board: TestBoard) -> None:
    record = board.call("exec", command="bash", args=["-c", "echo out; echo err >&2; exit 3"])

    assert (record.outcome, record.text) == ("ok", "out\nerr\n(exit code 3)")
    assert record.data == {"exit_code": 3, "signal": None, "stdout": "out\n", "stderr": "err\n"}


def test_a_signal_that_ended_it_is_told(board: TestBoard) -> None:
    record = board.call("exec", command="bash", args=["-c", "kill -KILL $$"])

    assert (record.data["exit_code"], record.data["signal"]) == (None, "SIGKILL")
    assert record.text == "(killed by SIGKILL)"


@pytest.mark.row("C-054")
def test_a_program_that_reads_stdin_ends_at_once(board: TestBoard) -> None:
    assert board.call("exec", command="cat").text == "(no output)"


@pytest.mark.row("C-055")
@pytest.mark.parametrize("limit", [{"timeout": 200}, {"timeout_s": 0.2}, {"timeoutMs": 200}])
def test_it_is_stopped_at_its_time_limit(board: TestBoard, limit: dict[str, Any]) -> None:
    record = board.call("exec", command="sleep", args=["60"], **limit)

    assert (record.outcome, record.why) == ("interrupted", "timeout")
    assert "0.2 s" in record.text


@pytest.mark.row("C-055")
def test_the_limit_and_the_folder_are_as_for_other_commands(board: TestBoard, tmp_path: Path) -> None:
    described = Tool.of(run_program).parameters["properties"]["timeout"]
    (tmp_path / "sub").mkdir()

    assert (described["default"], described["maximum"]) == (120_000, 600_000)
    assert board.call("exec", command="pwd").text == f"{tmp_path}\n"
    assert board.call("exec", command="pwd", cwd="sub").text == f"{tmp_path}/sub\n"
    assert board.call("exec", command="pwd", workdir="sub").text == f"{tmp_path}/sub\n"
    assert board.call("exec", command="pwd", cwd="..").block == "denied"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program", "no-such-program: no program of this name is on PATH"),
        ("./no/such", "./no/such: there is no such program"),
        ("git status", "A program and its arguments go apart: command and args."),
    ],
)
def test_a_program_that_is_not_there_is_named(board: TestBoard, command: str, said: str) -> None:
    record = board.call("exec", command=command)

    assert record.outcome == "error" and said in record.text and "Nothing was run" in record.text


@pytest.mark.parametrize("command", ["", " "])
def test_no_program_at_all_is_refused_before_anybody_is_asked(pegboard_board: Make, command: str) -> None:
    record = pegboard_board(modules=SETS, answers="--no").call("exec", command=command)

    assert (record.outcome, record.block) == ("error", None)
    assert "no program is named; nothing was run. Name it as command, and its arguments as args." in record.text


def test_a_program_may_have_a_space_in_its_name(board: TestBoard, tmp_path: Path) -> None:
    program = tmp_path / "my tool"
    program.write_text("#!/bin/sh\necho here\n")
    program.chmod(0o755)

    assert board.call("exec", command="./my tool").text == "here\n"


@given(st.text().filter(str.strip), st.lists(st.text()))
def test_rules_for_command_lines_are_given_the_same_words(command: str, args: list[str]) -> None:
    tool = Tool.of(run_program)
    [touch] = tool.touches(tool.read({"command": command, "args": args}).value)

    assert touch.kind == "run" and shlex.split(touch.what) == [command, *args]


def test_it_asks_as_every_command_does(pegboard_board: Make, tmp_path: Path) -> None:
    asking = pegboard_board(modules=SETS, answers="--no")
    record = asking.call("exec", command="touch", args=["made"])

    assert (record.block, record.decision.rule if record.decision else None) == ("denied", "tool_permission.bash")
    assert not (tmp_path / "made").exists()
    free = pegboard_board(
        modules=SETS, answers="--no", settings={"tool_permission.bash": "allow"}, state=tmp_path / "s"
    )
    assert free.call("exec", command="touch", args=["made"]).outcome == "ok"


@pytest.mark.row("C-005")
def test_output_is_seen_as_it_comes(board: TestBoard, tmp_path: Path) -> None:
    script = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two"
    assert watched(board, tmp_path, "exec", command="bash", args=["-c", script]) == ["one\n", "one\ntwo\n"]


def watched(board: TestBoard, root: Path, name: str, **arguments: Any) -> list[str]:
    """What viewers see of a call that says `one`, and goes on once the file `go` is there."""
    seen: list[str] = []

    async def call() -> None:
        viewer = board.session.watch(board.session.last)
        calling = asyncio.ensure_future(board.agent.call(name, arguments, "program"))

        async def look() -> None:
            async for event in viewer:
                if type(event).__name__ == "CallOutput":
                    seen.append(event.text)  # type: ignore[union-attr]
                    (root / "go").touch()

        looking = asyncio.ensure_future(look())
        assert (await calling).outcome == "ok"
        await asyncio.sleep(0.05)
        looking.cancel()

    board.run(call())
    return seen


# --- to the background, by itself -------------------------------------------------------------------------------------


def both(make: Make, **settings: Any) -> TestBoard:
    """A board with the set that has `bash`, and the one that looks after jobs."""
    return make(
        modules={"core": pegboard_tools_core, **SETS},
        settings={f"exec.{key}": value for key, value in settings.items()},
    )


LONG = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 4"


@linux
@pytest.mark.parametrize(
    ("tool", "arguments"), [("bash", {"command": LONG}), ("exec", {"command": "bash", "args": ["-c", LONG]})]
)
def test_a_command_that_takes_longer_goes_on_in_the_background(
    pegboard_board: Make, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:

    def attempt(limit: float) -> None:
        (tmp_path / "go").unlink(missing_ok=True)
        board = both(pegboard_board, background_after=limit)

        record = board.call(tool, **arguments)

        assert record.outcome == "ok"
        assert record.text == (
            f"one\n(still running after {limit:g} s: it goes on in the background as job j1. What it prints from here on: "
            "bg action=output id=j1; its end: action=wait; to end it: action=cancel)"
        )
        assert record.data == {"exit_code": None, "signal": None, "stdout": "one\n", "stderr": "", "job": "j1"}
        (tmp_path / "go").touch()
        ended = board.call("bg", action="wait", id="j1")
        assert ended.text.startswith("two\n(j1 ended after ") and ended.data["exit_code"] == 4

    given_time(attempt)


@linux
def test_what_ends_in_time_or_has_a_shorter_limit_does_not(pegboard_board: Make) -> None:
    board = both(pegboard_board, background_after=30)

    assert board.call("bash", command="echo quick").text == "quick\n"
    assert board.call("bash", command="sleep 60", timeout=200).why == "timeout"
    assert board.call("bg", action="list").text == "(no jobs)"


@linux
def test_a_command_that_finds_no_room_goes_on_to_its_limit(pegboard_board: Make) -> None:
    board = both(pegboard_board, background_after=0.1, max_jobs=1)
    board.call("bg", action="start", command="sleep 60")

    assert board.call("bash", command="sleep 0.4; echo end").text == "end\n"


@linux
def test_the_time_spent_before_there_was_no_room_counts(pegboard_board: Make) -> None:
    def attempt(limit: float) -> None:
        board = both(pegboard_board, background_after=limit, max_jobs=1)
        board.call("bg", action="start", command="sleep 60")

        record = board.call("bash", command=f"sleep {2 * limit}; echo end", timeout=int(1000 * limit) + 100)
        assert record.why == "timeout" and f"{limit + 0.1:g} s" in record.text

    given_time(attempt, (0.5, 4, 16))


@pytest.mark.parametrize("sets", [{"core": pegboard_tools_core}, {"core": pegboard_tools_core, **SETS}])
def test_nothing_goes_there_by_itself_where_no_setting_says_so(pegboard_board: Make, sets: dict[str, Any]) -> None:
    board = pegboard_board(modules=sets)

    assert board.call("bash", command="sleep 0.5; echo end").text == "end\n"
    assert not (board.session.folder / "jobs").exists()  # type: ignore[operator]


@linux
def test_a_person_stops_a_command_before_it_goes_there(pegboard_board: Make, tmp_path: Path) -> None:
    board = both(pegboard_board, background_after=30)

    async def interrupted() -> Record:
        call = asyncio.ensure_future(
            board.agent.call("bash", {"command": "sleep 60 & echo $! > begun; sleep 60"}, "program")
        )
        while not ((tmp_path / "begun").exists() and (tmp_path / "begun").read_text()):
            await asyncio.sleep(0.01)
        await board.agent.send(Cancel())
        return await call

    record = board.run(interrupted())

    assert (record.outcome, record.why) == ("interrupted", "person")
    assert not alive(pid_in(tmp_path / "begun"))
    assert board.call("bg").text == "(no jobs)"


@linux
def test_the_model_is_told_at_its_next_turn_what_became_of_it(pegboard_board: Make) -> None:
    steps = [("bash", {"command": "sleep 0.4; exit 7"}), "it runs", *["I see"] * 1000]
    board = pegboard_board(
        modules={"core": pegboard_tools_core, **SETS}, settings={"exec.background_after": 0.1}, steps=steps
    )

    def said() -> list[str]:
        return [event.text for event in board.events if isinstance(event, Prompt) and event.by != "person"]

    board.prompt("begin")
    while not said():
        board.run(asyncio.sleep(0.1))
        assert board.prompt("and?").status == "done"
    board.prompt("and now?")

    told = said()
    assert len(told) == 1
    assert told[0].startswith("Of what ran in the background:\njob j1 (sleep 0.4; exit 7): ended after ")
    assert "exit code 7" in told[0]
