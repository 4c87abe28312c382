"""The policy: what a call gets from the rules, from the tool's own word, and from what asks whatever was allowed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from pegboard.calls import STRICTNESS, Action, Call, Decision, Effect, Layer, Source, Touch
from pegboard.policy.rules import Asking, Rule, Ruling, matching, resolve
from pegboard.tooling import Tool
from pegboard.touches import effect_of, kinds_in

KEY_OF: dict[str, str] = {"run": "bash", "net": "web"}

_PATHS = frozenset({"read", "list", "edit"})
_SETTLED = 4096


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A decision and the sentence that goes with a refusal.

    lasting: of an ask, whether a person's answer could stand for later calls too: nothing would ask again once the rules
    allowed it."""

    decision: Decision
    text: str = ""
    lasting: bool = False


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
    """An `ordered` list of rules, asked for each call. Immutable once built."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._final: dict[tuple[object, ...], Verdict] = {}
        self._settled: dict[tuple[object, ...], _Settled] = {}

    def decide(self, tool: Tool, call: Call, touches: list[Touch], *, cautious: bool = False) -> Verdict:
        """What this call gets. `cautious`: the model asks to be asked about (see `models.Provider`).

        The list sees the arguments only through the touches' kinds and flags, so that most answers are looked up."""
        key: tuple[object, ...] = (tool.name, cautious and call.caller == "model")
        if touches:
            key += tuple([t.kind if not (t.outside or t.sends) else (t.kind, t.outside, t.sends) for t in touches])
        verdict = self._final.get(key)
        if verdict is not None:
            return verdict
        settled = self._settled.get(key) or self._settle(key, tool, _askings(tool, call, touches, cautious))
        rule = settled.ruling.rule
        if rule.action == "deny":
            return settled.verdict if rule.where is None else _escapes(settled.verdict, touches)
        if tool.declaration.permission_fn is None:
            return settled.verdict
        said, name = _own_word(tool, call)
        return _verdict(settled.ruling, said, Rule(action=said, name=name, layer="tool"))

    def reads_freely(self, tool: Tool, call: Call, touches: Sequence[Touch], cautious: bool) -> bool:
        """Whether all that a call touches are paths, and merely reading those would not be asked about."""
        reading = [Touch("read", touch.what, touch.at, touch.outside) for touch in touches]
        if not reading or any(touch.kind not in _PATHS for touch in touches):
            return False
        return self.decide(tool, call, reading, cautious=cautious).decision.action == "allow"

    def considered(
        self, tool: Tool, call: Call, touches: list[Touch], *, cautious: bool = False
    ) -> tuple[Considered, ...]:
        """The rules that speak of this call, in their order, and which of them decided; for people who ask why."""
        verdict = self.decide(tool, call, touches, cautious=cautious)
        looked_at = [rule.decision for rule in matching(self.rules, tool, _askings(tool, call, touches, cautious))]
        if verdict.decision not in looked_at:  # the tool's own word, or that no rule speaks of it
            looked_at.append(verdict.decision)
        decided = looked_at.index(verdict.decision)
        return tuple(
            Considered(action=one.action, rule=one.rule, layer=one.layer, source=one.source, decided=number == decided)
            for number, one in enumerate(looked_at)
        )

    def hidden(self, tool: Tool) -> bool:
        """Whether every call of this tool would be denied, so that it is left out of schema and listings (decision 11)."""
        keys = {None, *self.keys(tool)}
        return any(
            rule.action == "deny" and rule.where is None and rule.key in keys and rule.names(tool)
            for rule in self.rules
        )

    def keys(self, tool: Tool) -> Sequence[str]:
        """The permission keys that a tool's declarations name; what only its arguments can say is not among them."""
        own = _own_key(tool)
        if own is not None:
            return (own,)
        kinds: list[str] = [kind for _, node in tool.touched for kind in kinds_in(node)]
        if not kinds and not tool.declaration.pure and tool.declaration.touches is None:
            kinds = ["unknown"]
        return [KEY_OF.get(kind, kind) for kind in kinds]

    def _settle(self, key: tuple[object, ...], tool: Tool, askings: Sequence[Asking]) -> _Settled:
        """Ask the list, and keep its answer for calls that look alike."""
        ruling = resolve(self.rules, tool, askings)
        verdict = _verdict(ruling, None, ruling.rule, tool.name)
        settled = _Settled(ruling=ruling, verdict=verdict)
        if len(self._final) + len(self._settled) < _SETTLED:
            denied = ruling.rule.action == "deny"
            if ruling.rule.where is None if denied else tool.declaration.permission_fn is None:
                self._final[key] = verdict
            else:
                self._settled[key] = settled
        return settled


def _verdict(ruling: Ruling, said: Action | None, own: Rule, name: str = "") -> Verdict:
    """The list's word, then the tool's own (`said`), then the floor.

    The tool's word counts where it is stricter; where it is looser, only if no rule of a person's matched."""
    rule = ruling.rule
    asked = rule.action == "ask"
    if said is not None and said != rule.action:
        stricter = STRICTNESS[said] > STRICTNESS[rule.action]
        if stricter or not ruling.person:
            rule = own
    if rule.action == "allow" and ruling.floor is not None:
        rule = ruling.floor
    lasting = asked and rule.action == "ask" and said in (None, "allow") and ruling.floor is None
    return Verdict(decision=rule.decision, text=_text(rule, name), lasting=lasting)


def _text(rule: Rule, name: str) -> str:
    if rule.action == "deny" and rule.others:
        return f"{name} is not in tools.allow"
    if rule.action == "deny" and rule.tool is not None and rule.key is None:
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


def _askings(tool: Tool, call: Call, touches: Sequence[Touch], cautious: bool) -> list[Asking]:
    """What a call asks of the rules: a key for each touch."""
    changes = _effect(tool, touches) != "read_only"
    cautious = cautious and call.caller == "model"
    own = _own_key(tool)
    if not touches:
        return [Asking(own, changes=changes, cautious=cautious)]
    return [
        Asking(own or KEY_OF.get(touch.kind, touch.kind), touch.outside, touch.sends, changes, cautious)
        for touch in touches
    ]


def _own_key(tool: Tool) -> str | None:
    """The one permission key that stands for all touches of a tool, where it has one."""
    return tool.declaration.permission or ("delegate" if tool.effect == "delegating" else None)


def _effect(tool: Tool, touches: Sequence[Touch]) -> Effect:
    return "delegating" if tool.effect == "delegating" else effect_of(touches)
