"""One call of a tool on the command line: `pegboard tool`. No model is loaded for it, and no turn is started."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from pegboard import port
from pegboard.calls import Call, Record
from pegboard.errors import ConfigError
from pegboard.events import AnyEvent, CallAsked, CallFinished
from pegboard.observing import ObserverSeat
from pegboard.road import Road
from pegboard.touches import kinds_in
from pegboard.typed import BadWord
from pegboard.wire import encode

from pegboard_cli.app import ERROR, INTERRUPTED, OK, TIMED_OUT, USAGE
from pegboard_cli.arguments import as_lists, as_unicode
from pegboard_cli.front import Front, Wishes, opened
from pegboard_cli.render import block_lines
from pegboard_cli.results import dropped_line, error_line, result_text
from pegboard_cli.screen import Screen
from pegboard_cli.styles import Styles, columns, is_terminal, takes_colour

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.session import Session
    from pegboard.tooling import Tool

    from pegboard_cli.viewer import Viewer

_WAITS = 200
UNASKED = "nobody could be asked; --yes allows it"


class Single:
    """The port of a single call."""

    turn = None

    def __init__(self, road: Road) -> None:
        self._road = road
        road.desk.offers_always = False  # the process ends with the call
        self._lane = road.lane()

    @property
    def running(self) -> bool:
        """Whether the call runs, which `Cancel` would stop."""
        return bool(self._lane.running)

    async def send(self, operation: port.AnyOperation) -> None:
        """Take an answer, or stop the call."""
        match operation:
            case port.Answer():
                self._road.desk.take(operation)
            case port.Cancel(call=call):
                self._lane.stop(call, "person")
            case port.Interrupt(signal=signal):
                self._lane.signalled(signal)
                self._lane.stop(None, "person")
            case _:
                pass  # there is no turn

    def events(self, since: int = 0) -> AsyncIterator[AnyEvent]:
        """Durable events after `since`, then all that follows; it listens from now on."""
        return aiter(self._road.session.watch(since))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Record:
        """Make the call."""
        return await self._road.travel(Call(id="", name=name, arguments=dict(arguments), caller="person"), self._lane)

    def close(self) -> None:
        """Let go of threads and of the session."""
        self._road.runner.close()
        for observer in self._road.session.observers:
            if isinstance(observer, ObserverSeat):
                observer.close()  # while the session can still be told of one that failed
        self._road.session.close()


async def call_tool(name: str, arguments: Mapping[str, Any], wishes: Wishes, *, words: bool = False) -> int:
    """Make one call and print its record; returns the exit code. `words`: the arguments were written as `k=v`."""
    async with opened(wishes, _single, quiet=True) as front:
        front.tell(*front.board.notes)
        tool = front.board.registry.get(name)
        if words:
            arguments = of_words(arguments, tool)
        try:
            record = await _call(front, name, arguments)
        finally:
            front.agent.close()
        if record is None:
            return INTERRUPTED
        await _print(record, front)
        if _unasked(record) and not wishes.json:
            front.screen.say(f"pegboard: {UNASKED}")
    return exit_code(record)


def _unasked(record: Record) -> bool:
    """Whether it was refused because nobody was there to ask. The record's text says what a model should do then."""
    answer = record.decision.answer if record.decision is not None else None
    return record.outcome == "blocked" and answer is not None and answer.by == "headless"


def of_words(arguments: Mapping[str, Any], tool: Tool | None) -> Mapping[str, Any]:
    """What the words of a command line say to this tool.

    Raises:
        ConfigError: text that is not UTF-8 where it would be changed silently; as for all usage errors, exit 2.
    """
    if tool is None:
        return as_unicode(arguments, frozenset(), frozenset())
    paths = frozenset(name for name, node in tool.touched if not {"read", "edit", "list"}.isdisjoint(kinds_in(node)))
    try:
        return as_lists(as_unicode(arguments, paths, tool.shape.names), tool.parameters)
    except BadWord as error:
        raise ConfigError(str(error)) from None


