"""A front end around one agent: builds the board, shows events, asks the person, hears Ctrl-C. For `run` and `tool`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec
from pegboard import port
from pegboard.board import Board
from pegboard.desk import Answers
from pegboard.errors import ConfigError
from pegboard.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CallFinished,
    CallStarted,
    QuestionAnswered,
    QuestionAsked,
    TurnEnded,
)
from pegboard.terminal import visible

from pegboard_cli.interrupts import Interrupts
from pegboard_cli.progress import ticking
from pegboard_cli.prompt import ask_approval, ask_question, ask_several
from pegboard_cli.screen import Screen
from pegboard_cli.styles import is_terminal
from pegboard_cli.viewer import Viewer

if TYPE_CHECKING:
    from pegboard.session import Session


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says, whichever command it was. `flags`: settings by dotted key. `resume`: go on with the
    last session of this root. `off`: plugins that are not loaded this time."""

    path: str | None = None
    session: str | None = None
    resume: bool = False
    yes: bool = False
    no: bool = False
    json: bool = False
    flags: dict[str, Any] = {}
    without_guard: list[str] = []
    off: list[str] = []

    @property
    def answers(self) -> Answers:
        """Who answers a question for permission (decision 59)."""
        if self.yes:
            return "--yes"
        if self.no:
            return "--no"
        attended = not self.json and is_terminal(sys.stdin) and is_terminal(sys.stderr)
        return "person" if attended else "headless"


A = TypeVar("A", bound=port.Port)
"""Whoever is behind the port: the board's agent, or a single call."""


class Front(Generic[A]):
    """One board, one agent, and a person or a program in front of it.

    quiet: a single call outside a turn, whose result is printed by whoever makes it. before_question: done before a
    question is put."""

    def __init__(
        self,
        board: Board,
        session: Session,
        agent: A,
        wishes: Wishes,
        *,
        quiet: bool = False,
        screen: Screen | None = None,
        before_question: Callable[[], object] = lambda: None,
    ) -> None:
        self.board = board
        self.session = session
        self.agent = agent
        self.screen = screen or Screen()
        self.wishes = wishes
        self.since = session.last
        self.viewer = self._new_viewer(quiet=quiet)
        self._before_question = before_question
        self._asking: asyncio.Task[Any] | None = None
        self._together: list[ApprovalAsked] = []
        self._running: set[str] = set()
        self._sent: set[asyncio.Task[None]] = set()

    def interrupts(self, end_turn: Callable[[], object], give_up: Callable[[], object]) -> Interrupts:
        """What Ctrl-C comes to: the running call, then the turn, then the command. At a question it ends the turn."""

        def end() -> None:
            if self._asking:
                self._stop_asking()
            else:
                self.screen.end_typed()
            end_turn()

        def stop() -> None:
            self.screen.end_typed()
            self.hand_in(port.Cancel())

        return Interrupts(
            running=lambda: frozenset(() if self._asking else self._running),
            stop_calls=stop,
            end_turn=end,
            give_up=give_up,
            turn_only=self.board.config.ui.ctrl_c == "turn",
            lent=lambda: self.screen.lent,
        )

    def _new_viewer(self, *, quiet: bool) -> Viewer:
        board = self.board
        return Viewer(self.screen, board.registry, board.config.ui, quiet=quiet, renderers=board.renderers)

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """While the block runs, only questions, tails and notes are shown: a call's result is printed by who made it."""
        before, self.viewer = self.viewer, self._new_viewer(quiet=True)
        try:
            yield
        finally:
            self.viewer = before

    def hand_in(self, operation: port.AnyOperation) -> None:
        """Send an operation from where nothing can be awaited."""
        task = asyncio.ensure_future(self.agent.send(operation))
        self._sent.add(task)
        task.add_done_callback(self._sent.discard)

    async def take(self, event: AnyEvent) -> None:
        """Show an event of ours to whoever is there; put a question to the person and send the answer."""
        match event:
            case CallStarted(id=call_id):
                self._running.add(call_id)
            case CallFinished(id=call_id):
                self._running.discard(call_id)
            case _:
                pass
        if self.wishes.json:
            return
        await self.viewer.take(event)
        if self.wishes.answers == "person" and isinstance(event, ApprovalAsked | QuestionAsked):
            await self._question(event)

    async def _question(self, event: ApprovalAsked | QuestionAsked) -> None:
        """Put a question; those of one reply that come together are put together."""
        if not isinstance(event, ApprovalAsked):
            await self._ask([event], ask_question(event, self.screen))
            return
        same = (event.turn, event.lane, event.batch)
        events = [*(one for one in self._together if (one.turn, one.lane, one.batch) == same), event]
        self._together = events if len(events) < event.batch else []
        if self._together:
            return
        subjects, glyphs = [self.viewer.question(one) for one in events], self.board.config.ui.glyph_lines
        if len(events) > 1:
            said = await self._ask(events, ask_several(events, subjects, self.screen, glyphs=glyphs))
            if said != "one by one":
                return
        for one, subject in zip(events, subjects, strict=True):
            if await self._ask([one], ask_approval(one, subject, self.screen, glyphs=glyphs)) == "left":
                return

    async def _ask(
        self,
        events: Sequence[ApprovalAsked | QuestionAsked],
        asking: Coroutine[Any, Any, port.Answer | list[port.Answer] | None],
    ) -> Literal["answered", "settled", "left", "one by one"]:
        """Read the answer to questions, and send it. settled: somebody else gave it. left: by Ctrl-C."""
        self._before_question()
        self._asking = asyncio.ensure_future(asking)
        elsewhere = asyncio.gather(*(self._settled(event) for event in events))
        try:
            await asyncio.wait([self._asking, elsewhere], return_when=asyncio.FIRST_COMPLETED)
            if elsewhere.done():
                self._stop_asking()
                await asyncio.wait([self._asking])
            if self._asking.cancelled():
                return "settled" if elsewhere.done() else "left"
            answers = self._asking.result()
            if answers is None:
                return "one by one"
            for answer in answers if isinstance(answers, list) else [answers]:
                await self.agent.send(answer)
            return "answered"
        finally:
            self._stop_asking()
            self._asking = None
            elsewhere.cancel()
            await asyncio.gather(elsewhere, return_exceptions=True)

    async def _settled(self, question: ApprovalAsked | QuestionAsked) -> None:
        """Wait until nobody waits for an answer of ours: an approver that the user named gave one, or time ran out."""
        async for event in self.agent.events(question.seq or 0):
            match event:
                case ApprovalAnswered(id=id) | QuestionAnswered(id=id) if id == question.id:
                    return
                case CallFinished(id=id) if id == question.call:
                    return
                case TurnEnded(turn=turn) if turn in (None, question.turn):  # None: its end could not be written down
                    return
                case _:
                    pass

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()

    def tell(self, *notes: str) -> None:
        """Notes on stderr, one a line."""
        self.screen.say(*(self.screen.styles.warn(f"note: {visible(note)}") for note in notes))


