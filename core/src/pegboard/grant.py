"""The Grant: leave to run one call once.

It holds the approved bytes and what the person was shown; it is spent once and is all that `Runner.run` takes. Only the
road makes one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard.calls import Call, Decision, Record, Touch
from pegboard.kit.handles import Opened
from pegboard.kit.output import Sink, Spool
from pegboard.lane import Lane, Running
from pegboard.outcome import Effects
from pegboard.tooling import Tool

if TYPE_CHECKING:
    from pegboard.panels import Panels

Again = Callable[..., Awaitable[Record]]


class Spent(RuntimeError):
    """A Grant was used twice: a fault of the program, never of a person or a model."""


class Grant(msgspec.Struct, kw_only=True, gc=False):
    """Leave to run one call once: the tool, the approved bytes, and the files as they were shown.

    `reads`: it was allowed only because what it runs reads. `stopped`: what the sandbox kept its programs from, as it is
    told with the result."""

    tool: Tool
    call: Call
    body: bytes
    touches: list[Touch]
    decision: Decision | None = None
    reads: bool = False
    dropped: tuple[str, ...] = ()
    shown: Mapping[str, Opened] = {}
    noted: Mapping[str, str] = {}
    running: Running = msgspec.field(default_factory=Running)
    effects: Effects = msgspec.field(default_factory=Effects)
    turn: int | None = None
    lane: Lane | None = None
    again: Again | None = None
    spent: bool = False
    stopped: str = ""
    sink: Sink | None = None
    spooling: Callable[[], Spool | None] | None = None
    waits: Future[Any] | None = None  # what its thread waits for on the loop
    panels: Panels | None = None  # made when it shows one

    @property
    def held(self) -> bool:
        """Whether its programs are held to reading: a rule allowed it for that alone, and nobody was asked."""
        return self.reads and self.decision is not None and self.decision.action == "allow"

    def spend(self) -> bytes:
        """The approved bytes, once.

        Raises:
            Spent: it was used before.
        """
        if self.spent:
            raise Spent(f"the grant for call {self.call.id} was spent already")
        self.spent = True
        return self.body

    def let_go(self) -> None:
        """End what the call's thread waits for on the loop: a program, another call, a question. It is to find its end."""
        if self.waits is not None:
            self.waits.cancel()

    def printed(self) -> str:
        """What the call has put out so far."""
        return self.sink.text() if self.sink is not None else ""

    def spool(self) -> Spool | None:
        """Where a result that is too long is kept whole; None once the output's own spool holds it."""
        if self.spooling is None or (self.sink is not None and self.sink.size):
            return None
        return self.spooling()
