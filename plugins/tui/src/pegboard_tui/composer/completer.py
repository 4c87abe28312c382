"""Follows the cursor of the input, and offers what could stand in its word's place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from pegboard.port import Conversation
from textual.widget import Widget

from pegboard_tui.composer.area import Area
from pegboard_tui.composer.choices import MOST, Choices
from pegboard_tui.composer.completing import Choice, Wanted, of_prompts, wanted
from pegboard_tui.composer.history import matching
from pegboard_tui.composer.suggesting import TITLES, Suggestions
from pegboard_tui.working import work

_SEARCH_TITLE = "prompts: Enter takes, Esc leaves"
_Place: TypeAlias = "tuple[str, int, int]"


class Completer:
    """The list of an area. owner: whose workers do what takes time. `command`: what is written is a command of the
    person's."""

    def __init__(
        self,
        owner: Widget,
        area: Area,
        choices: Choices,
        suggestions: Suggestions,
        conversation: Callable[[], Conversation],
        trouble: Callable[[str], object],
    ) -> None:
        self.command = False
        self._owner = owner
        self._area = area
        self._choices = choices
        self._suggestions = suggestions
        self._conversation = conversation
        self._trouble = trouble
        self._wanted: Wanted | None = None
        self._seen: _Place | None = None
        self._dismissed: _Place | None = None
        self._asked: _Place | None = None
        self._told: str | None = None

    # --- what is offered ----------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """The text or the cursor has changed: offer what fits now."""
        found = self._found()
        place = self._place(found)
        if place != self._dismissed:
            self._dismissed = None
        if place != self._asked:
            self._asked = None
        if found is None or place == self._dismissed or (found.kind == "path" and place != self._asked):
            self._wanted = self._seen = None
            self._owner.workers.cancel_group(self._owner, "suggest")
            self._choices.hide()
            return
        if found == self._wanted and self._choices.open:
            return
        self._wanted = found
        if found.kind in ("file", "path") and place != self._seen and self._suggestions.files.stale:
            work(self._owner, self._read, "listing files", group="files", exclusive=True)
        self._seen = place
        work(self._owner, partial(self._suggest, found), "completing", group="suggest", exclusive=True)

    def offer(self) -> bool:
        """Offer something here though the person has closed the list, or nothing is offered unasked. False: there is nothing
        that it could be."""
        found = self._found()
        if found is None:
            return False
        self._dismissed, self._asked = None, self._place(found)
        self.follow()
        return True

    def close(self) -> bool:
        """Close the list until another word is begun. False: it was not open."""
        if not self._choices.open:
            return False
        self._dismissed, self._asked, self._wanted = self._place(self._found()), None, None
        self._choices.hide()
        return True

    def show_prompts(self, entries: Sequence[str]) -> None:
        """Offer older prompts that have the words that are written."""
        words = self._area.text
        found = of_prompts(matching(list(entries), words, MOST), words)
        note = "no prompt has these words" if words.strip() else "no prompt was sent here yet"
        self._choices.put(found, title=_SEARCH_TITLE, over=self._owner, note=note)

    def _found(self) -> Wanted | None:
        if not self._area.selection.is_empty:
            return None
        row, column = self._area.cursor_location
        return wanted(self._area.document[row], column, first=row == 0, command=self.command)

    def _place(self, found: Wanted | None) -> _Place | None:
        return (found.kind, self._area.cursor_location[0], found.start) if found else None

    async def _suggest(self, found: Wanted) -> None:
        choices = await self._suggestions.find(found, self._conversation())
        if found != self._wanted:
            return
        files = self._suggestions.files
        note = ""
        if found.kind in ("file", "path"):
            note = "reading file names ..." if not files.loaded else "no file is called so" if not files.trouble else ""
        only = found.kind == "path" and len(choices) == 1 and self._choices.current is None
        if only:
            self.take(choices[0])
        elif len(choices) == 1 and choices[0].text == self._area.document[self._row][found.start : found.end]:
            self._choices.hide()  # it is written
        else:
            self._choices.put(choices, title=TITLES[found.kind], over=self._owner, note=note)

    async def _read(self) -> None:
        files = self._suggestions.files
        await files.read()
        if files.trouble and files.trouble != self._told:
            self._told = files.trouble
            self._trouble(f"The files could not be listed ({files.trouble}), so none is offered; a path can be typed.")
        self._wanted = None
        self.follow()

    @property
    def _row(self) -> int:
        return self._area.cursor_location[0]

    # --- what is taken ------------------------------------------------------------------------------------------------

    def enter_takes(self, choice: Choice) -> bool:
        """Whether Enter takes it, and does not send: not when the word is whole already, or none was begun."""
        found = self._wanted
        if found is None:
            return False
        if found.kind == "word" and not found.query and not self._choices.moved:
            return False
        return choice.text != self._area.document[self._row][found.start : found.end]

    def take(self, choice: Choice, *, deeper: bool = False) -> None:
        """Put it in the word's place. deeper: of a folder, go on with what lies in it."""
        found, row = self._wanted, self._row
        if found is None:
            return
        text = self._area.chips.safe(choice.text)
        line = self._area.document[row]
        if found.kind == "file" and deeper and choice.label.endswith("/"):
            text = f'@"{choice.label}' if " " in choice.label else f"@{choice.label}"
            text = self._area.chips.safe(text)
        elif not _goes_on(found, choice) and not line[found.end : found.end + 1].isspace():
            text += " "
        self._wanted = None
        self._choices.hide()
        result = self._area.replace(text, (row, found.start), (row, found.end), maintain_selection_offset=False)
        self._area.move_cursor(result.end_location)


def _goes_on(found: Wanted, choice: Choice) -> bool:
    """Whether what follows belongs to it: no space comes then."""
    match found.kind:
        case "command":
            return choice.label == choice.text
        case "word":
            return choice.text.endswith(("=", "/", ":"))
        case "path":
            return choice.label.endswith("/")
        case "file":
            return False
