"""The desk: where a call asks. Approvers the user named, then --yes or --no, then the person or the program; headless: no
(decision 59).

Questions go out as events and are answered by id through the port. An answer counts only in the process that asked, and
so does one that is remembered: `Desk.remembered` lives and dies with the desk. One that is to last longer is written into
the user's own file besides.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from pegboard import port
from pegboard.calls import Answer, Source
from pegboard.config.remembering import Home, Lasting
from pegboard.errors import ConfigError, ToolError
from pegboard.events import ApprovalAnswered, ApprovalAsked, Note, QuestionAnswered, QuestionAsked
from pegboard.hooks import Approver, Asked
from pegboard.policy.remembered import Offer, Remembered
from pegboard.policy.rules import Rule
from pegboard.session import Session

Approve: TypeAlias = Callable[[Asked], bool | Answer | None | Awaitable[bool | Answer | None]]
"""A program's own answer to a call that asks: True is yes; an `Answer` may give a reason; anything else is no."""
Answers: TypeAlias = Literal["person", "--yes", "--no", "headless"] | Approve
"""Who answers where a call asks. person: whoever watches the events, through the port."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What came back for one call that asked. `arguments`: what the person made of them, with a yes; None: as they were."""

    answer: Answer
    arguments: Mapping[str, Any] | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a tool asks the person (`ctx.ask`).

    Raises ValueError where more details are given than options, or where nothing could be answered."""

    text: str
    options: list[str] = []
    details: list[str] = []
    free: bool = True

    def __post_init__(self) -> None:
        if len(self.details) > len(self.options):
            raise ValueError("a question has more details than options")
        if not self.free and not self.options:
            raise ValueError("a question without options is answered freely, or not at all: leave out free=False")


class Desk:
    """Asks, and waits for answers. One a front end.

    remembered: the answers that stand for later calls of this session. offers_always: whether there will be later calls,
    here and with a person to answer; a front end for a single call sets it to False. home: where answers are written down
    that last longer; None: nowhere, so that is not offered. lasting: what was written there since the settings were read, of
    all desks of a board."""

    def __init__(
        self,
        session: Session,
        answers: Answers,
        approvers: Sequence[tuple[str, Approver]] = (),
        *,
        home: Home | None = None,
        lasting: list[Rule] | None = None,
    ) -> None:
        self.answers = answers
        self.remembered = Remembered(lasting)
        self.offers_always = answers == "person"
        self._session = session
        self._approvers = approvers
        self._home = home
        self._waiting: dict[str, asyncio.Future[port.Answer]] = {}
        self._bound: dict[str, Question] = {}
        self._count = 0

    @property
    def shows_preview(self) -> bool:
        """Whether anyone will look at what would change."""
        return self.answers in ("person", "--yes") or callable(self.answers) or bool(self._approvers)

    @property
    def reviews(self) -> bool:
        """Whether calls of one reply are better asked about together: there is a person, who looks at them."""
        return self.answers == "person"

    async def approve(
        self,
        asked: Asked,
        *,
        turn: int | None,
        lane: str,
        offer: Offer | None = None,
        batch: int = 1,
        given: Answer | None = None,
    ) -> Reply:
        """Ask for one call. Both events go to the log whoever answers. Several calls may wait here at once, as many as
        `batch` says; each asks before this first waits, so that questions stand in the log in the order they were made.

        `offer`: what a person's "always" would keep. It is in the question before it can be answered; where there is none,
        an "always" counts once. `given`: what was answered before; only approvers are still asked."""
        self._count += 1
        id = f"a{self._count}-{asked.id}"
        decision = asked.decision
        offer = offer if self.offers_always else None
        event = ApprovalAsked(
            turn=turn,
            lane=lane,
            id=id,
            call=asked.id,
            rule=decision.rule,
            layer=decision.layer,
            arguments=asked.call.arguments,
            preview=asked.preview,
            remember=list(offer.texts) if offer else [],
            scopes=self._scopes(offer) if offer else [],
            commands=list(offer.commands) if offer else [],
            batch=batch,
        )
        if self.answers == "person":
            self._waiting[id] = asyncio.get_running_loop().create_future()
        try:
            self._session.append(event)
            answer, said = await self._answer(id, asked, given)
        finally:
            self._waiting.pop(id, None)
        arguments = said.arguments if said is not None and answer.granted else None
        kept = self._kept(said, offer, turn) if said is not None and answer.granted and arguments is None else None
        scope, source = await self._remember(kept, said, turn) if kept and said else (None, None)
        self._session.append(
            ApprovalAnswered(
                turn=turn,
                id=id,
                granted=answer.granted,
                by=answer.by,
                reason=answer.reason,
                remember=list(kept.texts) if kept else [],
                scope=scope,
                source=source,
                arguments=arguments,
            )
        )
        return Reply(answer=answer, arguments=arguments)

    def _scopes(self, offer: Offer) -> list[str]:
        return offer.scopes if self._home is not None else offer.scopes[:1]

    def _kept(self, said: port.Answer, offer: Offer | None, turn: int | None) -> Offer | None:
        """What of the offer a person's "always" keeps; nothing where it says more than was offered."""
        if offer is None or said.remember is None or said.remember not in self._scopes(offer):
            return None
        if said.pattern is None:
            return offer
        edited = offer.edited(said.pattern)
        if edited is None:
            text = "that pattern does not fit the command that was asked about; nothing is remembered"
            self._session.append(Note(turn=turn, level="warning", text=text))
        return edited

    async def _remember(self, kept: Offer, said: port.Answer, turn: int | None) -> tuple[str, Source | None]:
        """Keep it; returns how long it stands, and where it is written down."""
        scope, source = str(said.remember), None
        lasting: Lasting | None = said.remember if said.remember != "session" else None
        if lasting is not None and self._home is not None:
            try:
                source = await asyncio.to_thread(self._home.keep, kept.written(), lasting)
            except ConfigError as error:
                scope = "session"
                self._session.append(
                    Note(
                        turn=turn, level="warning", text=f"{str(error).rstrip('.')}. It stands for this session alone."
                    )
                )
        self.remembered.keep(kept, source)
        return scope, source

    async def question(self, call: str, question: Question, *, turn: int | None, lane: str) -> str | None:
        """Ask the person something; None: dismissed.

        Raises:
            ToolError: there is no one to answer.
        """
        if self.answers != "person":
            raise ToolError("ask has no one to answer; nothing was changed. Go on with your best judgement.")
        self._count += 1
        id = f"q{self._count}-{call}"
        self._waiting[id] = asyncio.get_running_loop().create_future()
        if not question.free:
            self._bound[id] = question
        try:
            self._session.append(
                QuestionAsked(
                    turn=turn,
                    lane=lane,
                    id=id,
                    call=call,
                    question=question.text,
                    options=question.options,
                    details=question.details,
                    free=question.free,
                )
            )
            reply = await self._waiting[id]
        finally:
            self._waiting.pop(id, None)
            self._bound.pop(id, None)
        self._session.append(QuestionAnswered(turn=turn, id=id, answer=reply.text))
        return reply.text

    def take(self, answer: port.Answer) -> bool:
        """An answer from the port. Returns whether anyone waited for it. One that the question does not allow is told of,
        and the question waits on."""
        waiting = self._waiting.get(answer.id)
        if waiting is None or waiting.done():
            return False
        bound = self._bound.get(answer.id)
        if bound is not None and answer.text is not None and answer.text not in bound.options:
            text = f"that is none of the answers to choose from: {', '.join(bound.options)}. The question still waits"
            self._session.emit(Note(level="warning", text=text))
            return False
        waiting.set_result(answer)
        return True

    def awaits(self, id: str) -> bool:
        """Whether a question waits for the person's answer."""
        waiting = self._waiting.get(id)
        return waiting is not None and not waiting.done()

    async def _answer(self, id: str, asked: Asked, given: Answer | None) -> tuple[Answer, port.Answer | None]:
        """The answer, and, where it was a person's, all that they said."""
        for owner, approver in self._approvers:
            said = await self._said(f"plugin:{owner}", approver, asked)
            if said is not None:
                return said, None
        if given is not None:
            return given, None
        if callable(self.answers):
            return await self._said("program", self.answers, asked) or Answer(granted=False, by="program"), None
        if self.answers == "person":
            reply = await self._waiting[id]
            return Answer(granted=reply.granted is True, by="person", reason=reply.reason), reply
        if self.answers == "--yes":
            return Answer(granted=True, by="--yes"), None
        if self.answers == "--no":
            return Answer(granted=False, by="--no"), None
        return Answer(granted=False, by="headless", reason="there is no one to ask"), None

    async def _said(self, by: str, approver: Approver | Approve, asked: Asked) -> Answer | None:
        """What an approver answers, of a plugin or of the program; None: nothing. Plain functions and a bare yes or
        no are the program's alone."""
        mine = by == "program"
        who = "program" if mine else "approver"
        try:
            said = approver(copy.deepcopy(asked))  # its own: what it does to it, the next does not see
            if not mine or isinstance(said, Awaitable):
                said = await said  # type: ignore[misc]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: an approver that fails grants nothing
            return Answer(granted=False, by=by, reason=f"the {who} raised {type(error).__name__}: {error}")
        if said is None:
            return None
        if mine and isinstance(said, bool):
            return Answer(granted=said, by=by)
        if not isinstance(said, Answer):
            return Answer(granted=False, by=by, reason=f"the {who} returned {type(said).__name__}")
        return msgspec.structs.replace(said, by=by, granted=said.granted is True)
