"""kit.process: what is run ends, is heard, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pegboard.errors import ToolError
from pegboard.kit import child as child_module
from pegboard.kit import process, tree
from pegboard.kit.launch import command_line
from pegboard.kit.output import Sink
from pegboard.kit.process import Finished, Launch, ShellSettings, run, shell_argv, signal_name
from running import LIMITS

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def bash(command: str) -> list[str]:
    return ["bash", "-c", command]


class Naps:
    """`sleep` with a length of its own, so that those of this test are told from all others."""

    def __init__(self) -> None:
        self.length = f"61.{secrets.randbelow(10**9):09}"
        self.sleep = f"sleep {self.length}"

    def alive(self) -> list[int]:
        """Pids of those that run; the dead that init has not buried yet do not count."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                line = Path(f"/proc/{entry}/cmdline").read_bytes() if entry.isdigit() else b""
            except OSError:
                continue
            if line == f"sleep\0{self.length}\0".encode():
                found.append(int(entry))
        return found

    async def started(self, count: int) -> None:
        for _ in range(500):
            if len(self.alive()) >= count:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{count} sleeps did not start; running: {self.alive()}")


@pytest.fixture
def naps() -> Iterator[Naps]:
    made = Naps()
    yield made
    for pid in made.alive():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["readiness", "threads"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with Linux's way of watching a child, and with the one for elsewhere."""
    if request.param == "threads":

        def forbidden(pid: int) -> int:
            raise OSError("no pidfd here")

        monkeypatch.setattr(child_module.os, "pidfd_open", forbidden)


# --- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("both")
async def test_exit_code_and_both_streams_are_reported_apart(tmp_path: Path) -> None:
    done = await run(bash("echo out; echo err >&2; exit 3"), cwd=tmp_path)

    assert done == Finished(
        exit_code=3, signal=None, stdout=b"out\n", stderr=b"err\n", cut=False,
        timed_out=False, stopped=False, left_running=False,
    )  # fmt: skip


@pytest.mark.row("S-061")
async def test_a_signal_that_ended_the_command_is_named(tmp_path: Path) -> None:
    done = await run(bash("echo before; kill -SEGV $$"), cwd=tmp_path)

    assert (done.exit_code, done.signal, done.stdout) == (None, "SIGSEGV", b"before\n")


def test_signals_without_a_name_are_told_by_number() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(signal.SIGRTMIN + 3) == "SIGRTMIN+3"


@pytest.mark.usefixtures("both")
async def test_a_command_that_reads_its_input_ends(tmp_path: Path) -> None:
    done = await run(bash("cat; echo ended"), cwd=tmp_path, timeout=10)

    assert (done.stdout, done.timed_out) == (b"ended\n", False)


async def test_long_input_is_given_without_a_deadlock(tmp_path: Path) -> None:
    text = b"x" * 3_000_000

    done = await run(["cat"], cwd=tmp_path, stdin=text, keep=len(text), timeout=20)

    assert done.stdout == text and not done.cut


async def test_it_runs_in_the_folder_and_environment_given(tmp_path: Path) -> None:
    done = await run(["sh", "-c", 'pwd; echo "$WORD"; echo "$HOME"'], cwd=tmp_path, env={"WORD": "a b"})

    assert done.stdout.decode() == f"{tmp_path}\na b\n\n"


async def test_without_an_environment_it_gets_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "caf\udce9")

    assert (await run(bash('printf %s "$WORD"'), cwd=tmp_path)).stdout == b"caf\xe9"


async def test_a_launcher_decides_what_is_started(tmp_path: Path) -> None:
    def shouting(launch: Launch) -> Launch:
        return Launch(argv=("echo", "in a box:", *launch.argv), cwd=launch.cwd, env=launch.env)

    assert (await run(["rm", "-rf", "x"], cwd=tmp_path, launcher=shouting)).stdout == b"in a box: rm -rf x\n"


# --- what cannot be started -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["no-such-program"], "no-such-program: no program of this name is on PATH. Nothing was run."),
        (["./no-such"], "./no-such: there is no such program. Nothing was run."),
        ([], "no program is named. Nothing was run. Name one"),
        (["", "x"], "no program is named. Nothing was run. Name one"),
        (["echo", "a\0b"], "echo: the arguments hold what no program can be given"),
        (["echo", "\ud800"], "echo: the arguments hold what no program can be given"),
        (["echo", "x" * 3_000_000], "echo: the arguments are longer than the system takes. Nothing was run."),
    ],
)
async def test_what_cannot_be_started_is_named_and_nothing_is_run(tmp_path: Path, argv: list[str], says: str) -> None:
    with pytest.raises(ToolError) as caught:
        await run(argv, cwd=tmp_path)

    assert str(caught.value).startswith(says)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"gone: there is no such folder to run in. Nothing was run."):
        await run(["touch", "x"], cwd=tmp_path / "gone")