@asynccontextmanager
async def opened(
    wishes: Wishes, make: Callable[[Board, Session, Wishes], A], *, quiet: bool = False
) -> AsyncIterator[Front[A]]:
    """A board with the agent that `make` gives; the board is closed at the end whatever happens.

    Raises:
        ConfigError, PluginError, SessionError: what keeps it from starting, for a person to read.
    """
    async with built(wishes) as board:
        with kept(board, chosen(board, wishes)) as session:
            front = Front(board, session, make(board, session, wishes), wishes, quiet=quiet)
            async with ticking(front.screen, front.viewer.waits_for):
                yield front


@asynccontextmanager
async def built(wishes: Wishes) -> AsyncIterator[Board]:
    """A board, closed at the end whatever happens.

    Raises:
        ConfigError, PluginError: what keeps it from starting, for a person to read.
    """
    board = Board.build(root=wishes.path, flags=wishes.flags, without_guard=wishes.without_guard, off=wishes.off)
    try:
        await asyncio.sleep(0)  # Ctrl-C in the meantime is the end
        yield board
    finally:
        await board.close()


def chosen(board: Board, wishes: Wishes) -> str | None:
    """The session that is asked for; None: a fresh one.

    Raises:
        ConfigError: the last one is asked for, and there is none.
    """
    if not wishes.resume:
        return wishes.session
    from pegboard.session import latest

    last = latest(board.sessions_folder, board.root) if board.sessions_folder else None
    if last is None:
        raise ConfigError(
            f"no session of {board.root} to continue; nothing was started. Leave out --continue to begin one, "
            "or go on with one of another folder there (--path; pegboard sessions list names those there are)."
        )
    return last


@contextmanager
def kept(board: Board, id: str | None) -> Iterator[Session]:
    """A session, made if it is missing. Its agent closes it; one in which nothing happened is closed here, for there may be
    none.

    Raises:
        SessionError: it cannot be opened.
    """
    session = board.session(id)
    try:
        yield session
    finally:
        if not session.last:
            session.close()
