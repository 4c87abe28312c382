"""The answer as it comes, behind a result that it may turn out to repeat: such a result is not shown twice."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard_cli.screen import Screen


class Answer:
    """Pieces of an answer on their way to the screen. `holds`: a result is held back until it is known what follows it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._held = ""
        self._held_lines: Sequence[str] = ()
        self._waiting = ""

    @property
    def holds(self) -> bool:
        """Whether a result is held back."""
        return bool(self._held)

    def result(self, text: str, lines: Sequence[str]) -> None:
        """A result below its call; on the answer's own terminal, unless that repeats it."""
        if self._screen.one_terminal:
            self.hold(text, lines)
        else:
            self.echo(lines)

    def hold(self, text: str, lines: Sequence[str]) -> None:
        """Hold a result back; meanwhile its end is shown where it can be taken back. `lines`: the text, safe to show."""
        self._held, self._held_lines = text.strip(), lines
        self._screen.show_tail(lines)

    def add(self, piece: str) -> None:
        """A piece of the answer. One that repeats the result held back is shown in its place."""
        if self._held:
            self._waiting += piece
            if self._held not in self._waiting:
                if not self._held.startswith(self._waiting.strip()):
                    self.settle()
                return
            piece = self._waiting.replace(self._held, "\n".join(self._held_lines).strip())
            self._held = self._waiting = ""
        self._screen.answer(piece)

    def settle(self) -> None:
        """Show the result that was held back, and what came of the answer since."""
        if self._held:
            self.echo(self._held_lines)
            self._held = ""
        if self._waiting:
            self._screen.answer(self._waiting)
            self._waiting = ""

    def echo(self, lines: Sequence[str]) -> None:
        """A result below its activity line."""
        self._screen.say(*(self._screen.styles.dim(f"  {line}") for line in lines))
