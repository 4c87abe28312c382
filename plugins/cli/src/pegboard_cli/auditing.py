"""What each call of a session was allowed by, or refused by: for a program, and as a table. It returns lines, and prints
nothing. All of it is read from the log, which redacts what it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.calls import BlockName, Decision, OutcomeName, Source, Touch, Why
from pegboard.events import ApprovalAnswered, ApprovalAsked, CallAsked, CallFinished, CallStarted

from pegboard_cli.render import table_lines
from pegboard_cli.terminal import visible

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
    """How many calls there are of each kind. unasked: allowed by a rule; refused: by whoever was asked; denied: by a rule
    or a guard."""

    def asked(call: AuditedCall) -> bool:
        return bool(call.questions)

    blocked = [call for call in calls if call.outcome == "blocked"]
    return {
        "calls": len(calls),
        "unasked": sum(call.started and not asked(call) for call in calls),
        "asked": sum(asked(call) for call in calls),
        "granted": sum(call.questions[-1].granted is True for call in calls if asked(call)),
        "refused": sum(call.questions[-1].granted is False for call in calls if asked(call)),
        "denied": sum(call.block in ("denied", "guard") and _denies(call) for call in blocked),
        "sandboxed": sum(call.started and call.decision is not None and call.decision.sandbox for call in calls),
        "edited": sum(call.edited for call in calls),
    }


def audit_lines(calls: Sequence[AuditedCall], width: int | None) -> list[str]:
    """A row a call, with what was asked and answered below it, and one line that counts them."""
    if not calls:
        return ["No calls."]
    head = ["call", "turn", "by", "outcome", "decision", "what"]
    first, *rows = table_lines([head, *(_row(call) for call in calls)], width=width)
    lines = [first]
    for call, row in zip(calls, rows, strict=True):
        lines += [row, *(f"  {visible(line)}" for line in _details(call))]
    return [*lines, "", _counted(counts(calls))]


def _row(call: AuditedCall) -> list[str]:
    block = f" ({call.block})" if call.block not in (None, "denied") else ""
    outcome = f"{call.outcome or ('not finished' if call.started else 'not begun')}{block}"
    turn = "" if call.turn is None else f"{call.turn}"
    return [call.id, turn, call.caller or "", outcome, _decided(call.decision), call.summary]


def _decided(decision: Decision | None) -> str:
    if decision is None:
        return ""
    sandbox = ", in the sandbox" if decision.sandbox else ""
    return f"{decision.action}{sandbox}: {decision.rule} ({decision.layer}{_where(decision.source)})"


def _where(source: Source | None) -> str:
    if source is None:
        return ""
    return f", {source.file}" + (f":{source.line}" if source.line is not None else "")


def _details(call: AuditedCall) -> Iterator[str]:
    for question in call.questions:
        if question.granted is None:
            yield f"asked by {question.rule}; nobody answered"
            continue
        said = f"{'allowed' if question.granted else 'refused'} by {question.by}"
        yield said + (f": {question.reason}" if question.reason else "")
        for one in question.remember:
            how = SCOPES.get(question.scope or "session", question.scope)
            yield f"remembered {how}: {one}" + (f" ({_where(question.source)[2:]})" if question.source else "")
        if question.edited is not None:
            yield f"edited: {msgspec.json.encode(question.edited).decode()}"


def _denies(call: AuditedCall) -> bool:
    """Whether a rule or a guard refused it, and not whoever was asked."""
    return call.decision is not None and call.decision.action == "deny"


def _counted(found: dict[str, int]) -> str:
    words = {
        "unasked": "unasked",
        "asked": f"asked ({found['granted']} allowed, {found['refused']} refused)",
        "denied": "denied by a rule or a guard",
        "sandboxed": "in the sandbox",
        "edited": "edited",
    }
    told = [f"{found[key]} {text}" for key, text in words.items() if found[key]]
    calls = f"{found['calls']} call{'' if found['calls'] == 1 else 's'}"
    return calls + (f": {', '.join(told)}" if told else "")
