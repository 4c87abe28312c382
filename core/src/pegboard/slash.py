"""Slash commands: what a person types in a session beside prompts. A plugin brings one by an entry point of the group
`pegboard.slash`; the entry's name is the command's, and it names a `Slash`.

    def count(said: Said) -> list[AnyBlock]:
        return [Note(text=f"{len(said.rest.split())} words")]

    words = Slash(usage="/words TEXT", help="count words", run=count)

It is imported when it is typed, or when somebody asks which commands there are. It runs on the loop, so one that takes long
is `async def`. It may send the session's agent a prompt or a call: `await said.port.send(...)`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.board import Board
    from pegboard.explaining import Explained
    from pegboard.policy import Policy
    from pegboard.port import Port
    from pegboard.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What was typed, and where. `rest`: what stands after the command's name. `policy`: what decides here, with the mode
    that is on. `model`: who answers, `provider/name`. `explain`: what a call of the model's would get here, with the answers
    that are remembered."""

    rest: str
    board: Board
    session: Session
    port: Port
    policy: Policy
    model: str
    explain: Callable[[str, Mapping[str, Any]], Awaitable[Explained]]


Shown: TypeAlias = "Sequence[AnyBlock]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Slash:
    """A slash command. `usage`: how it is written, `/name WHAT [MORE]`. `help`: what it does, a line without a full stop.

    run: does it, and returns what is shown. An error that a person should read is raised as `PegboardError`.
    complete: whole words that could stand in place of the last one of `rest`; it is called as one types, so it is quick."""

    usage: str
    help: str
    run: Callable[[Said], Shown | Awaitable[Shown]]
    complete: Callable[[Said], list[str]] | None = None


# --- lines that are typed ---------------------------------------------------------------------------------------------

_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*|\?)(?:\s+(?P<rest>.*))?", re.DOTALL)


class Command(NamedTuple):
    """A slash command and what stands after it."""

    name: str
    rest: str = ""


class BadCommand(Exception):
    """A command that cannot be done as it was written. The text says why; nothing was done."""


def read_line(
    line: str, own: Mapping[str, str], others: Callable[[], Collection[str]], also: Mapping[str, str]
) -> Command | str:
    """What a line says: a command, or the prompt to send. `//` and a space in front are for prompts that begin with a slash.

    own: the front end's commands, each with how it is written. others: names of the board's; asked only when a name is no
    own one. also: other names of own ones.

    Raises:
        BadCommand: it looks like a command, and there is none of that name, or it takes nothing and has something after it.
    """
    if line.startswith("//"):
        return line[1:].strip()
    found = _COMMAND.fullmatch(line.rstrip())
    if found is None or (found["name"] == "?" and "?" not in also):
        return line.strip()
    name, rest = found["name"].lower(), (found["rest"] or "").strip()
    name = also.get(name, name)
    if name in own:
        if rest and " " not in own[name]:
            raise BadCommand(
                f"/{name} takes nothing after it; nothing was done. With a space in front the line goes to the model."
            )
    elif name not in (there := others()):
        from difflib import get_close_matches

        near = get_close_matches(name, [*own, *there], 1)
        hint = f" Did you mean /{near[0]}?" if near else " /help lists those there are."
        raise BadCommand(f"there is no command /{found['name']}.{hint} With a space in front it goes to the model.")
    return Command(name, rest)
