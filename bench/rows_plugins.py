"""The row of thirty installed plugins: what each costs a start, on and off."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from harness import Pair, Row, seconds
from rows_process import PEGBOARD, environment

HOW_MANY = 30
READ = [PEGBOARD, "tool", "read_file", "path=README.md"]

MODULE = '''
from typing import Annotated

from pegboard import Context, Reads, hookimpl, tool


@tool(examples=["count {{path}} with {number}"])
def count_{number}(path: Annotated[str, Reads("File, relative to the workspace root")], ctx: Context) -> str:
    """Count the words in a file."""
    return str(len(ctx.workspace.read_text(path).split()))


@hookimpl
def pegboard_tools(settings):
    return [count_{number}]
'''


def install(site: Path) -> None:
    """Thirty tool sets as pip would leave them."""
    for number in range(HOW_MANY):
        name = f"pegboard_words_{number}"
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text(MODULE.format(number=number), encoding="utf-8")
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pegboard-words-{number}\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[pegboard.toolsets]\nwords-{number} = {name}\n", "utf-8")
        (info / "RECORD").write_text("", "utf-8")


def reading(selected: str | None) -> Callable[[Path], AbstractContextManager[Pair]]:
    """The set-up of a row: one call with thirty plugins installed, beside the same with none."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        site = scratch / "site"
        install(site)
        (scratch / "README.md").write_text("# A project\n" * 60, encoding="utf-8")
        none = environment(scratch / "home-none")
        some = environment(scratch / "home-some") | {"PYTHONPATH": str(site)}
        if selected is not None:
            some["PEGBOARD_TOOLSETS"] = none["PEGBOARD_TOOLSETS"] = selected

        def wall(environ: dict[str, str]) -> Callable[[], float]:
            def once() -> None:
                done = subprocess.run(READ, cwd=scratch, env=environ, capture_output=True, text=True)
                if done.returncode != 0:
                    raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-400:]}")

            return lambda: seconds(once)

        yield Pair(ours=wall(some), yardstick=wall(none))

    return set_up


ROWS = [
    Row(
        name="start with 30 installed plugins, all on",
        target=1.3,
        against="with none",
        best_peer="not measured",
        set_up=reading(None),
    ),
    Row(
        name="start with 30 installed plugins, all off",
        target=1.1,
        against="with none",
        best_peer="not measured",
        set_up=reading("[]"),
    ),
]
