"""What became of a call in a test, and what was expected of it.

    board.call("put", path="uv.lock", text="x").expect("blocked", block="guard", rule=re.compile("^protect"), asked=False)

Where something is otherwise, the failure lists each such thing, and then all that is known of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pegboard.calls import Answer, BlockName, OutcomeName, Record, Touch, Why
from pegboard.events import AnyEvent, ApprovalAsked, CallAsked, CallFinished, CallStarted, Note
from pegboard.testing.happenings import name_of

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.testing.bench import TestBoard

Text: TypeAlias = str | re.Pattern[str] | Callable[[str], object]
"""A text itself; a pattern that is found in it; or a function that is true for it."""
_LONG = 1000


class _Any:
    def __repr__(self) -> str:
        return "anything"


ANY: Any = _Any()


class Called(Record, frozen=True, kw_only=True, dict=True, gc=True):
    """A call's record, with the board that it was made on."""

    @property
    def board(self) -> TestBoard:
        """The board it was made on."""
        board: TestBoard = self.__dict__["board"]
        return board

    @property
    def events(self) -> list[AnyEvent]:
        """What the log says of this call, in order; calls that it made itself are others."""
        found: list[AnyEvent] = []
        ids: set[str | None] = {self.id}
        for event in self.board.session.read():
            call, id = getattr(event, "call", None), getattr(event, "id", None)
            if id in ids or call == self.id:
                ids.add(id)  # an answer names its question alone
                found.append(event)
        return found

    @property
    def touches(self) -> list[Touch]:
        """What it touched, or would have; empty where it ended before anybody was told."""
        for event in self.events:
            if isinstance(event, CallStarted):
                return event.touches
        return next((asked.touches for asked in self.board.asked if asked.id == self.id), [])

    @property
    def started(self) -> bool:
        """Whether its tool was run."""
        return any(isinstance(event, CallStarted) for event in self.events)

    @property
    def asked(self) -> int:
        """How often somebody was asked about it."""
        return sum(isinstance(event, ApprovalAsked) for event in self.events)

    @property
    def shown(self) -> list[AnyBlock]:
        """What the person was shown of it when they were asked: what it would change."""
        return next((asked.preview for asked in self.board.asked if asked.id == self.id), [])

    def drawn(self) -> list[AnyBlock]:
        """Its result as front ends get it: blocks of a renderer, its own, or its text.

        Raises:
            AssertionError: a renderer failed.
        """
        from pegboard.blocks import Text as Plain

        renderers, tool = self.board.board.renderers, self.board.board.registry.get(self.requested)
        blocks = self.board.run(renderers.blocks(tool, self.data))
        if troubles := renderers.told():
            raise AssertionError(f"{_line(self)} cannot be drawn: {'; '.join(troubles)}")
        return [*(blocks or self.blocks or [Plain(text=self.text)])]

    def in_forms(self, *names: str, width: int = 80) -> dict[str, str]:
        """Its activity and its result as they look in each form that is installed (`plain`, `rich`, `json`, `app`), or in
        those that are named. A form that is named and not installed skips the test, with the reason.

        Raises:
            AssertionError: one cannot draw it, or nothing is seen of it there.
        """
        from pegboard.testing.drawing import in_forms

        return in_forms(self, names, width)

    def expect(
        self,
        outcome: OutcomeName = ANY,
        *,
        text: Text = ANY,
        says: str | Iterable[str] = (),
        data: Any = ANY,
        block: BlockName | None = ANY,
        why: Why | None = ANY,
        decision: str | None = ANY,
        rule: Text = ANY,
        by: str | None = ANY,
        asked: bool | int = ANY,
        touches: Iterable[str | Touch] = ANY,
        shown: Sequence[Any] = ANY,
        blocks: Sequence[Any] = ANY,
        log: Iterable[str] = ANY,
    ) -> Self:
        """See to it that the call came to this; what is left out may be anything. Returns it again.

        outcome, block, why, text, data: of the record. says: parts of its text. decision: allow, ask or deny, None where it
        came to none; rule: that decided; by: who answered (`--yes`, `person`, `plugin:NAME`), None: nobody was to. asked:
        whether somebody was asked, or how often. touches: all that it touched, as `"edit notes.txt"`, or Touch. shown: the
        blocks of the preview, blocks: those of the result, each as it is or its type. log: kinds of its events, in order.

        Raises:
            AssertionError: something is otherwise.
        """
        __tracebackhide__ = True
        found: dict[str, tuple[Any, Any]] = {
            "outcome": (outcome, self.outcome),
            "block": (block, self.block),
            "why": (why, self.why),
            "text": (text, self.text),
            "data": (data, self.data),
            "decision": (decision, self.decision.action if self.decision else None),
            "rule": (rule, self.decision.rule if self.decision else None),
            "by": (by, answer.by if (answer := _answer(self)) else None),
        }
        if asked is not ANY:
            found["asked"] = (asked, bool(self.asked) if isinstance(asked, bool) else self.asked)
        if touches is not ANY:
            # A text is a kind and what was written or where that leads; order is no matter.
            wanted = [touch if isinstance(touch, str) else _spelled(touch) for touch in touches]
            found["touches"] = (sorted(wanted), sorted(_spelled(touch) for touch in self.touches))
        if log is not ANY:
            found["log"] = (list(log), [name_of(event) for event in self.events])
        wrong = [
            f"{name}: {_short(is_)}, expected {_short(want)}"
            for name, (want, is_) in found.items()
            if not _fits(want, is_)
        ]
        for part in [says] if isinstance(says, str) else says:
            if part not in self.text:
                wrong.append(f"text: it does not say {part!r}")
        if shown is not ANY and (problem := _unlike(shown, self.shown)):
            wrong.append(f"shown: {problem}")
        if blocks is not ANY and (problem := _unlike(blocks, self.drawn())):
            wrong.append(f"blocks: {problem}")
        if wrong:
            raise AssertionError(
                "\n".join([f"{_line(self)} came to something else.", *(f"  {one}" for one in wrong), told(self)])
            )
        return self


