"""Events: what happens in a session, as one closed union. The durable ones *are* the session's log.

Order within a turn, which front ends may rely on:

    turn_started prompt+
      ( text* thinking* message
        ( call_asked [approval_asked approval_answered] [call_started call_output*] call_finished )* prompt* )*
    usage turn_ended

`prompt` within a turn is what a person adds, or what the loop itself tells the model (`by` is `pegboard`). A call of a
message that the turn did not come to has no `call_asked`. `history_trimmed`, `undone` and `note` may stand anywhere between.

`call_asked` comes for every call, whoever makes it, before it is resolved. Exactly one `call_finished` with its id
follows, in call order within its lane. A `call_started` without `call_finished` *is* an interrupted call.

Durable events carry `seq`, gap-free numbers given under the log's append lock; ephemeral ones (`EPHEMERAL`) have None.
Field names are the wire's (`pegboard run --json` prints an event a line): see docs/contract.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

from pegboard.blocks import AnyBlock
from pegboard.calls import BlockName, Decision, OutcomeName, Source, Touch, Why

LOOP = "pegboard"
"""Who a prompt is by that the loop itself says to the model."""
Status: TypeAlias = Literal["done", "asked_back", "stopped", "error", "interrupted"]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="event", tag=_snake):
    """Base of the union. `seq`: its number in the log, None while ephemeral. `turn`: None for calls outside a turn."""

    seq: int | None = None
    turn: int | None = None


class TurnStarted(Event, frozen=True, kw_only=True, gc=False):
    """A turn began: which model answers, which sets are loaded, what did not load, how many tools are offered, and the mode
    that is on, for the record: who goes on with a session is in no mode because of it."""

    session: str
    model: str
    sets: list[str]
    not_loaded: list[str]
    offered: int
    mode: str | None = None


class Prompt(Event, frozen=True, kw_only=True, gc=False):
    """What was asked of the agent. `by`: person, program, plugin:NAME, or `LOOP`: said to the model by the loop itself."""

    text: str
    by: str = "person"


class Text(Event, frozen=True, kw_only=True, gc=False):
    """A piece of the answer as it streams. Ephemeral."""

    text: str


class Thinking(Event, frozen=True, kw_only=True, gc=False):
    """A piece of the model's reasoning as it streams. Ephemeral."""

    text: str


class WireCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A call as the model asked for it. `arguments`: a mapping, or the JSON text when it was broken."""

    id: str
    name: str
    arguments: Any


class Message(Event, frozen=True, kw_only=True, gc=False):
    """One whole reply of the model, in the log before any of its calls runs.

    `provider_data` is opaque: what the provider wants back with the history (signatures and the like)."""

    text: str
    thinking: str = ""
    calls: list[WireCall] = []
    provider_data: Any = None


class CallAsked(Event, frozen=True, kw_only=True, gc=False):
    """A call was requested. `tool` and `set` are None for a name that no tool answers to. `caller`: who made it; None in
    logs of earlier versions."""

    lane: str
    id: str
    tool: str | None
    requested: str
    set: str | None
    arguments: Any
    summary: str
    caller: str | None = None


class ApprovalAsked(Event, frozen=True, kw_only=True, gc=False):
    """A person (or an approver plugin) is asked. `preview` shows what would change, `remember` what "always" would keep.

    `arguments` are those the call would run with: validated, and rewritten where a rewriter did that. `batch`: how many
    calls of one reply are asked about together; their events follow each other. `scopes`: how long "always" may stand:
    `session`, `project`, `user`. `commands`: the command that each pattern in `remember` is for; empty where it is none."""

    lane: str
    id: str
    call: str
    rule: str
    layer: str
    arguments: Any = None
    preview: list[AnyBlock] = []
    remember: list[str] = []
    scopes: list[str] = []
    commands: list[str] = []
    batch: int = 1


class ApprovalAnswered(Event, frozen=True, kw_only=True, gc=False):
    """The reply to `approval_asked` with this id. `remember`: what of it stands for later calls, a pattern as the person
    edited it; `scope`: how long (see there), and `source` where it was written down. `arguments`: what the person made of
    them; None: as they were asked about."""

    id: str
    granted: bool
    by: str
    reason: str | None = None
    remember: list[str] = []
    scope: str | None = None
    source: Source | None = None
    arguments: Any = None


class QuestionAsked(Event, frozen=True, kw_only=True, gc=False):
    """A tool asks the person something (`ctx.ask`). `details`: what each option means, in the order of `options`, "" where
    there is nothing to say; empty: of none. `free`: another text than an option may be answered."""

    lane: str
    id: str
    call: str
    question: str
    options: list[str] = []
    details: list[str] = []
    free: bool = True


class QuestionAnswered(Event, frozen=True, kw_only=True, gc=False):
    """The reply to `question_asked` with this id. None: it was dismissed."""

    id: str
    answer: str | None


class CallStarted(Event, frozen=True, kw_only=True, gc=False):
    """About to run: in the log before anything happens, with what it touches and why it may."""

    lane: str
    id: str
    touches: list[Touch]
    decision: Decision


class CallOutput(Event, frozen=True, kw_only=True, gc=False):
    """The tail of what a running call prints, at most twenty times a second. Ephemeral."""

    id: str
    stream: str
    text: str


class CallFinished(Event, frozen=True, kw_only=True, gc=False):
    """What became of a call. The text is what the model gets."""

    lane: str
    id: str
    outcome: OutcomeName
    block: BlockName | None
    why: Why | None
    text: str
    data: Any
    truncated: bool
    full_output: str | None = None
    decision: Decision | None
    duration_ms: float
    dropped: list[str] = []
    blocks: list[AnyBlock] = []


class HistoryTrimmed(Event, frozen=True, kw_only=True, gc=False):
    """From here on a marker stands for the results of these calls in what the model is sent; the log keeps them."""

    calls: list[str]


class UndoneFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What undoing did to a file: it was created (again), changed, deleted, or moved to `to`; lines added and removed."""

    path: str
    change: str
    added: int = 0
    removed: int = 0
    to: str | None = None


