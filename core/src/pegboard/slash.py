"""Slash commands: what a person types in a session beside prompts. A plugin brings one by an entry point of the group
`pegboard.slash`; the entry's name is the command's, and it names a `Slash`.

    def count(said: Said) -> list[AnyBlock]:
        return [Note(text=f"{len(said.rest.split())} words")]

    words = Slash(usage="/words TEXT", help="count words", run=count)

It is imported when it is typed, or when somebody asks which commands there are. It runs on the loop, so one that takes long
is `async def`. It may send the session's agent a prompt or a call: `await said.port.send(...)`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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
