"""The log on disk: appended to by many processes, whole after any crash, never rewritten."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events
from pegboard.errors import SessionError
from pegboard.events import AnyEvent, Note
from pegboard.session.files import read_log
from pegboard.session.log import FileLog, MemoryLog
from pegboard.session.store import read_events


def note(text: str) -> Note:
    return Note(level="info", text=text)


class Opened:
    """A log and what it told its observer."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[AnyEvent] = []
        self.log = FileLog(folder, lambda event, shown: self.seen.append(shown))

    def texts(self) -> list[str]:
        return [event.text for event in self.seen]  # type: ignore[union-attr]


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_bytes().splitlines()]


def test_events_are_numbered_without_gaps_and_kept_a_line_each(tmp_path: Path) -> None:
    log = Opened(tmp_path).log
    log.append([note("a"), note("b\nc")])
    log.append([lambda: note("d")])
    assert lines(tmp_path) == [
        {"event": "note", "seq": n, "turn": None, "level": "info", "text": text}
        for n, text in enumerate(["a", "b\nc", "d"], 1)
    ]
    assert [event.seq for event in log.read(since=1)] == [2, 3]
    assert log.last == 3


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    Opened(tmp_path).log.append([note("a")])
    assert stat.S_IMODE((tmp_path / "events.jsonl").stat().st_mode) == 0o600


def test_an_append_of_nothing_writes_nothing(tmp_path: Path) -> None:
    log = Opened(tmp_path).log
    assert log.append([]) == []
    assert (tmp_path / "events.jsonl").read_bytes() == b""


def test_what_others_appended_is_taken_in_first(tmp_path: Path) -> None:
    one, other = Opened(tmp_path), Opened(tmp_path)
    one.log.append([note("a")])
    returned = other.log.append([note("b")])
    one.log.append([note("c")])
    assert [e.text for e in returned] == ["a", "b"]  # type: ignore[union-attr]
    assert one.texts() == ["a", "b", "c"]
    other.log.refresh()
    assert other.texts() == ["a", "b", "c"]
    assert [event.seq for event in one.seen] == [1, 2, 3]


def test_the_maker_of_an_event_runs_after_what_others_appended(tmp_path: Path) -> None:
    one, other = Opened(tmp_path), Opened(tmp_path)
    other.log.append([note("a")])
    one.log.append([lambda: note(f"after {len(one.seen)}")])
    assert one.texts() == ["a", "after 1"]


