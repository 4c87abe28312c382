"""Calls, touches, decisions, records: what travels on the road.

`gc=False` keeps them from the cycle collector, which a log of thousands would feed: values hold no cycles.
These are values. They hold no behaviour beyond small derived facts, so that every layer may use them.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from pegboard.blocks import AnyBlock

Action: TypeAlias = Literal["allow", "ask", "deny"]
Effect: TypeAlias = Literal["read_only", "user_mediated", "delegating", "side_effecting"]
Replay: TypeAlias = Literal["never", "safe"]
Overlap: TypeAlias = Literal["exclusive", "parallel", "background"]
OutcomeName: TypeAlias = Literal["ok", "error", "blocked", "interrupted"]
BlockName: TypeAlias = Literal["invalid_arguments", "unavailable", "denied", "guard"]
Why: TypeAlias = Literal["timeout", "person", "turn_ended"]
Layer: TypeAlias = Literal["default", "user", "project", "environment", "flag", "remembered", "tool", "plugin"]
Caller: TypeAlias = Literal["model", "person", "program", "tool", "mcp"]
TouchKind: TypeAlias = Literal["read", "list", "edit", "run", "net", "mcp", "ask", "state", "unknown"]

STRICTNESS: dict[str, int] = {"allow": 0, "ask": 1, "deny": 2}


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request to run a tool. `arguments` is what the caller sent: a mapping, or JSON text that may be broken."""

    id: str
    name: str
    arguments: Any = msgspec.field(default_factory=dict)
    caller: Caller = "model"


class Touch(msgspec.Struct, frozen=True, gc=False):
    """One thing a call would touch. `what` as it was written; `at` where it resolves to.

    For paths `at` is relative to the workspace root (`.` is the root itself) and absolute when it lies outside, which
    `outside` says. A touches function leaves both out, except for a link that is itself touched, not what it leads to
    (`kit.target.link_place`). For other kinds `at` is None. `sends` marks a request with a body (kind net).
    """

    kind: TouchKind
    what: str
    at: str | None = None
    outside: bool = False
    sends: bool = False


class Source(msgspec.Struct, frozen=True, gc=False):
    """Where a rule stands."""

    file: str
    line: int | None


class Answer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The reply to an ask. `by`: person, --yes, --no, headless, program (the one that built
    the board), remembered or plugin:NAME."""

    granted: bool
    by: str
    reason: str | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What policy (or a guard) said of a call, and why. `answer` is None unless the action was ask."""

    action: Action
    rule: str
    layer: Layer = "default"
    source: Source | None = None
    sandbox: bool = False
    answer: Answer | None = None


class Deny(msgspec.Struct, frozen=True, gc=False):
    """A guard's refusal. `rule` says which rule; `text` is for the model and the person."""

    rule: str
    text: str


class Ask(msgspec.Struct, frozen=True, gc=False):
    """A guard's wish that a person be asked. It never loosens anything."""

    rule: str
    text: str


class Result(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool's result where plain text or a data struct is not enough."""

    text: str
    data: Any = None
    blocks: list[AnyBlock] = []


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What became of a call: the one shape every front end, log and program gets (`pegboard tool --json`)."""

    id: str
    tool: str | None
    requested: str
    set: str | None
    arguments: Any
    dropped: list[str]
    outcome: OutcomeName
    block: BlockName | None
    why: Why | None
    text: str
    data: Any
    truncated: bool
    full_output: str | None
    decision: Decision | None
    session: str | None
    duration_ms: float
    blocks: list[AnyBlock] = []
