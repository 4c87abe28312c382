"""Calls made over and over: the third time the model is told, the sixth is not run and the turn stops.

Two calls are the same when they mean the same tool with the same arguments, as the tool reads them. They count over the
whole turn, so that a, b, a, b counts too, and begin anew when something new was done in between: a call that was not made
in this turn before, of a tool that may change something, and that went well. So tests may be run after each of twenty
edits. A word from the person makes everything begin anew.
"""

from __future__ import annotations

import msgspec

from pegboard.arguments import InvalidArguments
from pegboard.calls import OutcomeName
from pegboard.events import WireCall
from pegboard.registry import Registry
from pegboard.wire import encode

TOLD = 3
STOPPED = 6


class Identity(msgspec.Struct, frozen=True, gc=False):
    """What a call is compared by, and whether its tool may change anything."""

    tool: str
    arguments: bytes
    changes: bool


class Repeats:
    """How often each call of a turn was made since something new was done."""

    def __init__(self) -> None:
        self._counts: dict[Identity, int] = {}
        self._made: set[Identity] = set()

    def reset(self) -> None:
        """A person spoke."""
        self._counts.clear()
        self._made.clear()

    def next(self, identity: Identity) -> int:
        """Which time this would be, from 1."""
        return self._counts.get(identity, 0) + 1

    def made(self, identity: Identity, outcome: OutcomeName) -> int:
        """Count a call that was made. Returns which time it was."""
        times = self.next(identity)
        if identity.changes and outcome == "ok" and identity not in self._made:
            self._counts.clear()
        self._made.add(identity)
        self._counts[identity] = times
        return times


def identity_of(call: WireCall, registry: Registry) -> Identity:
    """What a call is compared by; one that no tool takes, by what was written."""
    named = registry.find(call.name)
    if named is None:
        return Identity(call.name, encode(call.arguments), False)
    tool = named.tool
    try:
        body = tool.read(call.arguments, named.preset).body
    except InvalidArguments:
        body = encode(call.arguments)
    return Identity(tool.name, body, tool.effect != "read_only")


def told_text(calls: list[WireCall]) -> str:
    """What the model is told of calls that it has made for the third time."""
    named = ", ".join(f"{call.name} ({call.id})" for call in calls)
    return (
        f"This was the third time that you made the very same call: {named}. Nothing new was done in between, so expect the "
        f"same result again. Use the result you have, or take another way; the turn is stopped before the {STOPPED}th."
    )


def stopped_text(call: WireCall) -> str:
    """Why the turn was stopped."""
    return (
        f"repeats: the model wanted to make the very same call of {call.name} for the {STOPPED}th time, with nothing new "
        "done in between; it was not run, and the turn was stopped. What was done stands. "
        "Ask again, and say what to do differently."
    )