def test_reading_takes_no_lock_and_leaves_out_a_line_still_being_written(tmp_path: Path) -> None:
    import fcntl

    log = Opened(tmp_path).log
    log.append([note("a")])
    with open(tmp_path / "events.jsonl", "ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        writer.write(b'{"event":"note","seq":2,')
        writer.flush()
        assert [event.seq for event in read_events(tmp_path)] == [1]
        assert [event.seq for event in log.read()] == [1]


@pytest.mark.parametrize("cut", [1, 10, -1], ids=["a byte", "a piece", "all but the newline"])
def test_a_torn_last_line_is_mended_and_nothing_is_lost(tmp_path: Path, cut: int) -> None:
    log = Opened(tmp_path).log
    log.append([note("a")])
    whole = (tmp_path / "events.jsonl").read_bytes()
    log.append([note("b")])
    second = (tmp_path / "events.jsonl").read_bytes()[len(whole) :]
    log.close()
    (tmp_path / "events.jsonl").write_bytes(whole + second[:cut])
    again = Opened(tmp_path)
    again.log.append([note("c")])
    if cut == -1:
        assert again.texts() == ["a", "b", "c"]
        assert not (tmp_path / "torn.txt").exists()
    else:
        assert again.texts() == ["a", "c"]
        assert (tmp_path / "torn.txt").read_bytes() == second[:cut] + b"\n"
        assert stat.S_IMODE((tmp_path / "torn.txt").stat().st_mode) == 0o600
    assert [line["seq"] for line in lines(tmp_path)] == list(range(1, len(again.seen) + 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4), st.data())
def test_a_log_cut_anywhere_keeps_every_whole_line(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = Opened(folder).log
    log.append([note(text) for text in texts])
    log.close()
    content = (folder / "events.jsonl").read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    (folder / "events.jsonl").write_bytes(content[:cut])
    again = Opened(folder)
    again.log.append([note("next")])
    again.log.close()
    kept = again.texts()[:-1]
    assert kept == texts[: len(kept)]
    assert len(kept) >= content[:cut].count(b"\n")
    assert [line["seq"] for line in lines(folder)] == list(range(1, len(kept) + 2))


def test_what_cannot_be_written_is_shown_and_never_fatal(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.log.append([note("caf\udce9")])
    opened.log.append([events.StateChanged(key="k", value={"a": object})])
    (tmp_path / "events.jsonl").read_bytes().decode()
    assert lines(tmp_path)[0]["text"] == "caf\\xe9"
    again = Opened(tmp_path)
    assert [event.seq for event in again.seen] == [1, 2]


def test_a_line_of_another_version_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.log.append([note("a")])
    with open(tmp_path / "events.jsonl", "ab") as file:
        file.write(b'{"event":"holiday","seq":2}\n')
    before = (tmp_path / "events.jsonl").read_bytes()
    for attempt in (
        lambda: Opened(tmp_path),
        lambda: opened.log.append([note("b")]),
        lambda: opened.log.refresh(),
        lambda: list(read_log(tmp_path / "events.jsonl")),
    ):
        with pytest.raises(SessionError, match="nothing was changed"):
            attempt()
    assert (tmp_path / "events.jsonl").read_bytes() == before


def test_a_full_disk_keeps_nothing_of_the_event_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Opened(tmp_path)
    opened.log.append([note("a")])
    before = (tmp_path / "events.jsonl").read_bytes()
    write = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) < 10:
            raise OSError(28, "No space left on device")
        return write(fd, data[: len(data) - 5])

    with monkeypatch.context() as patch:
        patch.setattr("pegboard.session.log.os.write", full)
        with pytest.raises(SessionError, match="No space left"):
            opened.log.append([note("b")])
    assert (tmp_path / "events.jsonl").read_bytes() == before
    opened.log.append([note("c")])
    assert [line["text"] for line in lines(tmp_path)] == ["a", "c"]
    assert [line["seq"] for line in lines(tmp_path)] == [1, 2]


def test_a_log_in_memory_numbers_the_same(tmp_path: Path) -> None:
    seen: list[AnyEvent] = []
    log = MemoryLog(lambda event, shown: seen.append(event))
    log.append([note("a"), lambda: note("b")])
    log.append([note("c")])
    assert [(e.seq, e.text) for e in log.read(1)] == [(2, "b"), (3, "c")]  # type: ignore[union-attr]
    assert len(seen) == log.last == 3


# --- real processes ---------------------------------------------------------------------------------------------------

APPENDS = dedent(
    """
    import sys
    from pathlib import Path
    from pegboard.events import Note
    from pegboard.session.log import FileLog

    folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    log = FileLog(folder, lambda event, shown: None)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        made = log.append([Note(level="info", text=f"{name} {number} " + "x" * (number % 7 * 100))])
        assert made[-1].seq is not None
    """
)
DIES = dedent(
    """
    import os, signal, sys
    from pathlib import Path
    from pegboard.events import Note
    from pegboard.session import log as module

    log = module.FileLog(Path(sys.argv[1]), lambda event, shown: None)
    print("ready", flush=True)
    sys.stdin.readline()
    write = os.write

    def half(fd, data):
        write(fd, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    module.os.write = half
    log.append([Note(level="info", text="torn " + "y" * 5000)])
    """
)


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_four_processes_append_at_once_with_a_writer_killed_in_its_line_and_nothing_is_lost(tmp_path: Path) -> None:
    count = 150
    writers = [start(APPENDS, tmp_path, name, count) for name in "abcd"]
    dying = start(DIES, tmp_path)
    for process in (*writers, dying):
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in (*writers, dying):
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(60) for process in writers] == [0, 0, 0, 0]
    assert dying.wait(60) == -9
    log = Opened(tmp_path)  # mends what was torn last, if the dying one came last
    log.log.close()
    found = lines(tmp_path)
    assert [line["seq"] for line in found] == list(range(1, 4 * count + 1))
    for name in "abcd":
        assert [line["text"].split()[1] for line in found if line["text"][0] == name] == [str(n) for n in range(count)]
    assert (tmp_path / "torn.txt").read_bytes().count(b"torn yyy") == 1
    for process in (*writers, dying):
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


# --- shapes: the contract's key sets ----------------------------------------------------------------------------------

HEAD = ["event", "seq", "turn"]
SHAPES = {
    "turn_started": "session model sets not_loaded offered mode",
    "prompt": "text by",
    "text": "text",
    "thinking": "text",
    "message": "text thinking calls provider_data",
    "call_asked": "lane id tool requested set arguments summary caller",
    "approval_asked": "lane id call rule layer arguments preview remember scopes commands batch",
    "approval_answered": "id granted by reason remember scope source arguments",
    "history_trimmed": "calls",
    "undone": "id undoes call tool files redone error already",
    "question_asked": "lane id call question options details free",
    "question_answered": "id answer",
    "call_started": "lane id touches decision",
    "call_output": "id stream text",
    "call_finished": ("lane id outcome block why text data truncated full_output decision duration_ms dropped blocks"),
    "note": "level text",
    "usage": "input output cached cost context",
    "turn_ended": "status text usage error",
    "seen": "path stamp ranges digest",
    "state_changed": "key value",
    "panel_changed": "id title blocks",
    "progress": "id text",
}


def test_every_event_has_the_contracts_keys_always_all_of_them() -> None:
    import msgspec

    union = msgspec.inspect.type_info(AnyEvent)
    assert isinstance(union, msgspec.inspect.UnionType)
    found = {}
    for kind in union.types:
        assert isinstance(kind, msgspec.inspect.StructType)
        values: dict[str, Any] = {field.name: None for field in kind.fields}
        made = kind.cls(**values)
        found[kind.tag] = list(json.loads(msgspec.json.encode(made)))
    assert found == {event: [*HEAD, *keys.split()] for event, keys in SHAPES.items()}


def test_the_ephemeral_events_are_these() -> None:
    assert {kind.__name__ for kind in events.EPHEMERAL} == {"Text", "Thinking", "CallOutput", "Progress"}
