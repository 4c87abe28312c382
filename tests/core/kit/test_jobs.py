"""Programs in the background: real processes, their records and their output, looked after by one process and by others."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pegboard.errors import ToolError
from pegboard.kit import process
from pegboard.kit.caps import Caps
from pegboard.kit.jobs import Job, Jobs, described, news_of
from pegboard.kit.jobs.output import read_piece
from pegboard.kit.jobs.records import Entry, Store, Who
from pegboard.kit.launch import Launch
from pegboard.kit.settings import JobSettings, OutputSettings
from pegboard.kit.sink import Sink
from running import alive

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


async def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        await asyncio.sleep(0.01)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "session"
    folder.mkdir(mode=0o700)
    return folder


@asynccontextmanager
async def opened(session: Path | None, *, most: int = 16, **output: int) -> AsyncIterator[Jobs]:
    jobs = Jobs(session, settings=JobSettings(max_jobs=most), output=OutputSettings(**output))
    try:
        yield jobs
    finally:
        await jobs.close()


def line(command: str, cwd: str = "/") -> Launch:
    return Launch(argv=("bash", "-c", command), cwd=cwd)


async def begin(jobs: Jobs, command: str, **how: Any) -> Job:
    return await jobs.start(line(command), label=command, **how)


@pytest.mark.parametrize("keep", [False, True])
async def test_a_job_goes_on_by_itself_and_its_end_is_told(session: Path, keep: bool) -> None:
    async with opened(session) as jobs:
        job = await begin(jobs, "echo one; sleep 0.3; echo two >&2; exit 3", keep=keep)
        assert (job.id, job.state, job.exit_code, job.keep) == ("j1", "running", None, keep)
        assert job.pid and alive(job.pid)
        ended = await jobs.wait("j1", 10)
    assert (ended.state, ended.exit_code, ended.signal, ended.size) == ("ended", 3, None, 8)
    assert "exit code 3" in described(ended)
    assert (session / "out" / "j1.txt").read_text() == "one\ntwo\n"
    assert stat.S_IMODE((session / "out" / "j1.txt").stat().st_mode) == 0o600
    assert {stat.S_IMODE(file.stat().st_mode) for file in (session / "jobs").iterdir()} == {0o600}


async def test_a_signal_that_ended_it_is_named(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, "kill -USR1 $$")
        ended = await jobs.wait("j1", 10)
    assert (ended.exit_code, ended.signal) == (None, "SIGUSR1")


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (Launch(argv=("no-such-program",), cwd="/"), "no program of this name is on PATH"),
        (line("true", "/no/such/folder"), "no such folder to run in"),
    ],
)
async def test_what_cannot_be_started_leaves_no_job(session: Path, keep: bool, launch: Launch, said: str) -> None:
    async with opened(session) as jobs:
        with pytest.raises(ToolError, match=said) as raised:
            await jobs.start(launch, label="x", keep=keep)
        assert "Nothing was run" in str(raised.value)
        assert jobs.all() == [] and list((session / "out").iterdir()) == []
        assert (await begin(jobs, "true")).id == "j1"


async def test_output_is_read_on_from_where_one_left_off(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, f"printf 'caf\\xc3'; sleep 0.3; printf '\\xa9\\nend\\n'; touch {session}/done; sleep 60")
        await until(lambda: jobs.get("j1").size >= 4)
        first = jobs.output("j1")
        assert (first.text, first.next, first.more) == ("caf", 3, False)  # a character is never cut in two
        await until(lambda: (session / "done").exists())
        await until(lambda: jobs.get("j1").size == 10)
        second = jobs.output("j1", first.next)
        assert (second.text, second.next) == ("é\nend\n", 10)
        assert jobs.output("j1", 10).text == ""


async def test_waiting_gives_what_comes_as_it_comes_and_no_longer_than_asked(session: Path) -> None:
    heard: list[tuple[bytes, bool]] = []
    async with opened(session) as jobs:
        await begin(jobs, f"echo one; while [ ! -e {session}/go ]; do sleep 0.01; done; echo two")

        def take(data: bytes) -> None:
            heard.append((data, jobs.get("j1").over))
            (session / "go").touch()

        assert (await jobs.wait("j1", 0.05)).state == "running"
        assert (await jobs.wait("j1", 10, each=take)).exit_code == 0
        assert b"".join(data for data, _ in heard) == b"one\ntwo\n" and heard[0] == (b"one\n", False)
        rest: list[bytes] = []
        await jobs.wait("j1", 10, since=4, each=rest.append)
        assert rest == [b"two\n"]


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("how", ["plain", "deaf", "detached"])
@linux
async def test_cancelling_ends_all_that_began_with_it(
    session: Path, how: str, keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.kit.jobs.jobs.CANCEL_SECONDS", 0.2)
    command = {
        "plain": "sleep 60 & echo $! > pids; echo $$ >> pids; sleep 60",
        "deaf": "trap '' TERM; echo $$ > pids; echo $$ >> pids; while :; do sleep 0.05; done",
        "detached": "(setsid bash -c 'echo $$ > pids; exec sleep 60' &) ; sleep 0.2; echo $$ >> pids; sleep 60",
    }[how]
    async with opened(session) as jobs:
        await jobs.start(line(command, str(session)), label=command, keep=keep)
        file = session / "pids"
        await until(lambda: file.exists() and len(file.read_text().split()) == 2)
        pids = [int(word) for word in file.read_text().split()]
        assert all(map(alive, pids))
        job = await jobs.cancel("j1")
        assert job.over and job.cancelled and job.signal == ("SIGKILL" if how == "deaf" else "SIGTERM")
        assert not any(map(alive, pids))
        assert (await jobs.cancel("j1")).over, "again does nothing"


@linux
async def test_closing_ends_every_job_that_is_not_kept_and_no_other(session: Path) -> None:
    async with opened(session) as jobs:
        plain = [await begin(jobs, "trap '' TERM; sleep 60; sleep 60") for _ in range(3)]
        kept = await begin(jobs, "sleep 60", keep=True)
    assert not any(alive(job.pid or 0) for job in plain)
    assert alive(kept.pid or 0)
    async with opened(session) as others:
        assert [job.closed for job in others.all()] == [True, True, True, False]
        assert others.get(kept.id).state == "running"
        with pytest.raises(ToolError, match="being closed"):
            await begin(jobs, "true")
        assert (await others.cancel(kept.id)).cancelled
    assert not alive(kept.pid or 0)


@linux
async def test_a_start_that_is_given_up_leaves_nothing(session: Path) -> None:
    async with opened(session) as jobs:
        for delay in (0, 0.01, 0.05, 0.1):
            task = asyncio.create_task(begin(jobs, f"exec sleep 61 {session}", keep=True))
            await asyncio.sleep(delay)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await jobs.cancel((await task).id)
        assert [job.state for job in jobs.all() if not job.over] == []
    table = subprocess.run(["ps", "-A", "-o", "stat=,args="], capture_output=True, text=True, check=True).stdout
    assert [row for row in table.splitlines() if f"sleep 61 {session}" in row and not row.startswith("Z")] == []


async def test_one_that_floods_is_bounded_on_disk_and_still_heard_to_its_end(session: Path) -> None:
    async with opened(session, max_saved_bytes=100_000) as jobs:
        await begin(jobs, "yes | head -c 3000000; exit 4")
        ended = await jobs.wait("j1", 20)
    assert (ended.exit_code, ended.size, ended.cut) == (4, 100_000, "output.max_saved_bytes")


async def test_one_that_closes_its_output_goes_on(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, f"exec >&- 2>&-; sleep 0.3; touch {session}/went; exit 5")
        ended = await jobs.wait("j1", 10)
    assert ended.exit_code == 5 and (session / "went").exists()


@linux
async def test_what_it_leaves_behind_ends_with_it(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, "sleep 60 & echo $!")
        await jobs.wait("j1", 10)
        assert not alive(int(jobs.output("j1").text))


async def test_its_folder_may_vanish_under_it(session: Path) -> None:
    gone = session / "gone"
    gone.mkdir()
    async with opened(session) as jobs:
        command = f"touch {session}/begun; while [ -d {gone} ]; do sleep 0.01; done; echo still"
        await jobs.start(line(command, str(gone)), label="x")
        await until((session / "begun").exists)
        gone.rmdir()
        assert (await jobs.wait("j1", 10)).exit_code == 0
        assert jobs.output("j1").text == "still\n"


async def test_no_more_run_than_may(session: Path) -> None:
    async with opened(session, most=2) as jobs:
        await begin(jobs, "sleep 60")
        await begin(jobs, "sleep 60")
        with pytest.raises(ToolError, match=r"2 jobs run already, as many as may: j1, j2. Nothing was started"):
            await begin(jobs, "sleep 60")
        await jobs.cancel("j1")
        assert (await begin(jobs, "sleep 60")).id == "j3"


async def test_a_process_that_was_stopped_with_the_lock_stops_nobody_else(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.kit.jobs.records._LOCK_SECONDS", 0.1)
    async with opened(session) as jobs:
        await begin(jobs, "true")
        with (session / "jobs" / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(
                ToolError, match=r"another process holds the jobs of this session\. Nothing was started"
            ):
                await begin(jobs, "true")
        assert (await begin(jobs, "true")).id == "j2"


async def test_an_unknown_id_is_told_which_there_are(session: Path) -> None:
    async with opened(session) as jobs:
        with pytest.raises(ToolError, match="There are none"):
            jobs.get("j1")
        await begin(jobs, "true")
        for wrong in ("j2", "", "../../x", "j1.json", "j1\n"):
            with pytest.raises(ToolError, match="There are j1"):
                jobs.output(wrong)


async def test_news_are_told_once_and_not_what_was_looked_at(session: Path) -> None:
    async with opened(session) as jobs:
        for command in ("exit 3", "true", "sleep 60"):
            await begin(jobs, command)
        await jobs.wait("j1", 10)
        jobs.tell(await jobs.wait("j2", 10))
        [said] = map(news_of, jobs.news())
        assert said.startswith("job j1 (exit 3): ended") and "exit code 3" in said
        assert jobs.news() == []
    async with opened(session) as later:
        [said] = map(news_of, later.news())
        assert said.startswith("job j3 (sleep 60): ended with Pegboard")


async def test_a_session_in_memory_has_jobs_that_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with opened(None) as jobs:
        assert jobs.all() == [] and jobs.news() == [] and list(tmp_path.iterdir()) == []
        await begin(jobs, "echo hi")
        await jobs.wait("j1", 10)
        assert jobs.output("j1").text == "hi\n"
        with pytest.raises(ToolError, match="Nothing was started"):
            await begin(jobs, "true", keep=True)
    assert list(tmp_path.iterdir()) == []


# --- handed over ------------------------------------------------------------------------------------------------------


@linux
async def test_a_running_program_is_handed_over_without_a_byte_lost_or_repeated(session: Path) -> None:
    command = (
        "for i in $(seq 400); do printf 'é%d ' $i; [ $((i % 7)) = 0 ] && sleep 0.01; done; "
        "printf '\\xc3'; sleep 0.1; printf '\\xa9'"
    )
    sink = Sink()
    async with opened(session) as jobs:
        started = process.begin(line(command), sink=sink)
        assert await started.outlasts(0.2)
        job = jobs.adopt(started, label=command, held=sink.unfinished)
        assert job is not None
        assert job.seconds >= 0.2, "it counts from where it was started"
        before = sink.close().text
        assert (await jobs.wait(job.id, 20)).exit_code == 0
        after = jobs.output(job.id).text
    assert before and after
    assert before + after == "".join(f"é{n} " for n in range(1, 401)) + "é"


@linux
async def test_a_character_that_is_half_there_goes_with_the_rest_of_it(session: Path) -> None:
    sink = Sink()
    async with opened(session) as jobs:
        started = process.begin(
            line(f"printf 'a\\xc3'; while [ ! -e {session}/go ]; do sleep 0.01; done; printf '\\xa9'"), sink=sink
        )
        assert await started.outlasts(0.2)
        job = jobs.adopt(started, label="x", held=sink.unfinished)
        (session / "go").touch()
        assert job is not None and (await jobs.wait(job.id, 10)).exit_code == 0
        assert (sink.close().text, jobs.output(job.id).text) == ("a", "é")


@linux
async def test_handing_over_leaves_no_descriptor_open_and_nothing_to_do_for_the_loop(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, "true")
        await jobs.wait("j1", 10)
        before = len(os.listdir("/proc/self/fd"))
        started = process.begin(line("exec sleep 0.3"))
        assert await started.outlasts(0.1)
        job = jobs.adopt(started, label="x")
        assert job is not None
        busy = time.process_time()
        await asyncio.to_thread(jobs._own[job.id].done.wait, 10)
        assert time.process_time() - busy < 0.1
        assert len(os.listdir("/proc/self/fd")) == before


async def test_one_that_ends_in_time_is_not_handed_over() -> None:
    started = process.begin(line("echo hi; exit 3"))
    assert not await started.outlasts(10)
    done = await started.finished(10)
    assert (done.exit_code, done.stdout) == (3, b"hi\n")


@linux
async def test_where_there_is_no_room_it_goes_on_as_it_was(session: Path) -> None:
    async with opened(session, most=1) as jobs:
        await begin(jobs, "sleep 60")
        started = process.begin(line("sleep 0.2; echo end"))
        assert await started.outlasts(0.05)
        assert jobs.adopt(started, label="x") is None
        assert (await started.finished(10)).stdout == b"end\n"
        late = process.begin(line("sleep 60"))
        assert await late.outlasts(0.05) and (await late.finished(0.05)).timed_out


@linux
async def test_cancelling_before_it_is_handed_over_kills_it(session: Path) -> None:
    started = process.begin(line(f"echo $$ > {session}/pid; sleep 60 & sleep 60"))
    waiting = asyncio.create_task(started.outlasts(30))
    await asyncio.sleep(0)
    await until(lambda: (session / "pid").exists() and (session / "pid").read_text() != "")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not alive(int((session / "pid").read_text()))


# --- other processes --------------------------------------------------------------------------------------------------

OTHER = """
import asyncio, os, sys, time
from pegboard.kit.jobs import Jobs
from pegboard.kit.launch import Launch
from pegboard.kit.settings import JobSettings

