"""The side pane: the context, tool sets and what they cost, background commands, panels of plugins.

It is drawn when something in it has changed, which a streaming text never does. What runs in the background is looked up
now and then while the pane is seen, for nobody tells of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from pegboard.errors import PegboardError
from pegboard.events import PanelChanged
from pegboard.port import Conversation, Cost, Job
from pegboard.terminal import visible
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.fold import Fold
from pegboard_tui.signs import cut
from pegboard_tui.status import count, money
from pegboard_tui.working import work

LOOK_SECONDS = 2.0
"""How often background commands are looked up while one runs."""
_PANEL = "panel:"
_MOST_LINES = 200
"""Of a plugin's panel; what is left out is told."""

Draw = Callable[[Look], list[Strip]]


class Section(Widget, can_focus=True):
    """A titled part of the pane that can be folded."""

    DEFAULT_CSS = "Section { height: auto; margin: 0 0 1 0; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "fold", "fold", id="side.fold"),
        Binding("down", "app.focus_next", "next", id="side.next", show=False),
        Binding("up", "app.focus_previous", "previous", id="side.previous", show=False),
        Binding("escape", "leave", "back to the input", id="side.leave"),
    ]

    class Left(Message):
        """The person is done with the pane."""

    def __init__(self, palette: Palette, *, folded: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.folded = folded
        self._shown: tuple[str, str, object] = ("", "", None)
        self._draw: Draw = lambda look: []
        self._lines: tuple[int, list[Strip]] | None = None

    def put(self, title: str, right: str, key: object, draw: Draw) -> None:
        """Show this. key: what the drawing depends on beside the width; while it is the same nothing is drawn anew."""
        if self._shown != (title, right, key):
            self._shown, self._draw = (title, right, key), draw
            self.redraw()

    def redraw(self) -> None:
        """Draw it anew."""
        self._lines = None
        self.refresh(layout=True)

    def action_fold(self) -> None:
        """Show the title alone, or all of it again."""
        self.folded = not self.folded
        self.redraw()

    def action_leave(self) -> None:
        """Back to the input; a pane that lies over the transcript is closed."""
        self.post_message(self.Left())

    def on_click(self) -> None:
        self.action_fold()

    def on_focus(self) -> None:
        self._lines = None

    def on_blur(self) -> None:
        self._lines = None

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._at(width))

    def render_line(self, y: int) -> Strip:
        drawn = self._at(self.size.width)
        line = drawn[y] if y < len(drawn) else Strip([])
        return line.adjust_cell_length(self.size.width).apply_style(self.rich_style)

    def _at(self, width: int) -> list[Strip]:
        if self._lines is None or self._lines[0] != width:
            self._lines = width, [self._title(width), *([] if self.folded else self._body(width))]
        return self._lines[1]

    def _title(self, width: int) -> Strip:
        title, right, _ = self._shown
        style = self.palette.heading + (self.palette.focus if self.has_focus else Style())
        sign = "▸" if self.folded else "▾"
        return pair(f"{sign} {title}", right, width, style, self.palette.dim + Style(bgcolor=style.bgcolor))

    def _body(self, width: int) -> list[Strip]:
        look = Look(width=max(width - 2, 8), palette=self.palette, images=False)
        drawn = self._draw(look)
        if len(drawn) > _MOST_LINES:
            left = f"… {len(drawn) - _MOST_LINES} more lines"
            drawn = [*drawn[:_MOST_LINES], Strip([Segment(left, self.palette.note)])]
        return [Strip.join([Strip([Segment("  ")]), line]) for line in drawn]


