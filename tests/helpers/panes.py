"""A program in a real tmux: keys in, what is on the screen out.

with Pane(["pegboard", "tui"], cwd=folder, env=environ) as pane:
    pane.wait_for("pegboard")
    pane.type("hello", "Enter")
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed here")


class Pane:
    """One window of a tmux server of its own. Nobody's settings of tmux count."""

    def __init__(
        self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], size: tuple[int, int] = (110, 34)
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pane-")
        self._socket = os.path.join(self._folder.name, "s")
        self._env = {**env, "TERM": "xterm-256color", "TMUX_TMPDIR": self._folder.name}
        self._env.pop("TMUX", None)
        width, height = size
        kept = shlex.join(["env", *(f"{name}={value}" for name, value in env.items()), *command])
        self.ended = Path(self._folder.name, "ended")
        line = f"{kept}; echo $? > {shlex.quote(str(self.ended))}; sleep 600"
        start = ["new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(cwd), line]
        self._tmux("-f", "/dev/null", *start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: object) -> None:
        self._tmux("kill-server", check=False)
        self._folder.cleanup()

    def _tmux(self, *words: str, check: bool = True) -> str:
        command = ["tmux", "-S", self._socket, *words]
        return subprocess.run(command, env=self._env, check=check, capture_output=True, text=True, timeout=60).stdout

    def screen(self) -> str:
        """What is on the screen now."""
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: `Enter`, `C-c`, `Escape`, `Up`, or a character."""
        self._tmux("send-keys", *keys)

    def write(self, text: str) -> None:
        """Type a text as it is."""
        self._tmux("send-keys", "-l", text)

    def type(self, text: str, *keys: str) -> None:
        """Type a text, then press keys."""
        self.write(text)
        self.press(*keys)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def wait_for(self, wanted: str, *, timeout: float = 60.0, gone: bool = False) -> str:
        """Wait until a regular expression is found on the screen (or is not any more); returns the screen."""
        return self.wait(lambda screen: bool(re.search(wanted, screen)) is not gone, wanted, timeout)

    def wait(self, true: Callable[[str], bool], what: str, timeout: float = 60.0) -> str:
        """Wait until something holds of the screen."""
        until = time.monotonic() + timeout
        while True:
            screen = self.screen()
            if true(screen):
                return screen
            assert time.monotonic() < until, f"waited for {what!r}; the screen:\n{screen}"
            time.sleep(0.1)  # each look starts a tmux

    def code(self, timeout: float = 60.0) -> int:
        """The exit code of the program, when it has ended."""
        until = time.monotonic() + timeout
        while not (self.ended.exists() and self.ended.read_text().strip()):
            assert time.monotonic() < until, f"it goes on; the screen:\n{self.screen()}"
            time.sleep(0.05)
        return int(self.ended.read_text())

    def program(self) -> int:
        """The process that runs in the window, below its shell."""
        shell = int(self._tmux("display-message", "-p", "#{pane_pid}"))
        until = time.monotonic() + 60
        while True:
            children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
            if children:
                return int(children[0])
            assert time.monotonic() < until
            time.sleep(0.05)

    def kill(self) -> None:
        """`kill -9` of the program."""
        os.kill(self.program(), signal.SIGKILL)
