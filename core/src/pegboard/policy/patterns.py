"""What a person may make of a pattern before it is remembered: it names the command that was asked about, and at least as
many words of it as would be offered. So it can be made narrower, and never so wide that anything could be run by it."""

from __future__ import annotations

MARK = "…"


def plain_pattern(pattern: str) -> str:
    """A pattern as it is written down: single spaces, and nothing at its end that means "and whatever follows"."""
    words = pattern.split()
    while words and words[-1] in (MARK, "*"):
        words.pop()
    return " ".join(words)


def pattern_problem(pattern: str, command: str) -> str | None:
    """Why a pattern may not be remembered for this command, for a person to read; None: it may."""
    from pegboard.policy.shell import matches, read_line

    words = plain_pattern(pattern).split()
    if not words or words[0] == "*":
        return "it would allow any command; begin with the program's name"
    line = read_line(" ".join(words))
    own = [one for one in line.commands if not one.nested]
    if line.error is not None or line.troubles or [[word.text for word in one.words] for one in own] != [words]:
        return "it is not the beginning of one plain command"
    if own[0].risk is not None or not own[0].offer:
        return "that little may run anything, so it would allow any command"
    asked = [one for one in read_line(command).commands if not one.nested]
    if len(asked) != 1 or asked[0].risk is not None or not matches(" ".join(words), asked[0], exactly=True):
        return f"it is not how this command begins: {command}"
    return None