async def test_a_script_whose_interpreter_is_missing_says_so(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)

    with pytest.raises(ToolError, match=r"script: the interpreter in its first line was not found. Nothing was run."):
        await run(["./script"], cwd=tmp_path)


async def test_a_file_that_may_not_be_run_says_why(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("echo\n")

    with pytest.raises(ToolError, match=r"could not be started \(Permission denied\). Nothing was run."):
        await run(["./plain"], cwd=tmp_path)


# --- output -----------------------------------------------------------------------------------------------------------


@pytest.mark.row("S-060")
@pytest.mark.usefixtures("both")
async def test_megabytes_to_stderr_and_then_stdout_do_not_deadlock(tmp_path: Path) -> None:
    script = "head -c 5000000 /dev/zero >&2; head -c 4000000 /dev/zero"

    done = await run(bash(script), cwd=tmp_path, timeout=30, keep=10_000_000)

    assert (len(done.stderr), len(done.stdout), done.timed_out) == (5_000_000, 4_000_000, False)


async def test_only_the_beginning_is_kept_and_cut_says_so(tmp_path: Path) -> None:
    done = await run(bash("echo 0123456789; echo 0123456789 >&2"), cwd=tmp_path, keep=4)

    assert (done.stdout, done.stderr, done.cut) == (b"0123", b"0123", True)


async def test_two_hundred_megabytes_take_little_memory(tmp_path: Path) -> None:
    await run(bash("head -c 20000000 /dev/zero"), cwd=tmp_path, sink=Sink())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sink = Sink()

    await run(bash("yes | head -c 200000000"), cwd=tmp_path, sink=sink, timeout=60)

    assert sink.size == 200_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= 8 * 1024


@pytest.mark.usefixtures("both")
async def test_output_reaches_sink_and_caller_as_it_comes(tmp_path: Path) -> None:
    sink, seen = Sink(), list[tuple[str, bytes, bool]]()
    go = tmp_path / "go"

    def each(stream: str, data: bytes) -> None:
        seen.append((stream, data, go.exists()))
        go.touch()

    await run(bash("echo first; until [ -e go ]; do sleep 0.01; done; echo second >&2"), cwd=tmp_path, sink=sink, each=each, timeout=20)  # fmt: skip  # noqa: E501

    assert seen == [("stdout", b"first\n", False), ("stderr", b"second\n", True)]
    assert sink.close().text == "first\nsecond\n"


@pytest.mark.usefixtures("both")
async def test_the_caller_can_stop_it_early(tmp_path: Path, naps: Naps) -> None:
    seen = bytearray()

    def each(stream: str, data: bytes) -> bool:
        seen.extend(data)
        return True

    done = await run(bash(f"yes & {naps.sleep}"), cwd=tmp_path, each=each, timeout=20)

    assert (done.stopped, done.timed_out, done.signal) == (True, False, "SIGKILL")
    assert done.stdout == bytes(seen)  # nothing is taken after the caller has had enough
    assert naps.alive() == []


@pytest.mark.usefixtures("both")
async def test_what_the_caller_raises_ends_the_run_and_comes_out(tmp_path: Path, naps: Naps) -> None:
    def each(stream: str, data: bytes) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        await run(bash(f"echo; {naps.sleep} & {naps.sleep}"), cwd=tmp_path, each=each)

    assert naps.alive() == []


# --- nothing is left behind -------------------------------------------------------------------------------------------

TREES = {
    "children": "{sleep} & {sleep}",
    "ignores SIGTERM": "trap '' TERM; {sleep} & {sleep}; {sleep}",
    "new session": "setsid -w {sleep}; true",
    "daemon with our pipes": "(setsid {sleep} &) ; {sleep}",
    "daemon without a trace but its mark": "(setsid {sleep} </dev/null >/dev/null 2>&1 &) ; {sleep}",
    "daemon with another environment": "(env -i setsid sleep {length} &) ; {sleep}",
    "daemon's children": "(setsid bash -c '{sleep} & {sleep}' >/dev/null 2>&1 &) ; {sleep}",
    "stopped": "{sleep} & sleep 0.1; kill -STOP $!; kill -STOP $$",
}


@pytest.fixture(params=TREES.values(), ids=TREES.keys())
def command(request: pytest.FixtureRequest, naps: Naps) -> str:
    return str(request.param).format(sleep=naps.sleep, length=naps.length)


@pytest.mark.row("R-046")
async def test_the_time_limit_leaves_nothing_alive(tmp_path: Path, naps: Naps, command: str) -> None:
    for limit in LIMITS:
        done = await run(bash(f"echo begun; {command}"), cwd=tmp_path, timeout=limit)

        assert naps.alive() == []
        assert (done.timed_out, done.exit_code) == (True, None)
        if done.stdout:
            break
    assert done.stdout == b"begun\n"


@pytest.mark.row("S-062")
async def test_cancelling_leaves_nothing_alive(tmp_path: Path, naps: Naps, command: str) -> None:
    task = asyncio.create_task(run(bash(command), cwd=tmp_path))
    await naps.started(1)
    await asyncio.sleep(0.05)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert naps.alive() == []


@pytest.mark.parametrize("limit", [None, 0.3])
async def test_the_portable_way_leaves_no_child_alive_either(
    tmp_path: Path, naps: Naps, monkeypatch: pytest.MonkeyPatch, limit: float | None
) -> None:
    def forbidden(pid: int) -> int:
        raise OSError("no pidfd here")

    monkeypatch.setattr(child_module.os, "pidfd_open", forbidden)
    monkeypatch.setattr(tree, "_PROC", False)  # parents and groups from `ps`
    task = asyncio.create_task(run(bash(f"setsid -w {naps.sleep} & {naps.sleep}"), cwd=tmp_path, timeout=limit))
    await naps.started(2)
    if limit is None:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        assert (await task).timed_out

    assert naps.alive() == []


async def test_cancelling_twice_still_leaves_nothing_alive(tmp_path: Path, naps: Naps) -> None:
    task = asyncio.create_task(run(bash(f"trap '' TERM; {naps.sleep}; {naps.sleep}"), cwd=tmp_path))
    await naps.started(1)
    await asyncio.sleep(0.05)

    task.cancel()
    await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert naps.alive() == []


async def test_cancelling_while_the_time_limit_is_carried_out_cancels(tmp_path: Path, naps: Naps) -> None:
    task = asyncio.create_task(run(bash(f"trap '' TERM; {naps.sleep}; {naps.sleep}"), cwd=tmp_path, timeout=0.2))
    await asyncio.sleep(0.22)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert naps.alive() == []


def test_a_loop_that_ends_leaves_nothing_alive(tmp_path: Path, naps: Naps) -> None:
    async def main() -> None:
        keep.append(asyncio.create_task(run(bash(f"{naps.sleep} & {naps.sleep}"), cwd=tmp_path)))
        await naps.started(2)

    keep: list[asyncio.Task[Finished]] = []
    asyncio.run(main())

    assert naps.alive() == []


async def test_a_storm_of_forks_is_ended(tmp_path: Path, naps: Naps) -> None:
    storm = f"n() {{ [ $1 -gt 0 ] || exec {naps.sleep}; n $(($1-1)) & n $(($1-1)) & wait; }}; n 6"
    task = asyncio.create_task(run(bash(storm), cwd=tmp_path))
    await naps.started(20)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert naps.alive() == []


async def test_what_a_command_says_at_sigterm_is_heard(tmp_path: Path, naps: Naps) -> None:
    command = bash(f"trap 'echo bye; exit' TERM; echo on; {naps.sleep} & wait")
    for limit in LIMITS:
        done = await run(command, cwd=tmp_path, timeout=limit)
        if done.stdout:
            break

    assert (done.stdout, done.exit_code, done.timed_out) == (b"on\nbye\n", 0, True)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("tail", ["", " >/dev/null 2>&1"], ids=["holding our pipes", "holding nothing"])
async def test_background_jobs_end_with_the_command(tmp_path: Path, naps: Naps, tail: str) -> None:
    done = await run(bash(f"{naps.sleep}{tail} & echo done"), cwd=tmp_path, timeout=60)

    assert (done.exit_code, done.stdout, done.left_running, done.timed_out) == (0, b"done\n", True, False)
    assert naps.alive() == []


async def test_a_session_of_its_own_that_holds_our_pipes_ends_with_the_command(tmp_path: Path, naps: Naps) -> None:
    done = await run(bash(f"setsid {naps.sleep}"), cwd=tmp_path, timeout=20)  # setsid forks and is gone at once

    assert (done.exit_code, done.left_running, done.timed_out) == (0, True, False)
    assert naps.alive() == []


async def test_a_background_job_that_prints_for_ever_does_not_hold_up_the_call(tmp_path: Path) -> None:
    done = await run(bash("yes & echo done >&2"), cwd=tmp_path, timeout=20)

    assert (done.exit_code, done.stderr, done.timed_out, done.left_running) == (0, b"done\n", False, True)


async def test_output_that_comes_just_after_the_exit_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        child_module, "LINGER_SECONDS", 10.0
    )  # on a busy machine 0.05 s of sleep may take more than 0.2
    done = await run(bash("echo word > >(sleep 0.05; cat)"), cwd=tmp_path)

    assert (done.stdout, done.left_running) == (b"word\n", False)


