"""Rows of a long session: what a key in the input costs with ten thousand blocks above it, against ten, and in memory.

    transcript.py COUNT        the app on this terminal, with so many blocks (what the rows measure in a terminal of theirs)

A third of the blocks are diffs, a third Markdown with code, the others results and prompts.
"""

from __future__ import annotations

import importlib
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from harness import Pair, Row

if TYPE_CHECKING:
    from pegboard_tui.items import AnyItem

HERE = Path(__file__).resolve()
MANY, FEW = 10_000, 10
KEYS = "jfklasdh"
LIMIT = 60.0
READY = "everything is there"
WORDS = [
    "the",
    "parser",
    "keeps",
    "what",
    "it",
    "read",
    "until",
    "a",
    "caller",
    "asks",
    "for",
    "more",
    "without",
    "copies",
]
_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;:?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -~])")


# --- blocks -------------------------------------------------------------------------------------------------------------


def sentence(words: int, chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def markdown(chance: random.Random) -> str:
    """An answer: a heading, prose, a list, a piece of code."""
    lines = "\n".join(
        f"    value_{at} = compute({chance.randint(1, 999)}, name={chance.choice(WORDS)!r})"
        for at in range(chance.randint(4, 14))
    )
    code = f"```python\ndef work(data):\n{lines}\n    return data\n```"
    listed = f"- {sentence(8, chance)}\n- **{sentence(5, chance)}** and `{chance.choice(WORDS)}`"
    return f"## {sentence(4, chance)}\n\n{sentence(40, chance)}\n\n{listed}\n\n{code}\n\n{sentence(25, chance)}\n"


def hunk(chance: random.Random) -> str:
    """A unified diff's body."""
    lines = [f"{sign}    item = load({chance.choice(WORDS)!r}, {chance.randint(0, 999)})" for sign in "  -+-++  +  "]
    return "\n".join(["@@ -10,8 +10,10 @@", *lines]) + "\n"


def blocks(count: int) -> list[AnyItem]:
    """So many items; the last one says `READY`."""
    from pegboard.blocks import Activity, AnyBlock, Diff
    from pegboard.events import CallAsked, CallFinished
    from pegboard.port import Described
    from pegboard_tui.items import Asked, Made, Said, Told

    chance = random.Random(7)

    def call(at: int, verb: str, text: str, shown: list[AnyBlock]) -> Made:
        subject = f"src/part_{at}.py"
        asked = CallAsked(
            lane="root", id=str(at), tool="t", requested="t", set="core", arguments={}, summary=f"{verb} {subject}"
        )
        finished = CallFinished(
            lane="root",
            id=str(at),
            outcome="ok",
            block=None,
            why=None,
            text=text,
            data=None,
            truncated=False,
            decision=None,
            duration_ms=1.0,
            blocks=shown,
        )
        described = Described(tool="t", activity=Activity(glyph="→", verb=verb, subject=subject), echo=not shown)
        return Made(key=f"c{at}", asked=asked, described=described, state="done", finished=finished)

    def item(at: int) -> AnyItem:
        match at % 6:
            case 0 | 3:
                diff = Diff(path=f"src/part_{at}.py", change="changed", added=4, removed=2, text=hunk(chance))
                return call(at, "Edit", "edited", [diff])
            case 1 | 4:
                return Said(key=f"s{at}", text=markdown(chance), done=True)
            case 2:
                return call(at, "Run", "\n".join(sentence(9, chance) for _ in range(chance.randint(3, 60))), [])
            case _:
                return Asked(key=f"a{at}", text=sentence(14, chance))

    return [*(item(at) for at in range(count - 1)), Told(key="ready", text=READY)]


def show(count: int) -> None:
    """The app on this terminal."""
    sys.path.insert(0, str(HERE.parents[1] / "tests" / "helpers"))
    from pegboard_tui.app import PegboardApp
    from pegboard_tui.transcript import Transcript

    scripted = importlib.import_module("scripted")

    class Long(PegboardApp):
        def on_ready(self) -> None:
            self.screen.query_one(Transcript).show(blocks(count))

    with tempfile.TemporaryDirectory(prefix="pegboard-bench-") as folder:
        host = scripted.ScriptedHost(Path(folder))
        Long(host, host.open()).run()


# --- measuring ----------------------------------------------------------------------------------------------------------


class Typist:
    """Somebody at a terminal of 110 columns and 32 lines in which the app runs."""

    def __init__(self, count: int) -> None:
        self._leader, follower = pty.openpty()
        os.set_blocking(self._leader, False)
        env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "110", "LINES": "32", "COLORTERM": "truecolor"}
        self._child = subprocess.Popen(
            [sys.executable, str(HERE), str(count)],
            env=env,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)

    def __enter__(self) -> Typist:
        self._until(READY)
        self._rest()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        os.close(self._leader)

    def key(self) -> float:
        """Seconds from a key to its letter on the screen, the mean over a word; the word is taken back."""
        took = 0.0
        for at, letter in enumerate(KEYS):
            begun = time.perf_counter()
            os.write(self._leader, letter.encode())
            self._until(KEYS[: at + 1])
            took += time.perf_counter() - begun
            self._rest(0.05)
        os.write(self._leader, b"\x7f" * len(KEYS))
        self._rest()
        return took / len(KEYS)

    def memory(self) -> float:
        """What the app has in memory, in MiB."""
        for line in Path(f"/proc/{self._child.pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("the system does not say how much memory a process has")

    def _read(self, seconds: float) -> bytes:
        if self._child.poll() is not None:
            raise RuntimeError("the app ended")
        try:
            return os.read(self._leader, 1 << 16) if select.select([self._leader], [], [], seconds)[0] else b""
        except OSError as error:
            raise RuntimeError(f"the app ended: {error}") from error

    def _until(self, text: str) -> None:
        seen, end = b"", time.perf_counter() + LIMIT
        while text.encode() not in _ESCAPES.sub(b"", seen):
            if time.perf_counter() > end:
                raise RuntimeError(f"{text!r} did not come: {seen[-400:]!r}")
            seen += self._read(0.2)

    def _rest(self, seconds: float = 0.3) -> None:
        while self._read(seconds):
            pass


@contextmanager
def typing(scratch: Path) -> Iterator[Pair]:
    """A key in a session of many blocks, beside one of few."""
    with Typist(MANY) as many, Typist(FEW) as few:
        yield Pair(ours=many.key, yardstick=few.key)


@contextmanager
def remembering(scratch: Path) -> Iterator[Pair]:
    """The app with many blocks, beside one with few: all of its memory."""
    with Typist(MANY) as many, Typist(FEW) as few:
        yield Pair(ours=many.memory, yardstick=few.memory)


@contextmanager
def waiting(scratch: Path) -> Iterator[Pair]:
    """As `typing`, in milliseconds."""
    with typing(scratch) as pair:
        yield Pair(ours=lambda: 1_000 * pair.ours(), yardstick=lambda: 1_000 * pair.yardstick())


ROWS = [
    Row(
        name="a key in the input, 10,000 blocks",
        target=1.5,
        against="10 blocks",
        best_peer="not measured",
        set_up=typing,
    ),
    Row(
        name="a key in the input, 10,000 blocks, on the screen",
        target=50.0,
        against="10 blocks",
        best_peer="not measured",
        set_up=waiting,
        unit="ms",
        pairs=7,
    ),
    Row(
        name="memory of the app, 10,000 blocks",
        target=200.0,
        against="10 blocks",
        best_peer="not measured",
        set_up=remembering,
        unit="MiB",
        pairs=1,
    ),
]

if __name__ == "__main__":
    show(int(sys.argv[1]) if len(sys.argv) > 1 else MANY)
