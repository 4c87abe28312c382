"""Tools that are declared read_only run in tests under a detector of writes (`pegboard.testing.writes`)."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import Context
from pegboard.testing.bench import TestBoard
from pegboard.testing.writes import writes_detected
from pegboard.tooling import tool
from pegboard.touches import Reads, Writes

Place = Annotated[str, Reads("A file")]


@tool
def in_its_thread(path: Place) -> str:
    """Write in the worker thread."""
    Path(path).write_text("x", "utf-8")
    return "ok"


@tool(inline=True)
def inline(path: Place) -> str:
    """Write on the loop."""
    Path(path).write_text("x", "utf-8")
    return "ok"


@tool
async def on_the_loop(path: Place) -> str:
    """Write after a pause."""
    await asyncio.sleep(0)
    Path(path).write_text("x", "utf-8")
    return "ok"


@tool
async def in_a_task(path: Place) -> str:
    """Write in a task and its thread."""
    await asyncio.create_task(asyncio.to_thread(Path(path).write_text, "x", "utf-8"))
    return "ok"


@tool
def in_another_thread(path: Place) -> str:
    """Write in a thread of its own."""
    thread = threading.Thread(target=Path(path).write_text, args=("x", "utf-8"))
    thread.start()
    thread.join()
    return "ok"


@tool
def in_a_pool(path: Place) -> str:
    """Write in a pool of its own."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(Path(path).write_text, "x", "utf-8").result()
    return "ok"


@tool
def and_fails(path: Place) -> str:
    """Write, then fail."""
    Path(path).write_text("x", "utf-8")
    raise RuntimeError("no")


WRITERS = [in_its_thread, inline, on_the_loop, in_a_task, in_another_thread, in_a_pool, and_fails]


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_a_read_only_tool_that_writes_fails_the_test(
    writer: Any, tmp_path: Path, make: Callable[..., TestBoard]
) -> None:
    board, target = make(tools=[writer]), tmp_path / "root" / "made"
    with pytest.raises(AssertionError) as failed:
        board.call(writer.__name__, path=str(target))
    assert f"{writer.__name__!r} is declared read_only, and wrote:\n    open {target}" in str(failed.value)
    if writer in (in_its_thread, inline, on_the_loop, and_fails):
        assert re.search(rf" \(line \d+ of {re.escape(__file__)}\)", str(failed.value))
    board.run(asyncio.sleep(0))  # told once


def test_also_when_the_model_calls_it_and_when_it_writes_after_its_end(
    tmp_path: Path, make: Callable[..., TestBoard]
) -> None:
    target = tmp_path / "root" / "made"
    board = make(tools=[inline], steps=[("inline", {"path": str(target)}), "done"])
    with pytest.raises(AssertionError, match="'inline' is declared read_only"):
        board.prompt()
    go = threading.Event()
    threads = []

    @tool
    def later(path: Place) -> str:
        """Write when nobody looks any more."""
        threads.append(threading.Thread(target=lambda: (go.wait(), Path(path).write_text("x", "utf-8"))))
        threads[0].start()
        return "ok"

    board = make(tools=[later])
    assert board.call("later", path=str(target)).outcome == "ok"
    go.set()
    threads[0].join()
    with pytest.raises(AssertionError, match="'later' is declared read_only"):
        board.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda a: os.rename(a, f"{a}.b"),
        lambda a: os.replace(a, f"{a}.b"),
        os.remove,
        lambda a: os.mkdir(f"{a}.d"),
        lambda a: os.symlink("x", f"{a}.l"),
        lambda a: os.link(a, f"{a}.h"),
        lambda a: os.chmod(a, 0o600),
        lambda a: os.utime(a),
        lambda a: os.truncate(a, 0),
        lambda a: os.close(os.open(a, os.O_RDWR)),
        lambda a: open(a, "a").close(),
        lambda a: sqlite3.connect(f"{a}.db").close(),
    ],
)
def test_every_kind_of_change_is_seen(change: Callable[[str], object], tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x", "utf-8")
    with writes_detected() as found:
        change(str(tmp_path / "a"))
    assert found and str(tmp_path / "a") in found[0]


def test_what_is_no_write_is_left_alone(tmp_path: Path, make: Callable[..., TestBoard]) -> None:
    (tmp_path / "a").write_text("x", "utf-8")
    (tmp_path / "own").mkdir()
    with writes_detected([tmp_path / "own"]) as found:
        (tmp_path / "a").read_text("utf-8")
        (tmp_path / "own" / "b").write_text("x", "utf-8")
        with open(os.devnull, "w", encoding="utf-8") as nothing:
            nothing.write("x")
        subprocess.run(["true"], check=True)
        list(tmp_path.iterdir())
        with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as nameless:
            Path(scratch, "b").write_text("x", "utf-8")
            nameless.write(b"x")
    assert found == []
    with writes_detected(roots=[tmp_path]) as found:
        tempfile.mkdtemp(dir=tmp_path)
    assert found
    found.clear()
    (tmp_path / "after").write_text("x", "utf-8")
    assert found == []

    @tool
    async def big(path: Place, ctx: Context) -> str:
        """Print more than is kept in memory."""
        finished = await ctx.run(["sh", "-c", "yes | head -c 300000"])
        return str(len(finished.stdout)) + "x" * 200_000

    @tool
    async def put(path: Annotated[str, Writes("A file")], ctx: Context) -> str:
        """Write as it is meant."""
        async with ctx.commit() as files:
            files.write(path, b"x")
        return "ok"

    board = make(tools=[big, put, inline], watch_writes=True)
    assert board.call("big", path="a").outcome == "ok"
    assert board.call("put", path="a").outcome == "ok"
    assert make(tools=[inline], watch_writes=False).call("inline", path=str(tmp_path / "root" / "n")).outcome == "ok"


@pytest.fixture
def make(tmp_path: Path) -> Any:
    """Boards, closed at the end whatever they say of it."""
    made: list[TestBoard] = []

    def board(**given: Any) -> TestBoard:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        made.append(TestBoard(root, **given))
        return made[-1]

    yield board
    for one in made:
        one.close()
