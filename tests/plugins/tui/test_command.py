"""`pegboard tui`: exit codes, what is said on stderr, and a terminal that is as it was after every end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest
from pegboard_tui import command
from pegboard_tui.command import Wishes, run

PROGRAM = str(Path(sys.executable).with_name("pegboard"))
LEFT = "\x1b[?1049l"
"""What goes back from the app's screen to the one before it."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home of its own, and nothing else that is set outside."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    return kept | {"HOME": str(tmp_path / "home"), "TERM": "xterm-256color"}


@pytest.fixture
def begin(tmp_path: Path, environ: dict[str, str]) -> Callable[..., pexpect.spawn[str]]:
    def spawn(*words: str) -> pexpect.spawn[str]:
        child = pexpect.spawn(
            words[0],
            list(words[1:]),
            cwd=str(tmp_path / "work"),
            env=environ,
            encoding="utf-8",
            timeout=60,
            dimensions=(24, 100),
        )
        return child

    return spawn


def until(so: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_the_terminal_is_given_back_when_suspended_and_when_told_to_end(
    begin: Callable[..., pexpect.spawn[str]],
) -> None:
    child = begin(PROGRAM, "tui", "--model", "offline", "--session", "s-1")
    before = termios.tcgetattr(child.child_fd)
    child.expect("a router")
    assert termios.tcgetattr(child.child_fd) != before
    child.send("hello\r")
    child.expect("I am a router")
    child.send("\x1a")
    child.expect(re.escape(LEFT))
    until(lambda: state(child.pid) == "T")
    assert termios.tcgetattr(child.child_fd) == before
    os.kill(child.pid, signal.SIGCONT)
    child.expect(re.escape("\x1b[?1049h"))
    child.expect("I am a router")
    for _ in range(3):
        os.kill(child.pid, signal.SIGTERM)
    child.expect(pexpect.EOF)
    child.close()
    said = child.before.rpartition(LEFT)[2]
    assert "To go on: pegboard tui --session s-1" in said and "Traceback" not in said
    assert child.exitstatus == 130


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the terminal is asked whether it is there")
@pytest.mark.parametrize("told", [signal.SIGHUP, signal.SIGQUIT])
def test_told_to_end_by_a_hangup_or_to_quit_the_app_gives_back_a_terminal_that_is_still_there(
    begin: Callable[..., pexpect.spawn[str]], told: signal.Signals
) -> None:
    child = begin(PROGRAM, "tui", "--model", "offline", "--session", "s-3")
    child.expect("a router")
    child.send("hello\r")
    child.expect("I am a router")
    os.kill(child.pid, told)
    child.expect(re.escape(LEFT))
    child.expect("To go on: pegboard tui --session s-3")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_the_terminal_is_left_once_so_what_kept_the_app_from_starting_stays_to_be_read(
    begin: Callable[..., pexpect.spawn[str]],
) -> None:
    child = begin(PROGRAM, "tui", "--model", "offline", "--continue")
    child.expect(pexpect.EOF)
    child.close()
    assert (
        "to continue; nothing was started" in child.before.rpartition(LEFT)[2]
    )  # leaving again puts the cursor above it
    assert child.exitstatus == 2


def test_a_terminal_that_goes_away_ends_the_app_and_the_session_is_kept(
    begin: Callable[..., pexpect.spawn[str]], tmp_path: Path
) -> None:
    child = begin(PROGRAM, "tui", "--model", "offline", "--session", "s-2")
    child.expect("a router")
    child.send("hello\r")
    child.expect("I am a router")
    os.close(child.child_fd)
    _, status = os.waitpid(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    log = next(tmp_path.rglob("s-2/events.jsonl")).read_text("utf-8")
    assert log.count('"event":"turn_ended"') == 1
    child.closed = True


def test_a_fault_of_ours_is_told_in_words_on_a_terminal_that_is_given_back(
    begin: Callable[..., pexpect.spawn[str]],
) -> None:
    broken = (
        "import sys\n"
        "from pegboard_tui.composer import Composer\n"
        "def fails(*_): secret = 'hunter2'; raise RuntimeError('out of \\x1b[31morder')\n"
        "Composer.action_submit = fails\n"
        "sys.argv = ['pegboard', 'tui', '--model', 'offline', *sys.argv[1:]]\n"
        "from pegboard_cli.main import main\n"
        "sys.exit(main())\n"
    )
    child = begin(sys.executable, "-c", broken)
    before = termios.tcgetattr(child.child_fd)
    child.expect("a router")
    child.send("hello\r")
    child.expect(r"pegboard: the app failed \(RuntimeError: out of \\x1b\[31morder\)\.")
    child.expect(pexpect.EOF)
    assert "Traceback" not in child.before and "hunter2" not in child.before
    assert termios.tcgetattr(child.child_fd) == before
    child.close()
    assert child.exitstatus == 1


def test_without_a_terminal_it_is_the_line_session_with_the_same_options(
    environ: dict[str, str], tmp_path: Path
) -> None:
    words = [PROGRAM, "tui", "--model", "offline", "--session", "s-3", "--no"]
    done = subprocess.run(
        words, cwd=tmp_path / "work", env=environ, input="hello\n", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "I am a router" in done.stdout
    assert "session s-3" in done.stderr and "\x1b[?1049h" not in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--yes", "--no"], "--yes and --no exclude each other"),
        (["--continue", "--session", "a"], "--continue and --session exclude each other"),
        (["--session", "a/b"], "is not 1 to 64 letters"),
        (["--timeout", "-1"], "is no time to wait"),
        (["--max-steps", "0"], "0"),
        ([], "needs a terminal on stdin, stdout and stderr. Nothing was started."),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit) as end:
        command.app(words, prog_name="tui")
    seen = capsys.readouterr()
    assert end.value.code == 2 and told in seen.err and seen.out == ""


def test_what_keeps_it_from_starting_is_said_with_the_code_of_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "PEGBOARD_MODEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    here = str(tmp_path / "work")
    offline = {"model": "offline"}
    assert run(Wishes(path=str(tmp_path / "no"))) == 2
    assert capsys.readouterr().err.startswith("pegboard: ")
    assert run(Wishes(path=here, resume=True, flags=offline)) == 2
    assert f"no session of {here} to continue; nothing was started." in capsys.readouterr().err
    assert run(Wishes(path=here, flags={"model": "nosuch/model"}, debug=True)) == 2
    told = capsys.readouterr().err
    assert "nosuch" in told and "Traceback" in told
    assert run(Wishes(path=here, flags={"mode": "nosuch"})) == 2
    assert "nosuch" in capsys.readouterr().err