@pytest.mark.usefixtures("both")
async def test_an_output_that_is_closed_early_does_not_end_the_call(tmp_path: Path) -> None:
    done = await run(bash("exec >&- 2>&-; sleep 0.1; exit 5"), cwd=tmp_path)

    assert done.exit_code == 5


async def test_processes_of_other_calls_are_left_alone(tmp_path: Path, naps: Naps) -> None:
    other = asyncio.create_task(run(bash(f"(setsid {naps.sleep} &) ; {naps.sleep}"), cwd=tmp_path))
    await naps.started(2)

    await run(bash("sleep 60 & sleep 60"), cwd=tmp_path, timeout=0.1)

    assert len(naps.alive()) == 2
    other.cancel()
    await asyncio.wait([other])


async def test_a_call_inside_a_call_is_ended_by_either(tmp_path: Path, naps: Naps) -> None:
    inner = f"""
import asyncio
from pegboard.kit.process import run
asyncio.run(run(["bash", "-c", "(setsid {naps.sleep} >/dev/null 2>&1 &) ; {naps.sleep}"], cwd="."))
"""
    task = asyncio.create_task(run([sys.executable, "-c", inner], cwd=tmp_path))
    await naps.started(2)

    task.cancel()
    await asyncio.wait([task])

    assert naps.alive() == []


