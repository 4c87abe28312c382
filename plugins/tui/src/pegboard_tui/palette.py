"""What the palette of commands (ctrl+p) finds: slash commands, themes, sessions, modes, models, what is switched on and off.

It is one more way to what the keys and the slash commands do, and does it by them.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from pegboard.terminal import visible
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from pegboard_tui.commands import offered
from pegboard_tui.composer import Composer
from pegboard_tui.signs import cut

if TYPE_CHECKING:
    from pegboard_tui.looks import Looks

_LONGEST = 70
_SESSIONS = 50


class Entry(NamedTuple):
    """A line of the palette: what it is called, what it does, and the doing."""

    name: str
    help: str
    do: Callable[[], object]


class Entries(Provider):
    """Entries of one kind. Their texts are a model's or a plugin's as often as ours: none is read as markup."""

    OPEN: ClassVar[bool] = True
    """Whether they are there before anything is typed."""

    @property
    def looks(self) -> Looks:
        """The app."""
        return cast("Looks", self.app)

    @abstractmethod
    async def entries(self) -> Iterable[Entry]:
        """All of this kind."""

    def line(self, line: str) -> None:
        """Do what typing this line does."""
        for composer in self.screen.query(Composer):
            composer.post_message(Composer.Submitted(line))
            break

    async def discover(self) -> Hits:
        if self.OPEN:
            for entry in await self.entries():
                yield DiscoveryHit(Content(_shown(entry.name)), entry.do, text=entry.name, help=_help(entry.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in await self.entries():
            name = _shown(entry.name)
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), entry.do, text=name, help=_help(entry.help))


def _shown(name: str) -> str:
    return cut(visible(name), _LONGEST)


def _help(text: str) -> str:
    r"""Textual reads a help text as markup; nothing of it is any."""
    return cut(visible(text), _LONGEST).replace("[", r"\[")


class SlashCommands(Entries):
    """Those of the app and of plugins."""

    async def entries(self) -> Iterable[Entry]:
        """Each, as its name alone would do it; one that wants more is put into the input."""
        found = await asyncio.to_thread(offered, self.looks.host)
        return [Entry(f"/{one.name}", one.help, partial(self._take, one.name, one.usage)) for one in found]

    def _take(self, name: str, usage: str) -> None:
        wants = usage.removeprefix(f"/{name}").strip()
        if not wants or wants.startswith("["):
            self.line(f"/{name}")
            return
        for composer in self.screen.query(Composer):
            composer.write(f"/{name} ")
            composer.focus()
            break


class Themes(Entries):
    """Themes, ours first."""

    OPEN = False

    async def entries(self) -> Iterable[Entry]:
        """Each, taken and kept."""
        return [Entry(f"theme {name}", "", partial(self.line, f"/theme {name}")) for name in self.looks.themes]


class Sessions(Entries):
    """Past sessions of this folder."""

    OPEN = False

    async def entries(self) -> Iterable[Entry]:
        """The latest ones, by what was asked first in them."""
        past = await asyncio.to_thread(self.looks.host.past)
        here = [one for one in past if one.here][:_SESSIONS]
        return [
            Entry(f"session {one.title or one.id}", one.id, partial(self.line, f"/resume {one.id}")) for one in here
        ]


class Modes(Entries):
    """Modes, and none."""

    OPEN = False

    async def entries(self) -> Iterable[Entry]:
        """Each, with what it is for."""
        modes = {**self.looks.host.modes(), "none": "no mode"}
        return [Entry(f"mode {name}", what, partial(self.line, f"/mode {name}")) for name, what in modes.items()]


class Models(Entries):
    """Models that are known by name."""

    OPEN = False

    async def entries(self) -> Iterable[Entry]:
        """Each, answering from then on."""
        return [Entry(f"model {name}", "", partial(self.line, f"/model {name}")) for name in self.looks.host.models()]


class Toggles(Entries):
    """What is switched on and off, and pages to read."""

    async def entries(self) -> Iterable[Entry]:
        """Each, with its key's name."""
        app = self.looks
        return [
            Entry("side pane", "open or close it", app.action_side),
            Entry("help", "what the keys and signs do", app.action_help),
            Entry("keys", "every key, and how to bind others", app.action_keys),
        ]
