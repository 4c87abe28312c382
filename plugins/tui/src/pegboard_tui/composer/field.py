"""What the input consists of, and what it has in it: the text, a list above it, a sign before it."""

from __future__ import annotations

from typing import Self

from pegboard.port import Conversation, Host
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from pegboard_tui.composer.area import Area
from pegboard_tui.composer.chips import Chips
from pegboard_tui.composer.choices import Choices
from pegboard_tui.composer.completer import Completer
from pegboard_tui.composer.completing import Choice
from pegboard_tui.composer.drafts import Draft, Past
from pegboard_tui.composer.hints import hint
from pegboard_tui.composer.keyboards import tell_alt_enter_apart
from pegboard_tui.composer.suggesting import Commands, Suggestions, Words
from pegboard_tui.keys import keys_now
from pegboard_tui.working import work


class Field(Widget):
    """Text of one or several lines, without the keys that do something with it. `conversation`: whose it is; it may be
    another one when the model changes."""

    def __init__(self, host: Host, conversation: Conversation, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.conversation = conversation
        self._busy = False
        self._suggestions = Suggestions(host)
        self._past = Past(host.history)
        self._area = Area(self._trouble)
        self._choices = Choices()
        self._completer = Completer(
            self, self._area, self._choices, self._suggestions, lambda: self.conversation, self._trouble
        )
        self._sign = Static("> ", classes="composer--sign", markup=False)

    def compose(self) -> ComposeResult:
        yield self._choices
        with Horizontal():
            yield self._sign
            yield self._area

    def on_mount(self) -> None:
        tell_alt_enter_apart()
        work(self, self._read_prompts, "reading prompts", group="prompts")
        self._hint()

    # --- for the app --------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a turn runs, so that what is sent waits or steers it."""
        return self._busy

    @busy.setter
    def busy(self, busy: bool) -> None:
        if busy != self._busy:
            self._busy = busy
            self._hint()

    @property
    def commands(self) -> Commands:
        """Gives the slash commands that are offered; asked once, in a thread. The board's, until somebody sets it."""
        return self._suggestions.commands

    @commands.setter
    def commands(self, commands: Commands) -> None:
        self._suggestions.commands = commands

    @property
    def words(self) -> Words | None:
        """Gives what can stand after a command of the app's own (its name, what is written); None for one that is not."""
        return self._suggestions.words

    @words.setter
    def words(self, words: Words | None) -> None:
        self._suggestions.words = words

    def focus(self, scroll_visible: bool = True) -> Self:
        """Write here from now on."""
        self._area.focus(scroll_visible)
        return self

    @property
    def text(self) -> str:
        """What is written and was not sent."""
        return Chips(self._past.aside.chips).expand(self._past.aside.text) if self._past.searching else self._area.meant

    def write(self, text: str) -> None:
        """Put a text in the place of what is written."""
        self._end_search()
        self._past.stop()
        self._area.show(text)
        self._changed()

    @property
    def draft(self) -> Draft:
        """What is written, to be set again when the person comes back."""
        if self._past.searching:
            return self._past.aside
        text = self._area.text
        return Draft(text=text, chips=self._area.chips.of(text), cursor=self._area.cursor_location)

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._past.stop()
        self._area.chips = Chips(draft.chips)
        self._area.load_text(draft.text)
        self._area.move_cursor(draft.cursor)
        self._hint()
        self._changed()

    # --- what happens -------------------------------------------------------------------------------------------------

    def _trouble(self, text: str) -> None:
        """Tell that something could not be done."""
        raise NotImplementedError

    def _recalled(self, entry: str) -> None:
        """Show an older prompt; those before and after it stay in reach."""
        self._area.show(entry)
        self._past.showing(self._area.text)
        self._changed()

    def _begin_search(self) -> None:
        """The text is words to look for, until one is taken or the search is left."""
        aside = self.draft
        self._past.stop()
        self._past.aside, self._past.searching = aside, True
        self._area.load_text("")
        self._hint()
        self._changed()
        work(self, self._read_prompts, "reading prompts", group="prompts")

    def _end_search(self, choice: Choice | None = None) -> None:
        if not self._past.searching:
            return
        self._choices.hide()
        self.draft = self._past.aside
        if choice is not None:
            self._area.show(choice.text)

    async def _read_prompts(self) -> None:
        await self._past.read()
        if self._past.searching:
            self._completer.show_prompts(self._past.entries)

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _on_written(self, event: Message) -> None:
        event.stop()
        self._changed()

    def _changed(self) -> None:
        """The text or the cursor is another one."""
        self._past.look(self._area.text)
        command = not self._past.searching and self._is_command()
        self._completer.command = command
        self.set_class(command, "-command")
        self._mark()
        if self._past.searching:
            self._completer.show_prompts(self._past.entries)
        elif self._past.walking:
            self._choices.hide()
        else:
            self._completer.follow()

    def _is_command(self) -> bool:
        line = self._area.chips.head(self._area.document[0], 200)
        return bool(line) and not line[0].isspace() and self.conversation.typed(f"{line}x") is not None

    @on(Choices.Taken)
    def _on_taken(self, event: Choices.Taken) -> None:
        event.stop()
        if self._past.searching:
            self._end_search(event.choice)
        else:
            self._completer.take(event.choice)
        self.focus()

    # --- how it looks -------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.set_class(self.screen.size.height < 10, "-low")
        self._hint()
        if self._choices.open:
            self._choices.hide()
            self._changed()

    def on_descendant_focus(self) -> None:
        self._mark()

    def on_descendant_blur(self) -> None:
        self._mark()
        if not self._past.searching:
            self._choices.hide()

    def _mark(self) -> None:
        """The sign before the text: what it is, and whether one writes here."""
        sign = "?" if self._past.searching else "$" if self._completer.command else ">" if self._area.has_focus else "-"
        self._sign.update(f"{sign} ")

    def _hint(self) -> None:
        if self.is_mounted:
            keys = keys_now(self.screen, most=1)
            self._area.placeholder = hint(
                max(self._area.content_size.width, 10),
                searching=self._past.searching,
                busy=self._busy,
                send=keys.get("input.send", "enter"),
                steer=keys.get("input.steer", ""),
                sign=next(iter(self.conversation.signs), ""),
            )
