"""The tool `bash`, through the whole road of a real board."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from pegboard.calls import Record
from pegboard.port import Cancel
from pegboard.tooling import Tool
from pegboard_tools_core.shell import bash
from running import alive, given_time, pid_in

Run = Callable[..., Record]


@pytest.fixture
def run(pegboard_board: Callable[..., Any]) -> Run:
    board = pegboard_board(tools=[bash])

    def call(command: str, name: str = "bash", /, **arguments: Any) -> Record:
        record = board.call(name, command=command, **arguments)
        assert isinstance(record, Record)
        return record

    return call


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


@pytest.mark.row("S-061")
def test_data_holds_exit_code_and_both_streams(run: Run) -> None:
    record = run("echo out; echo err >&2")

    assert (record.outcome, record.text) == ("ok", "out\nerr\n")
    assert record.data == {"exit_code": 0, "signal": None, "stdout": "out\n", "stderr": "err\n"}


def test_a_status_other_than_nought_is_ok_and_said(run: Run) -> None:
    record = run("printf partial; exit 3")

    assert (record.outcome, record.text, record.data["exit_code"]) == ("ok", "partial\n(exit code 3)", 3)


@pytest.mark.row("S-061")
def test_a_signal_that_killed_the_command_is_noted(run: Run) -> None:
    record = run("echo begun; kill -KILL $$")

    assert (record.outcome, record.text) == ("ok", "begun\n(killed by SIGKILL)")
    assert (record.data["exit_code"], record.data["signal"]) == (None, "SIGKILL")


def test_a_command_that_prints_nothing_says_so(run: Run) -> None:
    assert run("true").text == "(no output)"


@pytest.mark.row("S-057")
def test_it_runs_in_the_workspace_root_and_in_the_folder_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    assert run("pwd").text == f"{tmp_path}\n"
    assert run("pwd", cwd="sub").text == f"{tmp_path}/sub\n"
    assert run("pwd", workdir="sub").text == f"{tmp_path}/sub\n"


def test_a_folder_outside_or_missing_runs_nothing(run: Run, tmp_path: Path) -> None:
    outside = run(f"touch {tmp_path}/ran", cwd="..")
    missing = run(f"touch {tmp_path}/ran", cwd="gone")

    assert "Path escapes workspace: .." in outside.text
    assert (outside.outcome, missing.outcome) == ("blocked", "error")
    assert not (tmp_path / "ran").exists()


@pytest.mark.row("S-057")
def test_the_time_limit_is_two_minutes_by_default_and_ten_at_most(run: Run) -> None:
    described = Tool.of(bash).parameters["properties"]["timeout"]

    assert (described["default"], described["maximum"]) == (120_000, 600_000)
    assert run("true", timeout=600_000).outcome == "ok"
    refused = run("true", timeout=600_001)
    assert (refused.outcome, refused.block) == ("blocked", "invalid_arguments")
    assert (run("true", timeout_s=601)).block == "invalid_arguments"


@pytest.mark.row("R-046", "U-041", "U-040")
@pytest.mark.parametrize(("name", "unit"), [("timeout", 1000), ("timeout_s", 1), ("timeout_ms", 1000)])
def test_a_command_over_its_time_is_stopped_and_its_effects_unknown(
    run: Run, tmp_path: Path, name: str, unit: int
) -> None:
    def attempt(limit: float) -> None:
        (tmp_path / "times").unlink(missing_ok=True)
        record = run("echo x >> times; echo begun; sleep 60", **{name: limit if unit == 1 else int(limit * unit)})

        assert (record.outcome, record.why) == ("interrupted", "timeout")
        assert f"{limit:g} s" in record.text and "its effects are unknown" in record.text
        assert record.text.endswith("stdout:\nbegun\n")
        assert (tmp_path / "times").read_text() == "x\n"  # run once, never again by itself

    given_time(attempt)


@pytest.mark.row("S-062", "S-063")
def test_a_person_stops_the_command_and_its_children(pegboard_board: Callable[..., Any], tmp_path: Path) -> None:
    board = pegboard_board(tools=[bash])
    command = "echo before; (setsid bash -c 'echo $$ > begun; exec sleep 60' &) ; sleep 60 & sleep 60"

    async def interrupted() -> Record:
        call = asyncio.ensure_future(board.agent.call("bash", {"command": command}, "program"))
        while not ((tmp_path / "begun").exists() and (tmp_path / "begun").read_text()):
            await asyncio.sleep(0.01)
        await board.agent.send(Cancel())
        return cast(Record, await call)

    record = board.run(interrupted())

    assert (record.outcome, record.why) == ("interrupted", "person")
    assert record.text.removeprefix("Error: ") == (
        "The user interrupted this command. It did not finish, so its effects are unknown.\nstdout:\nbefore\n"
    )
    assert not alive(pid_in(tmp_path / "begun"))


def test_background_jobs_end_and_the_model_is_told(run: Run) -> None:
    record = run("sleep 600 & echo done")  # longer than a test may take

    assert record.text == "done\n(what it had left running in the background was ended)"


def test_a_command_that_reads_stdin_ends(run: Run) -> None:
    assert run("cat; read line; echo ended").text == "ended\n"


@pytest.mark.row("S-092", "R-071", "U-061")
def test_long_output_is_cut_and_kept_whole(run: Run, pegboard_board: Callable[..., Any], tmp_path: Path) -> None:
    record = run("for i in $(seq 20000); do echo line $i; done")

    assert record.truncated and record.full_output
    kept = record.text[: record.text.rindex("... [")]
    assert kept.endswith("\n") and kept.count("\n") == 2_000
    whole = "".join(f"line {n}\n" for n in range(1, 20_001))
    assert record.text.endswith(f"... [truncated {len(whole) - len(kept):,} chars; all of it: {record.full_output}]")
    [file] = (tmp_path.parent / f"{tmp_path.name}-state").rglob(record.full_output.removeprefix("session:"))
    assert file.read_text() == whole
    assert len(record.data["stdout"]) < 60_000


def test_the_status_of_a_long_output_is_not_lost(run: Run) -> None:
    record = run("seq 100000; exit 7")

    assert record.text.endswith("]\n(exit code 7)")
    assert record.data["exit_code"] == 7


def test_output_that_is_not_utf8_is_valid_text(run: Run) -> None:
    assert run(r"printf 'caf\xe9\n'").text == "caf\ufffd\n"


def test_what_bash_cannot_be_given_runs_nothing(run: Run) -> None:
    record = run("echo a\0b")

    assert record.outcome == "error" and "Nothing was run" in record.text


@pytest.mark.parametrize("name", ["run_command", "run_shell", "shell", "sh"])
def test_names_of_other_agents_mean_it(run: Run, name: str) -> None:
    record = run("echo $0", name)

    assert (record.tool, record.requested, record.text) == ("bash", name, "bash\n")


def test_another_shell_can_be_named(run: Run) -> None:
    assert run("echo $0", shell="sh").text == "sh\n"
    assert run("echo", shell="/tmp/evil").block == "invalid_arguments"


@pytest.mark.row("C-057")
@pytest.mark.parametrize("arguments", [{}, {"shell": "sh"}, {"shell": "bash"}])
def test_a_line_for_a_named_shell_pipes(run: Run, arguments: dict[str, Any]) -> None:
    record = run("seq 30 | tail -n 2; echo $0", "sh", **arguments)

    assert record.text == f"29\n30\n{arguments.get('shell', 'bash')}\n"


@pytest.mark.row("C-058")
@pytest.mark.parametrize(("name", "arguments"), [("fish", {}), ("bash", {"shell": "fish"})])
def test_fish_has_its_pipes_globs_and_variables(
    pegboard_board: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, Any],
) -> None:
    needs("fish")
    for file in ("a.txt", "b.txt", "c.md"):
        (tmp_path / file).touch()
    monkeypatch.setenv("PEG_WORD", "two words")

    board = pegboard_board(tools=[bash])

    record = board.call(
        name, command="set x (echo *.txt | string upper); count $x $PEG_WORD; echo $x-$PEG_WORD", **arguments
    )

    assert record.text == "2\nA.TXT B.TXT-two words\n"
    assert board.call(name, command="-x; echo went on", **arguments).data["stdout"] == "went on\n"


@pytest.mark.row("C-058")
@pytest.mark.parametrize(("name", "arguments"), [("nushell", {}), ("bash", {"shell": "nu"})])
def test_a_shell_that_is_not_here_is_named_with_those_that_are(
    pegboard_board: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, Any],
) -> None:
    for there in ("bash", "sh"):
        (tmp_path / there).symlink_to(shutil.which(there) or "/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))

    record = pegboard_board(tools=[bash]).call(name, command="touch made", **arguments)

    assert record.outcome == "error" and not (tmp_path / "made").exists()
    assert record.text == "Error: nu is not installed here. Nothing was run. shell may be bash, sh."


@pytest.mark.row("C-054", "C-055")
@pytest.mark.parametrize("shell", ["bash", "sh", "fish"])
def test_every_shell_has_an_empty_stdin_a_time_limit_and_a_folder(run: Run, tmp_path: Path, shell: str) -> None:
    needs(shell)
    (tmp_path / "sub").mkdir()

    assert run("cat; pwd", shell=shell, cwd="sub").text == f"{tmp_path}/sub\n"
    record = run("sleep 60", shell=shell, timeout=300)
    assert (record.outcome, record.why) == ("interrupted", "timeout")


@pytest.mark.parametrize(("shell", "also"), [("bash", []), ("fish", ["fish -c 'git log; ls'"])])
def test_a_line_for_another_shell_is_not_judged_by_rules_for_bash(shell: str, also: list[str]) -> None:
    tool = Tool.of(bash)
    touches = tool.touches(tool.read({"command": "git log; ls", "shell": shell}).value)

    assert [(touch.kind, touch.what) for touch in touches] == [("run", what) for what in ["git log; ls", *also]]


def test_the_environment_is_ours(pegboard_board: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEG_WORD", "word")

    assert pegboard_board(tools=[bash]).call("bash", command="echo $PEG_WORD").text == "word\n"


@pytest.mark.row("S-058")
def test_a_login_shell_is_a_setting(
    pegboard_board: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bash_profile").write_text("word=from-profile\n")
    monkeypatch.setenv("HOME", str(home))
    plain = pegboard_board(tools=[bash])
    login = pegboard_board(tools=[bash], settings={"shell.login": True}, state=tmp_path / "state")

    assert plain.call("bash", command="echo =$word").text == "=\n"
    assert login.call("bash", command="echo =$word").text == "=from-profile\n"


@pytest.mark.row("S-091")
def test_the_jail_of_file_tools_does_not_cover_commands(run: Run, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("seen\n")

    assert run(f"cat {outside}").text == "seen\n"


@pytest.mark.row("R-088")
def test_it_asks_by_default(pegboard_board: Callable[..., Any], tmp_path: Path) -> None:
    asking = pegboard_board(tools=[bash], answers="--no")
    free = pegboard_board(
        tools=[bash], answers="--no", settings={"tool_permission.bash": "allow"}, state=tmp_path / "state"
    )

    assert asking.call("bash", command="touch made").block == "denied"
    assert not (tmp_path / "made").exists()
    assert free.call("bash", command="touch made").outcome == "ok"
    assert (tmp_path / "made").exists()


def test_many_calls_leave_no_descriptor_open(run: Run) -> None:
    run("seq 100000")
    run("seq 100000; sleep 60", timeout=300)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run("seq 100000")

    assert len(os.listdir("/proc/self/fd")) <= before


def test_its_examples_are_its_own() -> None:
    assert 6 <= len(Tool.of(bash).declaration.examples) <= 12
