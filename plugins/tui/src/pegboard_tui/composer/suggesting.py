"""Where the suggestions for a word come from. What is asked may be anybody's code, and may take its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pegboard.port import Conversation, Host, Offered

from pegboard_tui.composer import completing
from pegboard_tui.composer.choices import MOST
from pegboard_tui.composer.completing import Choice, Wanted
from pegboard_tui.composer.files import Files

Commands: TypeAlias = "Callable[[], Sequence[Offered]]"
Words: TypeAlias = "Callable[[str, str], Sequence[str] | None]"
_KEYS = "Tab takes, Esc closes"
TITLES = {
    "command": f"commands: {_KEYS}",
    "word": f"words: {_KEYS}",
    "file": "files: Enter takes, Tab goes into a folder, Esc closes",
    "path": f"files: {_KEYS}",
}
_PAUSE = 0.05
"""Seconds without a key before a command is asked for words."""


class Suggestions:
    """What could stand in a word's place. commands: all there are, called once and beside the loop, for it imports plugins.
    words: those of the app's own commands, asked beside the loop too; None: it is not one of these."""

    def __init__(self, host: Host) -> None:
        self.files = Files(host)
        self.words: Words | None = None
        self._commands: Commands = host.commands
        self._offered: Sequence[Offered] | None = None

    @property
    def commands(self) -> Commands:
        """Gives the slash commands there are."""
        return self._commands

    @commands.setter
    def commands(self, commands: Commands) -> None:
        self._commands, self._offered = commands, None

    async def find(self, wanted: Wanted, conversation: Conversation) -> list[Choice]:
        """What fits, the best first."""
        match wanted.kind:
            case "command":
                return completing.of_commands(await self._all(), wanted.query)
            case "word":
                await asyncio.sleep(_PAUSE)
                return completing.of_words(await self._asked(wanted, conversation), wanted.query)[:MOST]
            case "file":
                return completing.of_files(await self.files.find(wanted.query, MOST), wanted.query)
            case "path":
                return completing.of_paths(self.files.beginning(wanted.query, MOST), wanted.query)

    async def _all(self) -> Sequence[Offered]:
        if self._offered is None:
            try:
                self._offered = await asyncio.to_thread(lambda: list(self._commands()))
            except Exception:  # noqa: BLE001 - isolates plugins: without completion one can still type
                return []
        return self._offered

    async def _asked(self, wanted: Wanted, conversation: Conversation) -> Sequence[str]:
        try:
            own = await asyncio.to_thread(self.words, wanted.command, wanted.rest) if self.words else None
            return own if own is not None else conversation.complete(wanted.command, wanted.rest)
        except Exception:  # noqa: BLE001 - isolates plugins: without completion one can still type
            return []
