"""The policy: what a call gets from the rules, from the tool's own word, and from what asks whatever was allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from pegboard.calls import STRICTNESS, Action, Call, Decision, Deny, Layer, Source, Touch, TouchKind
from pegboard.policy.asked import KEY_OF, Asking, Guarded, Reading, Where, askings, own_key
from pegboard.policy.conditions import path_fits
from pegboard.policy.rules import RANK, Rule, Ruling, judge, literal, matching, ordered, resolve
from pegboard.tooling import Tool
from pegboard.touches import PATHS, kinds_in

if TYPE_CHECKING:
    from pegboard.policy.shell.line import Line

FAULTS = {
    "R0": "unparsed",
    "R4": "substitution",
    "R5": "redirect",
    "R6": "compound",
    "R7": "assignment",
    "R8": "option",
    "R9": "wildcard",
    "R12": "characters",
    "R13": "limits",
    "R14": "spelling",
}
"""What the rules for command lines are called where one of them is why a call asks: `bash.redirect`."""
_SETTLED = 4096


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A decision and the sentence that goes with a refusal.

    reads: of an allow, whether commands run by it only because they read; they are held to that."""

    decision: Decision
    text: str = ""
    reads: bool = False


class Considered(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A rule that was looked at for a call, and whether it is the one that decided."""

    action: Action
    rule: str
    layer: Layer
    source: Source | None
    decided: bool


class _Settled(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the list says of all calls that look alike, where something of the call itself has to be looked at, too."""

    verdict: Verdict
    ruling: Ruling


class Policy:
    """A list of rules, put in their order (`rules.ordered`) and asked for each call. Immutable once built.

    confined: programs can be held by a sandbox here; without one an allow that wants it asks. reading: how command lines
    are read."""

    def __init__(self, rules: Sequence[Rule], *, confined: bool = False, reading: Reading | None = None) -> None:
        self.rules = ordered(rules if confined else map(_unconfined, rules))
        self._looks = _looked_at(self.rules)
        self._guarded = [rule for rule in self.rules if rule.guards_reading]
        self._doors = [rule for rule in self.rules if _keeps_a_door(rule)]
        self._confined, self._given = confined, reading or Reading()
        self._reading = self._given if "run" in self._looks else None
        self._final: dict[tuple[object, ...], Verdict] = {}
        self._settled: dict[tuple[object, ...], _Settled] = {}

    def decide(self, tool: Tool, call: Call, touches: list[Touch], *, cautious: bool = False) -> Verdict:
        """What this call gets. `cautious`: the model asks to be asked about (see `models.Provider`).

        Of most kinds of touches the list sees the kind and flags alone, so that most answers are looked up. Where it looks
        closer nothing is kept: what a command line may do depends on what lies in the workspace now."""
        key: tuple[object, ...] = (tool.name, cautious and call.caller == "model")
        if touches:
            if self._looks and not self._looks.isdisjoint([t.kind for t in touches]):
                return self._judge(
                    tool, call, touches, self._settle(None, tool, self.askings(tool, call, touches, cautious))
                )
            key += tuple([t.kind if not (t.outside or t.sends) else (t.kind, t.outside, t.sends) for t in touches])
        verdict = self._final.get(key)
        if verdict is not None:
            return verdict
        settled = self._settled.get(key) or self._settle(key, tool, self.askings(tool, call, touches, cautious))
        return self._judge(tool, call, touches, settled)

    def _judge(self, tool: Tool, call: Call, touches: list[Touch], settled: _Settled) -> Verdict:
        """What the list says, and what has to be looked at of the call itself."""
        rule = settled.ruling.rule
        if rule.action == "deny":
            return _escapes(settled.verdict, touches) if _is_of_place(rule) else settled.verdict
        if tool.declaration.permission_fn is None:
            return settled.verdict
        said, name = _own_word(tool, call)
        return _verdict(settled.ruling, said, Rule(action=said, name=name, layer="tool"))

    def with_rules(self, rules: Sequence[Rule]) -> Policy:
        """The same with further rules, each in its place in the list."""
        return Policy([*self.rules, *rules], confined=self._confined, reading=self._given)

    def askings(
        self, tool: Tool, call: Call, touches: Sequence[Touch], cautious: bool = False, *, closely: bool = False
    ) -> list[Asking]:
        """What the call asks of the rules: a question for each touch, and for each part of a command line. closely: of a
        command line always, also where no rule looks into it."""
        reading = self._given if closely else self._reading
        guarded = [Guarded(rule.name, rule.where.paths) for rule in self._guarded if rule.where and rule.names(tool)]
        return askings(tool, call, touches, cautious=cautious, reading=reading, guarded=guarded)

    def line(self, touches: Sequence[Touch]) -> Line | None:
        """The command line among these touches, as it is read; None where there is none."""
        touch = next((touch for touch in touches if touch.kind == "run"), None)
        return None if touch is None else self._given.line(touch, touches)

    def part(self, tool: Tool, asking: Asking) -> Decision | None:
        """What one of the questions gets, its floor included; None of a command inside others of which no rule speaks."""
        ruling = judge(self.rules, tool, asking)
        return None if ruling is None else _verdict(ruling, None, ruling.rule, tool.name).decision

    def door(self, kind: TouchKind, path: str) -> Deny | None:
        """What denies by path alone say of a file that is opened or listed, whichever tool does it and whatever it was asked
        for: a search of a folder does not show what a rule keeps from being read."""
        for rule in self._doors:
            if rule.key in (None, kind) and rule.where is not None:
                outside = path.startswith("/")
                if path_fits(rule.where.paths, path, outside=outside, folder=False, exactly=False):
                    return Deny(rule.name, f"{rule.name} denies {path}. Nothing was done with it.")
        return None

    def reads_freely(self, tool: Tool, call: Call, touches: Sequence[Touch], cautious: bool) -> bool:
        """Whether all that a call touches are paths, and merely reading those would not be asked about."""
        reading = [Touch("read", touch.what, touch.at, touch.outside) for touch in touches]
        if not reading or any(touch.kind not in PATHS for touch in touches):
            return False
        return self.decide(tool, call, reading, cautious=cautious).decision.action == "allow"

    def considered(
        self, tool: Tool, call: Call, touches: list[Touch], *, cautious: bool = False
    ) -> tuple[Considered, ...]:
        """The rules that speak of this call, in their order, and which of them decided; for people who ask why."""
        verdict = self.decide(tool, call, touches, cautious=cautious)
        looked_at = [rule.decision for rule in matching(self.rules, tool, self.askings(tool, call, touches, cautious))]
        if verdict.decision not in looked_at:  # the tool's own word, or that no rule speaks of it
            looked_at.append(verdict.decision)
        decided = looked_at.index(verdict.decision)
        return tuple(
            Considered(action=one.action, rule=one.rule, layer=one.layer, source=one.source, decided=number == decided)
            for number, one in enumerate(looked_at)
        )

    def hidden(self, tool: Tool) -> bool:
        """Whether every call of this tool would be denied, so that it is left out of schema and listings (decision 11)."""
        keys = {None, *self._certain(tool)}
        denies = [
            rule
            for rule in self.rules
            if rule.action == "deny" and rule.where is None and rule.key in keys and rule.names(tool)
        ]
        if any(not rule.soft for rule in denies) or not denies:
            return bool(denies)
        hardest = max(literal(rule.tool) for rule in denies)
        return not any(
            rule.action != "deny" and RANK[rule.layer] > 0 and literal(rule.tool) > hardest and rule.names(tool)
            for rule in self.rules
        )

    def keys(self, tool: Tool) -> Sequence[str]:
        """The permission keys that a tool's declarations name; what only its arguments can say is not among them."""
        own = own_key(tool)
        if own is not None:
            return (own,)
        kinds: list[str] = [kind for _, node in tool.touched for kind in kinds_in(node)]
        kinds += tool.declaration.kinds
        if not kinds and not tool.declaration.pure and tool.declaration.touches is None:
            kinds = ["unknown"]
        return list(dict.fromkeys(KEY_OF.get(kind, kind) for kind in kinds))

    def _certain(self, tool: Tool) -> Sequence[str]:
        """The keys that every call of a tool has."""
        own = own_key(tool)
        if own is not None:
            return (own,)
        kinds = tool.certain
        return [KEY_OF.get(kind, kind) for kind in kinds] if kinds or tool.touched else self.keys(tool)

    def _settle(self, key: tuple[object, ...] | None, tool: Tool, askings: Sequence[Asking]) -> _Settled:
        """Ask the list, and keep its answer for calls that look alike."""
        ruling = resolve(self.rules, tool, askings)
        verdict = _verdict(ruling, None, ruling.rule, tool.name)
        settled = _Settled(ruling=ruling, verdict=verdict)
        if key is not None and len(self._final) + len(self._settled) < _SETTLED:
            denied = ruling.rule.action == "deny"
            if not _is_of_place(ruling.rule) if denied else tool.declaration.permission_fn is None:
                self._final[key] = verdict
            else:
                self._settled[key] = settled
        return settled


def _unconfined(rule: Rule) -> Rule:
    """What an allow for the sandbox alone comes to where there is none."""
    if not rule.wants_sandbox or rule.action != "allow":
        return rule
    return msgspec.structs.replace(rule, action="ask", name=f"{rule.name} (there is no sandbox here)")


def _looked_at(rules: Sequence[Rule]) -> frozenset[TouchKind]:
    """The kinds of touches of which a rule looks at more than kind and flags."""
    found: set[TouchKind] = set()
    for where in (rule.where for rule in rules):
        if where is not None and where.paths:
            found |= PATHS
        if where is not None and where.hosts:
            found.add("net")
        if where is not None and (where.commands or where.reads):
            found.add("run")
    return frozenset(found)


def _keeps_a_door(rule: Rule) -> bool:
    """Whether it denies by path alone."""
    return (
        rule.action == "deny"
        and rule.tool is None
        and not rule.others
        and rule.where is not None
        and rule.where == Where(paths=rule.where.paths)
    )


def _is_of_place(rule: Rule) -> bool:
    """Whether a refusal by this rule names the path that leads out."""
    return rule.where is not None and rule.where.outside


def _verdict(ruling: Ruling, said: Action | None, own: Rule, name: str = "") -> Verdict:
    """The list's word, then the tool's own (`said`), then the floor.

    The tool's word counts where it is stricter; where it is looser, only if no rule of a person's matched."""
    rule = ruling.rule
    if said is not None and said != rule.action:
        stricter = STRICTNESS[said] > STRICTNESS[rule.action]
        if stricter or not ruling.person:
            rule = own
    if rule.action == "allow" and ruling.floor is not None:
        rule = ruling.floor
    elif rule.action == "ask" and rule.where is None and ruling.asking is not None:
        rule = _at_fault(rule, ruling.asking)
    reads = ruling.reads and rule is ruling.rule and rule.reads
    return Verdict(decision=rule.decision, text=_text(rule, name), reads=reads)


def _at_fault(rule: Rule, asking: Asking) -> Rule:
    """Where a part of a command line asks though commands as such may pass, people are told which part."""
    trouble = asking.trouble or (asking.command.risk if asking.command is not None else None) or asking.barred
    if trouble is None or not rule.general:
        return rule
    return msgspec.structs.replace(rule, name=f"bash.{FAULTS.get(trouble.rule, trouble.rule)}")


def _text(rule: Rule, name: str) -> str:
    if rule.action == "deny" and rule.others:
        return f"{name} is not in tools.allow"
    if rule.action == "deny" and rule.tool is not None and rule.name.endswith(f": {rule.tool}"):
        return f"{name} is in {rule.name.partition(':')[0]}"
    return f"{rule.name} says {rule.action}"


def _escapes(verdict: Verdict, touches: list[Touch]) -> Verdict:
    """A refusal by a condition names the path that it is about."""
    what = next((touch.what for touch in touches if touch.outside), None)
    return verdict if what is None else Verdict(decision=verdict.decision, text=f"Path escapes workspace: {what}")


def _own_word(tool: Tool, call: Call) -> tuple[Action, str]:
    """What the tool's own `permission_fn` says of the arguments, and the name of that rule. Anything else is a no."""
    judge = tool.declaration.permission_fn
    assert judge is not None
    try:
        said = judge(dict(call.arguments))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates tools: a judgement that fails is no permission
        return "deny", f"{tool.name}.permission_fn raised {type(error).__name__}"
    if not isinstance(said, str) or said not in STRICTNESS:
        return "deny", f"{tool.name}.permission_fn answered {said!r}"
    return said, f"{tool.name}.permission_fn"
