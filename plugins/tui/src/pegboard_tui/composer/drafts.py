"""What is written and was not sent, and what was sent before: where somebody is between the two."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegboard_tui.composer.history import Prompts, Walk


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """As the input has it, with what its chips stand for."""

    text: str = ""
    chips: Mapping[str, str] = field(default_factory=dict)
    cursor: tuple[int, int] = (0, 0)


class Past:
    """The prompts that were sent, and the way through them. `aside`: what was being written when somebody went there.
    `searching`: they look for one by its words."""

    def __init__(self, file: Path | None) -> None:
        self.aside = Draft()
        self.searching = False
        self._prompts = Prompts(file)
        self._walk = Walk()
        self._shown = ""

    @property
    def entries(self) -> list[str]:
        """Oldest first."""
        return self._prompts.entries

    @property
    def walking(self) -> bool:
        """Whether an older one is in the input, as it was sent."""
        return self._walk.walking

    async def read(self) -> None:
        """Learn what other processes have sent."""
        self._prompts.take(await asyncio.to_thread(self._prompts.read))

    def keep(self, text: str) -> None:
        """Take in what is sent now; the file is written in a thread, which the end of the loop waits for."""
        if self._prompts.remember(text):
            asyncio.get_running_loop().run_in_executor(None, self._prompts.keep, text)

    def back(self, written: Draft) -> str | None:
        """The prompt before; None: there is none. written: what is in the input."""
        if not self._walk.walking:
            self.aside = written
        return self._walk.back(self._prompts)

    def on(self) -> str | None:
        """The prompt after; None: that is what was put aside."""
        return self._walk.on()

    def showing(self, text: str) -> None:
        """The one that was asked for stands in the input like this."""
        self._shown = text

    def look(self, text: str) -> None:
        """This stands in the input now: once it was changed it is somebody's own."""
        if self._walk.walking and text != self._shown:
            self._walk.stop()

    def stop(self) -> None:
        """Something else is in the input."""
        self._walk.stop()
        self.searching = False
