"""Who answers in a test, as a person would, and what was asked.

    board = pegboard_board(tools=[put], answers=[True, "not that file"])      yes, then no with a reason
    board = pegboard_board(tools=[put], answers=[yes(remember="session")])    "always"
    Approvals(lambda asked: asked.tool == "put")                              a function, asked each time

An answer is `yes(...)`, `no(reason)`, True, False, a text (the reason of a no; the answer to a tool's own question), or
None (a question is dismissed). A question for which no answer is left fails the test, and so does an answer that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from pegboard import port
from pegboard.events import AnyEvent, ApprovalAsked, QuestionAsked
from pegboard.hooks import Asked

Reply: TypeAlias = bool | str | None | port.Answer
Question: TypeAlias = Asked | QuestionAsked
"""A call that needs consent, or what a tool asks by `ctx.ask`."""


def yes(
    *,
    remember: Literal["session", "project", "user"] | None = None,
    pattern: Iterable[str] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> port.Answer:
    """A yes. remember, pattern, arguments: as in `port.Answer`: "always", and what the call is to be made with instead."""
    kept = None if pattern is None else tuple(pattern)
    return port.Answer(id="", granted=True, remember=remember, pattern=kept, arguments=arguments)


def no(reason: str | None = None) -> port.Answer:
    """A no."""
    return port.Answer(id="", granted=False, reason=reason)


class Approvals:
    """Answers in the place of a person: a list, in its order, or a function of what is asked. One for a board.

    asked: the calls that were asked about, as they were shown. questions: what tools asked."""

    def __init__(self, answers: Iterable[Reply] | Callable[[Question], Reply]) -> None:
        self._answer = answers if callable(answers) else None
        self._left = [] if callable(answers) else list(answers)
        self.asked: list[Asked] = []
        self.questions: list[QuestionAsked] = []
        self._problems: list[str] = []

    @property
    def left(self) -> list[Reply]:
        """Answers that nobody has asked for yet."""
        return self._left

    def answer(self, event: ApprovalAsked | QuestionAsked) -> port.Answer:
        """What is said to a question, which is one of those in `asked` or `questions`."""
        question: Question
        if isinstance(event, ApprovalAsked):
            question = next(asked for asked in reversed(self.asked) if asked.id == event.call)
        else:
            question = event
        try:
            said = self._said(question)
        except Exception as error:  # noqa: BLE001 - the test's own function: its failure is the test's, and told at the end
            self._problems.append(f"the function that answers raised {type(error).__name__}: {error}")
            said = None
        return _made(event, said)

    def _said(self, question: Question) -> Reply:
        if self._answer is not None:
            return self._answer(question)
        if self._left:
            return self._left.pop(0)
        self._problems.append(f"nobody was to be asked any more, and was: {told(question)}")
        return None

    def problems(self) -> list[str]:
        """What went wrong since this was last asked."""
        problems, self._problems = self._problems, []
        return problems


def told(question: Question) -> str:
    """A question in a line."""
    if isinstance(question, QuestionAsked):
        return f"a tool asks {question.question!r}"
    touched = ", ".join(f"{touch.kind} {touch.what}" for touch in question.touches) or "nothing known"
    return f"{question.tool} touches {touched}; {question.decision.rule!r} asks"


def _made(event: AnyEvent, said: Reply) -> port.Answer:
    id = getattr(event, "id", "")
    if isinstance(said, port.Answer):
        return msgspec.structs.replace(said, id=id)
    if isinstance(event, QuestionAsked):
        return port.Answer(id=id, text=said if isinstance(said, str) else None)
    return port.Answer(id=id, granted=said is True, reason=said if isinstance(said, str) else None)
