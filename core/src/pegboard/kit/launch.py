"""Starting a program: what is asked for, how it is found, and why it could not be started."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import IO, Literal, Protocol, TypeAlias

import msgspec

from pegboard.errors import ToolError
from pegboard.kit import landlock
from pegboard.kit.tree import RUNNING, Tree

Stream: TypeAlias = Literal["stdout", "stderr"]
View: TypeAlias = Literal["open", "workspace", "read_only"]
"""What a program may change: whatever the person may; the workspace and a private tmp (`workspace`); nothing."""
_TEMPORARY = ("/run/", "/dev/shm/", "/tmp/", "/var/tmp/")


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What is about to be started. `env` is the whole environment (None: ours); `pass_fds` stay open in the child.

    What a launcher goes by: `view` is what it is to be confined to, `root` the workspace, `hidden` further places that a
    confined one must not see, `shown` folders that were made for it, `network` whether its call may speak to others.
    `readable`: one that only reads may read these places alone, where the system can hold it to that; it has a folder of
    its own for temporary files then.
    What a launcher says: `stand_ins` are paths that are there while it runs, files with this text or empty folders (None),
    `kept_while` those that stay after it for as long as another path is there;
    `shifted`: a signal that ends it comes out as exit code 128 and its number.

    Raises:
        ToolError: `argv` names no program.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] | None = None
    pass_fds: tuple[int, ...] = ()
    view: View = "open"
    root: str | None = None
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    network: bool = False
    readable: tuple[str, ...] = ()
    stand_ins: Mapping[str, str | None] = {}
    kept_while: Mapping[str, str] = {}
    shifted: bool = False

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ToolError("no program is named. Nothing was run. Name one, and its arguments after it.")


class Launcher(Protocol):
    """A way to run child processes (a sandbox, a container): turns what is asked for into what is started.

    It may also have `missing() -> str | None`: why it cannot confine here, in words for a person, None where it can; and
    `stopped(launch, output) -> str | None`: what it kept the program of a launch (as it was given) from, by what that
    printed, for one that failed.
    """

    def __call__(self, launch: Launch, /) -> Launch: ...


def own_folders(env: Mapping[str, str] | None, ours: Mapping[str, str]) -> tuple[str, ...]:
    """Folders for temporary files that a tool made for a program of its own, and names in variables that it sets."""
    if env is None:
        return ()
    set_by_it = (value for name, value in env.items() if value.startswith(_TEMPORARY) and ours.get(name) != value)
    return tuple(value for value in set_by_it if os.path.isdir(value) and os.stat(value).st_uid == os.geteuid())


def _program(name: str, path: str) -> str | None:
    """Where `name` is on the child's PATH; None leaves the search to the system.

    Looking is cheaper than starting it in vain in each folder of the PATH, by a tenth of a short run.
    """
    if sys.platform == "win32" or "/" in name:
        return None
    for folder in path.split(":"):
        if not folder.startswith("/"):
            return None  # it depends on where the child is
        if os.access(program := f"{folder}/{name}", os.X_OK) and os.path.isfile(program):
            return program
    return None


def spawned(launch: Launch, stdin: bytes = b"") -> tuple[subprocess.Popen[bytes], dict[Stream, int], Tree]:
    """Start a marked process; the descriptors to read its output from, and its tree, whose `over` is called at its end.

    Raises ToolError when it cannot be started; then nothing was run.
    """
    tree = Tree()
    env = os.environ if launch.env is None else launch.env
    tree.shifted = launch.shifted
    if launch.stand_ins:
        from pegboard.kit.standins import StandIns

        tree.stand_ins = StandIns(launch.stand_ins, launch.kept_while)
    try:
        if launch.view == "read_only" and launch.readable:
            env = tree.with_scratch(env)
        process, fds = spawn(launch, tree.marked(env), stdin, tree.scratch)
    except BaseException:
        tree.over()
        raise
    tree.pid = process.pid
    RUNNING.add(tree)
    return process, fds, tree


def spawn(
    launch: Launch, env: dict[str, str], stdin: bytes, scratch: str | None = None
) -> tuple[subprocess.Popen[bytes], dict[Stream, int]]:
    """Start a process as the leader of a session of its own; the descriptors to read its output from. One whose view is
    still `read_only` is kept from writing by the system, where that can do so (`landlock`), but in its folder `scratch`.

    Raises ToolError when it cannot be started; then nothing was run.
    """
    if launch.view == "workspace":
        raise ToolError(f"{launch.argv[0]} was to be confined, and no launcher did so. Nothing was run.")
    ends: list[int] = []
    try:
        with _source(stdin) as source:
            ends += os.pipe()
            ends += os.pipe()
            start = partial[subprocess.Popen[bytes]](
                subprocess.Popen,
                command_line(launch.argv) if sys.platform == "win32" else launch.argv,
                executable=_program(launch.argv[0], env.get("PATH", "")),
                stdin=source,
                stdout=ends[1],
                stderr=ends[3],
                cwd=launch.cwd,
                env=env,
                pass_fds=launch.pass_fds,
                start_new_session=True,
            )
            if launch.view == "open":
                process = start()
            else:
                places = landlock.Places(launch.readable, scratch) if launch.readable else None
                process = landlock.reading(start, network=launch.network, places=places)
    except (OSError, ValueError) as error:  # ValueError: NUL, or text that has no encoding
        for fd in ends[0::2]:
            os.close(fd)
        raise ToolError(_why_not_started(launch, error)) from error
    finally:
        for fd in ends[1::2]:
            os.close(fd)
    return process, {"stdout": ends[0], "stderr": ends[2]}


@contextmanager
def _source(stdin: bytes) -> Iterator[IO[bytes] | int]:
    """What the child reads: nothing, or a file, so that there is no deadlock however long it is."""
    if not stdin:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        yield file


def command_line(argv: tuple[str, ...]) -> str:
    """The command line on Windows, where `cmd /c` takes the rest as it stands, in quotes of its own."""
    if len(argv) == 3 and argv[:2] == ("cmd", "/c"):
        return f'cmd /d /s /c "{argv[2]}"'
    return subprocess.list2cmdline(argv)


def _why_not_started(launch: Launch, error: OSError | ValueError) -> str:
    """What happened; that nothing was run; what to do next."""
    program = launch.argv[0]
    if not isinstance(error, OSError):
        return f"{program}: the arguments hold what no program can be given ({error}). Nothing was run. Remove it."
    if not os.path.isdir(launch.cwd):
        return f"{launch.cwd}: there is no such folder to run in. Nothing was run. Name a folder that exists as cwd."
    match error.errno:
        case errno.ENOENT if os.path.exists(os.path.join(launch.cwd, program)):
            return f"{program}: the interpreter in its first line was not found. Nothing was run. Name the interpreter."
        case errno.ENOENT if os.path.dirname(program):
            return f"{program}: there is no such program. Nothing was run. Check the path."
        case errno.ENOENT:
            return f"{program}: no program of this name is on PATH. Nothing was run. Check the name, or install it."
        case errno.E2BIG:
            return f"{program}: the arguments are longer than the system takes. Nothing was run. Put them into a file."
    return f"{program}: could not be started ({error.strerror}). Nothing was run."
