"""One turn on the command line: `pegboard run`."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from pegboard import port
from pegboard.events import AnyEvent, Note, TurnEnded, Undone
from pegboard.terminal import visible

from pegboard_cli.app import ERROR, INTERRUPTED, OK
from pegboard_cli.front import Front, Wishes, opened
from pegboard_cli.main import VERSION

if TYPE_CHECKING:
    from pegboard.agent import Agent
    from pegboard.board import Board
    from pegboard.session import Session

_NAMED = 6
EXIT = {"done": OK, "asked_back": OK, "stopped": ERROR, "error": ERROR, "interrupted": INTERRUPTED}
"""The exit code of each way a turn ends. Denied calls do not change it."""


async def run_turn(prompt: str, wishes: Wishes) -> int:
    """Run one turn and show it; returns the exit code."""
    async with opened(wishes, _agent) as front:
        front.screen.one_turn = True
        me = asyncio.current_task()
        assert me is not None
        interrupts = front.interrupts(lambda: front.hand_in(port.Interrupt(signal=interrupts.signal)), me.cancel)
        with interrupts.listening():
            if wishes.json:
                front.tell(*front.board.notes)
            else:
                front.screen.say(*header(front))
            ended = await _turn(front, prompt)
    return EXIT[ended.status]


def _agent(board: Board, session: Session, wishes: Wishes) -> Agent:
    return board.agent(session, answers=wishes.answers, lasts="turn")


async def _turn(front: Front[Agent], prompt: str) -> TurnEnded:
    """The turn, shown as it goes. One that another process's turn kept from starting has no event but its end."""
    showing = asyncio.create_task(_show(front))
    try:
        await asyncio.sleep(0)  # it listens from here on
        await front.agent.send(port.Prompt(text=prompt))
        ended = await front.agent.wait()
        if ended.seq is not None:
            await showing
        else:
            await _put(front, ended)
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)
    return ended


async def _show(front: Front[Agent]) -> None:
    """Events until our turn is over. What other processes do in this session meanwhile is theirs to show and answer."""
    async for event in front.agent.events(front.since):
        mine = event.turn is not None and event.turn == front.agent.turn
        if mine or isinstance(event, Note | Undone):
            await _put(front, event)
        elif front.wishes.json and event.seq is not None:
            _print(front, event)
        if mine and isinstance(event, TurnEnded):
            return


async def _put(front: Front[Agent], event: AnyEvent) -> None:
    if front.wishes.json:
        _print(front, event)
    await front.take(event)


def _print(front: Front[Agent], event: AnyEvent) -> None:
    sys.stdout.buffer.write(front.session.line(event) + b"\n")  # as the log has it: without credentials
    sys.stdout.buffer.flush()


def header(front: Front[Agent]) -> list[str]:
    """What answers, where, with what, and what a person should know before it starts."""
    board, styles = front.board, front.screen.styles
    sets = ", ".join(name for name, info in board.registry.sets.items() if info.loaded) or "none"
    where = f"root {board.root} · sets {sets} · session {front.session.id}"
    if front.agent.mode is not None:
        where += f" · mode {front.agent.mode.name}"
    return [
        f"{styles.bold(f'pegboard {VERSION}')} · {visible(front.agent.banner)}",
        styles.dim(visible(where)),
        *(styles.warn(f"note: {visible(note)}") for note in [*withheld(front), *board.notes]),
    ]


def withheld(front: Front[Agent]) -> list[str]:
    """A note on the tools that the mode takes away: a model that misses one does not know why."""
    mode, board = front.agent.mode, front.board
    if mode is None:
        return []
    without = board.policy_in(None)
    tools = [tool for tool in board.registry.tools if front.agent.policy.hidden(tool) and not without.hidden(tool)]
    some = ", ".join(tool.name for tool in tools[:_NAMED])
    more = f" and {len(tools) - _NAMED} more" if len(tools) > _NAMED else ""
    return [f"mode {mode.name}: these tools are withheld while it is on: {some}{more}"] if tools else []
