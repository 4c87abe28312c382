"""The line below a session's input: what goes on, and the few keys that matter now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from rich.text import Text
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widget import Widget

from pegboard_tui.drawing.look import Palette
from pegboard_tui.keys import spelled_keys
from pegboard_tui.side import Section
from pegboard_tui.status import Facts, elapsed
from pegboard_tui.transcript import Transcript

_GAP = "  "
_RUNS, _WAITS = "●", "?"

KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    "idle": (
        ("input.send", "send"),
        ("app.palette", "commands"),
        ("app.help", "help"),
        ("app.side", "side pane"),
        ("app.quit", "leave"),
    ),
    "running": (
        ("session.end_turn", "stop"),
        ("input.steer", "steer"),
        ("app.palette", "commands"),
        ("app.help", "help"),
        ("app.side", "side pane"),
    ),
    "question": (("app.help", "help"), ("app.side", "side pane")),
    "transcript": (
        ("transcript.fold", "fold"),
        ("transcript.copy", "copy"),
        ("transcript.open", "open"),
        ("transcript.search", "search"),
        ("transcript.leave", "back"),
    ),
    "side": (("side.fold", "fold"), ("side.next", "next"), ("side.leave", "back")),
}
"""The keys that matter now, by their ids, the first ones first, and what they do in a word."""


class Hints(Widget):
    """The line below. While something runs it is drawn once a second; else only when it changes."""

    DEFAULT_CSS = "Hints { height: 1; padding: 0 1; }"

    def __init__(self, palette: Palette, *, clock: Callable[[], float] = time.monotonic, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.facts = Facts()
        self._clock = clock
        self._since: dict[str, float] = {}

    def on_mount(self) -> None:
        self._tick = self.set_interval(1.0, self.refresh, pause=True)
        self.screen.bindings_updated_signal.subscribe(self, lambda screen: self.refresh())

    def show(self, facts: Facts) -> None:
        """Show this. How long it has run is counted from when it was first seen running, for each session."""
        since = self._since.setdefault(facts.session, self._clock()) if facts.running else None
        if since is None:
            self._since.pop(facts.session, 0.0)
        facts = Facts(
            running=facts.running,
            since=since,
            waiting=facts.waiting,
            queued=facts.queued,
        )
        if facts != self.facts:
            self.facts = facts
            (self._tick.resume if facts.running else self._tick.pause)()
            self.refresh()

    def render(self) -> Text:
        return hint_text(self.facts, self._keys(), self._clock(), self.content_size.width, self.palette)

    def _keys(self) -> list[tuple[str, str]]:
        focused = self.screen.focused
        if self.facts.waiting:
            what = "question"
        elif isinstance(focused, Transcript):
            what = "transcript"
        elif isinstance(focused, Section):
            what = "side"
        else:
            what = "running" if self.facts.running else "idle"
        bound = keys_in(focused.ancestors_with_self if focused else [self.app])
        keymap = getattr(self.app, "keys", {})
        return [(spelled_keys(keymap.get(id, bound[id]), 1), word) for id, word in KEYS[what] if id in bound]


def keys_in(nodes: Iterable[DOMNode]) -> dict[str, str]:
    """The keys that reach something from the focus on, by their ids; also those that something nearer takes first, and
    passes on."""
    found: dict[str, str] = {}
    for node in nodes:
        found = {**_keys_of(type(node)), **found}
    return found


@cache
def _keys_of(kind: type[DOMNode]) -> dict[str, str]:
    """The keys that a class and those it is made from bind, by their ids."""
    found: dict[str, str] = {}
    for owner in kind.__mro__:
        for binding in Binding.make_bindings(owner.__dict__.get("BINDINGS", ())):
            if binding.id:
                found.setdefault(binding.id, binding.key)
    return found


def hint_text(facts: Facts, keys: Sequence[tuple[str, str]], now: float, width: int, palette: Palette) -> Text:
    """The line below: what goes on, then as many keys as fit, the first ones first. keys: their names, what they do."""
    line = Text(no_wrap=True)
    if facts.waiting:
        many = "a question" if facts.waiting == 1 else f"{facts.waiting} questions"
        line.append(f"{_WAITS} {many}", palette.warning)
    elif facts.running:
        line.append(_RUNS, palette.accent)
        line.append(f" {elapsed(now - facts.since)}" if facts.since is not None else " at work", palette.text)
    if facts.queued:
        line.append(_GAP if line else "").append(f"{facts.queued} queued", palette.text)
    for key, what in keys:
        piece = Text(_GAP if line else "").append(key, palette.strong).append(f" {what}", palette.dim)
        if line.cell_len + piece.cell_len <= width:
            line.append_text(piece)
    line.truncate(max(width, 0))
    return line
