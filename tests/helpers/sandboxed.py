"""A home folder with secrets, a repository in it as the workspace, and programs run in the sandbox and outside of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
from pegboard.kit import process
from pegboard.kit.launch import Launch
from pegboard.kit.process import Finished
from pegboard_sandbox import Sandbox, Settings

CHECKOUT = Path(__file__).resolve().parents[2]
PYTHON = os.path.realpath(sys.executable)
STARTED = "it-was-started"
SECRET = "what-nobody-may-read"


class Place:
    """The folders of a test, and how programs are run in its workspace."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home, self.root, self.state = base / "home", base / "home/work", base / "home/state"
        self.env = {**os.environ, "HOME": str(self.home), "MY_API_KEY": SECRET, "GIT_CONFIG_GLOBAL": "/dev/null"}
        for path, text in (
            ("home/.ssh/id_rsa", SECRET),
            ("home/.aws/credentials", SECRET),
            ("home/.npmrc", SECRET),
            ("home/state/sessions/s1/events.jsonl", SECRET),
            ("home/letters/to-you", SECRET),
            ("home/work/.env", SECRET),
            ("home/work/a.txt", "one\n"),
            ("home/work/sub/.env.local", SECRET),
            ("home/work/sub/server.key", SECRET),
        ):
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(text)
        for folder in (self.root, self.root / "sub/inner"):
            repository(folder)

    def launch(self, command: str, **changed: Any) -> Launch:
        argv = ("bash", "-c", command)
        asked = Launch(argv=argv, cwd=str(self.root), root=str(self.root), env=self.env, view="workspace")
        return msgspec.structs.replace(asked, hidden=(str(self.state),), **changed)

    def inside(
        self, command: str, *, settings: Settings | None = None, timeout: float = 60, **changed: Any
    ) -> Finished:
        """Run a line in the sandbox."""
        sandbox = Sandbox(settings or Settings())
        made = sandbox(self.launch(f"echo {STARTED} >&2; {command}", **changed))

        async def run() -> Finished:
            return await process.begin(msgspec.structs.replace(made, view="open")).finished(timeout)

        done = asyncio.run(run())
        assert STARTED.encode() in done.stderr, f"it did not even start: {done.stderr!r}"
        return done

    def outside(self, command: str) -> Finished:
        """Run the same without it."""
        return asyncio.run(process.run(["bash", "-c", command], cwd=self.root, env=self.env, timeout=20))


def repository(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *command], check=True, stdin=subprocess.DEVNULL)
    for name, value in (("user.name", "A"), ("user.email", "a@b.c")):
        subprocess.run([*git, "config", name, value], check=True)
