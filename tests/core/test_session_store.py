"""The store: listed from the ends of logs, pruned and deleted without touching anything outside of it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events
from pegboard.errors import SessionError
from pegboard.events import AnyEvent, CallAsked, Note, Prompt, TurnEnded, TurnStarted
from pegboard.session import Session, latest, read_events, sessions
from pegboard.session.removal import SessionInUse, delete, delete_all, in_use, sweep, to_prune
from pegboard.session.store import size_of


def started(turn: int) -> TurnStarted:
    return TurnStarted(turn=turn, session="s", model="m", sets=[], not_loaded=[], offered=0)


def ended(turn: int, status: Any = "done", text: str = "") -> TurnEnded:
    return TurnEnded(turn=turn, status=status, text=text, usage={})


def asked(summary: str) -> CallAsked:
    return CallAsked(lane="root", id="c1", tool="t", requested="tee", set=None, arguments={}, summary=summary)


def make(store: Path, name: str, *log: AnyEvent, root: str = "/", age: float = 0) -> Path:
    mine = Session.open(store, name, root)
    mine.append(*log)
    mine.close()
    then = time.time() - age
    os.utime(store / name / "events.jsonl", (then, then))
    return store / name


def listed(store: Path) -> dict[str, Any]:
    return {info.id: info for info in sessions(store)}


# --- the list ---------------------------------------------------------------------------------------------------------

ANY = st.one_of(
    st.builds(started, st.integers(1, 9)),
    st.builds(ended, st.integers(1, 9), st.sampled_from(["done", "error"]), st.text(max_size=30_000)),
    st.builds(Note, level=st.just("info"), text=st.sampled_from(["x", '{"event":"turn_ended"}\n', "y" * 70_000])),
    st.builds(Prompt, text=st.sampled_from(["do it", "  \nthe second line\n", "long " * 9_000])),
    st.builds(asked, st.sampled_from(["", "Read a.py\n+ more"])),
)


@settings(max_examples=60, deadline=None)
@given(log=st.lists(ANY, max_size=8), torn=st.booleans())
def test_the_ends_of_a_log_say_what_the_whole_says(
    tmp_path_factory: pytest.TempPathFactory, log: list[AnyEvent], torn: bool
) -> None:
    store = tmp_path_factory.mktemp("store")
    folder = make(store, "s", *log)
    if torn:
        with open(folder / "events.jsonl", "ab") as file:
            file.write(b'{"event":"turn_ended","seq":99,"tu')
    [info] = sessions(store)
    turns = [event for event in log if isinstance(event, TurnStarted | TurnEnded)]
    assert info.events == len(log)
    assert info.turns == (turns[-1].turn if turns else 0)
    last = turns[-1] if turns else None
    assert info.status == (last.status if isinstance(last, TurnEnded) else "open" if last else None)
    prompts = [event.text for event in log if isinstance(event, Prompt)]
    calls = [event.summary.split("\n")[0] or event.requested for event in log if isinstance(event, CallAsked)]
    if len(log) <= 3:  # the first request is looked for in the first 256 KiB
        assert info.title == (prompts[0].strip().split("\n")[0][:80] if prompts else calls[0] if calls else "")


def test_a_session_of_single_calls_is_named_by_the_first(tmp_path: Path) -> None:
    make(tmp_path, "s", asked("Read a.py\n+ more"), asked("Read b.py"))
    assert listed(tmp_path)["s"].title == "Read a.py"


def test_what_is_no_session_is_not_listed(tmp_path: Path) -> None:
    store, outside = tmp_path / "store", tmp_path / "outside"
    make(store, "good", Note(level="info", text="a"))
    make(outside, "elsewhere", Note(level="info", text="a"))
    (store / "link").symlink_to(outside / "elsewhere")
    (store / "empty").mkdir()
    (store / "lost+found").mkdir()
    (store / "file").write_text("")
    os.mkfifo(store / "pipe")
    assert list(listed(store)) == ["good"]


def test_damaged_ones_do_not_hide_the_others_nor_hang_the_list(tmp_path: Path) -> None:
    make(tmp_path, "good", Note(level="info", text="a"))
    for name in ("garbage", "deep", "folder", "pipe", "linked", "no-meta", "meta-pipe"):
        make(tmp_path, name, Note(level="info", text="a"))
    log = "events.jsonl"
    (tmp_path / "garbage" / log).write_bytes(b"\xff\x00\n")
    (tmp_path / "deep" / log).write_bytes(b'{"event":"note","x":' + b"[" * 100_000 + b"\n")
    for name in ("folder", "pipe", "linked"):
        (tmp_path / name / log).unlink()
    (tmp_path / "folder" / log).mkdir()
    os.mkfifo(tmp_path / "pipe" / log)
    (tmp_path / "linked" / log).symlink_to("/etc/passwd")
    (tmp_path / "no-meta" / "session.json").unlink()
    (tmp_path / "meta-pipe" / "session.json").unlink()
    os.mkfifo(tmp_path / "meta-pipe" / "session.json")
    found = {id: info.status for id, info in listed(tmp_path).items()}
    unreadable = dict.fromkeys(["garbage", "deep", "folder", "pipe", "linked"], "unreadable")
    assert found == {"good": None, "no-meta": None, "meta-pipe": None} | unreadable


def test_the_size_is_that_of_the_folder_and_links_count_as_links(tmp_path: Path) -> None:
    folder = make(tmp_path, "s", Note(level="info", text="a"))
    (folder / "out").mkdir()
    (folder / "out" / "c1.txt").write_bytes(b"x" * 5_000)
    big = tmp_path / "big"
    big.write_bytes(b"x" * 1_000_000)
    (folder / "out" / "link").symlink_to(big)
    (folder / "loop").symlink_to(folder)
    assert 5_000 < size_of(folder) < 10_000
    assert listed(tmp_path)["s"].size == size_of(folder)


def test_the_latest_is_the_conversation_that_changed_last_in_this_root(tmp_path: Path) -> None:
    root, store = tmp_path / "root", tmp_path / "store"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    talk = [started(1), Prompt(text="x"), ended(1)]
    make(store, "old", *talk, root=str(root), age=60)
    make(store, "new", *talk, root=str(tmp_path / "link"), age=30)
    make(store, "calls-alone", asked("Read"), root=str(root), age=10)
    make(store, "elsewhere", *talk, root=str(tmp_path), age=5)
    assert latest(store, str(root)) == "new"
    assert latest(store, str(tmp_path / "link")) == "new"
    assert latest(store, "/nowhere") is None
    assert latest(tmp_path / "missing", str(root)) is None


# --- deleting ---------------------------------------------------------------------------------------------------------


def everything(folder: Path) -> dict[str, bytes | str | None]:
    """Every file below a folder with its bytes, links as links."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def test_a_deleted_session_is_gone_whole_and_nothing_else_is(tmp_path: Path) -> None:
    store, outside = tmp_path / "store", tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep")
    folder = make(store, "s", Note(level="info", text="a"))
    make(store, "other", Note(level="info", text="a"))
    (folder / "out").symlink_to(outside)
    (folder / "undo").mkdir()
    (folder / "undo" / "c1.msgpack").write_bytes(b"x" * 1000)
    before = everything(store / "other")
    assert delete(store, "s") > 1000
    assert sorted(os.listdir(store)) == ["other"]
    assert everything(store / "other") == before
    assert (outside / "precious").read_text() == "keep"


