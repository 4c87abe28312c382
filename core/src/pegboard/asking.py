"""Asking a model for one reply: a request that fits, its stream taken in and kept, and what is done when that breaks off.

What the loop tells the model by itself is a `prompt` by `pegboard` in the log, so that a resumed session sends the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from pegboard import events
from pegboard.config.schema import LimitSettings
from pegboard.errors import ContextFull, ModelError
from pegboard.events import WireCall
from pegboard.fitting import Fitting, size_of
from pegboard.lane import Lane
from pegboard.limits import Spent
from pegboard.models import NotePart, Provider, ReplyPart, Request, TextPart, ThinkingPart, ToolOffer
from pegboard.reply import Reply, plain, read
from pegboard.road import Road
from pegboard.session import Session
from pegboard.wire import clean

BREAKS = 2
"""Broken replies in a row after which the turn goes on; at the next it ends."""


@dataclass(kw_only=True, slots=True)
class Loop:
    """What all turns of an agent stand on. `steered`: what a person said and no request held yet."""

    session: Session
    road: Road
    provider: Provider
    model: str
    system: str
    offers: Callable[[], list[ToolOffer]]
    sets: list[str]
    not_loaded: list[str]
    limits: LimitSettings
    fitting: Fitting
    lane: Lane
    mode: str | None = None
    steered: list[str] = field(default_factory=list)


class Asking:
    """The replies of one turn, one at a time. `reply`: the one that comes, or came last. `offers`: the turn's tools."""

    def __init__(self, loop: Loop, turn: int) -> None:
        self.reply = Reply(kept=True)
        self.spent = Spent()
        self.offers = loop.offers()
        self._loop = loop
        self._session = loop.session
        self._turn = turn
        self._breaks = 0

    async def ask(self) -> None:
        """Stream one reply into `reply`, which holds what came of it at any time.

        Raises:
            ModelError: it broke off before anything came, or too often in a row, or the conversation does not fit.
        """
        while True:
            request, size = self._request()
            reply = self.reply = Reply()
            try:
                await read(self._loop.provider.reply(request), reply, self._hear)
            except ContextFull as full:
                self._loop.fitting.refused(size, full.limit)
                if not self._make_room(request, size):
                    raise _too_large(full) from full
                if not reply.begun:
                    continue
                reply.broken = full
            except (ModelError, OSError) as error:
                if not reply.begun or self._breaks >= BREAKS:
                    raise
                reply.broken = error
            self._count(reply, size)
            return

    def _request(self) -> tuple[Request, int]:
        """What is sent, with its size in bytes; room is made beforehand where the model's context is known."""
        while True:
            request = Request(
                model=self._loop.model,
                system=self._loop.system,
                messages=list(self._session.fold.history()),
                tools=self.offers,
            )
            size = size_of(request)
            if not self._loop.fitting.full(size) or not self._make_room(request, size):
                return request, size

    def _make_room(self, request: Request, size: int) -> bool:
        """Let old results give way to their marker. Returns False when there is none left that would help."""
        calls = self._loop.fitting.to_drop(request.messages, size)
        if not calls:
            return False
        results = "the result of 1 older call" if len(calls) == 1 else f"the results of {len(calls)} older calls"
        text = (
            f"the conversation has outgrown the model's context: {results} will not be sent any more (the log has all)"
        )
        self._session.append(
            events.HistoryTrimmed(turn=self._turn, calls=calls), events.Note(turn=self._turn, level="info", text=text)
        )
        return True

    def _hear(self, part: ReplyPart) -> None:
        match part:
            case TextPart(text=text):
                self._session.emit(events.Text(turn=self._turn, text=text))
            case ThinkingPart(text=text):
                self._session.emit(events.Thinking(turn=self._turn, text=text))
            case NotePart(text=text):
                self.note(text)
            case _:
                pass

    def _count(self, reply: Reply, size: int) -> None:
        fitting, spent, first = self._loop.fitting, self.spent, not self.spent.estimated
        spent.add(reply.end, fitting.tokens(size + reply.chars))
        if reply.end is not None and isinstance(reply.end.input, int):
            fitting.learn(size, reply.end.input)
        if spent.estimated and first and self._loop.limits.max_tokens is not None:
            self.note(
                "the model does not say how many tokens it takes; for the limit a token is taken for each four bytes"
            )

    def keep(self) -> list[WireCall]:
        """The reply in the log, as far as it came, with call ids of this session's own, before any of its calls runs."""
        reply, kept = self.reply, list[WireCall]()
        if reply.kept or not (reply.begun or reply.end):
            return kept
        reply.kept = True

        def message() -> events.Message:
            first = self._session.fold.calls + 1
            kept.extend(
                msgspec.structs.replace(call, id=f"c{number}") for number, call in enumerate(reply.calls, first)
            )
            data = plain(reply.end.provider_data) if reply.end and reply.end.provider_data is not None else None
            return events.Message(
                turn=self._turn, text=reply.text, thinking=reply.thinking, calls=kept, provider_data=data
            )

        self._session.append(message)
        if reply.broken is not None:
            calls = {0: "", 1: ", and its finished call is run"}.get(
                len(kept), f", and its {len(kept)} finished calls are run"
            )
            why = str(reply.broken).split(". ")[0]  # what comes after it is advice, for when the turn ends so
            self.note(f"the model's reply broke off ({why.removesuffix('.')}); what it had said is kept{calls}")
        self._breaks = self._breaks + 1 if reply.broken else 0
        return kept

    def tell(self, text: str) -> None:
        """Say something to the model."""
        self._session.append(events.Prompt(turn=self._turn, text=text, by=events.LOOP))

    def note(self, text: str) -> None:
        """Say something to the person."""
        self._session.append(events.Note(turn=self._turn, level="info", text=clean(text)))


def _too_large(full: ContextFull) -> ContextFull:
    return ContextFull(
        "context: the conversation is larger than the model takes, also without results of older calls. What was done "
        "stands, and nothing more was run. Begin a new session, ask for less at once, or choose a model that takes more. "
        f"Its provider said: {full}",
        limit=full.limit,
    )