def _single(board: Board, session: Session, wishes: Wishes) -> Single:
    return Single(board.road(session, answers=wishes.answers))


async def _call(front: Front[Single], name: str, arguments: Mapping[str, Any]) -> Record | None:
    """The call's record; None when it was given up at a question, before it ran."""
    single = front.agent
    showing = asyncio.create_task(_show(front, single.events(front.since), name, arguments))
    calling = asyncio.create_task(single.call(name, arguments))

    def end() -> None:
        if single.running:
            front.hand_in(port.Interrupt(signal=interrupts.signal))
        else:
            calling.cancel()

    interrupts = front.interrupts(end, calling.cancel)
    try:
        with interrupts.listening():
            await asyncio.wait([calling])
            await front.board.settled()  # what hooks after the call have to say is shown, too
            await caught_up(front)
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)
        front.screen.clear_tail()
    return None if calling.cancelled() else calling.result()


async def _show(front: Front[Single], events: AsyncIterator[AnyEvent], name: str, arguments: Mapping[str, Any]) -> None:
    """What happens around our call. Other processes may make calls in this session too; those are theirs to answer."""
    own: str | None = None
    async for event in events:
        if own is None and isinstance(event, CallAsked) and (event.requested, event.arguments) == (name, arguments):
            own = event.id
        if own is not None and event.turn is None and belongs(event, own):
            await front.take(event)
        front.since = max(front.since, event.seq or 0)


async def caught_up(front: Front[Single]) -> None:
    """Wait until all that stands in the session's log was taken; not for long, for it may be that nobody takes it."""
    last, waits = front.session.last, _WAITS
    while front.since < last and (waits := waits - 1):
        await asyncio.sleep(0.01)


def belongs(event: AnyEvent, call: str) -> bool:
    """Whether an event is about a call, or about one that this call made."""
    lane = getattr(event, "lane", None)
    about = getattr(event, "call", None) or getattr(event, "id", None)
    return lane is None or about == call or str(lane).startswith(f"root/{call}")


def exit_code(record: Record) -> int:
    """The exit code of what became of a call."""
    match record.outcome:
        case "ok":
            return OK
        case "blocked":
            return USAGE
        case "interrupted":
            return TIMED_OUT if record.why == "timeout" else INTERRUPTED
        case _:
            return ERROR


async def _print(record: Record, front: Front[Single]) -> None:
    """The record as JSON, or its text: a result on stdout, and on stderr what went wrong in its place."""
    if front.wishes.json:
        sys.stdout.buffer.write(encode(record) + b"\n")
        return
    await show_result(record, front.board.registry.get(record.requested), front.viewer, front.screen)


async def show_result(
    ended: Record | CallFinished, tool: Tool | None, viewer: Viewer, screen: Screen, *, told: bool | None = None
) -> None:
    """What a call came to: a result on stdout, and on stderr what went wrong in its place.

    At a terminal a plugin's renderer may draw a result; a script gets the text, whatever is installed. told: within a
    conversation, errors look as those of the model's calls do, or are not shown; None: they are what was asked for."""
    text = result_text(ended.text, tool, ended.block)
    if ended.outcome != "ok" and told is not None:
        first, *more = error_line(text), *text.strip().split("\n")[1:]
        screen.say(*(screen.styles.dim(line) for line in (f"! {first}", *(f"  {part}" for part in more)) if told))
        return
    if ended.outcome == "ok" and is_terminal(sys.stdout) and (drawn := await viewer.drawn(tool, ended.data)):
        styles, width = Styles(takes_colour(sys.stdout)), columns(sys.stdout)
        text = "\n".join(line for block in drawn for line in block_lines(block, styles, width=width))
    stream = sys.stdout if ended.outcome == "ok" else sys.stderr
    stream.write(text if text.endswith("\n") or not text else f"{text}\n")
    stream.flush()
    if ignored := dropped_line(ended.dropped, tool, ended.text):
        screen.say(screen.styles.dim(ignored))
