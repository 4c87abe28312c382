"""How a session stands (`Facts`), and the line above it: who answers, in which mode, how full the context is. It is drawn
when something in it has changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pegboard.terminal import visible
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Asked
from pegboard_tui.signs import cut

if TYPE_CHECKING:
    from pegboard_tui.session import SessionView

_GAP = "  "
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


def elapsed(seconds: float) -> str:
    """7s, 1m 07s, 2h 03m."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


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
