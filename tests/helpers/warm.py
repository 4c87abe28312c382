"""`pegboard` without its start: a process that has imported the command line and forks itself for each run.

What runs is the program with the arguments, environment, folder and pipes of the caller, in a process of its own; only the
interpreter's start and the imports, which are most of a short run, are done once. It is for tests of what a command does.
How the program starts is tested with the installed script: at a terminal, in the background (`Cli.start`), with plugins
that will not load, by the wheels; and `fits` sends there whatever the start itself would have read.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STARTED = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "COVERAGE")
"""Beginnings of the variables that the interpreter reads as it starts. (PYTHONPATH is done by hand.)"""
IMPORTED = {*sys.stdlib_module_names, "sitecustomize", "usercustomize", "pegboard", "typer", "pluggy", "msgspec"}
MOST = 1 << 20


class Warm:
    """The process that forks, and how a run is asked of it. Safe to use from several threads."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="warm-")
        self.address = os.path.join(self.folder, "s")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.address)
        listener.listen(16)
        self.environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            env=self.environ,
            stdin=subprocess.PIPE,  # pipes, as those of each run will be: the interpreter looks once what they are
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        listener.close()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.unlink(self.address)
        os.rmdir(self.folder)

    def fits(self, environ: Mapping[str, str], cwd: Path) -> bool:
        """Whether a process started there with these variables would have started as this one did: nothing is set that the
        interpreter reads, and no file lies on the path, or would if it were on it, that is called as what was imported."""

        def read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
            return {k: v for k, v in variables.items() if k.startswith(STARTED) and k != "PYTHONPATH"}

        folders = [str(cwd), *environ.get("PYTHONPATH", "").split(os.pathsep)]
        return read_at_start(environ) == read_at_start(self.environ) and not any(map(_shadows, filter(None, folders)))

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        data: bytes | None = b"",
        timeout: float = 60,
        umask: int = -1,
    ) -> subprocess.CompletedProcess[bytes]:
        """`subprocess.run` of `pegboard` with captured output; `data` is its stdin, None: nothing there (/dev/null)."""
        asked = {"argv": [os.fspath(word) for word in command], "cwd": str(cwd), "env": dict(env), "umask": umask}
        stdin = os.pipe() if data is not None else (os.open(os.devnull, os.O_RDONLY), None)
        stdout, stderr = os.pipe(), os.pipe()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.connect(self.address)
            theirs = [stdin[0], stdout[1], stderr[1]]
            text = json.dumps(asked).encode()
            socket.send_fds(link, [len(text).to_bytes(8, "big")], theirs)
            link.sendall(text)
            for end in theirs:
                os.close(end)
            answers = link.makefile("rb")
            pid = int(answers.readline())
            try:
                out, err = _exchange(stdin[1], data or b"", stdout[0], stderr[0], timeout)
                status = int(answers.readline())
            except subprocess.TimeoutExpired:
                os.kill(pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(list(command), os.waitstatus_to_exitcode(status), out, err)


def _shadows(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.partition(".")[0] in IMPORTED for entry in entries)
    except OSError:
        return True


def _exchange(stdin: int | None, data: bytes, stdout: int, stderr: int, timeout: float) -> tuple[bytes, bytes]:
    """Write all of stdin and read both outputs to their ends, whichever comes first."""
    until = time.monotonic() + timeout
    got: dict[int, list[bytes]] = {stdout: [], stderr: []}
    view = memoryview(data)
    with selectors.DefaultSelector() as waiting:
        for end in got:
            waiting.register(end, selectors.EVENT_READ)
        if stdin is not None:
            os.set_blocking(stdin, False)
            waiting.register(stdin, selectors.EVENT_WRITE)
        try:
            while waiting.get_map():
                ready = waiting.select(max(0, until - time.monotonic()))
                if not ready and time.monotonic() >= until:
                    raise subprocess.TimeoutExpired("pegboard", timeout)
                for key, _ in ready:
                    if key.fd == stdin:
                        try:
                            view = view[os.write(key.fd, view[:65536]) :] if view else view
                        except BrokenPipeError:
                            view = view[len(view) :]
                        done = not view
                    else:
                        piece = os.read(key.fd, MOST)
                        got[key.fd].append(piece)
                        done = not piece
                    if done:
                        waiting.unregister(key.fd)
                        os.close(key.fd)
        finally:
            for end in [key.fd for key in waiting.get_map().values()]:
                waiting.unregister(end)
                os.close(end)
    return b"".join(got[stdout]), b"".join(got[stderr])


# --- the process that forks -------------------------------------------------------------------------------------------


def serve(listener: socket.socket) -> dict[str, Any]:
    """Take requests for ever. It returns in a child: the run that was asked for, with its pipes in place."""
    parent = os.getppid()
    listener.settimeout(10)
    while True:
        try:
            link, _ = listener.accept()
        except TimeoutError:
            if os.getppid() == parent:
                continue
            os._exit(0)  # who asked is gone
        if os.fork() == 0:
            listener.close()
            return _minded(link)
        link.close()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def _minded(link: socket.socket) -> dict[str, Any]:
    """The minder tells the pid and how it ended; its child returns."""
    head, ends, *_ = socket.recv_fds(link, 8, 3)
    answers = link.makefile("rb")
    asked: dict[str, Any] = json.loads(answers.read(int.from_bytes(head, "big")))
    answers.close()
    pid = os.fork()
    if pid == 0:
        for number, end in enumerate(ends):
            os.dup2(end, number)
            os.close(end)
        link.close()
        return asked
    for end in ends:
        os.close(end)
    try:
        link.sendall(b"%d\n" % pid)
        link.sendall(b"%d\n" % os.waitpid(pid, 0)[1])
    finally:
        os._exit(0)


def become(asked: dict[str, Any]) -> None:
    """Take on what a process started afresh would have been given."""
    import importlib

    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    if asked["umask"] >= 0:
        os.umask(asked["umask"])
    sys.argv = asked["argv"]
    below = [str(Path(folder).absolute()) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[0:1] = [str(Path(sys.argv[0]).parent), *below]
    tempfile.tempdir = None
    importlib.invalidate_caches()


def import_all() -> None:
    """Our own modules and what they stand on, which most runs import; nothing is built, and no test's plugin is among it."""
    import asyncio  # noqa: F401
    import importlib.metadata
    import pkgutil

    import pegboard
    import pegboard_cli
    import pegboard_offline

    for package in (pegboard, pegboard_cli, pegboard_offline):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and not module.name.startswith("pegboard.testing"):
                importlib.import_module(module.name)
    groups = [group for group in importlib.metadata.entry_points().groups if group.startswith("pegboard.")]
    for entry in [entry for group in groups for entry in importlib.metadata.entry_points(group=group)]:
        importlib.import_module(entry.module)


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    import_all()
    gc.collect()
    gc.freeze()
    become(serve(listener))
    end(run())


def run() -> int:
    """The script's last line; the code that the interpreter would make of what comes out of it."""
    from pegboard_cli import main as program

    try:
        sys.exit(program.main())
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - what the interpreter itself would do with it
        traceback.print_exc()
        return 1


def end(code: int) -> None:
    """End as the interpreter does, save that it does not take apart what was imported: that costs most of a short run."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, and for what concurrent.futures began
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