class Undone(Event, frozen=True, kw_only=True, gc=False):
    """The person took back what a call had done to files. `id`: of this undo, by which it can be undone itself.

    undoes: what was undone, the call's id or that of an earlier undo. call, tool: the call it comes down to. redone: it is
    the call's change that is there again. error: why nothing was undone; such an event is ephemeral. already: files that
    were as they were to be, to which nothing was done."""

    id: str
    undoes: str
    call: str
    tool: str
    files: list[UndoneFile] = []
    redone: bool = False
    error: str | None = None
    already: list[str] = []


class Note(Event, frozen=True, kw_only=True, gc=False):
    """Something the person should know. level: info, warning."""

    level: str
    text: str


class Usage(Event, frozen=True, kw_only=True, gc=False):
    """What the model's replies of a turn took, in tokens; `cost` in US dollars where the provider says. `context`: what its
    last request and the reply to it came to, counted or (where the provider does not) estimated; 0: there was none."""

    input: int
    output: int
    cached: int = 0
    cost: float | None = None
    context: int = 0


class TurnEnded(Event, frozen=True, kw_only=True, gc=False):
    """The turn is over. `text` is the whole answer; `error` says why a turn stopped or failed."""

    status: Status
    text: str
    usage: dict[str, Any]
    error: str | None = None


class Seen(Event, frozen=True, kw_only=True, gc=False):
    """Which part of a file a call showed: its stamp, the byte ranges and a digest of those bytes."""

    path: str
    stamp: list[int]
    ranges: list[tuple[int, int]]
    digest: str


class StateChanged(Event, frozen=True, kw_only=True, gc=False):
    """A tool's state under `key` (owner and key of `ctx.state`) has this value from here on."""

    key: str
    value: Any


class PanelChanged(Event, frozen=True, kw_only=True, gc=False):
    """A panel of this id looks like this from here on (`ctx.panel`); without blocks it is gone. `id`: OWNER.NAME, so that no
    plugin's panel stands in the place of another's. What comes too often is ephemeral; the last of a call is not."""

    id: str
    title: str
    blocks: list[AnyBlock]


class Progress(Event, frozen=True, kw_only=True, gc=False):
    """How far a running call is. Ephemeral."""

    id: str
    text: str


AnyEvent: TypeAlias = (
    TurnStarted
    | Prompt
    | Text
    | Thinking
    | Message
    | CallAsked
    | ApprovalAsked
    | ApprovalAnswered
    | QuestionAsked
    | QuestionAnswered
    | CallStarted
    | CallOutput
    | CallFinished
    | HistoryTrimmed
    | Undone
    | Note
    | Usage
    | TurnEnded
    | Seen
    | StateChanged
    | PanelChanged
    | Progress
)

EPHEMERAL: tuple[type[Event], ...] = (Text, Thinking, CallOutput, Progress)
