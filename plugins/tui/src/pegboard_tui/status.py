"""The line above a session (who answers, in which mode, how full the context is) and the one below its input (what goes on,
and the keys that matter now). Both are drawn from `Facts`, and only when something in them has changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pegboard.terminal import visible
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Asked
from pegboard_tui.keys import spelled_keys

if TYPE_CHECKING:
    from pegboard_tui.session import SessionView

_GAP = "  "
_RUNS, _WAITS = "●", "?"
_SHORT = 12
"""Cells of a title below which none is shown."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """How a session stands. unasked: what lets calls run unasked. used, limit: of the context, in tokens. cost: in dollars.
    running: a turn, or calls outside one. since: when that began, on the clock. waiting: questions. queued: prompts."""

    session: str = ""
    model: str = ""
    mode: str | None = None
    unasked: str = ""
    title: str = ""
    root: str = ""
    used: int = 0
    limit: int | None = None
    cost: float | None = None
    running: bool = False
    since: float | None = None
    waiting: int = 0
    queued: int = 0


def facts_of(view: SessionView) -> Facts:
    """How a session stands now."""
    fold, conversation = view.fold, view.conversation
    return Facts(
        session=conversation.id,
        model=conversation.model,
        mode=conversation.mode,
        unasked=conversation.unasked,
        title=view.title if any(isinstance(item, Asked) for item in fold.items) else "",
        root=view.host.root,
        used=fold.context,
        limit=conversation.context,
        cost=fold.cost,
        running=view.running,
        waiting=len(fold.questions),
        queued=len(view.queued.texts),
    )


# --- above --------------------------------------------------------------------------------------------------------------


def status_text(facts: Facts, width: int, palette: Palette) -> Text:
    """The line above: what matters most comes first, is never left out, and grows as far as there is room."""
    alarm = Style(bold=True, reverse=True) if not palette.colour else palette.warning + Style(reverse=True)
    mark = visible(facts.unasked or facts.mode or "")
    model = visible(facts.model)
    shown = {"mark": f" {mark} " if facts.unasked else mark, "model": model.rpartition("/")[2]}
    longer = [
        ("used", context_text(facts, short=True)),
        ("cost", money(facts.cost)),
        ("used", context_text(facts)),
        ("model", model),
        ("root", home(facts.root)),
    ]
    title = visible(facts.title)
    wanted = min(cell_len(title), 30)
    for slot, text in longer:
        spare = {"root": wanted, "model": min(wanted, _SHORT)}.get(slot, 0)
        room = width - (spare + len(_GAP) if spare else 0)
        if text and _width(shown | {slot: text}) <= room:
            shown[slot] = text
    room = width - _width(shown | {"title": "x"}) + 1
    if title and room >= min(cell_len(title), _SHORT):
        shown["title"] = cut(title, room)
    styles: dict[str, Style] = {
        "mark": alarm if facts.unasked else palette.prompt,
        "model": palette.accent,
        "title": palette.text,
    }
    left, right = Text(), Text()
    for slot in ("mark", "model", "title", "root", "used", "cost"):
        if said := shown.get(slot):
            side = right if slot in ("root", "used", "cost") else left
            side.append(_GAP if side else "").append(said, styles.get(slot, palette.dim))
    left.append(" " * max(width - left.cell_len - right.cell_len, 0)).append_text(right)
    left.truncate(max(width, 0), overflow="ellipsis")
    left.no_wrap = True
    return left


def _width(shown: dict[str, str]) -> int:
    texts = [text for text in shown.values() if text]
    return sum(cell_len(text) for text in texts) + len(_GAP) * max(len(texts) - 1, 0)


def context_text(facts: Facts, short: bool = False) -> str:
    """How full the context is: `12k/128k 9%`; 9%; `12k` where nobody knows the limit; nothing before the first answer."""
    if not facts.used:
        return ""
    if not facts.limit:
        return count(facts.used)
    share = f"{100 * facts.used / facts.limit:.0f}%"
    return share if short else f"{count(facts.used)}/{count(facts.limit)} {share}"


def count(number: int) -> str:
    """A number of tokens in few letters: 950, 1.2k, 12k, 1.2M."""
    if number < 1_000:
        return str(number)
    for size, letter in ((1_000, "k"), (1_000_000, "M")):
        part = number / size
        if part < 999.5 or letter == "M":
            return f"{part:.1f}{letter}".replace(".0", "") if part < 9.95 else f"{part:.0f}{letter}"
    return str(number)


def money(cost: float | None) -> str:
    """Dollars: $0.12, $0.004; nothing where the provider tells none."""
    if cost is None:
        return ""
    return f"${cost:.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.4f}".rstrip("0")


def home(path: str) -> str:
    """A folder with `~` for the home it is in."""
    base = os.path.expanduser("~")
    short = f"~{path[len(base) :]}" if base != "/" and (path == base or path.startswith(f"{base}/")) else path
    return visible(short)


def cut(text: str, width: int) -> str:
    """Text of at most so many cells; `…` says that there is more."""
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 0)).rstrip() + "…"[: max(width, 0)]


# --- below --------------------------------------------------------------------------------------------------------------


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


def elapsed(seconds: float) -> str:
    """7s, 1m 07s, 2h 03m."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


# --- widgets ------------------------------------------------------------------------------------------------------------


class Status(Widget):
    """The line above."""

    DEFAULT_CSS = "Status { height: 1; padding: 0 1; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.facts = Facts()

    def show(self, facts: Facts) -> None:
        """Show this; nothing is drawn when it says the same."""
        facts = replace(facts, running=False, since=None, waiting=0, queued=0)
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def render(self) -> Text:
        return status_text(self.facts, self.content_size.width, self.palette)


KEYS: dict[str, tuple[str, ...]] = {
    "idle": ("input.send", "app.palette", "app.help", "app.side", "app.quit"),
    "running": ("session.end_turn", "input.steer", "app.palette", "app.help"),
    "question": ("app.help", "app.side"),
}
"""The ids of keys that matter now, the first ones first. Those that are not bound where the focus is are left out."""


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
        what = "question" if self.facts.waiting else "running" if self.facts.running else "idle"
        active = [one.binding for one in self.screen.active_bindings.values() if one.enabled]
        return keys_of(KEYS[what], [(one.id or "", one.key, one.description) for one in active])


def keys_of(ids: Iterable[str], active: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """The keys of these ids, as they are bound now: the first key of each, and what it does."""
    first: dict[str, tuple[str, str]] = {}
    for id, key, what in active:
        first.setdefault(id, (spelled_keys(key), what))
    return [first[id] for id in ids if id in first]
