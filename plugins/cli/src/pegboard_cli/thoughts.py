"""A model's thinking, dimmed beside the answer: it comes in pieces, and only a whole line can be drawn there."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.events import AnyEvent, Message, Thinking
from pegboard.terminal import Speller

from pegboard_cli.screen import Screen


class Thoughts:
    """Shows thinking as it comes, or whole with the reply, from a provider that gives it no sooner."""

    def __init__(self, screen: Screen, *, shown: bool) -> None:
        self._screen = screen
        self._shown = shown
        self._speller = Speller()
        self._line = ""
        self._came = False

    def hear(self, event: AnyEvent) -> None:
        """Take note of an event: anything but thinking ends what was thought so far."""
        match event:
            case _ if not self._shown:
                pass
            case Thinking(text=text):
                self._came = True
                self._say(self._feed(text))
            case Message(thinking=whole):
                self._say([*(self._feed(whole) if not self._came else ()), *self._end()])
                self._came = False
            case _:
                self._say(self._end())

    def _feed(self, piece: str) -> list[str]:
        """The lines that this piece ends."""
        *lines, self._line = (self._line + self._speller.feed(piece)).split("\n")
        return lines

    def _end(self) -> list[str]:
        """What is left of a line."""
        left, self._line = self._line + self._speller.end(), ""
        return [left] if left.strip() else []

    def _say(self, lines: Sequence[str]) -> None:
        if lines:
            self._screen.say(*(self._screen.styles.dim(f"  {line}") for line in lines))