async def main():
    jobs = Jobs(sys.argv[1], settings=JobSettings(max_jobs=100))
    for command in sys.argv[3:]:
        job = await jobs.start(Launch(argv=("bash", "-c", command), cwd="/"), label=command)
        print(job.id, job.pid or 0, flush=True)
    if sys.argv[2] == "stay":
        time.sleep(60)  # the loop stands still, as in a front end that waits for a line
    await jobs.close()

asyncio.run(main())
"""


def other(session: Path, *commands: str, stay: bool) -> subprocess.Popen[str]:
    """Another process on the session, that starts these."""
    return subprocess.Popen(
        [sys.executable, "-c", OTHER, str(session), "stay" if stay else "end", *commands],
        stdout=subprocess.PIPE,
        text=True,
    )


def first(ran: subprocess.Popen[str]) -> tuple[str, int]:
    assert ran.stdout is not None
    id, pid = ran.stdout.readline().split()
    return id, int(pid)


async def test_processes_that_start_jobs_at_once_never_share_an_id(session: Path) -> None:
    running = [other(session, *["true"] * 8, stay=False) for _ in range(3)]
    said = [ran.communicate(timeout=60)[0].splitlines() for ran in running]
    ids = [row.split()[0] for rows in said for row in rows]
    assert sorted(ids, key=lambda id: int(id[1:])) == [f"j{n}" for n in range(1, 25)]
    async with opened(session) as jobs:
        assert len(jobs.all()) == 24


@linux
async def test_a_job_of_another_process_is_seen_heard_and_cancelled(session: Path) -> None:
    ran = other(session, "echo hi; sleep 60", stay=True)
    try:
        id, pid = first(ran)
        async with opened(session) as jobs:
            await until(lambda: jobs.get(id).size == 3)
            assert (jobs.get(id).state, jobs.output(id).text) == ("running", "hi\n")
            job = await jobs.cancel(id)
            assert job.over and job.cancelled and not alive(pid)
    finally:
        ran.kill()
        ran.communicate()


@linux
async def test_output_is_taken_while_the_loop_stands_still(session: Path) -> None:
    ran = other(
        session,
        "head -c 3000000 /dev/zero; touch $0.done",
        f"head -c 3000000 /dev/zero; touch {session}/done",
        stay=True,
    )
    try:
        async with opened(session) as jobs:
            await until(lambda: (session / "done").exists())
            assert (await jobs.wait("j2", 10)).size == 3_000_000
    finally:
        ran.kill()
        ran.communicate()


@linux
async def test_what_a_killed_pegboard_left_behind_is_told_as_such_and_can_be_ended(session: Path) -> None:
    file = session / "pid"
    detached = f"(setsid bash -c 'echo $$ > {file}; exec sleep 60' &) ; sleep 60"
    ran = other(session, "sleep 60", detached, "exit 0", stay=True)
    pids = [first(ran)[1] for _ in range(3)]
    await until(lambda: file.exists() and file.read_text() != "")
    await asyncio.sleep(0.3)
    ran.kill()
    ran.communicate()
    async with opened(session) as jobs:
        assert [job.state for job in jobs.all()] == ["left", "left", "ended"]
        assert alive(pids[0]) and "left behind by a Pegboard that was killed: it goes on" in described(jobs.get("j1"))
        assert any("j1" in said and "left behind" in said for said in map(news_of, jobs.news()))
        os.kill(pids[1], signal.SIGKILL)  # its child is in a session of its own
        await until(lambda: not alive(pids[1]))
        assert jobs.get("j2").state == "left"
        for id in ("j1", "j2"):
            assert (await jobs.cancel(id)).state == "lost"
        assert not alive(pids[0])
        assert described(jobs.get("j1")) == "cancelled"
    assert not alive(int(file.read_text()))


@linux
async def test_a_process_that_got_the_number_of_one_that_is_gone_is_never_signalled(session: Path) -> None:
    innocent = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        store = Store(str(session))
        entry = store.reserve("x", keep=False, most=9, runs=lambda entry: False)
        for child in (
            Who(pid=innocent.pid, born=str(int(Who.of(innocent.pid).born) - 5), boot=Who.of(1).boot),
            msgspec.structs.replace(Who.of(innocent.pid), boot="another"),
        ):
            for owner in (Who(pid=2**22, born="1", boot=child.boot), child):
                entry.owner, entry.child, entry.mark = owner, child, "0123456789abcdef"
                store.write(entry)
                async with opened(session) as jobs:
                    assert jobs.get("j1").state == "lost"
                    await jobs.cancel("j1")
                assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


@linux
async def test_a_kept_job_outlives_all_and_its_end_is_noted(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, f"while [ ! -e {session}/go ]; do sleep 0.01; done; echo end; exit 6", keep=True)
        record = json.loads((session / "jobs" / "j1.json").read_text())
    assert record["owner"]["pid"] != os.getpid() and alive(record["owner"]["pid"])
    (session / "go").touch()
    async with opened(session) as jobs:
        assert (await jobs.wait("j1", 10)).exit_code == 6
        assert jobs.output("j1").text == "end\n"
    await until(lambda: not alive(record["owner"]["pid"]))


@linux
async def test_the_keeper_told_to_end_ends_its_job(session: Path) -> None:
    async with opened(session) as jobs:
        job = await begin(jobs, "sleep 60", keep=True)
        owner = json.loads((session / "jobs" / "j1.json").read_text())["owner"]["pid"]
        os.kill(owner, signal.SIGTERM)
        ended = await jobs.wait("j1", 10)
        assert ended.signal == "SIGTERM" and not alive(job.pid or 0)


async def test_a_record_that_cannot_be_read_stands_in_nobodys_way(session: Path) -> None:
    async with opened(session) as jobs:
        await begin(jobs, "true")
        (session / "jobs" / "j2.json").write_text("{")
        (session / "jobs" / "j3.json").write_text('{"id": 3}')
        assert (await begin(jobs, "true")).id == "j4"
        assert [job.id for job in jobs.all()] == ["j1", "j4"]


def test_a_program_that_does_not_close_its_jobs_leaves_nothing_running(session: Path) -> None:
    careless = OTHER.replace("    await jobs.close()\n", "")
    ran = subprocess.run(
        [sys.executable, "-c", careless, str(session), "end", "trap '' TERM; sleep 60; sleep 60"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert not alive(int(ran.stdout.split()[1]))
    assert ran.stderr == ""


# --- reading ----------------------------------------------------------------------------------------------------------


@given(
    st.binary(max_size=400) | st.text(max_size=200).map(str.encode),
    st.integers(1, 60),
    st.integers(12, 60),
    st.integers(1, 9),
)
@example(b"\xf4\x90", 1, 12, 1)  # begins as a character does, and no third byte makes it one
def test_pieces_fit_go_on_without_a_gap_and_come_to_an_end(data: bytes, chars: int, size: int, lines: int) -> None:
    caps = Caps(max_chars=chars, max_bytes=size, max_lines=lines)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        since, texts, ends = 0, [], [0]
        while True:
            piece = read_piece(file.name, since, caps, over=True)
            assert not caps.exceeded_by(piece.text) or piece.next - since <= 1
            texts.append(piece.text)
            ends.append(piece.next)
            assert piece.more == (piece.next < len(data))
            if not piece.more:
                break
            assert piece.next > since
            since = piece.next
    assert ends[-1] == len(data)
    if "\ufffd" not in data.decode("utf-8", "replace"):
        assert "".join(texts) == data.decode()


def test_a_records_own_words_survive(session: Path) -> None:
    store = Store(str(session))
    entry = store.reserve("printf 'ü\n'", keep=False, most=9, runs=lambda entry: False)
    assert store.read(entry.id) == entry and isinstance(entry, Entry)
    assert shlex.split(entry.label) == ["printf", "ü\n"]


async def test_a_job_whose_record_cannot_be_written_leaves_nothing_that_was_made_for_it(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in, write = tmp_path / "stand-in", Store.write

    def full(store: Store, entry: Entry) -> None:
        if entry.child is not None:
            assert stand_in.is_dir()
            raise OSError(28, "No space left on device")
        write(store, entry)

    monkeypatch.setattr(Store, "write", full)
    launch = msgspec.structs.replace(line("sleep 60"), stand_ins={str(stand_in): None})

    async with opened(session) as jobs:
        with pytest.raises(ToolError, match="ended at once"):
            await jobs.start(launch, label="sleep")

        assert not stand_in.exists() and jobs.all() == []
