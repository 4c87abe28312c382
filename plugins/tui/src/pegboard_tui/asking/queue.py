"""The questions that wait, which of them is looked at, and what the person has begun to say to each. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pegboard.events import ApprovalAsked, QuestionAsked

Question: TypeAlias = ApprovalAsked | QuestionAsked


@dataclass
class Draft:
    """What a person has begun with one question. It is kept while they look at another, and until it is answered.

    chosen: its mark. full: long arguments are shown. scroll: rows that were scrolled past. option: the one under the cursor.
    pattern: the one under the cursor; patterns: as they were edited. reason, free, arguments: what was written."""

    chosen: bool = False
    full: bool = True
    scroll: int = 0
    option: int = 0
    pattern: int = 0
    patterns: list[str] | None = None
    reason: str = ""
    free: str = ""
    arguments: str | None = None


class Queue:
    """Questions in the order they came.

    waiting: those without an answer. edited: the arguments of calls, by id, before the person edited them.
    reason: what was written to refuse all of them."""

    def __init__(self) -> None:
        self.waiting: list[Question] = []
        self.edited: dict[str, object] = {}
        self.reason = ""
        self._drafts: dict[str, Draft] = {}
        self._sent: set[str] = set()
        self._at = 0

    @property
    def current(self) -> Question | None:
        """The one that is looked at."""
        return self.waiting[self._at] if self.waiting else None

    @property
    def at(self) -> int:
        """The number of it, from 0."""
        return self._at

    def as_edited(self, question: Question) -> bool:
        """Whether it asks about what the person made of the arguments. Where that did not fit, the old ones stand."""
        return question.call in self.edited and getattr(question, "arguments", None) != self.edited[question.call]

    def draft(self, question: Question) -> Draft:
        """What was begun with it."""
        return self._drafts.setdefault(question.id, Draft())

    def put(self, questions: Sequence[Question]) -> list[Question]:
        """These wait, and no others; those that were answered here and are not settled yet do not count. Returns the new."""
        ids = {question.id for question in questions}
        self._sent &= ids
        known = {question.id for question in self.waiting}
        was, at = self.current, self._at
        self.waiting = [question for question in questions if question.id not in self._sent]
        self._drafts = {id: draft for id, draft in self._drafts.items() if id in ids}
        places = {question.id: number for number, question in enumerate(self.waiting)}
        self._at = places.get(was.id, at) if was is not None else 0
        self._at = max(min(self._at, len(self.waiting) - 1), 0)
        return [question for question in self.waiting if question.id not in known]

    def answered(self, ids: Sequence[str]) -> None:
        """These have been answered here, so they are not shown any more."""
        self._sent.update(ids)
        before = sum(question.id in self._sent for question in self.waiting[: self._at])
        self.waiting = [question for question in self.waiting if question.id not in self._sent]
        self._at = max(min(self._at - before, len(self.waiting) - 1), 0)

    def move(self, by: int) -> None:
        """Look at another one; after the last comes the first."""
        if self.waiting:
            self._at = (self._at + by) % len(self.waiting)

    @property
    def approvals(self) -> list[ApprovalAsked]:
        """Those that ask for permission."""
        return [question for question in self.waiting if isinstance(question, ApprovalAsked)]

    @property
    def chosen(self) -> list[ApprovalAsked]:
        """Those of them that bear a mark."""
        return [question for question in self.approvals if self.draft(question).chosen]