def called(board: TestBoard, record: Record) -> Called:
    """A record with the board it was made on."""
    made = Called(**{name: getattr(record, name) for name in Record.__struct_fields__})
    made.__dict__["board"] = board
    return made


def calls_of(board: TestBoard) -> list[Called]:
    """Every finished call of the board's session, whoever made it, in the order in which they ended."""
    asked: dict[str, CallAsked] = {}
    made = []
    for event in board.session.read():
        if isinstance(event, CallAsked):
            asked[event.id] = event
        elif isinstance(event, CallFinished) and event.id in asked:
            first = asked[event.id]
            fields = {name: getattr(event, name) for name in Record.__struct_fields__ if hasattr(event, name)}
            fields |= {"tool": first.tool, "requested": first.requested, "set": first.set, "arguments": first.arguments}
            made.append(called(board, Record(**fields, session=board.session.id)))
    return made


def told(one: Called) -> str:
    """All that is known of a call, a line each."""
    decision, answer = one.decision, _answer(one)
    lines = {
        "outcome": " ".join(filter(None, [one.outcome, one.block and f"({one.block})", one.why and f"({one.why})"])),
        "text": one.text,
        "decision": f"{decision.action}, by {decision.rule!r} ({decision.layer})" if decision else "it came to none",
        "answer": f"{'yes' if answer.granted else 'no'} by {answer.by}{f': {answer.reason}' if answer.reason else ''}"
        if answer
        else "nobody was asked",
        "touches": ", ".join(map(_spelled, one.touches)) or ("none" if one.started else "not told"),
        "log": ", ".join(name_of(event) for event in one.events),
    }
    notes = [event.text for event in one.board.session.read() if isinstance(event, Note)] + one.board.notes
    lines |= {"notes": "\n".join(notes)} if notes else {}
    width = max(map(len, lines))
    rows = (
        f"    {name:<{width}}  " + _cut(value).replace("\n", f"\n{' ' * (width + 6)}") for name, value in lines.items()
    )
    return "\n".join(["  What happened:", *rows])


def _answer(one: Called) -> Answer | None:
    return one.decision.answer if one.decision else None


def _line(one: Called) -> str:
    given = one.arguments
    words = (
        ", ".join(f"{key}={_cut(repr(value), 60)}" for key, value in given.items())
        if isinstance(given, Mapping)
        else given
    )
    return f"{one.requested}({words})"


def _spelled(touch: Touch) -> str:
    return f"{touch.kind} {touch.what}"


def _fits(wanted: Any, found: Any) -> bool:
    if wanted is ANY:
        return True
    if isinstance(wanted, re.Pattern):
        return isinstance(found, str) and wanted.search(found) is not None
    if callable(wanted):
        return bool(wanted(found))
    return bool(wanted == found)


def _unlike(wanted: Sequence[Any], found: Sequence[Any]) -> str | None:
    """How blocks are not those that are wanted; None: they are."""
    if len(wanted) == len(found) and all(
        isinstance(is_, want) if isinstance(want, type) else want == is_
        for want, is_ in zip(wanted, found, strict=True)
    ):
        return None
    names = [one.__name__ if isinstance(one, type) else repr(one) for one in wanted]
    return f"[{', '.join(map(_short_block, found))}], expected [{', '.join(names)}]"


def _short_block(block: Any) -> str:
    return _cut(repr(block), 200)


def _short(value: Any) -> str:
    if isinstance(value, re.Pattern):
        return f"something with /{value.pattern}/"
    return _cut(getattr(value, "__name__", "") or repr(value), 300)


def _cut(text: str, most: int = _LONG) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"