class Side(VerticalScroll, can_focus=False):
    """What there is beside the transcript."""

    DEFAULT_CSS = "Side { width: 36; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._sections: dict[str, Section] = {}
        self._jobs: list[Job] = []
        self._costs: list[Cost] = []
        self._conversation: Conversation | None = None
        self._asked: object = None
        self._looking = False

    @property
    def palette(self) -> Palette:
        """The styles it is drawn in."""
        return self._palette

    @palette.setter
    def palette(self, palette: Palette) -> None:
        self._palette = palette
        for section in self._sections.values():
            section.palette = palette
            section.redraw()

    def on_mount(self) -> None:
        self.set_interval(LOOK_SECONDS, self._look_again)

    def show(self, fold: Fold, conversation: Conversation) -> None:
        """Show how this session stands."""
        other = conversation is not self._conversation
        self._conversation = conversation
        if other:
            self._jobs = []
        asked = (conversation.id, conversation.mode, fold.turn, len(fold.items) - len(fold.running))
        if other or asked != self._asked:
            self._asked = asked
            self._costs = conversation.costs()
            self._look_for_jobs()
        used = (fold.context, conversation.context, fold.tokens_in, fold.tokens_out, fold.cost)
        self._section("context").put("Context", "", used, lambda look: _context(used, look))
        self._show_costs(conversation.context)
        self._show_jobs()
        self._show_panels(fold.panels)

    def toggle(self, *, narrow: bool) -> bool:
        """Open or close it: beside the transcript, or (narrow) over it. Returns whether it is open now."""
        if narrow:
            return self.toggle_class("-over").has_class("-over")
        return not self.toggle_class("-closed").has_class("-closed")

    def take_focus(self) -> None:
        """Let the keys go to its first section."""
        for section in self._sections.values():
            section.focus()
            break

    # --- its parts ----------------------------------------------------------------------------------------------------

    def _section(self, id: str, *, folded: bool = False) -> Section:
        """The section of this id, made when it is first needed; panels of plugins come after ours."""
        found = self._sections.get(id)
        if found is None:
            found = self._sections[id] = Section(self._palette, folded=folded)
            panels = [section for name, section in self._sections.items() if name.startswith(_PANEL)]
            self.mount(found, before=panels[0] if panels and not id.startswith(_PANEL) else None)
        return found

    def _show_costs(self, limit: int | None) -> None:
        costs, tokens = self._costs, sum(cost.tokens for cost in self._costs)
        share = f"  {100 * tokens / limit:.0f}%" if limit else ""
        self._section("sets").put("Tool sets", f"~{count(tokens)}{share}", costs, lambda look: _sets(costs, look))
        number = sum(len(cost.tools) for cost in costs)
        self._section("tools", folded=True).put("Tools", str(number), costs, lambda look: _tools(costs, look))

    def _show_jobs(self) -> None:
        jobs = self._jobs
        running = sum(not job.over for job in jobs)
        section = self._section("jobs")
        section.display = bool(jobs)
        section.put("Background", f"{running} running" if running else "", jobs, lambda look: _background(jobs, look))

    def _show_panels(self, panels: Mapping[str, PanelChanged]) -> None:
        for id in [id for id in self._sections if id.startswith(_PANEL) and id.removeprefix(_PANEL) not in panels]:
            self._sections.pop(id).remove()
        for id, panel in panels.items():
            self._section(_PANEL + id).put(cut(visible(panel.title), 60), "", panel, partial(_panel, panel))

    # --- background commands ------------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        if self.display and self.size.width and any(not job.over for job in self._jobs):
            self._look_for_jobs()

    def _look_for_jobs(self) -> None:
        if self.is_attached and not self._looking:
            self._looking = True
            work(self, self._read_jobs, "looking at what runs in the background")

    async def _read_jobs(self) -> None:
        conversation = self._conversation
        try:
            jobs = await asyncio.to_thread(conversation.jobs) if conversation is not None else []
        except (OSError, PegboardError):
            return  # what was known stays
        finally:
            self._looking = False
        if conversation is not self._conversation:
            self._look_for_jobs()  # another session is looked at since
            return
        self._jobs = jobs
        self._show_jobs()


# --- what stands in it --------------------------------------------------------------------------------------------------


def pair(left: str, right: str, width: int, style: Style, dim: Style) -> Strip:
    """A line with something at its right end. What is too long is cut at the left one's end, and `…` says so."""
    right = cut(right, width)
    left = cut(left, max(width - cell_len(right) - (1 if right else 0), 0))
    gap = " " * max(width - cell_len(left) - cell_len(right), 0)
    return Strip([Segment(left, style), Segment(gap, style), Segment(right, dim)])


def _context(used: tuple[int, int | None, int, int, float | None], look: Look) -> list[Strip]:
    context, limit, tokens_in, tokens_out, cost = used
    palette, width = look.palette, look.width
    drawn = []
    if limit:
        share = min(context / limit, 1.0)
        full = round(share * width)
        style = palette.problem if share > 0.9 else palette.warning if share > 0.7 else palette.accent
        drawn.append(Strip([Segment("━" * full, style), Segment("─" * (width - full), palette.dim)]))
        said = f"{count(context)} of {count(limit)}" if context else f"none of {count(limit)}"
        drawn.append(pair(said, f"{100 * share:.0f}%", width, palette.text, palette.text))
    elif context:
        drawn.append(pair("used", count(context), width, palette.dim, palette.text))
    drawn.append(pair("tokens in", count(tokens_in), width, palette.dim, palette.text))
    drawn.append(pair("tokens out", count(tokens_out), width, palette.dim, palette.text))
    if cost is not None:
        drawn.append(pair("cost", money(cost), width, palette.dim, palette.text))
    return drawn


def _sets(costs: Sequence[Cost], look: Look) -> list[Strip]:
    palette = look.palette
    return [
        pair(
            f"{visible(cost.set) or 'without a set'} {len(cost.tools)}",
            f"~{count(cost.tokens)}",
            look.width,
            palette.text,
            palette.dim,
        )
        for cost in sorted(costs, key=lambda cost: -cost.tokens)
    ] or [Strip([Segment("no tools are offered", palette.note)])]


def _tools(costs: Sequence[Cost], look: Look) -> list[Strip]:
    return [
        Strip([Segment(cut(visible(tool), look.width), look.palette.text)])
        for cost in costs
        for tool in sorted(cost.tools)
    ]


def _background(jobs: Sequence[Job], look: Look) -> list[Strip]:
    drawn = []
    for job in reversed(jobs[-20:]):
        style = look.palette.dim if job.over else look.palette.text
        sign = " " if job.over else "●"
        label = cut(visible(" ".join(job.label.split())), look.width - 2)
        drawn.append(Strip([Segment(f"{sign} ", look.palette.accent), Segment(label, style)]))
        drawn.append(Strip([Segment("  "), Segment(cut(visible(job.state), look.width - 2), look.palette.dim)]))
    return drawn


def _panel(panel: PanelChanged, look: Look) -> list[Strip]:
    return [line for block in panel.blocks for line in lines(block, look)]
