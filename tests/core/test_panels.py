"""Panels: what a running tool shows beside the conversation."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from pegboard import port
from pegboard.blocks import AnyBlock, Note, Table
from pegboard.context import Context, SyncContext
from pegboard.events import AnyEvent, CallFinished, PanelChanged
from pegboard.tooling import tool


def shows(how: str, work: Any) -> Any:
    """A tool that does this with its context, in each of the three ways a tool may run."""
    if how == "async":

        @tool(name="show", pure=True)
        async def show(ctx: Context) -> str:
            """Show."""
            return str(work(ctx))

        return show

    @tool(name="show", pure=True, inline=how == "inline")
    def show_sync(ctx: SyncContext) -> str:
        """Show."""
        return str(work(ctx))

    return show_sync


def panels(board: Any) -> list[PanelChanged]:
    return [event for event in board.session.read() if isinstance(event, PanelChanged)]


@pytest.mark.parametrize("how", ["async", "thread", "inline"])
def test_a_tool_shows_a_panel_from_wherever_it_runs(pegboard_board: Any, how: str) -> None:
    def work(ctx: Any) -> str:
        ctx.panel("todo-list", "  To do\ud800 ", [Note(text="one"), Table(columns=["a"], rows=[["b"]])])
        ctx.panel("todo-list", "To do\\ud800", (Note(text="one"), Table(columns=["a"], rows=[["b"]])))  # as it is
        ctx.panel("todo-list", "To do", [])
        return threading.current_thread().name

    board = pegboard_board(tools=[shows(how, work)])
    record = board.call("show")
    assert record.outcome == "ok" and ("tool" in record.text) == (how == "thread")
    first, second = panels(board)
    assert (first.id, first.title, first.turn) == ("test.todo-list", "To do\\ud800", None)
    assert first.blocks == [Note(text="one"), Table(columns=["a"], rows=[["b"]])]
    assert (second.id, second.blocks) == ("test.todo-list", [])


def test_a_panel_is_its_owners_and_another_plugins_has_another_id(pegboard_board: Any) -> None:
    from types import ModuleType

    from pegboard.hooks import hookimpl

    def plugin(name: str) -> ModuleType:
        @tool(name=f"{name}_show", pure=True)
        def show(ctx: SyncContext) -> str:
            """Show."""
            ctx.panel("mine", name, [Note(text=name)])
            return ""

        module = ModuleType(name)
        module.hook = hookimpl(lambda: [show], specname="pegboard_tools")  # type: ignore[attr-defined]
        return module

    board = pegboard_board(modules={name: plugin(name) for name in ("one", "two")})
    board.call("one_show")
    board.call("two_show")
    assert [event.id for event in panels(board)] == ["one.mine", "two.mine"]


def test_nonsense_is_the_authors_fault_and_nothing_is_shown(pegboard_board: Any) -> None:
    wrong: list[tuple[str, list[Any], str]] = [
        ("other.todo", [], "a panel's id"),
        ("", [], "a panel's id"),
        ("x" * 65, [], "a panel's id"),
        ("todo", ["text"], "made of blocks"),
        ("todo", [{"block": "nosuch"}], "made of blocks"),
    ]
    for id, blocks, said in wrong:
        board = pegboard_board(tools=[shows("inline", lambda ctx, id=id, some=blocks: ctx.panel(id, "t", some))])
        record = board.call("show")
        assert record.outcome == "error" and said in record.text
        assert panels(board) == []


def test_what_is_too_large_is_not_shown_and_says_so(pegboard_board: Any) -> None:
    def work(ctx: Any) -> None:
        ctx.panel("big", "t" * 500, [Note(text="x" * 70_000)])

    board = pegboard_board(tools=[shows("async", work)])
    board.call("show")
    (event,) = panels(board)
    assert len(event.title) == 80 and isinstance(event.blocks[0], Note) and "70,0" in event.blocks[0].text


def test_what_comes_too_often_is_shown_and_the_last_of_it_is_kept(pegboard_board: Any) -> None:
    def work(ctx: Any) -> None:
        for number in range(60):
            ctx.panel("often", "t", [Note(text=f"{number} " + "x" * 50_000)])

    board = pegboard_board(tools=[shows("async", work)])
    seen: list[AnyEvent] = []

    async def watched() -> None:
        events = aiter(board.session.watch(0))  # from now on
        await board.agent.send(port.Call(id="mine", name="show"))
        async for event in events:
            seen.append(event)
            if isinstance(event, CallFinished):
                return

    board.run(watched())

    def number(event: PanelChanged) -> int:
        block: AnyBlock = event.blocks[0]
        assert isinstance(block, Note)
        return int(block.text.split()[0])

    kept = [number(event) for event in panels(board)]
    assert kept == [*range(len(kept) - 1), 59] and len(kept) < 30
    assert [number(e) for e in seen if isinstance(e, PanelChanged) and e.seq is None] == list(range(len(kept) - 1, 60))


def test_a_preview_and_a_call_that_was_stopped_show_nothing(pegboard_board: Any) -> None:
    def preview(arguments: Any, ctx: Context) -> list[AnyBlock]:
        ctx.panel("todo", "t", [Note(text="from the preview")])
        return [Note(text="looked")]

    @tool(preview=preview, permission_fn=lambda arguments: "ask")
    async def show(ctx: Context) -> str:
        """Show."""
        ctx._grant.running.why = "person"  # type: ignore[attr-defined]
        ctx.panel("todo", "t", [Note(text="after the stop")])
        return ""

    board = pegboard_board(tools=[show])
    board.call("show")
    assert panels(board) == []
