"""Answers that stand for later calls: what a person's "always" keeps, as narrowly as its touches allow.

An answer that is kept is an allow of the layer `remembered`, asked for in the same list as every other rule; there is no
second matcher. What it is, is derived from what a call touches and never from a tool's name:

- commands: a pattern for each command of the line that was asked about (`uv run pytest …`), never for anything else in it;
- requests: this tool, at these hosts, and sending something only where the answer was about that;
- what stays inside the workspace, and an MCP server's tools: this tool, for the keys that were asked about;
- what no rule can say (a line with redirections, touches that nobody knows, calls that touch nothing or delegate): this very
  call, argument for argument, and while it touches the same (a tool may take that from files or settings, which change);
- what leads out of the workspace: nothing.

It is offered only where it would hold: where the same call is allowed once the rules are there. So nothing is offered in
strict mode, for a cautious model's calls, and where a tool asks by itself. A session's answers live in the process that
asked: never read from a log, so a resumed session asks again. What is to last longer is written into the user's own file
(`config.remembering`), where it can be said there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from pegboard.calls import Call, Layer, Source, Touch
from pegboard.config.authority import RuleSettings
from pegboard.policy.asked import Asking, Where
from pegboard.policy.conditions import host_of
from pegboard.policy.patterns import MARK, pattern_problem, plain_pattern
from pegboard.policy.policy import Policy
from pegboard.policy.rules import Rule, judge
from pegboard.policy.written import texts
from pegboard.tooling import Tool
from pegboard.touches import PATHS

_WIDE = frozenset({"bash", "web", "delegate", "unknown"})
"""Permission keys of a tool's own that stand for more than a place in the workspace."""
_INSIDE = ("**",)
"""Paths of an allow: all inside the workspace."""
_USUAL = {"http": 80, "https": 443}


class Exactly(msgspec.Struct, frozen=True, gc=False):
    """One call, argument for argument, and what it touches, as (kind, what, sends)."""

    tool: str
    body: bytes
    touches: tuple[tuple[str, str, bool], ...]

    @classmethod
    def of(cls, tool: Tool, body: bytes, touches: Sequence[Touch]) -> Exactly:
        """This call."""
        return cls(tool.qualified, body, tuple((touch.kind, touch.what, touch.sends) for touch in touches))


class Offer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What "always" would keep of one call. texts: how a person is told of it, before it is kept.

    rules: what is added to the list. only: where no rule can say it, the one call that they are for. commands: of patterns,
    the command that each is for. lasts: whether it would hold, and can be said, in the user's own file, too."""

    texts: tuple[str, ...]
    rules: tuple[Rule, ...]
    only: Exactly | None = None
    commands: tuple[str, ...] = ()
    lasts: bool = False

    @property
    def scopes(self) -> list[str]:
        """How long it may be kept."""
        return ["session", "project", "user"] if self.lasts else ["session"]

    def edited(self, patterns: Sequence[str]) -> Offer | None:
        """The same with these patterns in place of those that were offered; None where one of them will not do."""
        if not self.commands or len(patterns) != len(self.commands):
            return None
        if any(pattern_problem(one, command) for one, command in zip(patterns, self.commands, strict=True)):
            return None
        plain = [plain_pattern(one) for one in patterns]
        rules = [
            _remembered(f"{pattern} {MARK}", rule.tool, rule.key, Where(commands=(pattern,)))
            for pattern, rule in zip(plain, self.rules, strict=True)
        ]
        return msgspec.structs.replace(self, texts=tuple(f"{one} {MARK}" for one in plain), rules=tuple(rules))

    def written(self) -> list[RuleSettings]:
        """The rules as they stand in a file; those that differ in their commands alone are one."""
        found: dict[tuple[object, ...], RuleSettings] = {}
        for rule in self.rules:
            where = rule.where or Where()
            key = (rule.tool, rule.key, where.paths, where.hosts, where.sends, bool(where.commands))
            one = found.get(key)
            commands = [*texts(one.command if one else None), *where.commands]
            found[key] = RuleSettings(
                action="allow",
                tool=rule.tool,
                key=rule.key,
                path=_single(where.paths),
                host=_single(where.hosts),
                command=_single(commands),
                sends=where.sends,
            )
        return list(found.values())


