"""The command line as a person or a script meets it: the installed `pegboard`, run in a process, with a stranger's plugin.

The plugin (`stranger/`) is put on the path with metadata of its own, as an installed one is. Its provider plays the
replies that a test writes down; everything else is the real thing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect
import pytest
from warm import Warm

STRANGER = Path(__file__).parent / "stranger"
PROGRAM = Path(sys.executable).with_name("pegboard")
ENTRY_POINTS = """\
[pegboard.toolsets]
stranger = pegboard_stranger

[pegboard.providers]
script = pegboard_stranger_model:provider

[pegboard.rewriters]
doubler = pegboard_stranger_rewriter

[pegboard.commands]
broken = pegboard_stranger_nosuch:app
plain = pegboard_stranger_command:hello
hello = pegboard_stranger_command:app
run = pegboard_stranger_command:app
no word = pegboard_stranger_command:app

[pegboard.slash]
hail = pegboard_stranger_slash:hail
broken = pegboard_stranger_nosuch:it
help = pegboard_stranger_slash:hail
no word = pegboard_stranger_slash:hail
"""


@dataclass
class Done:
    """What a finished run left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Cli:
    """`pegboard` in a folder of its own, with a home of its own."""

    root: Path
    home: Path
    environ: dict[str, str]
    warms: dict[bool, Warm]

    def warm(self, environ: dict[str, str]) -> Warm | None:
        """What spares a run with these variables its start; None: the start itself would read some of them."""
        warm = self.warms[environ.get("PEGBOARD_MODEL", "").startswith("openai")]
        return warm if warm.fits(environ, self.root) else None

    def __call__(self, *args: str, stdin: str | bytes = "", **environ: str) -> Done:
        """A run that has ended. Its start is the warm process's, unless the variables given are read by the start itself."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        command, env = [PROGRAM, *args], self.environ | environ
        if warm := self.warm(env):
            ran = warm.run(command, cwd=self.root, env=env, data=data)
        else:
            ran = subprocess.run(command, cwd=self.root, env=env, input=data, capture_output=True, timeout=60)
        return Done(ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8"))

    def start(self, *args: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [PROGRAM, *args],
            cwd=self.root,
            env=self.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def terminal(self, *args: str, dimensions: tuple[int, int] = (24, 200), **environ: str) -> pexpect.spawn[str]:
        """On a pseudo-terminal, as a person sees it; `dimensions`: its lines and columns."""
        env = self.environ | {"TERM": "xterm"} | environ
        if warm := self.warm(env):
            child = warm.terminal([PROGRAM, *args], cwd=self.root, env=env, dimensions=dimensions, timeout=60)
        else:
            child = pexpect.spawn(
                str(PROGRAM),
                list(args),
                cwd=str(self.root),
                env=env,
                encoding="utf-8",
                timeout=60,
                dimensions=dimensions,
            )
        child.delaybeforesend = 0.02
        return child

    def script(self, *replies: dict[str, Any]) -> None:
        """What the model will say."""
        (self.root / "script.json").write_text(json.dumps(replies), "utf-8")

    def heard(self) -> list[str]:
        """The texts that the model was last given."""
        return list(json.loads((self.root / "heard.json").read_text("utf-8")))

    def config(self, text: str) -> None:
        """The user's own configuration."""
        file = self.home / ".config" / "pegboard" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def log(self, session: str) -> str:
        """A session's log, as it stands on disk."""
        return (self.home / ".local/state/pegboard/sessions" / session / "events.jsonl").read_text("utf-8")


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """The command line without its start."""
    process = Warm()
    yield process
    process.close()


@pytest.fixture(scope="session")
def warms(warm: Warm) -> Iterator[dict[bool, Warm]]:
    """The same, with and without the SDK of the endpoints that a run may talk to."""
    process = Warm("pegboard_openai", "openai.resources.chat")
    yield {False: warm, True: process}
    process.close()


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder in which the stranger's plugin is installed, and what is kept of a first look at it."""
    site, state = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("state")
    shutil.copytree(STRANGER, site, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    info = site / "pegboard_stranger-0.7.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pegboard-stranger\nVersion: 0.7\n", "utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    environ = os.environ | {"PYTHONPATH": str(site), "XDG_STATE_HOME": str(state)}
    subprocess.run([PROGRAM, "tools"], cwd=site, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return site, state / "pegboard" / "plugins"


@pytest.fixture
def cli(tmp_path: Path, home: Path, stranger: tuple[Path, Path], warms: dict[bool, Warm]) -> Cli:
    """The command line in an empty workspace, with the stranger's plugin installed, known, and its provider chosen."""
    site, root = tmp_path / "site", tmp_path / "root"
    shutil.copytree(stranger[0], site, ignore=shutil.ignore_patterns("__pycache__"))
    state = home / ".local" / "state" / "pegboard"
    state.mkdir(mode=0o700, parents=True)
    (state / "plugins").mkdir(mode=0o700)
    for kept in stranger[1].iterdir():
        (state / "plugins" / kept.name).write_text(
            kept.read_text("utf-8").replace(str(stranger[0]), str(site)), "utf-8"
        )
    (root / ".pegboard").mkdir(parents=True)
    environ = dict(os.environ) | {"PYTHONPATH": str(site), "PEGBOARD_MODEL": "script", "LC_ALL": "C.UTF-8"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):  # a runner of tests may have set them
        environ.pop(name, None)
    return Cli(root, home, environ, warms)
