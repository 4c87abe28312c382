"""Calls made over and over: the third time the model is told, the sixth is not run and the turn stops.

Two calls are the same when they mean the same tool with the same arguments, as the tool reads them. They count over the
whole turn, so that a, b, a, b counts too, and begin anew when something new was done in between: a call that was not made
in this turn before, of a tool that may change something, and that went well. So tests may be run after each of twenty
edits. A word from the person makes everything begin anew.

A call that is safe to make again and that failed is made again after a pause, which grows while it goes on failing.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from pegboard.arguments import InvalidArguments
from pegboard.calls import OutcomeName
from pegboard.events import WireCall
from pegboard.registry import Registry
from pegboard.wire import encode

TOLD = 3
STOPPED = 6
PAUSE = 0.25
LONGEST = 4.0
"""Seconds before a safe call is made for the second time after it failed, doubled each further time; and the most."""


class Identity(msgspec.Struct, frozen=True, gc=False):
    """What a call is compared by, whether its tool may change anything, and whether it is safe to make it again."""

    tool: str
    arguments: bytes
    changes: bool
    safe: bool = False


class Repeats:
    """How often each call of a turn was made since something new was done."""

    def __init__(self) -> None:
        self._counts: dict[Identity, int] = {}
        self._made: set[Identity] = set()
        self._begun: Counter[Identity] = Counter()
        self._failed: dict[Identity, int] = {}

    def reset(self) -> None:
        """A person spoke."""
        self._counts.clear()
        self._made.clear()
        self._failed.clear()

    def next(self, identity: Identity) -> int:
        """Which time this would be, from 1; those that were begun are counted."""
        return self._counts.get(identity, 0) + self._begun[identity] + 1

    def begun(self, identity: Identity) -> float:
        """A call is begun that will be `made`. Returns how many seconds it is to wait before it starts."""
        self._begun[identity] += 1
        failed = self._failed.get(identity, 0)
        return min(PAUSE * 2 ** (failed - 1), LONGEST) if failed else 0.0

    def made(self, identity: Identity, outcome: OutcomeName) -> int:
        """Count a call that was made. Returns which time it was."""
        self._begun[identity] -= 1
        times = self._counts.get(identity, 0) + 1
        if identity.changes and outcome == "ok" and identity not in self._made:
            self._counts.clear()
            self._failed.clear()
        if identity.safe and outcome in ("error", "interrupted"):
            self._failed[identity] = self._failed.get(identity, 0) + 1
        else:
            self._failed.pop(identity, None)
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
    return Identity(tool.name, body, tool.effect != "read_only", tool.declaration.replay == "safe")


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