class Remembered:
    """The answers of one session, in one process. lasting: those that are written down, of all sessions of the process: what
    was written since the settings were read."""

    def __init__(self, lasting: list[Rule] | None = None) -> None:
        self._rules: list[Rule] = []
        self._lasting = [] if lasting is None else lasting
        self._exactly: dict[Exactly, Rule] = {}
        self._over: tuple[Policy, tuple[Rule, ...], Policy] | None = None

    def __bool__(self) -> bool:
        return bool(self._rules or self._lasting or self._exactly)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What is kept, as rules; without those for one very call."""
        return (*self._lasting, *self._rules)

    def keep(self, offer: Offer, source: Source | None = None) -> None:
        """From now on calls of this kind are not asked about. `source`: where it is written down, too."""
        rules = [msgspec.structs.replace(rule, source=source) for rule in offer.rules]
        if offer.only is not None:
            self._exactly[offer.only] = rules[0]
            return
        kept = self._rules if source is None else self._lasting
        kept += [rule for rule in rules if rule not in kept]

    def over(self, policy: Policy, tool: Tool, body: bytes, touches: Sequence[Touch]) -> Policy:
        """The policy with what is kept; with the answer to this very call, where there is one."""
        if not self:
            return policy
        exactly = self._exactly.get(Exactly.of(tool, body, touches)) if self._exactly else None
        if any(touch.outside for touch in touches):
            exactly = None  # what it names leads elsewhere now
        if exactly is not None:
            return policy.with_rules((*self.rules, exactly))
        rules = self.rules
        if not rules:
            return policy
        if self._over is None or self._over[0] is not policy or self._over[1] != rules:
            self._over = policy, rules, policy.with_rules(rules)
        return self._over[2]


def offer_of(
    policy: Policy, tool: Tool, call: Call, body: bytes, touches: list[Touch], *, cautious: bool = False
) -> Offer | None:
    """What "always" would keep after this call, which is asked about; None where it is not offered.

    policy: as it stands, with what is remembered already."""
    if any(touch.outside for touch in touches):
        return None

    def holds(rules: Iterable[Rule]) -> bool:
        with_them = policy.with_rules(tuple(rules))
        return with_them.decide(tool, call, touches, cautious=cautious).decision.action == "allow"

    offer = _by_rules(policy, tool, call, touches)
    if offer is not None and holds(offer.rules):
        lasts = holds(msgspec.structs.replace(rule, layer="user") for rule in offer.rules)
        return msgspec.structs.replace(offer, lasts=lasts)
    text = f"exactly this {'command' if any(touch.kind == 'run' for touch in touches) else 'call'} of {tool.name}"
    rule = _remembered(text, tool.qualified, None, None)
    return Offer(texts=(text,), rules=(rule,), only=Exactly.of(tool, body, touches)) if holds([rule]) else None


def _by_rules(policy: Policy, tool: Tool, call: Call, touches: list[Touch]) -> Offer | None:
    """What rules can say of all that was asked about; None where some of it they cannot."""
    rules: dict[tuple[str | None, Where | None], str] = {}
    commands: dict[str, str] = {}
    for asking in policy.askings(tool, call, touches, closely=True):
        if asking.nested:
            continue  # what holds it is asked about
        said = judge(policy.rules, tool, asking)
        if said is None or said.rule.action != "ask":
            continue
        found = _narrowest(tool, asking)
        if found is None:
            return None
        where, text = found
        rules.setdefault((asking.key, where), text)
        if asking.command is not None:
            commands.setdefault(text, asking.command.text)
    if not rules or (commands and len(commands) != len(rules)):
        return None
    texts = tuple(dict.fromkeys(rules.values()))
    made = tuple(_remembered(text, tool.qualified, key, where) for (key, where), text in rules.items())
    return Offer(texts=texts, rules=made, commands=tuple(commands[text] for text in texts) if commands else ())


def _narrowest(tool: Tool, asking: Asking) -> tuple[Where | None, str] | None:
    """The condition of a rule that covers this and as little else as will do, and how a person is told of it."""
    touch, command, name = asking.touch, asking.command, tool.name
    own = tool.declaration.permission
    if touch is None or tool.effect == "delegating" or asking.trouble is not None or asking.unread:
        return None
    if own in _WIDE and not (own == "web" and touch.kind == "net"):
        return None
    if touch.kind == "run":
        if command is None or command.risk is not None or not command.offer or own is not None:
            return None
        pattern = plain_pattern(command.offer)
        return Where(commands=(pattern,)), f"{pattern} {MARK}"
    if touch.kind == "net":
        address = address_of(touch.what)
        if address is None:
            return None
        sending = " (sending data)" if touch.sends else ""
        return Where(hosts=(address,), sends=touch.sends), f"{name} to {address}{sending}"
    if touch.kind in PATHS:
        return Where(paths=_INSIDE), f"{name} in the workspace"
    return None if touch.kind == "unknown" else (None, f"{name}, whatever its arguments")


def address_of(url: str) -> str | None:
    """`scheme://host:port` of a URL; None for one that two programs might read in two ways."""
    scheme, colon, _ = url.partition("://")
    scheme = scheme.lower()
    host = host_of(url) if colon and scheme in _USUAL else None
    if host is None or host.port is None:
        return None
    name = f"[{host.name}]" if ":" in host.name else host.name
    return f"{scheme}://{name}" + ("" if host.port == _USUAL[scheme] else f":{host.port}")


def _remembered(text: str, tool: str | None, key: str | None, where: Where | None) -> Rule:
    layer: Layer = "remembered"
    return Rule(action="allow", name=f"remembered: {text}", layer=layer, tool=tool, key=key, where=where)


def _single(texts: Sequence[str]) -> str | list[str] | None:
    """One text by itself, several as a list."""
    return None if not texts else texts[0] if len(texts) == 1 else list(texts)
