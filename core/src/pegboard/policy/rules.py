"""Rules: what may be said of calls, in one ordered list, and which of them decides. Decision 14 in one place.

A call asks the list once for every permission key that its touches give (`Asking`). The first rule that matches decides,
for the list stands in the order of `ordered`: every deny; then ask and allow, of a later layer before an earlier one, with
a condition before without, with a longer literal part of the tool pattern before a shorter, then of the command pattern, ask
before allow; then floors, which turn an allow into ask whatever rule it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pegboard.calls import STRICTNESS, Action, Decision, Layer, Source
from pegboard.policy.asked import Asking, Where
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


_READING = (None, "read", "list", "bash")


class Rule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One rule, and where it stands. `name` is how people are told of it (`tool_permission.edit`).

    key: the permission key it is for; None: any. tool: a token that names tools (see `registry.matches`); None: any.
    others: it is for every tool that none of these tokens names. only_stricter: it comes from a project that nobody trusts,
    and counts where it makes the answer stricter. floor: it is not outranked by any allow. soft: a deny that gives way to a
    person's ask or allow whose tool pattern has the longer literal part. wants_sandbox: an allow for programs in the sandbox
    alone. mode: it stands in a mode, and so before the rest of its layer that is as close. general: it is what a
    permission key gets where nothing closer speaks."""

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
    soft: bool = False
    wants_sandbox: bool = False
    mode: bool = False
    general: bool = False

    def matches(self, tool: Tool, asking: Asking) -> bool:
        """Whether it speaks of this."""
        return (
            (self.key is None or self.key == asking.key or self._reads_for(asking))
            and (self.where is None or asking.fits(self.where, exactly=self.permits))
            and not (self.wants_sandbox and not asking.runs)
            and not (asking.nested and not self.speaks_inside)
            and self.names(tool)
        )

    def _reads_for(self, asking: Asking) -> bool:
        """Whether it keeps from being read what a command reads, under the key of what is read."""
        return asking.operands is not None and self.guards_reading

    @property
    def guards_reading(self) -> bool:
        """Whether it denies, or asks about, reading what lies at some paths."""
        return not self.permits and self.where is not None and bool(self.where.paths) and self.key in _READING

    @property
    def reads(self) -> bool:
        """Whether it allows commands because they only read."""
        return self.action == "allow" and self.where is not None and self.where.reads

    @property
    def speaks_inside(self) -> bool:
        """Whether it looks at commands inside others, too."""
        return not self.permits and self.where is not None and bool(self.where.commands)

    @property
    def permits(self) -> bool:
        """Whether it was written to allow, also where that comes to an ask for want of a sandbox."""
        return self.action == "allow" or self.wants_sandbox

    def doubts(self, tool: Tool, asking: Asking) -> bool:
        """Whether it may be meant, and nobody can tell."""
        return (
            self.where is not None
            and not self.permits
            and (self.key is None or self.key == asking.key)
            and asking.doubtful(self.where)
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
        return Decision(action=self.action, rule=self.name, layer=self.layer, source=self.source, sandbox=self.confines)

    @property
    def strictness(self) -> int:
        """How strict its answer is: allow, allow in the sandbox, ask, deny."""
        return 2 * STRICTNESS[self.action] + self.confines

    @property
    def confines(self) -> bool:
        """Whether it allows in the sandbox alone."""
        return self.wants_sandbox and self.action == "allow"


def literal(pattern: str | None) -> int:
    """How many characters of a tool pattern stand for themselves."""
    return len(re.sub(r"\[[^\]]*\]|[*?]", "", pattern)) if pattern else 0


def _worded(where: Where | None) -> int:
    """How many characters of its command pattern stand for themselves: of several, of the shortest."""
    patterns = where.commands if where is not None else ()
    return min((len(" ".join(w for w in one.split() if w not in ("*", "…", "..."))) for one in patterns), default=0)


def ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The list that is asked from its beginning; rules that are alike keep their order."""

    def place(rule: Rule) -> tuple[int, ...]:
        if rule.action == "deny":
            return (0, rule.soft)
        if rule.floor:
            return (2,)
        rank = -RANK[rule.layer]
        close = (rule.where is None, -literal(rule.tool), -_worded(rule.where))
        return (1, rank, *close, not rule.mode, -STRICTNESS[rule.action])

    return tuple(sorted(rules, key=place))


class Ruling(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the list says of a call. person: a rule of a person's matched, and not only defaults. floor: what an allow meets,
    whether or not this is one. asking: what the deciding rule was asked about. reads: what runs was allowed only because it
    reads."""

    rule: Rule
    person: bool = False
    floor: Rule | None = None
    asking: Asking | None = None
    reads: bool = False


NOTHING = Rule(action="allow", name="touches nothing")
"""For a call that touches nothing, where no rule speaks of it."""


def resolve(rules: Sequence[Rule], tool: Tool, askings: Sequence[Asking]) -> Ruling:
    """What an `ordered` list says of a call: any deny, else the strictest of what its askings get."""
    worst: Ruling | None = None
    person = False
    floor: Rule | None = None
    reads: bool | None = None
    for asking in askings:
        one = judge(rules, tool, asking)
        if one is None:
            continue
        if asking.runs:
            reads = reads is not False and one.rule.reads
        person = person or one.person
        floor = floor or one.floor
        if worst is None or one.rule.strictness > worst.rule.strictness:
            worst = one
            if worst.rule.action == "deny":
                break
    if worst is None:
        return Ruling(rule=NOTHING, person=person, floor=floor)
    return Ruling(rule=worst.rule, person=person, floor=floor, asking=worst.asking, reads=bool(reads))


def judge(rules: Sequence[Rule], tool: Tool, asking: Asking) -> Ruling | None:
    """What the list says of one thing; None of a command inside others of which no rule speaks."""
    found: Rule | None = None
    held: Rule | None = None
    floor: Rule | None = None
    soft: Rule | None = None
    person, closest = False, 0
    for rule in rules:
        if not rule.matches(tool, asking):
            if floor is None and rule.doubts(tool, asking):
                floor = _doubt(rule)
        elif rule.action == "deny" and not rule.soft:
            return Ruling(rule=rule, person=person, floor=floor, asking=asking)
        elif rule.soft:  # of several the one that is hardest to outrank
            soft = rule if soft is None or literal(rule.tool) > literal(soft.tool) else soft
        elif rule.floor:
            floor = floor or rule
        elif rule.only_stricter:
            held = held or (rule if rule.action == "ask" else None)
        else:
            found = found or _over(held, rule)
            if RANK[rule.layer] > 0:
                person, closest = True, max(closest, literal(rule.tool))
    if soft is not None and closest <= literal(soft.tool):
        return Ruling(rule=soft, person=person, floor=floor, asking=asking)
    if found is None and held is None and asking.nested:
        return Ruling(rule=NOTHING, floor=floor, asking=asking) if floor else None
    found = found or held or _unruled(asking)
    return Ruling(rule=found, person=person or held is not None, floor=floor, asking=asking)


def _doubt(rule: Rule) -> Rule:
    """An ask that no allow outranks, where nobody can tell whether a rule is meant."""
    return Rule(action="ask", name=f"{rule.name} cannot be ruled out", layer=rule.layer, source=rule.source, floor=True)


def _over(held: Rule | None, rule: Rule) -> Rule:
    """An untrusted project's ask stands over an allow of an earlier layer; over an ask it adds nothing."""
    return held if held is not None and rule.action == "allow" else rule


def _unruled(asking: Asking) -> Rule:
    """What no rule speaks of asks (a plugin's key that nobody has set), unless it touches nothing."""
    if asking.key is None:
        return NOTHING
    return Rule(action="ask", name=f"tool_permission.{asking.key}", key=asking.key, general=True)


def matching(rules: Sequence[Rule], tool: Tool, askings: Sequence[Asking]) -> Iterator[Rule]:
    """The rules that speak of a call, in their order."""
    return (rule for rule in rules if any(rule.matches(tool, asking) for asking in askings))
