"""What a session's transcript consists of: items, one for each thing that a person looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pegboard.blocks import AnyBlock
from pegboard.events import CallAsked, CallFinished, TurnEnded, Usage
from pegboard.port import Described

State: TypeAlias = Literal["asked", "waiting", "running", "done", "lost"]
"""Of a call. waiting: for the person's answer. lost: the process that made it is gone, and its effects are unknown."""
Level: TypeAlias = Literal["info", "warning", "problem"]
"""Of a note that stands by itself."""


@dataclass(kw_only=True, eq=False)
class Item:
    """Base of the closed union `AnyItem`. key: unique in its session, and the same when the session is opened again.

    version: grows with every change, so that what was drawn can be kept. folded: None leaves it to how long it is."""

    key: str
    version: int = 0
    folded: bool | None = None

    def touch(self) -> None:
        """It is to be drawn anew."""
        self.version += 1


@dataclass(kw_only=True, eq=False)
class Asked(Item):
    """What was asked of the agent. by: person, program, plugin:NAME."""

    text: str
    by: str = "person"


@dataclass(kw_only=True, eq=False)
class Said(Item):
    """What the model says, in Markdown. done: the whole of it is there. plain: it is plain text."""

    text: str = ""
    done: bool = False
    plain: bool = False


@dataclass(kw_only=True, eq=False)
class Thought(Item):
    """The model's reasoning, where its provider tells it."""

    text: str = ""
    done: bool = False


@dataclass(kw_only=True, eq=False)
class Made(Item):
    """A call, from its request to its result. drawn: what a renderer made of its data.

    why: who allowed or refused it, where that was asked. progress: how far it says it is. since: when it began to run here,
    by the fold's clock."""

    asked: CallAsked
    described: Described
    state: State = "asked"
    finished: CallFinished | None = None
    drawn: list[AnyBlock] = field(default_factory=list)
    why: str = ""
    progress: str = ""
    since: float | None = None


@dataclass(kw_only=True, eq=False)
class Told(Item):
    """A note or a problem that stands by itself."""

    text: str
    level: Level = "info"


@dataclass(kw_only=True, eq=False)
class Shown(Item):
    """What a slash command shows, below its title."""

    blocks: list[AnyBlock]
    title: str = ""


@dataclass(kw_only=True, eq=False)
class Ended(Item):
    """The end of a turn. seconds: it took, where that is known."""

    ended: TurnEnded
    usage: Usage | None = None
    seconds: float | None = None


AnyItem: TypeAlias = Asked | Said | Thought | Made | Told | Shown | Ended
