"""What is said of a call that was stopped: exactly what it changed, where that is known, and else that it is not known."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import Context, SyncContext, Writes, port, tool
from pegboard.calls import Record
from pegboard.editlock import EditLock, lock_folder
from pegboard.kit.aside import apart
from pegboard.kit.undo import all_or_none
from pegboard.testing.bench import TestBoard

STOPPED = "Error: The user interrupted this call. "
UNKNOWN = f"{STOPPED}It did not finish, so its effects are unknown."
Make = Callable[..., TestBoard]


class Halt:
    """A place in a tool where it waits until it was stopped."""

    def __init__(self) -> None:
        self.here, self.go_on = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.here.set()
        assert self.go_on.wait(60)


HALT = Halt()


@pytest.fixture(autouse=True)
def fresh() -> None:
    HALT.__init__()  # type: ignore[misc]


@tool(effect="side_effecting", touches=lambda arguments: [("edit", name) for name in arguments.paths])
async def together(paths: list[str], ctx: Context, halt: int = 1) -> str:
    """Write files, all or none."""

    def work() -> None:
        with all_or_none(ctx.workspace, files):
            for number, path in enumerate(paths):
                if number == halt:
                    HALT()
                files.write(path, b"new\n")

    async with ctx.commit() as files:
        await apart(work)
    return "done"


@tool(effect="side_effecting", touches=lambda arguments: [("edit", name) for name in arguments.paths])
async def singly(paths: list[str], ctx: Context) -> str:
    """Write files, each by itself."""
    for path in paths:
        async with ctx.commit() as files:
            files.write(path, b"new\n")
    await apart(HALT)
    return "done"


@tool
async def formats(path: Annotated[str, Writes("File")], ctx: Context) -> str:
    """Write a file, and have a program do what it likes."""
    async with ctx.commit() as files:
        files.write(path, b"new\n")
    await ctx.run(["true"])
    await apart(HALT)
    return "done"


@tool
def threaded(path: Annotated[str, Writes("File")], ctx: SyncContext) -> str:
    """Stop in the middle of a commit, in a thread that is left behind."""
    with ctx.commit() as files:
        HALT()
        files.write(path, b"new\n")
    return "done"


@tool
async def careless(path: Annotated[str, Writes("File")], ctx: Context) -> str:
    """Write without a commit, as no tool should."""
    Path(ctx.workspace.root, path).write_text("new\n")
    await apart(HALT)
    return "done"


@pytest.fixture
def board(pegboard_board: Make, tmp_path: Path) -> TestBoard:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("old\n")
    return pegboard_board(tools=[together, singly, formats, threaded, careless])


def stopped(board: TestBoard, name: str, *, left: bool = False, **arguments: Any) -> Record:
    """A call that is stopped by the person where it halts. `left`: what it does goes on after that was told."""

    async def work() -> Record:
        call = asyncio.ensure_future(board.agent.call(name, arguments, "program"))
        assert await asyncio.to_thread(HALT.here.wait, 10)
        await board.agent.send(port.Cancel())
        if not left:
            HALT.go_on.set()
        record = await call
        HALT.go_on.set()
        return record

    record = board.run(work())
    assert (record.outcome, record.why) == ("interrupted", "person")
    return record


def test_of_all_or_none_nothing_is_changed(board: TestBoard, tmp_path: Path) -> None:
    text = stopped(board, "together", paths=["a", "b"]).text
    assert text == f"{STOPPED}What had been changed before was put back: nothing is changed."
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "old\n"


def test_before_the_first_change_nothing_was(board: TestBoard, tmp_path: Path) -> None:
    assert stopped(board, "together", paths=["a", "b"], halt=0).text == f"{STOPPED}Nothing was changed."
    assert (tmp_path / "a").read_text() == "old\n"


def test_while_it_waits_for_the_edit_lock_nothing_was(board: TestBoard, tmp_path: Path) -> None:
    async def work() -> Record:
        async with EditLock(lock_folder(board.state), str(tmp_path)):
            call = asyncio.ensure_future(board.agent.call("together", {"paths": ["a"]}, "program"))
            await asyncio.sleep(0.05)
            await board.agent.send(port.Cancel())
            return await call

    assert board.run(work()).text == f"{STOPPED}Nothing was changed."


def test_what_was_changed_is_named(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "same").write_text("new\n")
    text = stopped(board, "singly", paths=["a", "same", "b"]).text
    assert text == f"{STOPPED}By then it had changed a, b, and nothing else. Look at that before you go on."
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "new\n"


def test_what_could_not_be_put_back_is_named(board: TestBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = HALT.go_on.wait

    def meddled(timeout: float) -> bool:
        (tmp_path / "a").write_text("mine\n")
        return real(timeout)

    monkeypatch.setattr(HALT.go_on, "wait", meddled)
    text = stopped(board, "together", paths=["a", "b"]).text
    assert text == f"{STOPPED}By then it had changed a, and nothing else. Look at that before you go on."
    assert (tmp_path / "a").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["formats", "threaded", "careless"])
def test_what_is_not_known_is_not_said(board: TestBoard, name: str) -> None:
    assert stopped(board, name, path="a", left=name == "threaded").text == UNKNOWN


def test_many_names_are_counted(board: TestBoard, tmp_path: Path) -> None:
    text = stopped(board, "singly", paths=[f"n{number:02}" for number in range(25)]).text
    assert ", n19 and 5 more, and nothing else." in text and "n20" not in text
