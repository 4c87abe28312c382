"""`pegboard` without its start: a process that has imported the command line and forks itself for each run.

What runs is the program with the arguments, environment, folder and pipes of the caller, in a process of its own; only the
interpreter's start, the imports and the reading of our tools' signatures, which are most of a short run, are done once. It
is for tests of what a command does.
How the program starts is tested with the installed script: in the background (`Cli.start`), with plugins that will not
load, in shells and panes, by the wheels; and `fits` sends there whatever the start itself would have read.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pexpect

STARTED = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "COVERAGE")
"""Beginnings of the variables that the interpreter reads as it starts. (PYTHONPATH is done by hand.)"""
SETS = ("core", "dev", "edit_plus", "exec", "git", "web")
OURS = ("cli", "guard", "offline", "sandbox", *(f"tools_{name}" for name in SETS))
"""Packages of which all is imported; of any other that is installed, what its entries name."""
IMPORTED = {
    *sys.stdlib_module_names,
    *("sitecustomize", "usercustomize", "pegboard", "typer", "pluggy", "msgspec"),
    *("openai", "httpx2", "httpcore2", "pydantic", "anyio", "h11", "truststore"),
    *(f"pegboard_{name}" for name in (*OURS, "openai", "tui")),
}
MOST = 1 << 20


class Warm:
    """The process that forks, and how a run is asked of it. Safe to use from several threads."""

    def __init__(self, *packages: str, **environ: str) -> None:
        """`packages`: further ones of which all is imported; each makes every run a little dearer."""
        self.folder = tempfile.mkdtemp(prefix="warm-")
        self.address = os.path.join(self.folder, "s")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.address)
        listener.listen(16)
        self.environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"LC_ALL": "C.UTF-8"} | environ
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(listener.fileno()), *packages],
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

        return _fits(environ, cwd, _read_at_start(self.environ))

    def script(self, program: Path, target: Path) -> None:
        """Write a `pegboard` for a PATH: whoever starts it gets `program` run by this process, with its own descriptors; or
        `program` itself where that would not fit. Signals that it gets it keeps to itself."""
        known = (str(Path(__file__).parent), self.address, _read_at_start(self.environ), str(program))
        lines = "import sys", f"sys.path.insert(0, {known[0]!r})", "import warm", f"warm.stand_in(*{known[1:]!r})"
        target.write_text("\n".join([f"#!{sys.executable} -IS", *lines, ""]))
        target.chmod(0o755)

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
            theirs = [stdin[0], stdout[1], stderr[1]]
            pid = _ask(self.address, link, asked, theirs)
            for end in theirs:
                os.close(end)
            answers = link.makefile("rb", buffering=0)
            try:
                out, err = _exchange(stdin[1], data or b"", stdout[0], stderr[0], timeout)
                status = int(answers.readline())
            except subprocess.TimeoutExpired:
                os.kill(pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(list(command), os.waitstatus_to_exitcode(status), out, err)

    def text(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """The same with nothing on stdin, as texts, and by a start of its own where this one would not fit."""
        if not self.fits(env, cwd):
            options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
            return subprocess.run(list(command), cwd=cwd, env=env, timeout=timeout, **options)
        ran = self.run(command, cwd=cwd, env=env, data=None, timeout=timeout)
        return subprocess.CompletedProcess(
            ran.args, ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8")
        )

    def terminal(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        dimensions: tuple[int, int],
        timeout: float,
    ) -> pexpect.spawn[str]:
        """`pexpect.spawn` of `pegboard`: on a pseudo-terminal that is its controlling one, in a session of its own."""
        import pexpect
        import ptyprocess

        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        asked = {"argv": [os.fspath(word) for word in command], "cwd": str(cwd), "env": dict(env), "umask": -1}

        class Process(ptyprocess.PtyProcess):  # type: ignore[misc]
            """Its parent is the minder, who tells how it ended."""

            def isalive(self) -> bool:
                return not (self.terminated or self._told(0))

            def wait(self) -> int | None:
                if not self.terminated:
                    self._told(None)
                return self.exitstatus  # type: ignore[no-any-return]

            def _told(self, within: float | None) -> bool:
                with selectors.DefaultSelector() as waiting:
                    waiting.register(link, selectors.EVENT_READ)
                    if not waiting.select(within):
                        return False
                with link, link.makefile("rb") as answers:
                    self.status = int(answers.readline())
                code = os.waitstatus_to_exitcode(self.status)
                self.exitstatus, self.signalstatus = (code, None) if code >= 0 else (None, -code)
                self.terminated = True
                return True

            def __del__(self) -> None:
                super().__del__()
                link.close()

        def started(*_: object, **__: object) -> Process:
            ours, theirs = os.openpty()
            termios.tcsetwinsize(theirs, dimensions)
            pid = _ask(self.address, link, asked | {"terminal": True}, [theirs] * 3)
            os.close(theirs)
            return Process(pid, ours)

        class Spawn(pexpect.spawn):  # type: ignore[type-arg]
            _spawnpty: Callable[..., Process] = staticmethod(started)

        return Spawn(str(command[0]), [], encoding="utf-8", timeout=timeout, dimensions=dimensions)


def stand_in(address: str, started: dict[str, str], program: str) -> None:
    """The script of `Warm.script`."""
    command = [program, *sys.argv[1:]]
    if not _fits(os.environ, Path.cwd(), started):
        os.execv(program, command)
    asked = {"argv": command, "cwd": os.getcwd(), "env": dict(os.environ), "umask": -1}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        _ask(address, link, asked, [0, 1, 2])
        code = os.waitstatus_to_exitcode(int(link.makefile("rb").readline()))
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


def _ask(address: str, link: socket.socket, asked: dict[str, Any], theirs: list[int]) -> int:
    """Ask for a run with these descriptors as its stdin, stdout and stderr; its process id."""
    link.connect(address)
    text = json.dumps(asked).encode()
    socket.send_fds(link, [len(text).to_bytes(8, "big")], theirs)
    link.sendall(text)
    digits = b""
    while not digits.endswith(b"\n"):
        digits += link.recv(1)
    return int(digits)


def _read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in variables.items() if k.startswith(STARTED) and k != "PYTHONPATH"}


def _fits(environ: Mapping[str, str], cwd: Path, started: dict[str, str]) -> bool:
    folders = [str(cwd), *environ.get("PYTHONPATH", "").split(os.pathsep)]
    return _read_at_start(environ) == started and not any(map(_shadows, filter(None, folders)))


def _shadows(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.partition(".")[0] in IMPORTED for entry in entries)
    except FileNotFoundError:
        return False  # nothing is found where nothing is
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
    """Take requests for ever, tell the pid of each run and how it ended. It returns in a child: the run that was asked for,
    with its pipes in place."""
    parent = os.getppid()
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    running: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as waiting:
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in waiting.select(10)}
            if not ready and os.getppid() != parent:
                os._exit(0)  # who asked is gone
            if woken in ready:
                os.read(woken, MOST)
                _tell(running)
            if listener in ready:
                link, _ = listener.accept()
                asked, ends = _received(link)
                pid = os.fork() if asked else None  # nothing, where who asked went away meanwhile
                if pid == 0:
                    break
                for end in ends:
                    os.close(end)
                if pid is None:
                    link.close()
                    continue
                running[pid] = link
                with suppress(OSError):
                    link.sendall(b"%d\n" % pid)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (woken, wakes):
        os.close(number)
    for other in (listener, link, *running.values()):
        other.close()
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    return asked


def _tell(running: dict[int, socket.socket]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with running.pop(pid) as link, suppress(OSError):  # who asked may have stopped waiting
            link.sendall(b"%d\n" % status)


def _received(link: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, ends, *_ = socket.recv_fds(link, 8, 3)
    text, size = b"", int.from_bytes(head, "big")
    while len(text) < size and (piece := link.recv(size - len(text))):
        text += piece
    return json.loads(text or b"{}") if len(text) == size else {}, ends


def become(asked: dict[str, Any]) -> None:
    """Take on what a process started afresh would have been given."""
    import importlib

    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    if asked["umask"] >= 0:
        os.umask(asked["umask"])
    if asked.get("terminal"):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for stream in (sys.stdin, sys.stdout):  # as the interpreter sets them up when it finds a terminal
        if stream.isatty():
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.argv = asked["argv"]
    below = [str(Path(folder).absolute()) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[0:1] = [str(Path(sys.argv[0]).parent), *below]
    tempfile.tempdir = None
    importlib.invalidate_caches()


def import_all(*packages: str) -> None:
    """Our own modules and what they stand on, which most runs import; no test's plugin is among it."""
    import asyncio  # noqa: F401
    import importlib.metadata
    import pkgutil

    for name in ("pegboard", *(f"pegboard_{name}" for name in OURS), *packages):
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if not module.name.endswith("__main__") and module.name != "pegboard.testing.fixtures":
                importlib.import_module(module.name)
    groups = [group for group in importlib.metadata.entry_points().groups if group.startswith("pegboard.")]
    for entry in [entry for group in groups for entry in importlib.metadata.entry_points(group=group)]:
        importlib.import_module(entry.module)


def read_signatures() -> None:
    """Build a board of all installed sets and close it: signatures of tools and types of settings are read once in a
    process, which is most of what a board costs. So are, by a plan for it, the tables and examples of the offline model,
    which are most of what a turn with it costs. Nothing else of it stays."""
    import asyncio

    from pegboard.board import Board
    from pegboard_offline.route import Router

    with tempfile.TemporaryDirectory(prefix="warm-") as folder:
        board = Board.build(folder, user_file=Path(folder, "none.toml"), environ={}, state=Path(folder, "state"))
        Router(folder).plan("read a.txt", board.offers())
        asyncio.run(board.close())
    assert threading.active_count() == 1, "a process with threads cannot be forked"


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    import_all(*sys.argv[2:])
    read_signatures()
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
