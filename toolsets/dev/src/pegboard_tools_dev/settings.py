"""The settings of the set dev: the table `[dev]` in configuration."""

from __future__ import annotations

import shlex
from typing import Annotated

import msgspec
from msgspec import Meta

_OPERATORS = frozenset("();<>|&")
Line = str | list[str]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[dev]`. What a project that came with a clone says here is ignored, and told of as ignored, until a
    person trusts it. Commands are argument lists: a text is split as a shell would, and given to none."""

    test_cmd: Annotated[
        Line | None,
        Meta(
            description="The command that runs the tests; `{path}` stands for the paths of a call. Left out: found out "
            "from the project.",
            examples=["uv run pytest -q"],
        ),
    ] = None
    lint_cmd: Annotated[
        Line | None,
        Meta(description="The command that checks the code. Left out: found out.", examples=["ruff check ."]),
    ] = None
    format_cmd: Annotated[
        Line | None,
        Meta(description="The command that formats the code. Left out: found out.", examples=[["black", "."]]),
    ] = None
    timeout_s: Annotated[
        float, Meta(description="Seconds that a command may take, where a call does not say.", gt=0, le=600)
    ] = 120.0

    def __post_init__(self) -> None:
        """Refuse commands that could only fail later, where file and line are still known."""
        for name in ("test_cmd", "lint_cmd", "format_cmd"):
            line = getattr(self, name)
            if line is not None:
                _checked(name, line)


def argv_of(line: Line) -> tuple[str, ...]:
    """A configured command as an argument list."""
    return tuple(shlex.split(line) if isinstance(line, str) else line)


def _checked(name: str, line: Line) -> None:
    try:
        argv = argv_of(line)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not argv or not argv[0] or any("\0" in word for word in argv):
        raise ValueError(f"{name} names no program")
    if isinstance(line, str) and (found := _shell_syntax(line, argv[0])):
        raise ValueError(
            f'{name} is given to no shell, so {found} would do nothing; write ["sh", "-c", "..."] if it must'
        )


def _shell_syntax(line: str, first: str) -> str:
    """What of a line only a shell understands, unquoted: operators, and assignments in front."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    words.commenters = ""
    quoted = shlex.shlex(line, posix=False, punctuation_chars=True)
    quoted.whitespace_split = True
    quoted.commenters = ""
    for word, raw in zip(words, quoted, strict=False):
        if word == raw and word and _OPERATORS.issuperset(word):
            return word
    name, equals, _ = first.partition("=")
    return first if equals and name.isidentifier() else ""