# --- what it costs ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("both")
async def test_two_hundred_runs_leak_no_descriptor_and_no_zombie(tmp_path: Path) -> None:
    async def once(number: int) -> None:
        match number % 4:
            case 0:
                await run(["true"], cwd=tmp_path)
            case 1:
                await run(["sleep", "60"], cwd=tmp_path, timeout=0.01)
            case 2:
                with pytest.raises(ToolError):
                    await run(["no-such-program"], cwd=tmp_path)
            case _:
                await run(["cat"], cwd=tmp_path, stdin=b"x", each=lambda stream, data: True)

    await asyncio.gather(*map(once, range(4)))
    await asyncio.sleep(0.05)
    before = len(os.listdir("/proc/self/fd"))
    for start in range(0, 200, 8):
        await asyncio.gather(*map(once, range(start, start + 8)))
    gc.collect()
    await asyncio.sleep(0.05)

    assert len(os.listdir("/proc/self/fd")) <= before
    with suppress(ChildProcessError):  # there is no child at all, save one of other tests that runs
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)


async def test_the_loop_goes_on_while_eight_programs_print(tmp_path: Path) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    sinks = [Sink() for _ in range(8)]
    command = bash("head -c 8000000 /dev/zero")
    await asyncio.gather(*(run(command, cwd=tmp_path, sink=sink) for sink in sinks))
    counting.cancel()

    assert [sink.size for sink in sinks] == [8_000_000] * 8
    assert turns > 8  # no child is read to its end in one turn


async def test_nothing_is_written_but_by_the_program(tmp_path: Path) -> None:
    await run(bash("yes | head -c 1000000"), cwd=tmp_path, sink=Sink())

    assert list(tmp_path.iterdir()) == []


# --- shells -----------------------------------------------------------------------------------------------------------


@pytest.mark.row("S-058")
def test_the_shell_is_bash_and_cmd_on_windows() -> None:
    assert shell_argv("echo hi") == ["bash", "-c", "echo hi"]
    assert shell_argv("echo hi", ShellSettings(login=True)) == ["bash", "-lc", "echo hi"]
    assert shell_argv("echo hi", platform="win32") == ["cmd", "/c", "echo hi"]


def test_cmd_gets_the_line_as_it_stands() -> None:
    assert command_line(("cmd", "/c", 'echo "a b" > c')) == 'cmd /d /s /c "echo "a b" > c"'
    assert command_line(("git", "log", "a b")) == 'git log "a b"'


def test_windows_trees_are_ended_by_taskkill() -> None:
    assert tree.taskkill(42) == ["taskkill", "/T", "/F", "/PID", "42"]


async def test_a_line_that_begins_with_a_dash_is_a_command(tmp_path: Path) -> None:
    done = await run(shell_argv("-x; echo went on"), cwd=tmp_path)

    assert done.stdout == b"went on\n"
    assert b"-x" in done.stderr


def test_the_grace_is_short_enough_for_ctrl_c() -> None:
    assert process.GRACE_SECONDS <= 0.1


def test_rows_of_ps_are_read_and_the_dead_left_out() -> None:
    text = "  1     0     1 Ss\n 42     1    42 S+\n 43    42    42 Z\n"

    assert [(p.pid, p.parent, p.group) for p in tree.parse_ps(text)] == [(1, 0, 1), (42, 1, 42)]
