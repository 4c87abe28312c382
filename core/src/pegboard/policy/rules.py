"""Rules: what may be said of calls, in one ordered list, and which of them decides. Decision 14 in one place.

A call asks the list once for every permission key that its touches give (`Asking`). The first rule that matches decides,
for the list stands in the order of `ordered`: every deny; then ask and allow, of a later layer before an earlier one, with
a condition before without, with a longer literal part of the tool pattern before a shorter, ask before allow; then floors,
which turn an allow into ask whatever rule it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pegboard.calls import STRICTNESS, Action, Decision, Layer, Source
from pegboard.registry import matches
from pegboard.tooling import Tool

RANK: dict[Layer, int] = {
    "default": 0,
    "user": 1,
    "project": 2,
    "environment": 3,
    "flag": 4,
    "remembered": 5,
    "tool": 0,
    "plugin": 0,
}
"""A later layer's ask or allow wins over an earlier one's. Tools and plugins are no person: what they say ranks lowest."""


class Where(msgspec.Struct, frozen=True, gc=False):
    """What must be so for a rule to match, beside key and tool; all that is set must hold. The rules on command lines, paths
    and hosts will add their conditions here.

    outside: the touch leads out of the workspace. sends: it is a request with a body. changes: the call does more than
    read. cautious: a model that asks to be asked about makes it."""

    outside: bool = False
    sends: bool = False
    changes: bool = False
    cautious: bool = False


class Asking(msgspec.Struct, frozen=True, gc=False):
    """What is asked of the rules: a permission key of a call (None: it touches nothing), and what `Where` looks at."""

    key: str | None
    outside: bool = False
    sends: bool = False
    changes: bool = False
    cautious: bool = False

    def fits(self, where: Where) -> bool:
        """Whether all conditions hold."""
        return not (
            (where.outside and not self.outside)
            or (where.sends and not self.sends)
            or (where.changes and not self.changes)
            or (where.cautious and not self.cautious)
        )


class Rule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One rule, and where it stands. `name` is how people are told of it (`tool_permission.edit`).

    key: the permission key it is for; None: any. tool: a token that names tools (see `registry.matches`); None: any.
    others: it is for every tool that none of these tokens names. only_stricter: it comes from a project that nobody trusts,
    and counts where it makes the answer stricter. floor: it is not outranked by any allow."""

    action: Action
    name: str
    layer: Layer = "default"
    source: Source | None = None
    key: str | None = None
    tool: str | None = None
    others: tuple[str, ...] = ()
    where: Where | None = None
    only_stricter: bool = False
    floor: bool = False

    def matches(self, tool: Tool, asking: Asking) -> bool:
        """Whether it speaks of this."""
        return (
            (self.key is None or self.key == asking.key)
            and (self.where is None or asking.fits(self.where))
            and self.names(tool)
        )

    def names(self, tool: Tool) -> bool:
        """Whether it is for this tool."""
        if self.others and any(matches(token, tool) for token in self.others):
            return False
        return self.tool is None or matches(self.tool, tool)

    @property
    def decision(self) -> Decision:
        """What it says, as it goes on record."""
        return Decision(action=self.action, rule=self.name, layer=self.layer, source=self.source)


def literal(pattern: str | None) -> int:
    """How many characters of a tool pattern stand for themselves."""
    return len(re.sub(r"\[[^\]]*\]|[*?]", "", pattern)) if pattern else 0


def ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The list that is asked from its beginning; rules that are alike keep their order."""

    def place(rule: Rule) -> tuple[int, ...]:
        if rule.action == "deny":
            return (0,)
        if rule.floor:
            return (2,)
        return (1, -RANK[rule.layer], rule.where is None, -literal(rule.tool), -STRICTNESS[rule.action])

    return tuple(sorted(rules, key=place))


class Ruling(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the list says of a call. person: a rule of a person's matched, and not only defaults. floor: the floor that an
    allow meets, whether or not this is one."""

    rule: Rule
    person: bool = False
    floor: Rule | None = None


NOTHING = Rule(action="allow", name="touches nothing")
"""For a call that touches nothing, where no rule speaks of it."""


def resolve(rules: Sequence[Rule], tool: Tool, askings: Sequence[Asking]) -> Ruling:
    """What an `ordered` list says of a call: any deny, else the strictest of what its askings get."""
    worst: Rule | None = None
    person = False
    floor: Rule | None = None
    for asking in askings:
        found: Rule | None = None
        held: Rule | None = None
        for rule in rules:
            if not rule.matches(tool, asking):
                continue
            if rule.action == "deny":
                found = rule
                break
            if rule.floor:
                floor = floor or rule
            elif rule.only_stricter:
                held = held or (rule if rule.action == "ask" else None)
            else:
                found = found or _over(held, rule)
                person = person or RANK[rule.layer] > 0
        person = person or held is not None
        found = found or held or _unruled(asking)
        if worst is None or STRICTNESS[found.action] > STRICTNESS[worst.action]:
            worst = found
            if worst.action == "deny":
                break
    return Ruling(rule=worst or NOTHING, person=person, floor=floor)


def _over(held: Rule | None, rule: Rule) -> Rule:
    """An untrusted project's ask stands over an allow of an earlier layer; over an ask it adds nothing."""
    return held if held is not None and rule.action == "allow" else rule


def _unruled(asking: Asking) -> Rule:
    """What no rule speaks of asks (a plugin's key that nobody has set), unless it touches nothing."""
    if asking.key is None:
        return NOTHING
    return Rule(action="ask", name=f"tool_permission.{asking.key}", key=asking.key)


def matching(rules: Sequence[Rule], tool: Tool, askings: Sequence[Asking]) -> Iterator[Rule]:
    """The rules that speak of a call, in their order."""
    return (rule for rule in rules if any(rule.matches(tool, asking) for asking in askings))
