"""Two agents in one folder are told of each other; what a killed one left is cleared away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from pegboard import events
from pegboard.session.presence import Presence
from pegboard.testing.bench import TestBoard

AGENT = dedent(
    """
    import sys
    from pathlib import Path
    from pegboard.testing.bench import TestBoard

    board = TestBoard(Path(sys.argv[1]), session=sys.argv[2], steps=["hello"])
    print(*board.board.notes, sep="|", flush=True)
    sys.stdin.readline()
    board.prompt("go")
    print(*[e.text for e in board.events if getattr(e, "level", "") == "warning"], sep="|", flush=True)
    sys.stdin.readline()
    board.close()
    """
)


class Other:
    """An agent in another process, in this folder."""

    def __init__(self, root: Path, session: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", AGENT, str(root), session], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.told = self.line()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait(60)


def warnings(board: TestBoard) -> list[str]:
    return [e.text for e in board.events if isinstance(e, events.Note) and e.level == "warning"]


def test_the_new_one_is_told_at_once_and_the_other_at_its_next_turn_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    mine = TestBoard(root, session="mine", steps=["one", "two", "three"])
    assert mine.board.notes == []
    mine.prompt()
    assert warnings(mine) == []
    other = Other(root, "theirs")
    try:
        assert other.told == f"another agent (session mine, process {os.getpid()}) works in this folder"
        mine.prompt()
        mine.prompt()
        expected = f"another agent (session theirs, process {other.process.pid}) works in this folder"
        assert warnings(mine) == [expected]
        other.go_on()
        assert other.line() == "", "who was told at the start is not told again at the first turn"
        linked = Presence(tmp_path / "root-state", str(tmp_path / "link"), "x")
        assert linked.news() == [expected], "the same folder by another name"
        linked.close()
    finally:
        other.end()
    mine.close()


def test_a_second_session_of_one_process_names_each_other_agent_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    other = Other(root, "theirs")
    try:
        mine = TestBoard(root, session="mine")
        told = list(mine.board.notes)
        second = mine.board.agent(mine.board.session("second"), provider=mine.model)
        assert len(told) == 1 and mine.board.notes == told
        mine.run(second.close())
        mine.close()
    finally:
        other.end()


def test_another_folder_and_a_single_call_are_no_company(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    other = Other(tmp_path / "there", "s")
    try:
        mine = TestBoard(tmp_path / "here", state=tmp_path / "there-state", session="mine")
        assert mine.board.notes == []
        mine.close()
        beside = TestBoard(tmp_path / "there", session="t")
        assert len(beside.board.notes) == 1
        beside.close()
    finally:
        other.end()


@pytest.mark.parametrize("left", ["killed", "closed"])
def test_one_that_has_ended_is_not_told_of_and_leaves_nothing(tmp_path: Path, left: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    other = Other(root, "theirs")
    if left == "closed":
        other.go_on()
        other.line()
        other.go_on()
        assert other.process.wait(60) == 0
    other.end()
    mine = TestBoard(root, session="mine")
    assert mine.board.notes == []
    mine.close()
    assert list((tmp_path / "root-state" / "agents").rglob("*.agent")) == []


def test_agents_of_one_process_know_of_each_other_anyway(tmp_path: Path) -> None:
    one, two = Presence(tmp_path, "/", "a"), Presence(tmp_path, "/", "b")
    assert one.news() == two.news() == []
    one.close()
    one.close()
    two.close()


def test_rubbish_in_the_place_of_an_agents_file_is_passed_over(tmp_path: Path) -> None:
    mine = Presence(tmp_path, "/", "a")
    [folder] = (tmp_path / "agents").iterdir()
    os.mkfifo(folder / "1-a.agent")
    (folder / "2-a.agent").symlink_to("/etc/passwd")
    (folder / "3-a.agent").mkdir()
    (folder / "4-a.agent").write_text("{")
    assert mine.news() == []
    mine.close()
