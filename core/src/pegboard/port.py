"""The port: all that a front end knows of an agent. Operations in, events out.

Questions are answered by id, so that they can be replayed and can cross a wire.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from pegboard.events import AnyEvent


class Operation(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag=str.lower):
    """Base of the closed union `AnyOperation`."""


class Prompt(Operation, frozen=True, kw_only=True):
    """Start a turn with this text."""

    text: str
    by: str = "person"


class Answer(Operation, frozen=True, kw_only=True):
    """Reply to `approval_asked` or `question_asked` with this id.

    remember: with a yes, where it stands for calls like this one: in this session, in this project, in every project of
    the user; None: for this call alone. It is kept only where the question offered that. pattern: in place of the patterns
    that were offered, in their order. arguments: with a yes, what the call is to be made with instead; they are validated,
    guarded and decided again."""

    id: str
    granted: bool = False
    reason: str | None = None
    text: str | None = None
    remember: Literal["session", "project", "user"] | None = None
    pattern: tuple[str, ...] | None = None
    arguments: Mapping[str, Any] | None = None


class Steer(Operation, frozen=True, kw_only=True):
    """Say something to the running turn; the model reads it before its next step."""

    text: str


class Call(Operation, frozen=True, kw_only=True):
    """Make one call outside a turn, as a person's, down the same road as a model's. `id`: new in this session; its events
    bear it, and the last of them is `call_finished`, whatever becomes of the call."""

    id: str
    name: str
    arguments: Any = msgspec.field(default_factory=dict)


class Interrupt(Operation, frozen=True, kw_only=True):
    """End the running turn, and calls outside one. Calls that run are stopped and become `interrupted`. `signal`: what told
    Pegboard to end, such as SIGTERM, where no person did."""

    signal: str | None = None


class Cancel(Operation, frozen=True, kw_only=True):
    """Stop one running call (the turn goes on); without an id, all that run."""

    call: str | None = None


class Undo(Operation, frozen=True, kw_only=True):
    """Take back what the last call that changed files (or this one, or this undo) did to them.

    `id`: new in this session. `undone` bears it: the durable one, or one that is not in the log and has an `error`."""

    id: str
    call: str | None = None


class Mode(Operation, frozen=True, kw_only=True):
    """From now on be in this mode; without a name, in none. Not while a turn runs. An unknown name is an error of `send`."""

    name: str | None = None


AnyOperation: TypeAlias = Prompt | Answer | Steer | Call | Interrupt | Cancel | Undo | Mode


class Port(Protocol):
    """What an agent offers to front ends; each viewer reads at its own pace.

    A prompt that was taken is always answered by a `turn_ended`: that of its turn, or one without a number (`seq` and
    `turn` are null) that says why no turn was begun."""

    @property
    def turn(self) -> int | None:
        """The number of the turn that was last begun here; other processes may have run others in this session."""

    async def send(self, operation: AnyOperation) -> None:
        """Hand in an operation. Returns when it is taken, not when it is done."""

    def events(self, since: int = 0) -> AsyncIterator[AnyEvent]:
        """Durable events after number `since`, then all that follows, ephemeral ones between."""
