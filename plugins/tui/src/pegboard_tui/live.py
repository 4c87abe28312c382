"""What runs now: the tail of what each running call prints, in a panel above the input."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pegboard.terminal import command_output, spelled, visible
from rich.text import Text

from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Made
from pegboard_tui.painted import Painted
from pegboard_tui.status import elapsed

LINES = 10
"""Lines of output in the panel, of all calls together; never more than a third of the height."""
SHOWN = 4
"""Calls in the panel; of more, how many they are."""
LEAST = 8
"""Lines of a screen below which the panel is not shown."""
QUIET = 1.0
"""Seconds after which a call is shown that has not printed anything."""
_WIDEST = 1000


class Live(Painted):
    """Hidden while nothing runs that prints, or takes long."""

    DEFAULT_CSS = "Live { height: auto; max-height: 15; display: none; border-top: solid $secondary; padding: 0 1; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(palette, id=id)
        self._calls: Mapping[str, Made] = {}
        self._tails: Mapping[str, str] = {}
        self._clock: Callable[[], float] = time.monotonic
        self._shown = Text()

    def on_mount(self) -> None:
        self._ticking = self.set_interval(1.0, self.redraw, pause=not self._calls)

    def show(self, running: Mapping[str, Made], tails: Mapping[str, str], clock: Callable[[], float]) -> None:
        """Show the tails of these calls and no others. clock: the one that `Made.since` is told by."""
        self._calls, self._tails, self._clock = dict(running), dict(tails), clock
        if self.is_mounted:
            (self._ticking.resume if running else self._ticking.pause)()
        self.redraw()

    def redraw(self) -> None:
        """Show what runs now, where that has changed."""
        now = self._clock()
        calls = [(id, made) for id, made in self._calls.items() if self._tells(id, made, now)]
        height = self.app.size.height
        self.display = bool(calls) and height >= LEAST
        room = min(LINES, height // 4)  # the input and the transcript have their part of little height
        shown = min(SHOWN, max(height // 6, 1))
        share = max(room // max(min(len(calls), shown), 1), 2)
        lines: list[Text] = []
        for id, made in calls[:shown]:
            lines.append(self._head(made, now))
            commands = made.described.commands
            lines += [Text(f"  {line}", self.palette.dim) for line in tail(self._tails.get(id, ""), share, commands)]
        if len(calls) > shown:
            lines.append(Text(f"and {len(calls) - shown} more that run", self.palette.dim))
        text = Text("\n").join(lines)
        if text != self._shown:
            higher = text.plain.count("\n") != self._shown.plain.count("\n")
            self._shown = text
            self.update(text, layout=higher)  # no line is wrapped: with as many of them the rest stays where it is

    def _tells(self, id: str, made: Made, now: float) -> bool:
        ran = now - made.since if made.since is not None else 0.0
        return bool(self._tails.get(id) or made.progress) or ran >= QUIET

    def _head(self, made: Made, now: float) -> Text:
        """What runs, how far it says it is, and for how long: the name gives way to what comes after it."""
        activity, about = made.described.activity, Text()
        if made.progress:
            about.append(f"  {visible(made.progress[:_WIDEST])}", self.palette.text)
        if made.since is not None and now - made.since >= 1:
            about.append(f"  {elapsed(now - made.since)}", self.palette.dim)
        name = visible(" ".join(filter(None, (activity.verb, activity.subject)))[:_WIDEST])
        text = Text(name, self.palette.strong)
        text.truncate(max((self.size.width or 80) - about.cell_len, 12), overflow="ellipsis")
        return text.append_text(about)


def tail(text: str, most: int, commands: bool = True) -> list[str]:
    """The last lines of what was printed, safe to show. A line that was written over, as progress bars do, is as it was
    written last. commands: it is a terminal's output, which may lose its colours."""
    lines = []
    for line in reversed(text.replace("\r\n", "\n").split("\n")):
        states = [state for state in line.split("\r") if state.strip()]
        if states:
            last = states[-1][-_WIDEST * 4 :] if len(states[-1]) > _WIDEST * 4 else states[-1]
            safe = command_output(last) if commands else spelled(last)
            if safe.strip():
                lines.append(safe.expandtabs()[:_WIDEST])
        if len(lines) == most:
            break
    return lines[::-1]
