"""The transcript, and over it the widgets that plugins have for their blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, ClassVar, TypeAlias

from pegboard.blocks import AnyBlock, Custom, Note
from pegboard.terminal import visible
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from pegboard_tui.custom import messages as told
from pegboard_tui.custom.crew import Crew
from pegboard_tui.custom.framed import GUTTER, Framed
from pegboard_tui.custom.kinds import Kinds
from pegboard_tui.items import Made, Shown
from pegboard_tui.transcript import Place, Transcript
from pegboard_tui.working import work

TICK = 1.0
"""Seconds from one look at the processes to the next."""
UNSEEN = 10
"""Ticks after which a widget that is out of sight is ended; what it painted stays."""
MOST_OPEN = 8
"""Widgets that run at once in a session."""
MOST_KEPT = 64
"""Widgets of which the last painting is kept."""
RIGHT = 2
"""Columns that stay free for the transcript's scrollbar."""

Key: TypeAlias = tuple[str, int]
"""A block: its item's key, and its number in that."""


class Stage(Widget):
    """The transcript with plugins' widgets in place of the blocks they know.

    A block is drawn plain until its widget has painted, and again when that fails. It is the item's own list of blocks that
    tells the transcript: while a widget shows a block, the block stands there without its plain form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next(1)", "into a widget", priority=True, show=False, id="transcript.widget"),
        Binding("shift+tab", "next(-1)", "out of a widget", priority=True, show=False, id="transcript.widget_back"),
    ]
    DEFAULT_CSS = "Stage { height: 1fr; layers: default above; overflow: hidden hidden; }"

    def __init__(self, transcript: Transcript, kinds: Kinds) -> None:
        super().__init__()
        self.transcript = transcript
        self.kinds = kinds
        self._crew = Crew(kinds, self._painted, self._failed)
        self._frames: dict[Key, Framed] = {}
        self._items: dict[str, Made | Shown] = {}
        self._blocks: dict[Key, Custom] = {}  # whole, also where an item has them without their plain form
        self._plain: set[Key] = set()
        self._searching = self._searched = False

    def compose(self) -> ComposeResult:
        """The transcript alone, at first."""
        yield self.transcript

    def on_mount(self) -> None:
        """Be ready to look after processes."""
        self._ticking = self.set_interval(TICK, self._tick, pause=True)  # until there is a widget
        self.app.theme_changed_signal.subscribe(self, lambda _: self._dress())

    async def on_unmount(self) -> None:
        """End them all."""
        await self._crew.end()

    @property
    def frames(self) -> list[Framed]:
        """The widgets that have painted, in no order."""
        return [frame for frame in self._frames.values() if frame.painted]

    @property
    def processes(self) -> list[int]:
        """The processes that run widgets."""
        return self._crew.processes

    # --- where they are -----------------------------------------------------------------------------------------------

    def on_transcript_scrolled(self, message: Transcript.Scrolled) -> None:
        """Items lie elsewhere."""
        self.sync()

    def on_resize(self) -> None:
        """There is other room for everything."""
        for frame in self._frames.values():
            self._send(frame, told.Size(pane=frame.pane, width=self._columns, height=self._most))
        self.call_after_refresh(self.sync)

    def sync(self) -> None:
        """Put every widget where its block lies, and make those that came into sight."""
        seen: set[Key] = set()
        for place in self.transcript.places():
            self._items[place.item.key] = place.item
            if place.item.folded or not self._known():
                continue
            y = place.y + place.height - self.region.y
            for index, block in customs(place.item):
                key = (place.item.key, index)
                frame = self._frame(key, place, block)
                if frame is not None:
                    seen.add(key)
                    self._place(frame, y)
                    y += self._height(frame)
        for key, frame in self._frames.items():
            frame.in_sight = key in seen
            if not frame.in_sight:
                self._hide(frame)

    @property
    def _columns(self) -> int:
        return max(self.size.width - GUTTER - RIGHT, 1)

    @property
    def _most(self) -> int:
        """Lines that a widget may have: half of the room, for the rest is the session's."""
        return max(self.size.height // 2, 3)

    def _height(self, frame: Framed) -> int:
        return min(frame.rows, self._most) if frame.painted else 0

    def _place(self, frame: Framed, y: int) -> None:
        height = self._height(frame)
        frame.display = frame.painted and height > 0 and -height < y < self.size.height
        if frame.display:
            frame.styles.offset = (0, y)
            frame.styles.width, frame.styles.height = self._columns + GUTTER, height

    def _hide(self, frame: Framed) -> None:
        if frame.has_focus:
            self.transcript.focus()
        frame.display = False

    # --- which there are ----------------------------------------------------------------------------------------------

    def _known(self) -> bool:
        """Whether it is known which widgets there are; it is looked up now if not, and everything is shown plain so long."""
        if not self._searched and not self._searching:
            self._searching = True
            work(self, self._search, "looking for widgets")
        return self._searched

    async def _search(self) -> None:
        await asyncio.to_thread(self.kinds.search)
        self._searched = True
        self.sync()

    def _frame(self, key: Key, place: Place, block: Custom) -> Framed | None:
        if key in self._plain:
            return None
        if block.plain or key not in self._blocks:
            self._blocks[key] = block
        frame = self._frames.get(key)
        if frame is None:
            claim = self.kinds.find(block.kind)
            if text := self.kinds.told(block.kind):
                self._tell(place.item, text)
            if claim is None:
                return None
            frame = self._frames[key] = Framed(self._blocks[key], self.transcript.palette, self._send)
            frame.display = False
            self.mount(frame)
            self._ticking.resume()
        elif block.plain and frame.painted:  # the item has its blocks anew
            self._show(key)
        if frame.pane == -1 and self._room():
            frame.pane = self._crew.open(frame.block, self._columns, self._most, self._theme, self._background)
        return frame

    def _room(self) -> bool:
        """Whether one more may run; the one that is longest out of sight ends for it."""
        opened = [frame for frame in self._frames.values() if frame.pane != -1]
        unseen = [frame for frame in opened if not frame.in_sight]
        if len(opened) >= MOST_OPEN and unseen:
            self._close(max(unseen, key=lambda frame: frame.unseen))
        return len(opened) < MOST_OPEN or bool(unseen)

    def _close(self, frame: Framed) -> None:
        self._send(frame, told.Close(pane=frame.pane))
        frame.pane = -1
        frame.forget()

    def _send(self, frame: Framed, message: told.AnyToChild) -> None:
        self._crew.send(frame.block.kind, message)

    @property
    def _theme(self) -> dict[str, Any]:
        return asdict(self.app.current_theme)

    @property
    def _background(self) -> str:
        return self.transcript.background_colors[1].hex

    def _dress(self) -> None:
        theme, background = self._theme, self._background
        for frame in self._frames.values():
            frame.palette = self.transcript.palette
            self._send(frame, told.Dress(pane=frame.pane, theme=theme, background=background))

    # --- what becomes of them -----------------------------------------------------------------------------------------

    def _painted(self, message: told.Painted) -> None:
        key = next((key for key, frame in self._frames.items() if frame.pane == message.pane), None)
        if key is None:
            return
        frame = self._frames[key]
        before, first = self._height(frame), not frame.painted
        frame.paint(message)
        if first or self._height(frame) != before:
            self._show(key)
            self.sync()

    def _show(self, key: Key) -> None:
        """The block stands there without its plain form, and there is room for its widget below."""
        self._put(key, Custom(kind=self._blocks[key].kind, data=self._blocks[key].data))
        self._redraw(self._items[key[0]])

    def _put(self, key: Key, block: Custom) -> None:
        blocks = blocks_of(self._items[key[0]])
        if key[1] < len(blocks):
            blocks[key[1]] = block

    def _redraw(self, item: Made | Shown) -> None:
        frames = [frame for (name, _), frame in self._frames.items() if name == item.key]
        item.touch()
        self.transcript.reserve(item.key, sum(map(self._height, frames)))
        self.transcript.take([item])

    def _failed(self, kind: str, pane: int, error: str) -> None:
        """One widget is gone, or all of this kind: their blocks are plain again, and it is told where it is seen."""
        claim = self.kinds.find(kind)
        whose = claim.whose if claim else visible(f"the widget {kind!r}")
        text = (
            f"{whose} {visible(error)}; the block is shown plain instead, and nothing else is changed. "
            f'Update or uninstall it, or put "{visible(kind)}" in plugins.disable'
        )
        if pane == -1:
            self.kinds.fail(kind, text)
        gone = [key for key, frame in self._frames.items() if frame.block.kind == kind and pane in (-1, frame.pane)]
        if gone and self.kinds.once(kind):
            self._tell(self._items[gone[0][0]], text)
        for key in [key for key, block in self._blocks.items() if block.kind == kind and (pane == -1 or key in gone)]:
            self._plain.add(key)
            self._put(key, self._blocks[key])
            self._remove(key)
            self._redraw(self._items[key[0]])

    def _remove(self, key: Key) -> None:
        frame = self._frames.pop(key, None)
        if frame is not None:
            self._hide(frame)
            frame.remove()

    def _tell(self, item: Made | Shown, text: str) -> None:
        blocks_of(item).append(Note(text=text))
        item.touch()
        self.transcript.take([item])

    def _tick(self) -> None:
        self._crew.look()
        for frame in self._frames.values():
            frame.unseen = 0 if frame.in_sight else frame.unseen + 1
            if frame.unseen > UNSEEN and frame.pane != -1:
                self._close(frame)
        for key in sorted(self._frames, key=lambda key: -self._frames[key].unseen)[: -MOST_KEPT or None]:
            if not self._frames[key].in_sight:
                self._remove(key)

    # --- leaving them -------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tab is ours where it leads from the transcript to a widget, and from one to the next."""
        return action != "next" or self._next(1 if parameters == (1,) else -1) is not None

    def action_next(self, step: int) -> None:
        """Go to the widget below or above; behind the last one back to where the transcript leads."""
        match self._next(step):
            case Widget() as found:
                found.focus()
            case True:
                self.transcript.post_message(Transcript.Left())

    def _next(self, step: int) -> Widget | bool | None:
        """What Tab leads to from what has the keys; True: out of here; None: it is not ours to say."""
        focused = self.screen.focused
        chain: list[Widget] = [self.transcript, *sorted(self._reachable(), key=lambda frame: frame.region.y)]
        if focused not in chain or len(chain) == 1:
            return None
        if isinstance(focused, Framed) and not focused.leads_out("tab" if step == 1 else "shift+tab"):
            return None
        at = chain.index(focused) + step
        return None if at < 0 else chain[at] if at < len(chain) else True

    def _reachable(self) -> list[Framed]:
        return [frame for frame in self._frames.values() if frame.display and frame.can_focus]

    def on_key(self, event: events.Key) -> None:
        """Escape leads from a widget back to the transcript."""
        if event.key == "escape" and isinstance(self.screen.focused, Framed):
            event.stop()
            event.prevent_default()
            self.transcript.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A widget that is reached by the keyboard is brought into sight."""
        if isinstance(event.widget, Framed):
            top, bottom = event.widget.region.y, event.widget.region.bottom
            if top < self.region.y:
                self.transcript.scroll_lines(top - self.region.y)
            elif bottom > self.region.bottom:
                self.transcript.scroll_lines(bottom - self.region.bottom)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel over a widget scrolls the page."""
        event.stop()
        self.transcript.scroll_lines(-round(self.app.scroll_sensitivity_y))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel over a widget scrolls the page."""
        event.stop()
        self.transcript.scroll_lines(round(self.app.scroll_sensitivity_y))


def blocks_of(item: Made | Shown) -> list[AnyBlock]:
    """The blocks that an item shows."""
    return item.blocks if isinstance(item, Shown) else item.drawn


def customs(item: Made | Shown) -> Iterator[tuple[int, Custom]]:
    """Blocks of plugins' own among them, with their number."""
    for index, block in enumerate(blocks_of(item)):
        if isinstance(block, Custom):
            yield index, block
