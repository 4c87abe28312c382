"""Modes: rules that hold while one is on (rows R-081 to R-084). A deny of the base stands in every mode."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from pegboard.calls import STRICTNESS, Action, Layer, Source
from pegboard.config.authority import ModeSettings, RuleSettings, RulesSettings
from pegboard.config.load import Loaded, Stated
from pegboard.errors import ConfigError
from pegboard.policy.rules import Rule
from pegboard.policy.written import Place, lists, one_by_one

_INSIDE = RuleSettings(action="allow", key="edit", path="*")
BUILT_IN: dict[str, ModeSettings] = {
    "plan": ModeSettings(
        description="Look and plan: nothing is changed, and no command is run.",
        tool_permission={"edit": "deny", "bash": "deny"},
    ),
    "accept-edits": ModeSettings(
        description="Files in the workspace are changed without asking; commands ask.",
        permission=RulesSettings(rules=[_INSIDE]),
    ),
    "auto": ModeSettings(
        description="Files in the workspace are changed without asking; commands run in the sandbox, and ask where there is "
        "none.",
        permission=RulesSettings(rules=[_INSIDE, RuleSettings(action="allow", key="bash", sandbox=True)]),
    ),
}
"""What `[modes.NAME]` of these names adds to."""


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """A mode as it is on. layer: whose word it is that it is on. stated: what the configuration says of it, every layer."""

    name: str
    layer: Layer
    description: str = ""
    stated: Sequence[Stated] = ()

    @property
    def allows_tools(self) -> bool:
        """Whether it brings a `tools.allow` of its own, which replaces the base's."""
        return any(said.key[2:] == ("tools", "allow") and said.value for said in self.stated)

    @property
    def loosens(self) -> bool:
        """Whether it allows anything, so that calls run in it that may be asked about outside it."""
        return any(rule.action == "allow" for rule in rules_in(self, ""))


def mode_of(loaded: Loaded, name: str | None = None) -> Mode | None:
    """The mode of this name, as a person's word on the spot; None: the one that the configuration says is on, if any.

    Raises:
        ConfigError: there is no such mode; names those there are.
    """
    origin = None
    layer: Layer = "flag"
    if name is None:
        name, origin = loaded.config.mode, loaded.origin("mode")
        layer = origin.layer
    if not name:
        return None
    there = choices(loaded)
    if name not in there:
        near = difflib.get_close_matches(name, there, 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        source = origin.source if origin else None
        raise ConfigError(
            f"mode: there is no mode {name!r}; {hint}there are {', '.join(sorted(there))}; nothing was changed",
            file=source.file if source else None,
            line=source.line if source else None,
        )
    stated = [said for said in loaded.stated if said.key[:2] == ("modes", name)]
    return Mode(name=name, layer=layer, description=there[name], stated=stated)


def choices(loaded: Loaded) -> dict[str, str]:
    """Every mode there is, with what it does in a line."""
    own = loaded.config.modes
    shipped = {name: mode.description for name, mode in BUILT_IN.items()}
    return shipped | {name: mode.description or shipped.get(name, "") for name, mode in own.items()}


def rules_in(mode: Mode, root: str) -> Iterator[Rule]:
    """What a mode says, as rules of its layer."""
    for key, value in _shipped(mode.name):
        yield from _of(Stated("default", key, value), mode, root)
    for said in mode.stated:
        yield from _of(said, mode, root)


def _shipped(name: str) -> Iterator[tuple[tuple[str, ...], object]]:
    shipped = BUILT_IN.get(name)
    if shipped is not None:
        for key, action in shipped.tool_permission.items():
            yield ("modes", name, "tool_permission", key), action
        yield ("modes", name, "permission", "rules"), shipped.permission.rules


def _of(said: Stated, mode: Mode, root: str) -> Iterator[Rule]:
    prefix = f"modes.{mode.name}: "
    place = Place(layer=mode.layer, root=root, prefix=prefix, mode=True)
    match said.key[2:]:
        case ("tool_permission", *parts) if said.value in (*STRICTNESS,):
            key = ".".join(parts)
            yield _rule(said.value, f"{prefix}tool_permission.{key}", mode, said.source, key=key, general=True)
        case ("tools", "deny"):
            for number, token in enumerate(said.value):
                yield _rule("deny", f"{prefix}tools.deny: {token}", mode, said.item(number), tool=token)
        case ("tools", "allow") if said.value:
            yield _rule("deny", f"{prefix}tools.allow", mode, said.source, others=tuple(said.value))
        case ("permission", "rules"):
            yield from one_by_one(said, place)
        case ("permission", _):
            yield from lists(said, place)


def _rule(action: Action, name: str, mode: Mode, source: Source | None, **more: Any) -> Rule:
    return Rule(action=action, name=name, layer=mode.layer, source=source, mode=True, **more)
