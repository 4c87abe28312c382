"""The desk: where a call asks. Approvers the user named, then --yes or --no, then the person; headless: no (decision 59).

Questions go out as events and are answered by id through the port. An answer counts only in the process that asked, and
so does one that is remembered: `Desk.remembered` lives and dies with the desk.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from pegboard import port
from pegboard.calls import Answer
from pegboard.errors import ToolError
from pegboard.events import ApprovalAnswered, ApprovalAsked, QuestionAnswered, QuestionAsked
from pegboard.hooks import Approver, Asked
from pegboard.policy.remembered import Remembered, Scope
from pegboard.session import Session

Answers: TypeAlias = Literal["person", "--yes", "--no", "headless"]


class Desk:
    """Asks, and waits for answers. One a front end.

    remembered: the answers that stand for later calls of this session. offers_always: whether there will be later calls,
    here and with a person to answer; a front end for a single call sets it to False."""

    def __init__(self, session: Session, answers: Answers, approvers: Sequence[tuple[str, Approver]] = ()) -> None:
        self.answers = answers
        self.remembered = Remembered()
        self.offers_always = answers == "person"
        self._session = session
        self._approvers = approvers
        self._waiting: dict[str, asyncio.Future[port.Answer]] = {}
        self._count = 0

    @property
    def shows_preview(self) -> bool:
        """Whether anyone will look at what would change."""
        return self.answers in ("person", "--yes") or bool(self._approvers)

    async def approve(self, asked: Asked, *, turn: int | None, lane: str, scope: Scope | None = None) -> Answer:
        """Ask for one call. Both events go to the log whoever answers.

        `scope`: what a person's "always" would cover. It is in the question before it can be answered; where there is none,
        an "always" counts once."""
        self._count += 1
        id = f"a{self._count}-{asked.id}"
        decision = asked.decision
        offered = [scope] if scope is not None and self.offers_always else []
        event = ApprovalAsked(
            turn=turn,
            lane=lane,
            id=id,
            call=asked.id,
            rule=decision.rule,
            layer=decision.layer,
            arguments=asked.call.arguments,
            preview=asked.preview,
            remember=[one.text for one in offered],
        )
        if self.answers == "person":
            self._waiting[id] = asyncio.get_running_loop().create_future()
        try:
            self._session.append(event)
            answer, always = await self._answer(id, asked)
        finally:
            self._waiting.pop(id, None)
        kept = offered if always else []
        self._session.append(
            ApprovalAnswered(
                turn=turn,
                id=id,
                granted=answer.granted,
                by=answer.by,
                reason=answer.reason,
                remember=[one.text for one in kept],
            )
        )
        for one in kept:
            self.remembered.keep(one)
        return answer

    async def question(
        self, call: str, question: str, options: Sequence[str], *, turn: int | None, lane: str
    ) -> str | None:
        """Ask the person something; None: dismissed.

        Raises:
            ToolError: there is no one to answer.
        """
        if self.answers != "person":
            raise ToolError("ask has no one to answer; nothing was changed. Go on with your best judgement.")
        self._count += 1
        id = f"q{self._count}-{call}"
        self._waiting[id] = asyncio.get_running_loop().create_future()
        try:
            self._session.append(
                QuestionAsked(turn=turn, lane=lane, id=id, call=call, question=question, options=list(options))
            )
            reply = await self._waiting[id]
        finally:
            self._waiting.pop(id, None)
        self._session.append(QuestionAnswered(turn=turn, id=id, answer=reply.text))
        return reply.text

    def take(self, answer: port.Answer) -> bool:
        """An answer from the port. Returns whether anyone waited for it."""
        waiting = self._waiting.get(answer.id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True

    async def _answer(self, id: str, asked: Asked) -> tuple[Answer, bool]:
        """The answer, and whether it was a person's "always"."""
        for owner, approver in self._approvers:
            said = await self._approver(owner, approver, asked)
            if said is not None:
                return said, False
        if self.answers == "person":
            reply = await self._waiting[id]
            granted = reply.granted is True
            return Answer(granted=granted, by="person", reason=reply.reason), granted and reply.remember == "session"
        if self.answers == "--yes":
            return Answer(granted=True, by="--yes"), False
        if self.answers == "--no":
            return Answer(granted=False, by="--no"), False
        return Answer(granted=False, by="headless", reason="there is no one to ask"), False

    async def _approver(self, owner: str, approver: Approver, asked: Asked) -> Answer | None:
        by = f"plugin:{owner}"
        try:
            said = await approver(copy.deepcopy(asked))  # its own: what it does to it, the next does not see
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: an approver that fails grants nothing
            return Answer(granted=False, by=by, reason=f"the approver raised {type(error).__name__}: {error}")
        if said is None:
            return None
        if not isinstance(said, Answer):
            return Answer(granted=False, by=by, reason=f"the approver returned {type(said).__name__}")
        return msgspec.structs.replace(said, by=by, granted=said.granted is True)
