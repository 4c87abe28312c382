"""The transcript: a session's items, read with the keyboard or the mouse, copied from, folded and searched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from pegboard.blocks import Custom
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message

from pegboard_tui.drawing.look import Palette
from pegboard_tui.finding import Find, SearchBar
from pegboard_tui.items import AnyItem, Made, Shown
from pegboard_tui.painting import Marks
from pegboard_tui.pointing import Pointing
from pegboard_tui.selecting import last_code, shown_blocks, source
from pegboard_tui.viewer import Viewer, pieces
from pegboard_tui.window import Gap, spaced


class Place(NamedTuple):
    """Where an item lies that holds a plugin's own block. y: the screen's row of its first drawn line; it may lie above or
    below what is seen. height: its drawn lines; `reserved` empty lines follow below them."""

    item: Made | Shown
    y: int
    height: int
    reserved: int


class Transcript(Pointing):
    """Items below one another. It follows its end until somebody scrolls up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "item above", id="transcript.up", show=False),
        Binding("down,j", "step(1)", "item below", id="transcript.down", show=False),
        Binding("pageup", "page(-1)", "page up", id="transcript.page_up", show=False),
        Binding("pagedown", "page(1)", "page down", id="transcript.page_down", show=False),
        Binding("ctrl+u", "page(-0.5)", "half a page up", id="transcript.half_up", show=False),
        Binding("ctrl+d", "page(0.5)", "half a page down", id="transcript.half_down", show=False),
        Binding("home,g", "home", "to the start", id="transcript.home", show=False),
        Binding("end,G", "end", "to the end, and follow it", id="transcript.end", show=False),
        Binding("enter,space", "fold", "fold or unfold", id="transcript.fold"),
        Binding("y", "copy", "copy", id="transcript.copy"),
        Binding("c,Y", "copy_code", "copy its last code", id="transcript.copy_code"),
        Binding("o", "open", "open it whole", id="transcript.open"),
        Binding("slash", "search", "search", id="transcript.search"),
        Binding("n", "again(-1)", "match above", id="transcript.next", show=False),
        Binding("N", "again(1)", "match below", id="transcript.previous", show=False),
        Binding("escape,tab,shift+tab", "leave", "back", id="transcript.leave"),
    ]

    class Scrolled(Message):
        """Items lie elsewhere on the screen than before: `places()` has changed."""

    class Left(Message):
        """The person goes back to the input."""

    @dataclass
    class Copied(Message):
        """This text is to be put into the clipboard. what: of what it is, in a few words."""

        text: str
        what: str = "text"

    def __init__(self, palette: Palette, *, gap: Gap = spaced, id: str | None = None) -> None:
        super().__init__(palette, gap=gap, id=id)
        self._cursor: str | None = None
        self._find: Find | None = None
        self._places: list[Place] = []

    @property
    def palette(self) -> Palette:
        """The styles of text. Another one draws what is in view anew."""
        return self.look.palette

    @palette.setter
    def palette(self, palette: Palette) -> None:
        self.look = replace(self.look, palette=palette)

    # --- for others ---------------------------------------------------------------------------------------------------

    @property
    def current(self) -> AnyItem | None:
        """The item under the cursor."""
        return None if self._at is None else self.window.items[self._at]

    @property
    def _at(self) -> int | None:
        """The number of the item under the cursor."""
        return self.window.index(self._cursor) if self._cursor is not None else None

    def places(self) -> list[Place]:
        """The items in view that hold a `Custom` block, from top to bottom."""
        found: list[Place] = []
        for index in self.window.visible():
            item, begins = self.window.items[index], self.window.begins(index)
            if begins is not None and isinstance(item, Made | Shown) and holds_custom(item):
                top = self.region.y + begins + self.window.gap(index)
                reserved = self.window.reserved.get(item.key, 0)
                found.append(Place(item, top, len(self.window.strips(index)), reserved))
        return found

    def reserve(self, key: str, height: int) -> None:
        """Keep this many empty lines below the drawn ones of the item of that key; 0: none."""
        if self.window.reserve(key, max(height, 0)):
            self.settle()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is shown whole already is not opened once more."""
        return not (action == "open" and isinstance(self.screen, Viewer))

    # --- where one is -------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        super().settle()
        places = self.places()
        if places != self._places:
            self._places = places
            self.post_message(self.Scrolled())

    def marks(self) -> Marks:
        palette = self.palette
        ground = self.screen.get_component_rich_style("screen--selection").bgcolor  # letters keep their colours
        selected = Style(bgcolor=ground) if palette.colour and ground else palette.focus
        return Marks(
            text=self.visual_style.rich_style,
            cursor=self._at if self.has_focus else None,
            pointer=palette.accent,
            selection=self.text_selection,
            selected=selected,
            search=self._find.pattern if self._find else None,
            found=palette.focus,
        )

    # --- the cursor ---------------------------------------------------------------------------------------------------

    def on_focus(self) -> None:
        self._cursor_in_view(-1)
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _cursor_in_view(self, direction: int) -> int | None:
        """The number of the item under the cursor, which is put into view if it is elsewhere; None: there is no item."""
        visible = [index for index in self.window.visible() if self.window.strips(index)]
        at = self._at
        if at in visible:
            return at
        if not visible:
            return None
        self._cursor = self.window.items[visible[0 if direction > 0 else -1]].key
        return None

    def action_step(self, direction: int) -> None:
        """To the next item, or through one that is longer than the window."""
        at = self._cursor_in_view(direction)
        if at is not None:
            room, begins, ends = self.size.height, self.window.begins(at), self.window.ends(at)
            hidden = -(begins or 0) if direction < 0 else (ends or 0) - room
            if hidden > 0 and (ends or 0) - (begins or 0) >= room:
                self.scroll_lines(direction * min(hidden + 1, max(room // 2, 1)))
            else:
                self._point(at, direction)
        self.refresh()

    def _point(self, at: int, direction: int) -> None:
        """Put the cursor on the next item of which something is to be seen."""
        at += direction
        while 0 <= at < len(self.window.items):
            if self.window.strips(at):
                self._cursor = self.window.items[at].key
                self.window.reveal(at, up=direction < 0)
                return self.settle()
            at += direction
        if direction > 0:
            self.follow()

    def action_page(self, pages: float) -> None:
        """Down by so much of what is in view, less two lines that stay; up, when negative."""
        lines = max(self.size.height - 2, 1) * pages
        self.scroll_lines(int(lines) or (1 if pages > 0 else -1))
        self._cursor_in_view(1 if pages < 0 else -1)
        self.refresh()

    def action_home(self) -> None:
        """To the first line."""
        self.window.at_top(0)
        self.settle()
        self._cursor_in_view(1)
        self.refresh()

    def action_end(self) -> None:
        """To the last line, and on following it."""
        self.follow()
        self._cursor_in_view(-1)
        self.refresh()

    def action_leave(self) -> None:
        """Back to the input."""
        self._find = None
        self.screen.clear_selection()
        self.post_message(self.Left())

    # --- folding ------------------------------------------------------------------------------------------------------

    def action_fold(self) -> None:
        """Fold the item under the cursor, or unfold it."""
        at = self._cursor_in_view(-1)
        if at is not None:
            self.toggle(at)

    # --- copying ------------------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy what is selected, else the source of the item under the cursor."""
        selected = self.selected_text()
        item = self.current
        if selected is not None:
            self.post_message(self.Copied(selected, "selection"))
        elif item is not None:
            self._copy(source(item), "the item", "there is nothing in it to copy")

    def action_copy_code(self) -> None:
        """Copy the last code block of the item under the cursor."""
        if (item := self.current) is not None:
            self._copy(last_code(item), "code", "there is no code block in it")

    def _copy(self, text: str | None, what: str, otherwise: str) -> None:
        if text:
            self.post_message(self.Copied(text, what))
        else:
            self.notify(otherwise, severity="warning")

    def action_open(self) -> None:
        """Show the item under the cursor whole, on a screen of its own."""
        if (item := self.current) is not None:
            body = Transcript(self.palette, gap=lambda before, item: 0)
            self.app.push_screen(Viewer(body, pieces(item), self))

    # --- searching ----------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Ask for what is to be searched, and go to the next place where it stands."""
        self.app.push_screen(SearchBar(), self._search)

    def _search(self, words: str | None) -> None:
        if words:
            self.search(words)

    def search(self, words: str) -> bool:
        """Go to the next item in which these words stand, upwards from the cursor; returns whether there is one."""
        self._find = Find(words)
        return self.action_again(-1)

    def action_again(self, direction: int) -> bool:
        """To the next match, or the one before; returns whether there is one."""
        if self._find is None:
            self.action_search()
            return False
        found = self._find.next(self.window, self.look, self._at, direction)
        if found is None:
            self.notify(f"{self._find.words!r} stands nowhere in this session", severity="warning", markup=False)
        else:
            self._cursor = self.window.items[found.number].key
            self.window.reveal(found.number, found.row)
            self.settle()
        self.refresh()
        return found is not None


def holds_custom(item: AnyItem) -> bool:
    """Whether a plugin's own block is in an item."""
    return any(isinstance(block, Custom) for block in shown_blocks(item))
