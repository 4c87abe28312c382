"""A program in the sandbox is otherwise like any other: its output, its end, its folder, and being stopped."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from pegboard.errors import ToolError
from pegboard.kit import process
from pegboard.kit.launch import Launch
from pegboard.kit.process import Started
from pegboard_sandbox import Sandbox, Settings
from pegboard_sandbox.stops import reason
from sandboxed import SECRET, Place, repository


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("exit 0", (0, None)),
        ("exit 7", (7, None)),
        ("kill -9 $$", (None, "SIGKILL")),
        ("kill -TERM $$", (None, "SIGTERM")),
    ],
)
def test_exit_codes_and_signals_come_through(place: Place, command: str, ending: tuple[int | None, str | None]) -> None:
    done = place.inside(command)

    assert (done.exit_code, done.signal) == ending


def test_the_workspace_and_a_tmp_of_its_own_are_writable(place: Place) -> None:
    there = Path("/tmp", f"y{os.getpid()}")
    done = place.inside(
        f'echo new > b.txt && mkdir -p deep && echo x > "$TMPDIR/{there.name}" && cat {there} && ls /tmp'
    )

    assert done.exit_code == 0 and (place.root / "b.txt").read_text() == "new\n" and not there.exists()


def test_the_tmp_lasts_from_one_program_to_the_next(place: Place) -> None:
    sandbox = Sandbox(Settings())

    for line, code in (("echo kept > /tmp/z", 0), ("grep kept /tmp/z", 0)):
        made = msgspec.structs.replace(sandbox(place.launch(line)), view="open")
        assert asyncio.run(_finished(made)) == code


def test_it_starts_in_the_folder_it_is_given(place: Place) -> None:
    deep = place.root.joinpath(*["d" * 60] * 40)
    deep.mkdir(parents=True)

    assert place.inside("pwd", cwd=str(deep)).stdout.decode().strip() == str(deep)


def test_a_folder_or_program_that_is_not_there_is_told_of_as_outside(place: Place) -> None:
    sandbox = Sandbox(Settings())

    with pytest.raises(ToolError, match="no such folder to run in"):
        sandbox(msgspec.structs.replace(place.launch("true"), cwd=f"{place.root}/none"))
    with pytest.raises(ToolError, match=r"no program of this name is on PATH\. Nothing was run"):
        sandbox(msgspec.structs.replace(place.launch("true"), argv=("no-such-program",)))


def test_a_root_that_is_a_link_is_where_it_leads(place: Place) -> None:
    link = place.base / "link"
    link.symlink_to(place.root)

    done = place.inside("echo x > linked.txt; cat .env", root=str(link), cwd=str(link))

    assert done.exit_code != 0 and SECRET.encode() not in done.stdout and (place.root / "linked.txt").exists()


@pytest.mark.parametrize("parent", ["/tmp", "/var/tmp", "/dev/shm"])
def test_a_workspace_in_a_folder_that_begins_empty_is_there(works: None, parent: str) -> None:
    if not os.access(parent, os.W_OK):
        pytest.skip(f"{parent} is not there, or not writable")
    root = Path(parent) / f"pegboard-test-{os.getpid()}"
    repository(root)
    try:
        sandbox = Sandbox(Settings())
        launch = Launch(
            argv=("sh", "-c", "echo x > f && ! touch .git/hooks/x"), cwd=str(root), root=str(root), view="workspace"
        )
        assert asyncio.run(_finished(msgspec.structs.replace(sandbox(launch), view="open"))) == 0
        assert (root / "f").exists() and sorted(os.listdir(root)) == [".git", "f"]
    finally:
        shutil.rmtree(root)


def test_a_home_folder_as_the_workspace_keeps_its_secrets_and_what_starts_there(place: Place) -> None:
    (place.home / ".bashrc").write_text("true\n")
    home = str(place.home)

    done = place.inside("echo ok > note; cat ~/.ssh/id_rsa; echo x >> ~/.bashrc", root=home, cwd=home)

    assert done.exit_code != 0 and SECRET.encode() not in done.stdout
    assert (place.home / "note").exists() and (place.home / ".bashrc").read_text() == "true\n"


def test_the_whole_file_system_is_no_workspace(works: None) -> None:
    with pytest.raises(ToolError, match="Nothing was run"):
        Sandbox(Settings())(Launch(argv=("true",), cwd="/", root="/", view="workspace"))


def test_commits_can_be_made_in_a_repository_and_in_a_worktree_of_one(place: Place) -> None:
    commit = "git add -A . ':!sub' ':!.env' && git commit -qm second && git log --oneline | grep second"
    worktree = place.base / "home/other"
    subprocess.run(["git", "-C", str(place.root), "worktree", "add", "-q", str(worktree)], check=True)

    assert place.inside(commit).exit_code == 0
    inside = place.inside(f"echo x > n && {commit}", root=str(worktree), cwd=str(worktree))
    assert inside.exit_code == 0, inside.stderr
    for line in ("echo x > .git", f"echo x > {place.root}/.git/hooks/x", f"echo x > {place.root}/a.txt"):
        assert place.inside(line, root=str(worktree), cwd=str(worktree)).exit_code != 0, line


def test_a_file_that_leads_to_no_worktree_of_this_one_opens_nothing(place: Place) -> None:
    shutil.rmtree(place.root / ".git")
    (place.root / ".git").write_text(f"gitdir: {place.home}/letters\n")

    assert place.inside(f"echo x > {place.home}/letters/new").exit_code != 0


def test_only_reading_changes_nothing_in_the_workspace(place: Place) -> None:
    before = sorted(os.listdir(place.root))

    for line in ("echo x > new", "rm a.txt", "echo x >> a.txt", "mkdir m"):
        assert place.inside(line, view="read_only").exit_code != 0, line
    assert place.inside("cat a.txt > /dev/null && git status && echo x > /tmp/y", view="read_only").exit_code == 0

    assert sorted(os.listdir(place.root)) == before


def test_settings_open_and_close_further_places(place: Place) -> None:
    settings = Settings(write=["~/letters"], hide=["a.txt"], show=[".env", "~/.ssh/id_rsa"], env=["MY_API_KEY"])

    def code(line: str) -> int | None:
        return place.inside(line, settings=settings).exit_code

    assert code("echo x > ~/letters/new") == 0
    assert code("cat a.txt") != 0
    assert code(f"grep -q {SECRET} .env ~/.ssh/id_rsa") == 0 and code("cat sub/.env.local") != 0
    assert code('test -n "$MY_API_KEY"') == 0


def test_limits_hold(place: Place) -> None:
    hog = "python3 -c 'print(len(bytearray(900_000_000)))'"

    assert place.inside(hog, settings=Settings(memory=400)).exit_code != 0
    assert place.inside("ulimit -t", settings=Settings(cpu=7)).stdout.strip() == b"7"
    assert place.inside("ulimit -t 8", settings=Settings(cpu=7)).exit_code != 0
    assert place.inside("ulimit -u", settings=Settings(processes=300)).stdout.strip() == b"300"


def test_output_comes_as_it_is_printed(place: Place) -> None:
    came: list[float] = []

    def each(stream: object, data: bytes) -> bool:
        came.append(time.monotonic())
        return b"two" in data

    sandbox = Sandbox(Settings())
    made = msgspec.structs.replace(sandbox(place.launch("echo one; sleep 0.3; echo two; sleep 60")), view="open")

    async def run() -> bool:
        return (await process.begin(made, each=each).finished(30)).stopped

    assert asyncio.run(run()) and len(came) == 2


@pytest.mark.parametrize("how", ["cancelled", "timed out"])
def test_stopping_it_ends_everything_inside(place: Place, how: str) -> None:
    number = f"6{os.getpid()}"
    line = f"(setsid sleep {number} </dev/null >/dev/null 2>&1 &); trap '' TERM; sleep {number}"
    sandbox = Sandbox(Settings())
    made = msgspec.structs.replace(sandbox(place.launch(line)), view="open")

    async def run() -> None:
        started = process.begin(made)
        await _until(lambda: _sleeping(number) == 2)
        await _stopped(started, how)

    asyncio.run(run())

    assert _sleeping(number) == 0
    assert not os.path.lexists(place.root / ".envrc") and not os.path.lexists(place.root / ".pegboard")


def test_two_at_once_share_what_stands_in_and_the_last_removes_it(place: Place) -> None:
    sandbox = Sandbox(Settings())
    long = "touch began; while test ! -e done; do sleep 0.02; done; ! touch .envrc/x && ! mkdir .pegboard"

    async def run() -> list[int | None]:
        first = process.begin(msgspec.structs.replace(sandbox(place.launch(long)), view="open"))
        await _until((place.root / "began").exists)
        short = process.begin(msgspec.structs.replace(sandbox(place.launch("true")), view="open"))
        codes = [(await short.finished(20)).exit_code]
        assert (place.root / ".envrc").is_dir(), "the first still needs it"
        (place.root / "done").touch()
        return [*codes, (await first.finished(20)).exit_code]

    assert asyncio.run(run()) == [0, 0]
    assert not os.path.lexists(place.root / ".envrc") and not os.path.lexists(place.root / ".git/commondir")


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (b"touch: cannot touch '/etc/x': Read-only file system", "may write in the workspace"),
        (b"curl: (6) Could not resolve host: example.org", "no network"),
        (b"cat: /home/me/.ssh/id_rsa: Permission denied", "secrets"),
        (b"bwrap: setting up uid map: Permission denied", "could not be set up"),
        (b"AssertionError: 1 != 2", None),
    ],
)
def test_what_it_was_kept_from_is_read_off_what_it_printed(printed: bytes, said: str | None) -> None:
    reason_given = reason(printed)

    assert reason_given is None if said is None else said in (reason_given or "")


async def _finished(launch: Launch) -> int | None:
    return (await process.begin(launch).finished(20)).exit_code


async def _stopped(started: Started, how: str) -> None:
    if how == "timed out":
        assert (await started.finished(0.05)).timed_out
        return
    waiting = asyncio.ensure_future(started.finished(None))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def _until(so: Callable[[], bool]) -> None:
    for _ in range(2000):
        if so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def _sleeping(number: str) -> int:
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\0%s\0" % number.encode()
        except OSError:
            continue
    return found
