"""Sessions: opened by name, watched by many, one turn at a time, whole again after kill -9."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from pegboard import events
from pegboard.errors import SessionElsewhere, SessionError
from pegboard.events import AnyEvent, Note
from pegboard.session import Session, SessionBusy, read_events, session, sessions
from pegboard.session import viewer as viewers
from pegboard.session.fold import NEVER_STARTED, UNFINISHED
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool


def note(text: str) -> Note:
    return Note(level="info", text=text)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_named_session_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    store = tmp_path / "state" / "sessions"
    one = Session.open(store, "mine", "/srv/app")
    one.append(note("a"))
    one.close()
    again = Session.open(store, "mine", "/srv/app")
    assert [event.seq for event in again.read()] == [1]
    assert (mode(store), mode(store / "mine")) == (0o700, 0o700)
    assert mode(store / "mine" / "session.json") == mode(store / "mine" / "events.jsonl") == 0o600
    assert json.loads((store / "mine" / "session.json").read_text())["root"] == "/srv/app"


def test_a_fresh_session_is_named_by_its_day(tmp_path: Path) -> None:
    ids = {Session.open(tmp_path, None, "/").id for _ in range(5)}
    assert len(ids) == 5
    assert all(id.startswith(time.strftime("%Y%m")) for id in ids)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a b", "x" * 65, "caf\xe9", "a\n", "a.b", "\udce9"])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SessionError, match="nothing was started"):
        Session.open(tmp_path / "store", name, "/")
    assert not (tmp_path / "store").exists()


def test_a_place_that_cannot_hold_sessions_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match="nothing was started"):
        Session.open(tmp_path / "file" / "sessions", "a", "/")


# --- where it works ---------------------------------------------------------------------------------------------------

SMALL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8, resource.RLIM_INFINITY))\n"
"""A process whose files can have eight bytes: what it writes beyond fails as on a full disk."""


def open_in_child(store: Path, name: str, root: str) -> subprocess.CompletedProcess[str]:
    code = "from pathlib import Path\nfrom pegboard.session import Session\n"
    code += f"Session.open(Path({str(store)!r}), {name!r}, {root!r})"
    return subprocess.run([sys.executable, "-c", SMALL + code], capture_output=True, text=True, timeout=60)


def root_of(folder: Path) -> Any:
    return json.loads((folder / "session.json").read_text())["root"]


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_session_is_not_opened_in_another_root(tmp_path: Path) -> None:
    made, other = tmp_path / "made", tmp_path / "other"
    made.mkdir()
    other.mkdir()
    mine = Session.open(tmp_path / "store", "a", str(made))
    mine.append(note("a"))
    mine.close()
    before = files_of(tmp_path / "store" / "a")
    with pytest.raises(SessionElsewhere) as refused:
        Session.open(tmp_path / "store", "a", str(other), named=True)
    assert str(refused.value) == (
        f"session a worked in {made}; this is {other}. Nothing was done. "
        "Say --path FOLDER for that folder, or use another session (--session NAME)."
    )
    assert files_of(tmp_path / "store" / "a") == before
    (tmp_path / "link").symlink_to(made)
    Session.open(tmp_path / "store", "a", str(tmp_path / "link")).close()


def test_a_session_whose_root_was_moved_goes_on_by_a_link_in_the_old_place(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    Session.open(tmp_path / "store", "a", str(old)).close()
    old.rename(new)
    with pytest.raises(
        SessionElsewhere, match=r"which is not there.*another session.*put a link to it in its old place"
    ):
        Session.open(tmp_path / "store", "a", str(new))
    old.symlink_to(new)
    Session.open(tmp_path / "store", "a", str(new)).close()


def test_a_session_whose_facts_cannot_be_written_is_not_opened_and_has_none_by_half(tmp_path: Path) -> None:
    for found in (None, b"", b"{"):
        folder = tmp_path / "a"
        if found is not None:
            (folder / "session.json").write_bytes(found)
        child = open_in_child(tmp_path, "a", "/")
        assert "SessionError" in child.stderr and "cannot be used" in child.stderr, child
        assert "nothing was started" in child.stderr
        assert files_of(folder) == ({} if found is None else {"session.json": found})
    Session.open(tmp_path, "a", "/").close()
    assert root_of(tmp_path / "a") == "/"


@pytest.mark.parametrize("damage", ["", "{", "{}", '{"root": ""}', '{"root": 1}', "gone", "pipe", "link"])
def test_lost_facts_are_written_anew(tmp_path: Path, damage: str) -> None:
    mine = Session.open(tmp_path, "a", "/")
    mine.append(note("a"))
    mine.close()
    facts = tmp_path / "a" / "session.json"
    facts.unlink()
    if damage == "pipe":
        os.mkfifo(facts)
    elif damage == "link":
        facts.symlink_to("/etc/hostname")
    elif damage != "gone":
        facts.write_text(damage)
    again = Session.open(tmp_path, "a", str(tmp_path))
    assert root_of(tmp_path / "a") == str(tmp_path)
    assert again.last == 1 and mode(facts) == 0o600 and not facts.is_symlink()
    assert not list((tmp_path / "a").glob("*.part"))
    again.close()


def test_a_lost_root_is_not_guessed_where_there_is_something_to_undo(tmp_path: Path) -> None:
    mine = Session.open(tmp_path, "a", "/")
    mine.save_undo("c1", [])
    mine.close()
    facts = tmp_path / "a" / "session.json"
    facts.write_text("")
    with pytest.raises(SessionElsewhere, match=r"folder that is not known.*Nothing was done.*--path FOLDER"):
        Session.open(tmp_path, "a", "/")
    assert facts.read_text() == ""
    Session.open(tmp_path, "a", "/", named=True).close()
    assert root_of(tmp_path / "a") == "/"


def test_of_two_that_make_a_session_at_once_in_two_roots_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token_hex = secrets.token_hex

    def meanwhile(size: int) -> str:  # between the look and the writing
        monkeypatch.setattr(secrets, "token_hex", token_hex)
        Session.open(tmp_path / "store", "a", "/").close()
        return token_hex(size)

    monkeypatch.setattr(secrets, "token_hex", meanwhile)
    with pytest.raises(SessionElsewhere, match="worked in /; this is"):
        Session.open(tmp_path / "store", "a", str(tmp_path))
    assert root_of(tmp_path / "store" / "a") == "/"
    assert not list((tmp_path / "store" / "a").glob("*.part"))


# --- viewers ----------------------------------------------------------------------------------------------------------


async def take(viewer: Any, count: int) -> list[AnyEvent]:
    found = []
    async for event in viewer:
        found.append(event)
        if len(found) == count:
            break
    return found


async def test_a_viewer_gets_what_is_there_then_all_that_follows_each_once(tmp_path: Path) -> None:
    mine = Session.open(tmp_path, "a", "/")
    mine.append(note("1"), note("2"))
    viewer = mine.watch(since=1)
    mine.append(note("3"))
    mine.emit(events.Text(text="now"))
    mine.append(note("4"))
    found = await take(viewer, 4)
    assert [event.seq for event in found] == [2, 3, None, 4]


async def test_a_viewer_sees_what_another_process_appended_once(tmp_path: Path) -> None:
    mine, other = Session.open(tmp_path, "a", "/"), Session.open(tmp_path, "a", "/")
    other.append(note("1"))
    viewer = mine.watch()
    other.append(note("2"))
    mine.append(note("3"))
    assert [event.seq for event in await take(viewer, 3)] == [1, 2, 3]


async def test_a_slow_viewer_loses_ephemeral_events_only_and_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "_BEHIND", 5)
    mine = Session("a", "/")
    viewer = mine.watch()
    for number in range(20):
        mine.emit(events.Text(text=str(number)))
        mine.append(note(str(number)))
    mine.close()
    found = [event async for event in viewer]
    assert [event.seq for event in found if event.seq] == list(range(1, 21))
    assert 0 < len([event for event in found if event.seq is None]) < 20


async def test_viewers_end_when_the_session_is_closed(tmp_path: Path) -> None:
    mine = Session("a", "/")
    waiting = asyncio.create_task(take(mine.watch(), 99))
    await asyncio.sleep(0)
    mine.append(note("1"))
    mine.close()
    assert [event.seq for event in await waiting] == [1]


@pytest.mark.row("R-103")
def test_the_log_holds_what_happened_and_nothing_that_was_only_shown(tmp_path: Path) -> None:
    @tool(category="search", verb="Seek", glyph="?", summary=lambda a: "words\n+ a detail", pure=True)
    def seek(word: str) -> str:
        """Seek."""
        return f"found {word}"

    board = TestBoard(tmp_path, tools=[seek], steps=[("seek", {"word": "x"}), "all done"])
    board.prompt("find x")
    board.close()
    log = (board.session.folder / "events.jsonl").read_text()  # type: ignore[operator]
    named = [json.loads(line)["event"] for line in log.splitlines()]
    assert not set(named) & {"text", "thinking", "call_output", "progress", "activity"}
    assert "? Seek" not in log and "+ a detail" not in log
    assert named.count("call_asked") == named.count("call_finished") == 1


# --- turns ------------------------------------------------------------------------------------------------------------


async def test_two_turns_at_once_do_not_go_and_the_second_is_told_who_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_TURN_WAIT", 0.1)
    mine, other = Session.open(tmp_path, "a", "/"), Session.open(tmp_path, "a", "/")
    async with mine.turn():
        with pytest.raises(SessionBusy, match=f"process {os.getpid()}; nothing was started"):
            async with other.turn():
                pass
        other.append(note("single calls append beside a running turn"))
    async with other.turn():
        pass


async def test_a_turn_waits_a_little_for_another_to_end(tmp_path: Path) -> None:
    mine, other = Session.open(tmp_path, "a", "/"), Session.open(tmp_path, "a", "/")

    async def hold() -> None:
        async with mine.turn():
            await asyncio.sleep(0.1)

    holding = asyncio.create_task(hold())
    await asyncio.sleep(0)
    async with other.turn():
        assert holding.done()


def test_a_turn_goes_on_from_what_another_process_did(tmp_path: Path) -> None:
    one = TestBoard(tmp_path, session="s", steps=["first", "third"])
    other = TestBoard(tmp_path, session="s", steps=["second"])
    for board in (one, other, one):
        assert board.prompt("go").status == "done"
    numbers = [event.turn for event in one.events if isinstance(event, events.TurnStarted)]
    assert numbers == [1, 2, 3]
    texts = [m.text for m in one.model.requests[-1].messages]
    assert texts == ["go", "first", "go", "second", "go"]
    for board in (one, other):
        board.close()


# --- kill -9 ----------------------------------------------------------------------------------------------------------

DIES_IN_A_CALL = dedent(
    """
    import sys, time
    from pathlib import Path
    from pegboard.testing.bench import TestBoard
    from pegboard.tooling import tool

    root, how = Path(sys.argv[1]), sys.argv[2]

    @tool(timeout=None)
    def slow(word: str) -> str:
        "Take long."
        (root / "running").write_text(word)
        if word == "slow":
            time.sleep(60)
        return "quick result"

    steps = [[("slow", {"word": "quick"}), ("slow", {"word": "slow"}), ("slow", {"word": "never"})]]
    board = TestBoard(root, tools=[slow], steps=steps, session="s")
    board.prompt("go")
    """
)


def test_a_call_cut_by_kill_9_is_interrupted_and_the_model_is_told(tmp_path: Path) -> None:
    @tool
    def slow(word: str) -> str:
        """Take long."""
        raise AssertionError("the loop never replays by itself")

    (tmp_path / "work").mkdir()
    root = tmp_path / "work"
    child = subprocess.Popen([sys.executable, "-c", DIES_IN_A_CALL, str(root), "call"])
    deadline = time.monotonic() + 60
    while not ((root / "running").exists() and (root / "running").read_text() == "slow"):
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait(60) == -signal.SIGKILL

    board = TestBoard(root, tools=[slow], steps=["I see"], session="s")
    assert not board.session.fold.turn_open  # nobody else has the session open: what was left is closed at once
    assert board.prompt("and now").status == "done"
    finished = {event.id: event for event in board.events if isinstance(event, events.CallFinished)}
    assert {id: (e.outcome, e.why) for id, e in finished.items()} == {
        "c1": ("ok", None),
        "c2": ("interrupted", "turn_ended"),
    }
    ends = [(e.turn, e.status) for e in board.events if isinstance(e, events.TurnEnded)]
    assert ends == [(1, "interrupted"), (2, "done")]
    replies = {m.reply.id: m.reply for m in board.model.requests[0].messages if m.reply}
    assert [(r.outcome, r.text) for r in replies.values()] == [
        ("ok", "quick result"),
        ("interrupted", UNFINISHED),
        ("interrupted", NEVER_STARTED),
    ]
    numbers = [event.seq for event in board.events]
    assert numbers == list(range(1, len(numbers) + 1))
    assert board.call("nothing").id == "c4"
    board.close()


def test_what_a_resumed_session_may_is_asked_again(tmp_path: Path) -> None:
    @tool
    def act() -> str:
        """Act."""
        return "acted"

    first = TestBoard(tmp_path, tools=[act], session="s", answers="--yes")
    assert first.call("act").outcome == "ok"
    first.close()
    again = TestBoard(tmp_path, tools=[act], session="s", answers="headless")
    assert again.call("act").block == "denied"
    again.close()


# --- the list ---------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_the_newest_first_without_a_lock(tmp_path: Path) -> None:
    state = tmp_path / "state"
    for name, said in (("one", "first\nand more"), ("two", "second")):
        board = TestBoard(tmp_path, session=name, state=state, steps=["ok"])
        board.prompt(said)
        board.close()
    os.utime(state / "sessions" / "one" / "events.jsonl", (time.time() + 60,) * 2)
    listed = sessions(state / "sessions")
    assert [(info.id, info.title, info.turns, info.status) for info in listed] == [
        ("one", "first", 1, "done"),
        ("two", "second", 1, "done"),
    ]
    assert listed[0].root == str(tmp_path)
    assert listed[0].events == len(read_events(state / "sessions" / "one"))
    assert listed[0].size >= (state / "sessions" / "one" / "events.jsonl").stat().st_size
    assert sessions(tmp_path / "nowhere") == []


def test_one_session_of_another_version_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("good", "odd"):
        Session.open(tmp_path, name, "/").append(note("a"))
    with open(tmp_path / "odd" / "events.jsonl", "a") as file:
        file.write('{"event": "holiday"}\n')
    (tmp_path / "good" / "session.json").write_text("{")
    (tmp_path / "stray").write_text("")
    listed = {info.id: info.status for info in sessions(tmp_path)}
    assert listed == {"good": None, "odd": "unreadable"}


def test_undo_is_kept_for_the_owner_alone(tmp_path: Path) -> None:
    mine = Session.open(tmp_path, "a", "/")
    mine.save_undo("c1", [])
    assert mode(tmp_path / "a" / "undo") == 0o700
    assert mode(tmp_path / "a" / "undo" / "c1.msgpack") == 0o600
    Session("b", "/").save_undo("c1", [])


DIES_OUTSIDE_A_TURN = DIES_IN_A_CALL.replace('board.prompt("go")', 'board.call("slow", word="slow")')


def test_a_call_outside_a_turn_that_kill_9_cut_is_interrupted_once_nobody_has_the_session_open(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    child = subprocess.Popen([sys.executable, "-c", DIES_OUTSIDE_A_TURN, str(root), "call"])
    deadline = time.monotonic() + 60
    while not (root / "running").exists():
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.01)
    beside = TestBoard(root, session="s")
    assert list(beside.session.fold.open_calls) == ["c1"]  # it runs in another process: left alone
    beside.close()
    child.send_signal(signal.SIGKILL)
    child.wait(60)
    after = TestBoard(root, session="s")
    finished = [event for event in after.events if isinstance(event, events.CallFinished)]
    assert [(e.id, e.outcome, e.why) for e in finished] == [("c1", "interrupted", "turn_ended")]
    after.close()
