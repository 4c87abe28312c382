"""What a project that nobody trusts takes away: sets and tools that a person would have without it. They are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegboard.calls import Source
from pegboard.config.load import Loaded, Stated
from pegboard.config.places import PROJECT_FILE
from pegboard.policy.compiling import rules_of
from pegboard.policy.policy import Policy
from pegboard.tooling import Tool

_MOST = 8


def taken(loaded: Loaded, tools: Sequence[Tool], sets: Iterable[str]) -> list[str]:
    """A note that names them, and by which settings; none where it takes nothing. `sets`: those that are installed and can
    be switched off."""
    said = [one for one in loaded.stated if one.only_stricter]
    if not said:
        return []
    parts = [*_sets(loaded, said, sets), *_tools(loaded, tools), *_off(said)]
    if not parts:
        return []
    return [
        f"{PROJECT_FILE} came with the project and takes away {'; '.join(parts)}. To have it back, remove that there, or "
        "`pegboard trust` the project and say so in a file of your own"
    ]


def _sets(loaded: Loaded, said: Sequence[Stated], sets: Iterable[str]) -> list[str]:
    named = next((one for one in said if one.key == ("toolSets",)), None)
    if named is None:
        return []
    below = [one.value for one in loaded.stated if one.key == ("toolSets",) and one.layer == "user"]
    had = below[-1] if below and below[-1] is not None else sorted(sets)
    now = loaded.config.toolSets or []
    return _told("set", [name for name in had if name not in now and name in sets], f"toolSets{_line(named.source)}")


def _tools(loaded: Loaded, tools: Sequence[Tool]) -> list[str]:
    rules = rules_of(loaded)
    theirs = [rule for rule in rules if rule.layer == "project" and rule.action == "deny"]
    without = Policy([rule for rule in rules if rule not in theirs])
    found: dict[str, list[str]] = {}
    left = [tool for tool in tools if not without.hidden(tool)]
    for rule in theirs:
        alone = Policy([rule])
        gone = [tool for tool in left if alone.hidden(tool)]
        if gone:
            found.setdefault(f"{rule.name}{_line(rule.source)}", []).extend(tool.name for tool in gone)
            left = [tool for tool in left if tool not in gone]
    return [text for why, names in found.items() for text in _told("tool", names, why)]


def _off(said: Sequence[Stated]) -> list[str]:
    names = [".".join(one.key[1:]) for one in said if one.key[0] == "tools" and one.value is False]
    return _told("tool", names, "[tools]")


def _told(what: str, names: Sequence[str], why: str) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    several = "s" if len(names) > 1 else ""
    return [f"the {what}{several} {', '.join(names[:_MOST])}{more} ({why})"]


def _line(source: Source | None) -> str:
    return f", line {source.line}" if source is not None and source.line else ""
