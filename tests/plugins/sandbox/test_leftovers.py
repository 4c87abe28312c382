"""What stands in for something during a run: it goes with the run, or with the next one; what a person made stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pegboard.board import Board
from pegboard.kit import standins
from pegboard_sandbox.scratch import Scratch, sweep
from sandboxed import CHECKOUT, Place

RUN = """
import sys
from sandboxed import Place
from test_on_the_road import ALLOWED, Boards
from pathlib import Path
place = Place.__new__(Place)
base = Path(sys.argv[1])
place.base, place.home, place.root, place.state = base, base / "home", base / "home/work", base / "home/state"
import os
place.env = dict(os.environ)
Boards(place).agent(ALLOWED)("bash", command="touch began; sleep 60")
"""


@pytest.mark.parametrize(
    "name", [".envrc", ".pegboard", ".git", "commondir", ".git/hooks", ".git/info", ".git/modules"]
)
def test_an_empty_folder_that_a_person_made_stays(place: Place, name: str) -> None:
    subprocess.run(["rm", "-rf", str(place.root / name)], check=True)
    (place.root / name).mkdir()

    place.inside("true")

    assert (place.root / name).is_dir()


@pytest.mark.parametrize(("name", "text"), [("commondir", ".\n"), ("config.worktree", ""), ("info/attributes", "")])
def test_a_file_that_a_person_made_stays_though_it_says_what_ours_would(place: Place, name: str, text: str) -> None:
    (place.root / ".git" / name).write_text(text)

    place.inside("true")

    assert (place.root / ".git" / name).read_text() == text


def test_what_was_changed_meanwhile_is_not_ours_any_more(tmp_path: Path) -> None:
    held = standins.StandIns({str(tmp_path / "a"): None, str(tmp_path / "b"): ".\n", str(tmp_path / "c"): None})
    (tmp_path / "a/x").touch()
    (tmp_path / "a/x").unlink()
    (tmp_path / "b").write_text(".\n")

    held.release()

    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_what_a_killed_run_left_is_removed_by_the_next_board(place: Place) -> None:
    before = _listing(place)
    _killed(place)
    assert {".envrc", ".pegboard", "commondir"} <= set(os.listdir(place.root))
    (place.root / "sub/.pegboard").mkdir()  # a person's

    Board.build(
        str(place.root), user_file=place.state / "config.toml", state=place.state, environ=place.env, discover=False
    )

    assert _listing(place) == before and (place.root / "sub/.pegboard").is_dir()
    assert os.listdir(place.state / "stand-ins") == []


def test_what_another_process_needs_is_left_there(tmp_path: Path) -> None:
    records, path = tmp_path / "records", tmp_path / "a"
    alive = standins.Record(str(records))
    alive.note({str(path): None}, {})
    held = standins.StandIns({str(path): None})

    standins.tidy(str(records))
    assert path.is_dir() and len(os.listdir(records)) == 1

    held.release()
    del alive
    assert not path.exists() and os.listdir(records) == []


def test_a_folder_of_a_killed_one_is_removed_when_another_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard_sandbox.scratch._PARENTS", (str(tmp_path),))
    script = (
        f"import os, pegboard_sandbox.scratch as s; s._PARENTS = ({str(tmp_path)!r},); x = s.Scratch('/nowhere');"
        "os.mkdir(x.tmp + '/d'); os.chmod(x.tmp + '/d', 0); os.kill(os.getpid(), 9)"
    )
    alive = Scratch("/nowhere")
    subprocess.run([sys.executable, "-c", script], check=False)
    other = tmp_path / "pegboard-sandbox-of-nobody"
    other.mkdir()
    old = time.time() - 3600
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name, (old, old))
    assert len(os.listdir(tmp_path)) == 3

    sweep(str(tmp_path))

    assert {str(tmp_path / name) for name in os.listdir(tmp_path)} == {alive.folder, str(other)}
    alive.close()
    assert os.listdir(tmp_path) == [other.name]


def _killed(place: Place) -> None:
    """A run of another process that was killed in the midst."""
    paths = os.pathsep.join([str(CHECKOUT / "tests/helpers"), str(CHECKOUT / "tests/plugins/sandbox")])
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(place.base)], env={**place.env, "PYTHONPATH": paths}, start_new_session=True
    )
    until = time.monotonic() + 60
    while not (place.root / "began").exists() and child.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    (place.root / "began").unlink()
    child.send_signal(signal.SIGKILL)
    child.wait()


def _listing(place: Place) -> list[list[str]]:
    return [sorted(os.listdir(folder)) for folder in (place.root, place.root / ".git", place.root / "sub/inner/.git")]
