"""The words of `[permission]` and `[modes]` that name tools and keys, and allows by command that pass none: so that a person
is told of those that mean nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from pegboard.calls import Layer, Source
from pegboard.config.authority import PermissionSettings, RuleSettings, RulesSettings
from pegboard.config.checking import apart
from pegboard.config.load import Loaded, Stated
from pegboard.config.schema import Config
from pegboard.policy.patterns import plain_pattern
from pegboard.policy.written import each, texts

_RUN_ON = frozenset({"eval", "source", ".", "export", "alias"})
"""Builtins that change or run what the shell does with what follows."""
_APART = 2
"""How many letters a key may be away from one that something has, to be taken for it misspelt."""
_PROBES = ("", "x", "./x", "-x", "--version", "-m x", "'{print}'")
"""What a command may go on with, where only that tells whether it can pass."""
_PLAIN = re.compile(r"[A-Za-z0-9_.][\w./:@%+,-]*( [\w./:@%+=,-]+)*")
"""Words of which no shell makes anything else."""


def tokens_of(config: Config) -> Iterator[tuple[str, str, list[str]]]:
    """(where they stand, the action that they are for, words that name tools)."""
    yield from _of("", config.permission)
    for name, mode in config.modes.items():
        yield f"modes.{name}.tools.allow", "allow", mode.tools.allow
        yield f"modes.{name}.tools.deny", "deny", mode.tools.deny
        yield from _of(f"modes.{name}.", mode.permission)


def _of(prefix: str, rules: RulesSettings) -> Iterator[tuple[str, str, list[str]]]:
    for name in ("allow", "ask", "deny", "dangerous_default_deny"):
        yield f"{prefix}permission.{name}", "deny" if name.startswith("dangerous") else name, getattr(rules, name)
    for number, rule in enumerate(rules.rules):
        if rule.tool is not None:
            yield f"{prefix}permission.rules[{number}]", rule.action, [rule.tool]


def keys_of(config: Config) -> Iterator[tuple[str, str, str]]:
    """(where it stands, the action that it is for, a permission key)."""
    for key, action in config.tool_permission.actions.items():
        yield f"tool_permission.{key}", action, key
    yield from _keys("", config.permission.rules)
    for name, mode in config.modes.items():
        for key, action in mode.tool_permission.items():
            yield f"modes.{name}.tool_permission.{key}", action, key
        yield from _keys(f"modes.{name}.", mode.permission.rules)


def _keys(prefix: str, rules: list[RuleSettings]) -> Iterator[tuple[str, str, str]]:
    for number, rule in enumerate(rules):
        if rule.key is not None:
            yield f"{prefix}permission.rules[{number}]", rule.action, rule.key


class Fault(msgspec.Struct, frozen=True):
    """Something in the configuration that cannot be what was meant, and where it stands."""

    layer: Layer
    key: tuple[str, ...]
    source: Source | None
    why: str


def passing_nothing(loaded: Loaded) -> Iterator[Fault]:
    """Allows by command that can pass none."""
    for said in loaded.stated:
        if said.key == ("tool_permission", "bash_allow"):
            for number, pattern in enumerate(said.value):
                yield from _faults(said, said.item(number), [pattern])
        elif said.key[-2:] == ("permission", "rules"):
            for one, source in each(said):
                if one.action == "allow":
                    yield from _faults(said, source, texts(one.command))


def _faults(said: Stated, source: Source | None, patterns: Sequence[str]) -> Iterator[Fault]:
    for pattern in patterns:
        why = passes_nothing(pattern)
        if why is not None:
            yield Fault(said.layer, said.key, source, f'"{pattern}" can never allow anything: {why}')


def misspelt_keys(loaded: Loaded, known: Collection[str]) -> Iterator[Fault]:
    """Permission keys that nothing has, and that are all but one that something has, where they are to ask or deny."""
    for said in loaded.stated:
        if said.key[-2:-1] == ("tool_permission",) and said.value in ("ask", "deny"):
            yield from _misspelt(said, said.source, said.key[-1], said.value, known)
        elif said.key[-2:] == ("permission", "rules"):
            for one, source in each(said):
                if one.action != "allow" and one.key is not None:
                    yield from _misspelt(said, source, one.key, one.action, known)


def _misspelt(said: Stated, source: Source | None, key: str, action: str, known: Collection[str]) -> Iterator[Fault]:
    if key in known or key in PermissionSettings.__struct_fields__:
        return
    near = min(known, key=lambda one: (apart(key, one), one))
    letters = apart(key, near)
    if letters <= _APART and 2 * letters < len(near):
        word = "denies" if action == "deny" else "asks about"
        yield Fault(
            said.layer,
            said.key,
            source,
            f'no tool has the permission key "{key}", so this {word} nothing; write {near}',
        )


def passes_nothing(pattern: str) -> str | None:
    """Why an allow by this command can pass none, in words that say what to write instead; None: it may.

    It is read as a command line. A program that may run another is told of where it does so whatever follows."""
    from pegboard.policy.shell.runners import RUNNERS

    words = plain_pattern(pattern).split()
    if not words or words[0] == "[":  # which wants its end to be read
        return None
    text = " ".join("x" if word == "*" else word for word in words)
    if _PLAIN.fullmatch(text) and words[0] not in RUNNERS and words[0] not in _RUN_ON:
        return None
    from pegboard.policy.shell import matches, read_line

    line = read_line(text)
    own = [one for one in line.commands if not one.nested]
    if line.error is not None or line.troubles or len(own) != 1:
        why = line.error or (line.troubles[0] if line.troubles else None)
        return f"it is not the beginning of one plain command{f': {why.why}' if why else ''}"
    command = own[0]
    if command.behind:
        rest = " ".join(words[command.behind :])
        return f'what stands after {words[0]} is judged by itself; write "{rest}"'
    if words[0] not in RUNNERS and words[0] not in _RUN_ON and command.risk is None:
        return None
    for probe in _PROBES:
        said = [one for one in read_line(f"{text} {probe}".strip()).commands if not one.nested]
        if len(said) == 1 and matches(text, said[0], exactly=True):
            return None
    assert command.risk is not None
    return f'{command.risk.why}, so such a command always asks; tool_permission.bash = "allow" alone lets it pass'
