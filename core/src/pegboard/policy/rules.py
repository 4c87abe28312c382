"""What a call gets: `tools.deny` and `tools.allow` first, then the permission keys of its touches, the strictest of all.

A permission key is a touch's kind (read, list, edit; run is `bash`, net is `web`), or what the tool declares instead. The
answer for a key is the configuration's, with the layer and the line it stands on. Decision 14 has the whole order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from pegboard.calls import STRICTNESS, Action, Call, Decision, Effect, Layer, Source, Touch
from pegboard.config.load import Loaded
from pegboard.config.schema import DEFAULT_PERMISSION
from pegboard.registry import matches
from pegboard.tooling import Tool
from pegboard.touches import effect_of, kinds_in

KEY_OF: dict[str, str] = {"run": "bash", "net": "web"}


_SETTLED = 4096


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A decision and the sentence that goes with a refusal."""

    decision: Decision
    text: str = ""


class Policy:
    """The rules of one configuration, looked up for each call. Immutable once built."""

    def __init__(self, loaded: Loaded) -> None:
        self._config = loaded.config
        self._origin: Callable[[str], tuple[Layer, Source | None]] = lambda key: (
            (origin := loaded.origin(key)).layer,
            origin.source,
        )
        self._actions: dict[str, Decision] = {}
        self._settled: dict[tuple[str, tuple[str, ...], bool], Verdict] = {}

    def decide(self, tool: Tool, call: Call, touches: list[Touch], *, cautious: bool = False) -> Verdict:
        """What this call gets. `cautious`: the model asks to be asked about (see `models.Provider`).

        The answer depends on the arguments only through touches and `permission_fn`, so most are looked up."""
        if tool.declaration.permission_fn is not None:
            return self._decide(tool, call, touches, cautious)
        kinds = tuple([touch.kind for touch in touches]) if touches else ()
        key = (tool.name, kinds, cautious and call.caller == "model")
        if touches and any([touch.outside or touch.sends for touch in touches]):  # noqa: C419 - a list is faster here
            return self._decide(tool, call, touches, cautious)
        settled = self._settled.get(key)
        if settled is None:
            settled = self._decide(tool, call, touches, cautious)
            if len(self._settled) < _SETTLED:
                self._settled[key] = settled
        return settled

    def _decide(self, tool: Tool, call: Call, touches: list[Touch], cautious: bool) -> Verdict:
        refused = self.named(tool)
        if refused is not None:
            return refused
        escaped = self._outside(touches)
        if escaped is not None and escaped.decision.action == "deny":
            return escaped
        decision = self._strictest(self._keys(tool, [touch.kind for touch in touches]))
        if decision.action == "allow" and decision.layer == "default" and any(touch.sends for touch in touches):
            decision = Decision(action="ask", rule=f"{decision.rule}: sends data")
        decision = self._own_word(tool, call, decision)
        if escaped is not None and decision.action == "allow":
            decision = escaped.decision
        effect = _effect(tool, touches)
        if decision.action == "allow" and effect != "read_only":
            if self._config.approval.strict:
                decision = self._decision("ask", "approval.strict", "approval.strict")
            elif cautious and call.caller == "model":
                decision = Decision(action="ask", rule="model.cautious", layer="plugin")
        return Verdict(decision=decision, text=f"{decision.rule} says {decision.action}")

    def named(self, tool: Tool) -> Verdict | None:
        """A refusal by name: `tools.deny`, or not in a `tools.allow` that is not empty."""
        tools = self._config.tools
        for token in tools.deny:
            if matches(token, tool):
                return Verdict(
                    decision=self._decision("deny", f"tools.deny: {token}", f"tools.deny: {token}"),
                    text=f"{tool.name} is in tools.deny",
                )
        if tools.allow and not any(matches(token, tool) for token in tools.allow):
            return Verdict(
                decision=self._decision("deny", "tools.allow", "tools.allow"), text=f"{tool.name} is not in tools.allow"
            )
        return None

    def hidden(self, tool: Tool) -> bool:
        """Whether every call of this tool would be denied, so that it is left out of schema and listings (decision 11)."""
        if self.named(tool) is not None:
            return True
        return any(self.action(key).action == "deny" for key in self.keys(tool))

    def keys(self, tool: Tool) -> Sequence[str]:
        """The permission keys that a tool's declarations name; what only its arguments can say is not among them."""
        kinds: list[str] = [kind for _, node in tool.touched for kind in kinds_in(node)]
        if not kinds and not tool.declaration.pure and tool.declaration.touches is None:
            kinds = ["unknown"]
        return self._keys(tool, kinds)

    def action(self, key: str) -> Decision:
        """What a permission key gets, and which rule says so."""
        known = self._actions.get(key)
        if known is None:
            action = self._config.tool_permission.actions.get(key) or DEFAULT_PERMISSION.get(key, "ask")
            known = self._decision(action, f"tool_permission.{key}", f"tool_permission.{key}")
            self._actions[key] = known
        return known

    def _keys(self, tool: Tool, kinds: Sequence[str]) -> Sequence[str]:
        """The permission keys of a call of this tool that touches these kinds."""
        if tool.declaration.permission is not None:
            return (tool.declaration.permission,)
        if tool.effect == "delegating":
            return ("delegate",)
        return [KEY_OF.get(kind, kind) for kind in kinds]

    def _strictest(self, keys: Iterable[str]) -> Decision:
        worst: Decision | None = None
        for key in keys:
            found = self.action(key)
            if worst is None or STRICTNESS[found.action] > STRICTNESS[worst.action]:
                worst = found
        return worst or Decision(action="allow", rule="touches nothing")

    def _outside(self, touches: list[Touch]) -> Verdict | None:
        """`paths.outside`, for the first touch beyond the root."""
        outside = self._config.paths.outside
        for touch in touches:
            if touch.outside and outside != "allow":
                action: Action = "deny" if outside == "refuse" else "ask"
                return Verdict(
                    decision=self._decision(action, "paths.outside", "paths.outside"),
                    text=f"Path escapes workspace: {touch.what}",
                )
        return None

    def _own_word(self, tool: Tool, call: Call, decision: Decision) -> Decision:
        """The tool's own `permission_fn`: stricter always counts, looser only where no person's rule matched."""
        judge = tool.declaration.permission_fn
        if judge is None or decision.action == "deny":
            return decision
        try:
            said = judge(dict(call.arguments))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates tools: a judgement that fails is no permission
            said, rule = "deny", f"{tool.name}.permission_fn raised {type(error).__name__}"
        else:
            rule = f"{tool.name}.permission_fn"
        if not isinstance(said, str) or said not in STRICTNESS:
            said, rule = "deny", f"{tool.name}.permission_fn answered {said!r}"
        stricter = STRICTNESS[said] > STRICTNESS[decision.action]
        if stricter or (said != decision.action and decision.layer == "default"):
            return Decision(action=said, rule=rule, layer="tool")
        return decision

    def _decision(self, action: Action, rule: str, key: str) -> Decision:
        layer, source = self._origin(key)
        return Decision(action=action, rule=rule, layer=layer, source=source)


def _effect(tool: Tool, touches: list[Touch]) -> Effect:
    return "delegating" if tool.effect == "delegating" else effect_of(touches)