@pytest.mark.parametrize("name", ["", ".", "..", "../outside", "/etc", "a/b", ".deleted-x", "a\n", "nosuch"])
def test_what_names_no_session_deletes_nothing(tmp_path: Path, name: str) -> None:
    store = tmp_path / "store"
    make(store, "s", Note(level="info", text="a"))
    make(tmp_path, "outside", Note(level="info", text="a"))
    before = everything(tmp_path)
    with pytest.raises(SessionError, match="nothing was deleted"):
        delete(store, name)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("kind", ["link", "folder", "file"])
def test_what_is_not_a_session_is_not_deleted(tmp_path: Path, kind: str) -> None:
    store, outside = tmp_path / "store", tmp_path / "outside"
    make(outside, "s", Note(level="info", text="a"))
    store.mkdir()
    if kind == "link":
        (store / "x").symlink_to(outside / "s")
    elif kind == "folder":
        (store / "x").mkdir()
        (store / "x" / "thesis.txt").write_text("years of work")
    else:
        (store / "x").write_text("notes")
    before = everything(tmp_path)
    with pytest.raises(SessionError, match="nothing was deleted"):
        delete(store, "x")
    assert everything(tmp_path) == before


HOLDS = dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from pegboard.session import Session

    async def main():
        session = Session.open(Path(sys.argv[1]), "s", "/")
        if sys.argv[2] == "turn":
            async with session.turn():
                print("ready", flush=True)
                sys.stdin.read()
        print("ready", flush=True)
        sys.stdin.read()

    asyncio.run(main())
    """
)


@pytest.mark.parametrize("how", ["open", "turn"])
def test_a_session_that_a_process_uses_is_left_alone_until_that_has_ended(tmp_path: Path, how: str) -> None:
    make(tmp_path, "s", Note(level="info", text="a"))
    make(tmp_path, "free", Note(level="info", text="a"))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"ready\n"
    assert in_use(tmp_path, "s") and not in_use(tmp_path, "free")
    with pytest.raises(SessionInUse, match="nothing was deleted"):
        delete(tmp_path, "s")
    outcomes = {one.id: one.outcome for one in delete_all(tmp_path, to_prune(tmp_path, keep=0))}
    assert outcomes == {"s": "in use", "free": "deleted"}
    assert read_events(tmp_path / "s")
    holder.kill()
    holder.wait()
    assert delete(tmp_path, "s") > 0
    assert sessions(tmp_path) == []


def test_a_deletion_waits_a_moment_for_who_is_about_to_let_go(tmp_path: Path) -> None:
    make(tmp_path, "s", Note(level="info", text="a"))
    fd = os.open(tmp_path / "s" / "turn.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    letting_go = threading.Timer(0.1, os.close, (fd,))
    letting_go.start()

    assert delete(tmp_path, "s") > 0

    letting_go.join()


def test_one_who_opens_a_session_while_it_is_deleted_is_told_and_writes_into_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "s", Note(level="info", text="a"))
    flock, late = fcntl.flock, []

    def after_it_was_opened(fd: int, how: int) -> None:
        if how == fcntl.LOCK_EX | fcntl.LOCK_NB and not late:
            late.append(fd)
            delete(tmp_path, "s")
        flock(fd, how)

    monkeypatch.setattr(fcntl, "flock", after_it_was_opened)
    with pytest.raises(SessionError, match=r"was deleted just now; nothing was started"):
        Session.open(tmp_path, "s", "/")
    assert late and sessions(tmp_path) == []


def test_what_a_killed_deletion_left_is_swept_up_and_was_never_listed(tmp_path: Path) -> None:
    store, outside = tmp_path / "store", tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep")
    make(store, "s", Note(level="info", text="a")).rename(store / ".deleted-s-12345678")
    (store / ".deleted-link").symlink_to(outside)
    assert sessions(store) == []
    sweep(store)
    assert os.listdir(store) == [".deleted-link"]
    assert (outside / "precious").read_text() == "keep"


def test_pruning_names_what_any_limit_would_have_gone_the_oldest_first(tmp_path: Path) -> None:
    for name, age in (("a", 10), ("b", 1_000), ("c", 100_000)):
        folder = make(tmp_path, name, Note(level="info", text="a"), age=age)
        (folder / "out.txt").write_bytes(b"x" * 10_000)
    ids = lambda **limits: [info.id for info in to_prune(tmp_path, **limits)]  # noqa: E731
    assert ids(older_than=500) == ["c", "b"]
    assert ids(keep=1) == ["c", "b"]
    assert ids(keep=0) == ["c", "b", "a"]
    assert ids(max_bytes=25_000) == ["c"]
    assert ids(max_bytes=0) == ["c", "b", "a"]
    assert ids(older_than=50_000, keep=2) == ["c"]
    assert ids() == []


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_whatever_lies_in_the_store_pruning_touches_nothing_outside(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    base = tmp_path_factory.mktemp("base")
    store, outside = base / "store", base / "outside"
    make(outside, "s", Note(level="info", text="a"))
    store.mkdir()
    for number in range(data.draw(st.integers(0, 5))):
        name = data.draw(st.sampled_from(["a", "b-1", "x y", ".hidden", "caf\xe9", f"n{number}"]))
        where = data.draw(st.sampled_from(["session", "link", "inside", "alive", "parent"]))
        if os.path.lexists(store / name):
            continue
        if where == "link":
            (store / name).symlink_to(outside / "s")
        elif where == "parent":
            (store / name).symlink_to("..")
        else:
            folder = make(store, f"t{number}", Note(level="info", text="a")).rename(store / name)
            if where == "inside":
                (folder / "out").symlink_to(outside)
            elif where == "alive":
                (folder / "alive.lock").unlink()
                (folder / "alive.lock").symlink_to(outside / "s" / "alive.lock")
    before = everything(outside)
    list(delete_all(store, to_prune(store, keep=0)))
    assert everything(outside) == before
    assert base.joinpath("store").is_dir()


# --- for the owner alone ----------------------------------------------------------------------------------------------


def test_with_no_umask_and_over_folders_that_were_open_to_all_everything_is_the_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store = tmp_path / "a" / "b" / "sessions"
        make(store, "fresh", Note(level="info", text="a"))
        wide = make(store, "wide", Note(level="info", text="a"))
        for path in (store, wide):
            path.chmod(0o777)
        (wide / "events.jsonl").chmod(0o666)
        mine = Session.open(store, "wide", "/")
        mine.append(events.Note(level="info", text="b"))
        mine.save_undo("c1", [])
        mine.close()
    finally:
        os.umask(old)
    found = {path: path.stat().st_mode & 0o777 for path in [tmp_path / "a", *(tmp_path / "a").rglob("*")]}
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in found.items() if path.is_file()} == {0o600}


def test_a_link_in_the_place_of_a_session_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "s").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="is a link; nothing was started"):
        Session.open(tmp_path / "store", "s", "/")
    assert os.listdir(tmp_path / "elsewhere") == []
