"""What each call of a session was allowed by, or refused by: for a program, and as a table. It returns lines, and prints
nothing. All of it is read from the log, which redacts what it keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.calls import BlockName, Decision, OutcomeName, Source, Touch, Why
from pegboard.events import ApprovalAnswered, ApprovalAsked, CallAsked, CallFinished, CallStarted
from pegboard.terminal import visible

from pegboard_cli.places import place_of
from pegboard_cli.render import table_lines

if TYPE_CHECKING:
    from pegboard.events import AnyEvent

SCOPES = {"session": "in the session", "project": "in the project", "user": "in every project"}


class Question(msgspec.Struct, kw_only=True):
    """A question for permission, and its answer. granted: None while nobody has answered. offered: what "always" would
    have kept; remember, scope, source: what was kept, how long, and where it is written down. edited: the arguments that
    the person gave in place of the call's."""

    id: str
    rule: str
    layer: str
    batch: int
    offered: list[str]
    granted: bool | None = None
    by: str | None = None
    reason: str | None = None
    remember: list[str] = []
    scope: str | None = None
    source: Source | None = None
    edited: Any = None


class AuditedCall(msgspec.Struct, kw_only=True):
    """One call. seq: of its `call_asked`. caller: None in logs of earlier versions. started: it was begun. outcome: None
    where the log has no end of it: it still runs, or was interrupted."""

    seq: int | None
    turn: int | None
    lane: str
    id: str
    caller: str | None
    tool: str | None
    requested: str
    set: str | None
    summary: str
    arguments: Any
    questions: list[Question] = []
    started: bool = False
    touches: list[Touch] = []
    decision: Decision | None = None
    outcome: OutcomeName | None = None
    block: BlockName | None = None
    why: Why | None = None
    duration_ms: float | None = None

    @property
    def edited(self) -> bool:
        """Whether it was made with arguments that the person gave."""
        return any(question.edited is not None for question in self.questions)


def audited(events: Iterable[AnyEvent]) -> list[AuditedCall]:
    """The calls of a session, in the order in which they were asked for."""
    calls: dict[str, AuditedCall] = {}
    questions: dict[str, Question] = {}
    for event in events:
        match event:
            case CallAsked():
                calls[event.id] = AuditedCall(
                    seq=event.seq,
                    turn=event.turn,
                    lane=event.lane,
                    id=event.id,
                    caller=event.caller,
                    tool=event.tool,
                    requested=event.requested,
                    set=event.set,
                    summary=event.summary,
                    arguments=event.arguments,
                )
            case ApprovalAsked() if event.call in calls:
                asked = Question(
                    id=event.id, rule=event.rule, layer=event.layer, batch=event.batch, offered=event.remember
                )
                questions[event.id] = asked
                calls[event.call].questions = [*calls[event.call].questions, asked]
            case ApprovalAnswered() if event.id in questions:
                said = questions[event.id]
                said.granted, said.by, said.reason = event.granted, event.by, event.reason
                said.remember, said.scope, said.source = event.remember, event.scope, event.source
                said.edited = event.arguments
            case CallStarted() if event.id in calls:
                call = calls[event.id]
                call.started, call.touches, call.decision = True, event.touches, event.decision
            case CallFinished() if event.id in calls:
                call = calls[event.id]
                call.outcome, call.block, call.why = event.outcome, event.block, event.why
                call.duration_ms, call.decision = event.duration_ms, event.decision or call.decision
            case _:
                pass
    return list(calls.values())


def document(calls: Sequence[AuditedCall]) -> dict[str, Any]:
    """The same for a program, with how many there are of each kind."""
    return {"calls": calls, "summary": counts(calls)}


def counts(calls: Sequence[AuditedCall]) -> dict[str, int]:
    """How many calls there are of each kind. Each is one of: unasked, allowed by a rule; asked, and of those granted,
    refused by whoever was asked, or unanswered; denied, by a rule or a guard, also as a person had changed it; dropped, for
    its turn ended before it began; unmade, no call that could be made. sandboxed and edited are some of those."""
    kinds = Counter(map(_kind, calls))
    return {
        "calls": len(calls),
        "unasked": kinds["unasked"],
        "asked": kinds["granted"] + kinds["refused"] + kinds["unanswered"],
        "granted": kinds["granted"],
        "refused": kinds["refused"],
        "unanswered": kinds["unanswered"],
        "denied": kinds["denied"],
        "dropped": kinds["dropped"],
        "unmade": kinds["unmade"],
        "sandboxed": sum(call.started and call.decision is not None and call.decision.sandbox for call in calls),
        "edited": sum(call.edited for call in calls),
    }


