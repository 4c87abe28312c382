"""`[[hooks]]`: real commands before and after calls. They refuse, and never weaken anything."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard.calls import Call
from pegboard.events import CallFinished, Note
from pegboard.hooking import hooks_of, would_run
from pegboard.lane import Lane
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.touches import Writes

RAN: list[str] = []


@tool(aliases=["run_shell"], inline=True)
def put(path: Annotated[str, Writes("A file")], text: str = "") -> str:
    """Write a file."""
    RAN.append(path)
    return f"wrote {path}"


@tool(pure=True, inline=True)
def say(word: str) -> str:
    """Say a word."""
    return word


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@pytest.fixture
def hooked(tmp_path: Path) -> Any:
    """A board with these hooks; each is (event, match, a line of shell, seconds)."""
    boards: list[TestBoard] = []

    def make(*hooks: tuple[Any, ...], **more: Any) -> TestBoard:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        tables = [
            {"event": event, "match": match, "command": ["sh", "-c", line], **({"timeout": rest[0]} if rest else {})}
            for event, match, line, *rest in hooks
        ]
        board = TestBoard(root, tools=[put, say], settings={"hooks": tables}, **more)
        boards.append(board)
        return board

    yield make
    for board in boards:
        board.close()


def given(board: TestBoard, name: str = "call.json") -> Any:
    return json.loads((Path(board.session.root) / name).read_text())


@pytest.mark.row("Z-017")
def test_a_matching_call_fires_the_hooks_before_and_after_it_and_another_fires_none(hooked: Any) -> None:
    board = hooked(("pre_tool", "test:put", "cat > call.json"), ("post_tool", "test:p*", "cat > done.json"))
    assert board.call("say", word="x").outcome == "ok"
    board.run(board.board.settled())
    assert os.listdir(board.session.root) == []
    record = board.call("put", path="a.txt", text="x")
    assert given(board) == {
        "event": "pre_tool",
        "id": record.id,
        "tool": "put",
        "qualified": "test:put",
        "requested": "put",
        "arguments": {"path": "a.txt", "text": "x"},
        "caller": "program",
        "touches": [{"kind": "edit", "what": "a.txt", "at": "a.txt", "outside": False, "sends": False}],
        "root": board.session.root,
        "session": board.session.id,
    }
    board.run(board.board.settled())
    done = given(board, "done.json")
    assert (done["event"], done["outcome"], done["text"], done["why"]) == ("post_tool", "ok", "wrote a.txt", None)
    assert (done["id"], done["arguments"]) == (record.id, {"path": "a.txt", "text": "x"})


@pytest.mark.row("Z-019")
@pytest.mark.parametrize("match", ["*run_shell", "run_shell", "test:run_shell", "put", "*:put", "test", "test:*", "*"])
def test_a_call_made_by_an_alias_is_matched_by_that_name_and_by_its_own(hooked: Any, match: str) -> None:
    board = hooked(("pre_tool", match, "cat > call.json"))
    board.call("run_shell", path="a.txt")
    assert (given(board)["requested"], given(board)["qualified"]) == ("run_shell", "test:put")


@pytest.mark.parametrize("match", ["*run_shell", "say", "other:*", "pu"])
def test_a_call_made_by_its_own_name_is_not_matched_by_an_alias_glob(hooked: Any, match: str) -> None:
    board = hooked(("pre_tool", match, "exit 2"))
    assert board.call("put", path="a.txt").outcome == "ok"


def test_exit_2_refuses_with_what_was_printed_on_stderr(hooked: Any) -> None:
    board = hooked(
        ("pre_tool", "*", r"printf 'not \033[31mtoday\nplease' >&2; exit 2"), ("post_tool", "*", "touch after")
    )
    record = board.call("put", path="a.txt")
    assert (record.outcome, record.block, RAN) == ("blocked", "guard", [])
    assert record.decision.rule.startswith("hooks: sh -c 'printf") and record.decision.layer == "plugin"
    assert "the guard 'hooks' refused this call" in record.text and "not  [31mtoday\nplease" in record.text
    board.run(board.board.settled())
    assert not (Path(board.session.root) / "after").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("echo hm >&2; exit 1", "it ended with exit 1: hm"),
        ("kill -9 $$", "SIGKILL ended it"),
        ("sleep 30", "longer than"),
    ],
)
def test_a_hook_that_fails_refuses_and_that_is_said(hooked: Any, line: str, said: str) -> None:
    board = hooked(("pre_tool", "put", line, 0.3))
    record = board.call("put", path="a.txt")
    assert (record.block, RAN) == ("guard", [])
    assert "the hook could not pass it: " in record.text and said in record.text


def test_a_hook_that_cannot_be_started_refuses(hooked: Any, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    hooks = [{"event": "pre_tool", "command": ["./nonesuch"]}]
    board = TestBoard(tmp_path / "root", tools=[put], settings={"hooks": hooks})
    record = board.call("put", path="a.txt")
    assert (record.block, RAN) == ("guard", []) and "there is no such program" in record.text
    board.close()


def test_no_hook_makes_a_refusal_or_a_question_less(hooked: Any) -> None:
    board = hooked(("pre_tool", "*", "exit 0"), answers="headless")
    assert board.call("put", path="a.txt").block == "denied"
    assert RAN == []


def test_a_hook_that_ends_badly_after_a_call_leaves_a_note_and_the_call_as_it_was(hooked: Any) -> None:
    board = hooked(("post_tool", "put", "echo late >&2; exit 2"))
    assert board.call("put", path="a.txt").outcome == "ok"
    board.run(board.board.settled())
    (note,) = [event.text for event in board.events if isinstance(event, Note)]
    assert note.startswith("hooks: sh -c 'echo late") and note.endswith("after c1: it ended with exit 2: late")


def test_the_next_call_waits_for_the_hooks_after_the_last_one(hooked: Any) -> None:
    board = hooked(("post_tool", "put", "sleep 0.2; echo formatted > a.txt"), ("pre_tool", "say", "cp a.txt seen.txt"))
    board.call("put", path="a.txt")
    assert board.call("say", word="x").outcome == "ok"
    assert (Path(board.session.root) / "seen.txt").read_text() == "formatted\n"


def test_a_call_that_is_ended_kills_its_hook_and_never_runs(hooked: Any) -> None:
    board = hooked(("pre_tool", "put", "echo $$ > pid; exec sleep 60"))
    pid = Path(board.session.root) / "pid"

    async def end_it() -> None:
        call = asyncio.ensure_future(board.agent.call("put", {"path": "a.txt"}, "program"))
        while not pid.exists() or not pid.read_text().endswith("\n"):
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait([call])

    board.run(end_it())
    number = int(pid.read_text())
    until = time.monotonic() + 60
    while os.path.exists(f"/proc/{number}") and time.monotonic() < until:
        time.sleep(0.01)
    assert RAN == []
    assert sys.platform != "linux" or not os.path.exists(f"/proc/{number}")


def test_to_explain_a_call_runs_no_hook_and_tells_which_would(hooked: Any) -> None:
    board = hooked(("pre_tool", "*run_shell", "touch ran; exit 2"), ("post_tool", "put", "true"))
    road = board.board.road(board.session)
    for id in ("", "c0", "c1"):
        record = board.run(road.travel(Call(id=id, name="run_shell", arguments={"path": "a"}), Lane(), until="decide"))
        assert record.decision.rule == "tool_permission.edit"
    assert os.listdir(board.session.root) == []
    hooks = hooks_of(board.board.loaded)
    assert [hook.rule for hook in would_run(hooks, board.board.registry.get("put"), "run_shell")] == [hooks[0].rule]
    assert board.run(board.agent.call("run_shell", {"path": "a"}, "model")).block == "guard"


def test_a_models_own_id_for_a_call_does_not_pass_it_by(hooked: Any) -> None:
    board = hooked(("pre_tool", "*", "exit 2"))
    road = board.board.road(board.session)
    record = board.run(road.travel(Call(id="c0", name="put", arguments={"path": "a"}), Lane()))
    assert record.block == "guard" and RAN == []


def test_without_hooks_there_is_no_seat_for_them(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    board = TestBoard(tmp_path / "root", tools=[put])
    assert board.board.road(board.session).guards is board.board.guards
    assert board.call("put", path="a").outcome == "ok"
    assert len([event for event in board.events if isinstance(event, CallFinished)]) == 1
    board.close()
