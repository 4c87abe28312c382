"""The field that text is written in: Textual's, with chips that are one piece, and with keys that can be bound anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pegboard.terminal import spelled
from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.widget import Widget
from textual.widgets import TextArea

from pegboard_tui.composer.chips import Chips, around, drawn, is_long, spans, unified
from pegboard_tui.composer.keyboards import pressed


def _key(keys: str, action: str, description: str, id: str) -> Binding:
    return Binding(keys, action, description, id=f"edit.{id}", show=False)


def _all(action: str, moves: list[tuple[str, str, str, str]]) -> list[BindingType]:
    return [_key(keys, action.format(where), description, id) for keys, where, description, id in moves]


_MOVES = [
    ("left", "left", "left", "left"),
    ("right", "right", "right", "right"),
    ("ctrl+left,alt+b", "word_left", "word left", "word_left"),
    ("ctrl+right,alt+f", "word_right", "word right", "word_right"),
    ("home,ctrl+a", "line_start", "start of line", "line_start"),
    ("end,ctrl+e", "line_end", "end of line", "line_end"),
]
_SELECTS = [
    ("shift+left", "left(True)", "select left", "select_left"),
    ("shift+right", "right(True)", "select right", "select_right"),
    ("shift+up", "up(True)", "select up", "select_up"),
    ("shift+down", "down(True)", "select down", "select_down"),
    ("ctrl+shift+left", "word_left(True)", "select word left", "select_word_left"),
    ("ctrl+shift+right", "word_right(True)", "select word right", "select_word_right"),
    ("shift+home", "line_start(True)", "select to start of line", "select_line_start"),
    ("shift+end", "line_end(True)", "select to end of line", "select_line_end"),
]
_DELETES = [
    ("backspace", "left", "delete left", "delete_left"),
    ("delete,ctrl+d", "right", "delete right", "delete_right"),
    ("ctrl+w,ctrl+backspace,alt+backspace", "word_left", "delete word left", "delete_word_left"),
    ("alt+d,alt+delete", "word_right", "delete word right", "delete_word_right"),
    ("ctrl+u,super+backspace", "to_start_of_line", "delete to start of line", "delete_line_start"),
    ("ctrl+k", "to_end_of_line_or_delete_line", "delete to end of line", "delete_line_end"),
]


class Area(TextArea, inherit_bindings=False):
    """Text with chips; see `chips.py`. `trouble`: called with what could not be done. `before`: is told each key, and says
    whether it took it. `holder`: the keys that are bound by it, and from here up to it, are done in the order they came."""

    DEFAULT_CSS = """
    Area, Area:focus {
        border: none; padding: 0; background: transparent; width: 1fr;
        height: auto; min-height: 1; max-height: 40vh; scrollbar-size-vertical: 1;
    }
    Area > .area--chip { color: $accent; text-style: underline; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"area--chip"}
    BINDINGS: ClassVar[list[BindingType]] = [
        *_all("cursor_{}", _MOVES),
        *_all("cursor_{}", _SELECTS),
        *_all("delete_{}", _DELETES),
        _key("ctrl+home", "end_of_text(False)", "start of text", "text_start"),
        _key("ctrl+end", "end_of_text(True)", "end of text", "text_end"),
        _key("alt+a", "select_all", "select all", "select_all"),
        _key("alt+c,ctrl+shift+c,super+c", "copy", "copy selection", "copy"),
        _key("super+x", "cut", "cut", "cut"),
        _key("ctrl+v,super+v", "paste", "paste what was copied here", "paste"),
        _key("ctrl+underscore,alt+u,super+z", "undo", "undo", "undo"),
        _key("ctrl+y,alt+r,super+y", "redo", "redo", "redo"),
    ]

    def __init__(self, trouble: Callable[[str], object]) -> None:
        self.chips = Chips()
        self._trouble = trouble
        self.before: Callable[[str], bool] = lambda key: False
        self.holder: Widget = self
        super().__init__(soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False)
        self.cursor_blink = False
        self.match_cursor_bracket = False

    # --- chips --------------------------------------------------------------------------------------------------------

    @property
    def meant(self) -> str:
        """The text, with what its chips stand for."""
        return self.chips.expand(self.text)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn: chips are told apart, and nothing in it moves the cursor."""
        line = self.document.get_line(line_index)
        text = Text(drawn(line), end="", no_wrap=True)
        for start, end in spans(line):
            text.stylize(self.get_component_rich_style("area--chip", partial=True), start, end)
        return text

    def validate_selection(self, selection: Selection) -> Selection:
        """A cursor is never inside a chip: it goes past it, the way it was going."""
        before = self.selection.end
        return Selection(self._beside(selection.start, before), self._beside(selection.end, before))

    def _beside(self, place: Location, before: Location) -> Location:
        row, column = place
        if row >= self.document.line_count or not (chip := around(self.document[row], column)):
            return place
        start, end = chip
        if before == (row, start):
            return row, end
        if before == (row, end):
            return row, start
        return row, (start if column - start < end - column else end)

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit: of a chip that it would touch, it takes the whole."""
        top, bottom = edit.top, edit.bottom
        if top == bottom:
            edit.from_location = edit.to_location = self._end_of(top)
        else:
            row, column = top
            if chip := around(self.document[row], column):
                top = (row, chip[0])
            edit.from_location, edit.to_location = top, self._end_of(bottom)
        return super().edit(edit)

    def _end_of(self, place: Location) -> Location:
        row, column = place
        chip = around(self.document[row], column) if row < self.document.line_count else None
        return (row, chip[1]) if chip else place

    def put(self, text: str) -> None:
        """Write a text at the cursor, in place of what is selected. What is not for the eye becomes a chip."""
        result = self.replace(self.chips.safe(text), *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def show(self, text: str) -> None:
        """A text from elsewhere in place of all; undo takes it back."""
        shown = self.chips.shown(unified(text), self.text)
        result = self.replace(shown, (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def continued(self) -> bool:
        """Begin a line in place of a backslash that the cursor's line ends with; not of one that has another before it."""
        row, column = self.cursor_location
        line = self.document[row]
        slashes = len(line) - len(line.rstrip("\\"))
        if column != len(line) or slashes % 2 == 0 or not self.selection.is_empty:
            return False
        self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
        return True

    def unfold(self, most: int) -> bool:
        """Open the paste at the cursor, or the last one. False: there is none. most: characters that may be opened."""
        row, column = self.cursor_location
        found = [(at, span) for at in range(self.document.line_count) for span in spans(self.document[at])]
        found = [(at, (start, end)) for at, (start, end) in found if self.document[at][start] == "\ufdd0"]
        if not found:
            return False
        near = [one for one in found if one[0] == row and one[1][0] <= column <= one[1][1]]
        at, (start, end) = (near or found)[-1]
        text = self.chips.expand(self.document[at][start:end])
        if len(text) > most or max(map(len, text.split("\n"))) > most // 10:
            self._trouble(f"{drawn(self.document[at][start:end])} is too much to be shown here; it is sent as it is.")
            return True
        result = self.replace(self.chips.safe(text), (at, start), (at, end), maintain_selection_offset=False)
        self.move_cursor(result.end_location)
        return True

    # --- what comes in ------------------------------------------------------------------------------------------------

    def paste(self, text: str) -> None:
        """Take a paste in: folded when it is long."""
        text = unified(text)
        if is_long(text):
            result = self.replace(self.chips.fold(text), *self.selection, maintain_selection_offset=False)
            self.move_cursor(result.end_location)
        elif text:
            self.put(text)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    async def _on_key(self, event: events.Key) -> None:
        """Keys with a modifier, and Enter, are for bindings; a letter that they bear (`alt+s`) is not written."""
        modifiers, _, _ = event.key.rpartition("+")
        if self.before(event.key) or (
            not (event.is_printable and modifiers.strip("+") in {"", "shift"})
            and await pressed(self, event.key, self.holder)
        ):
            event.prevent_default()
            event.stop()
        elif event.key == "enter" or modifiers.strip("+") not in {"", "shift"}:
            event.prevent_default()
        elif event.character and event.is_printable and spelled(event.character) != event.character:
            event.prevent_default()
            event.stop()
            self.put(event.character)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_end_of_text(self, last: bool) -> None:
        """Go to the end of all, or to its start."""
        self.move_cursor(self.document.end if last else (0, 0))

    def action_delete_right(self) -> None:
        """Delete; in an empty field the key is the app's."""
        if not self.text:
            raise SkipAction
        super().action_delete_right()

    def action_copy(self) -> None:
        """Copy what is selected, whole."""
        if not self.selected_text:
            raise SkipAction
        self.app.copy_to_clipboard(self.chips.expand(self.selected_text))

    def action_cut(self) -> None:
        """Copy what is selected, and delete it."""
        self.action_copy()
        self._delete_via_keyboard(*self.selection)

    def action_paste(self) -> None:
        """Write what was copied in the app."""
        self.paste(self.app.clipboard)

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """None: it is not shown, and looking for it takes long in a long text."""
        return None

    # --- places -------------------------------------------------------------------------------------------------------

    @property
    def on_first_row(self) -> bool:
        """Whether nothing of the text is shown above the cursor's row."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    @property
    def on_last_row(self) -> bool:
        """Whether nothing of the text is shown below it."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y >= self.wrapped_document.height - 1
