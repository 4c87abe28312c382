"""What a policy makes of a command line, for tests of the parse: all of it is allowed, or by which rules it is not."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.policy.shell import Command, Line, matches


def against(line: Line, allowed: Sequence[str]) -> list[str]:
    """The rules by which a line may not pass with this allow list. None: it passes."""
    rules = [trouble.rule for trouble in (line.error, *line.troubles) if trouble is not None]
    for command in line.commands:
        if not command.nested and not any(matches(pattern, command, exactly=True) for pattern in allowed):
            rules.append(_miss(command, allowed))
    return rules


def _miss(command: Command, allowed: Sequence[str]) -> str:
    """R1 where its words are on no list, else what is against it."""
    if command.risk is None:
        return "R1"
    unknown = bool(command.words) and not command.words[0].inert and not command.words[0].glob
    texts = " ".join(word.text for word in command.words) + " "
    meant = unknown or any(texts.startswith(f"{pattern} ") for pattern in allowed if pattern)
    return command.risk.rule if meant or command.risk.rule == "R7" else "R1"


def denied(line: Line, pattern: str) -> bool:
    """Whether a rule that denies this pattern stops the line."""
    return any(matches(pattern, command, exactly=False) for command in line.commands)