def audit_lines(calls: Sequence[AuditedCall], width: int | None) -> list[str]:
    """A row a call; below it by what it was decided, and what was asked and answered; and one line that counts them."""
    if not calls:
        return ["No calls."]
    head = ["call", "turn", "by", "outcome", "what"]
    first, *rows = table_lines([head, *(_row(call) for call in calls)], width=width)
    lines = [first]
    for call, row in zip(calls, rows, strict=True):
        lines += [row, *(f"  {visible(line)}" for line in _details(call))]
    return [*lines, "", _counted(counts(calls))]


def _kind(call: AuditedCall) -> str:
    """The one kind that a call is counted as."""
    if call.questions:
        last = call.questions[-1]
        if not last.granted:
            return "unanswered" if last.granted is None else "refused"
        if call.started or last.edited is None:
            return "granted"
    elif call.started:
        return "unasked"
    if call.block in ("denied", "guard") and call.decision is not None and call.decision.action == "deny":
        return "denied"
    return "dropped" if _dropped(call) else "unmade"


def _dropped(call: AuditedCall) -> bool:
    """Whether its turn was over before it began: nobody and nothing had refused it."""
    if call.started or (call.decision is not None and call.decision.action == "deny"):
        return False
    if call.outcome is None:
        return True
    answered = call.decision is not None and call.decision.answer is not None and not call.decision.answer.granted
    return call.block == "denied" and not answered and not (call.questions and call.questions[-1].granted is False)


def _row(call: AuditedCall) -> list[str]:
    block = f" ({call.block})" if call.block not in (None, "denied") else ""
    outcome = f"{call.outcome or ('not finished' if call.started else 'not begun')}{block}"
    if _dropped(call):
        outcome = "not begun: the turn ended" if call.outcome is not None else "not begun"
    turn = "" if call.turn is None else f"{call.turn}"
    return [call.id, turn, call.caller or "", outcome, call.summary]


def _decided(decision: Decision) -> str:
    sandbox = ", in the sandbox" if decision.sandbox else ""
    return f"{decision.action}{sandbox}: {decision.rule} ({decision.layer}{place_of(decision.source, ', ')})"


def _answer(call: AuditedCall, question: Question) -> str:
    """What the answer came to. A yes to other arguments is judged anew, and asked about again: only where that is the last
    of it did it let the call go on."""
    if not question.granted:
        return "refused"
    gone_on = question is call.questions[-1] and call.started
    return "allowed" if question.edited is None or gone_on else "changed"


def _details(call: AuditedCall) -> Iterator[str]:
    if call.decision is not None:
        yield _decided(call.decision)
    for question in call.questions:
        if question.granted is None:
            yield f"asked by {question.rule}; nobody answered"
            continue
        said = f"{_answer(call, question)} by {question.by}"
        yield said + (f": {question.reason}" if question.reason else "")
        for one in question.remember:
            how = SCOPES.get(question.scope or "session", question.scope)
            yield f"remembered {how}: {one}" + (f" ({place_of(question.source)})" if question.source else "")
        if question.edited is not None:
            yield f"edited: {msgspec.json.encode(question.edited).decode()}"


def _counted(found: dict[str, int]) -> str:
    unanswered = f", {found['unanswered']} unanswered" if found["unanswered"] else ""
    words = {
        "unasked": "unasked",
        "asked": f"asked ({found['granted']} allowed, {found['refused']} refused{unanswered})",
        "denied": "denied by a rule or a guard",
        "dropped": "not begun when the turn ended",
        "unmade": "not possible",
    }
    of_those = {
        "sandboxed": "in the sandbox",
        "edited": "edited",
    }
    told = [f"{found[key]} {text}" for key, text in words.items() if found[key]]
    some = [f"{found[key]} {text}" for key, text in of_those.items() if found[key]]
    calls = f"{found['calls']} call{'' if found['calls'] == 1 else 's'}"
    return calls + (f": {', '.join(told)}" if told else "") + (f"; of those {', '.join(some)}" if some else "")
