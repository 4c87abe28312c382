"""The input at the foot of a session.

Enter sends; what is offered for a word is in a list above, drawn over the transcript. What is sent is what is shown, with
what its chips stand for: a file that was picked after `@` is its path, without the sign.
"""

from __future__ import annotations

from typing import ClassVar

from pegboard.port import Conversation, Host
from pegboard.terminal import plain
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea
from textual.worker import Worker

from pegboard_tui.composer.area import Area
from pegboard_tui.composer.chips import Chips
from pegboard_tui.composer.choices import Choices
from pegboard_tui.composer.completer import Completer
from pegboard_tui.composer.completing import Choice
from pegboard_tui.composer.drafts import Draft, Past
from pegboard_tui.composer.editor import EditorFailed, edited
from pegboard_tui.composer.hints import hint
from pegboard_tui.composer.keyboards import tell_alt_enter_apart
from pegboard_tui.composer.suggesting import Commands, Suggestions, Words

_MOST_OPEN = 100_000
"""Characters of a paste that are opened in the input."""


class Composer(Widget):
    """Text of one or several lines. `conversation`: whose it is; it may be another one when the model changes. `queued`: how
    many prompts wait, of which Up in an empty input takes the last one back."""

    DEFAULT_CSS = """
    Composer { height: auto; border-top: solid $border-blurred; }
    Composer:focus-within { border-top: solid $border; }
    Composer.-low { border-top: none; }
    Composer > Horizontal { height: auto; }
    Composer .composer--sign { width: 2; height: 1; color: $text-muted; }
    Composer:focus-within .composer--sign { color: $accent; text-style: bold; }
    Composer.-command .composer--sign { color: $warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "send", id="input.send"),
        Binding("ctrl+j,alt+enter,shift+enter", "newline", "new line", id="input.newline"),
        Binding("ctrl+t,alt+s,ctrl+enter", "steer", "say it to the running turn", id="input.steer"),
        Binding("tab", "complete", "complete", id="input.complete", show=False),
        Binding("escape", "close", "close the list", id="input.close", show=False),
        Binding("up", "up", "line up, or the prompt before", id="input.up", show=False),
        Binding("down", "down", "line down, or the prompt after", id="input.down", show=False),
        Binding("ctrl+r", "search", "search prompts", id="input.search", show=False),
        Binding("ctrl+g", "edit", "write in an editor", id="input.editor", show=False),
        Binding("ctrl+x", "chord", "cut; with ctrl+e: editor", id="input.cut", show=False),
        Binding("ctrl+o,alt+o", "unfold", "open a paste", id="input.unfold", show=False),
    ]

    class Submitted(Message):
        """What was written, with everything that was folded in it. steer: it is said to the running turn, not after it."""

        def __init__(self, text: str, *, steer: bool = False) -> None:
            super().__init__()
            self.text = text
            self.steer = steer

    class Recall(Message):
        """The person wants the last prompt that waits back: take it from the queue, and `write` it here."""

    class Trouble(Message):
        """Something could not be done; the text is as it was. text: what, a sentence."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, host: Host, conversation: Conversation, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.conversation = conversation
        self.queued = 0
        self._busy = False
        self._suggestions = Suggestions(host)
        self._past = Past(host.history)
        self._chord = False
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
        _: Worker[None] = self.run_worker(self._read_prompts, group="prompts")
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

    def focus(self, scroll_visible: bool = True) -> Composer:
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

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_submit(self) -> None:
        """Take what is chosen in the list; else begin a line after a backslash; else send."""
        choice = self._choices.current
        if self._past.searching:
            self._end_search(choice)
        elif choice is not None and self._completer.enter_takes(choice):
            self._completer.take(choice)
        elif not self._area.continued():
            self._send(steer=False)

    def action_steer(self) -> None:
        """Send it to the turn that runs."""
        if not self._past.searching:
            self._send(steer=self._busy)

    def action_newline(self) -> None:
        """Begin a line."""
        if not self._past.searching:
            self._area.replace("\n", *self._area.selection, maintain_selection_offset=False)

    def action_complete(self) -> None:
        """Take what is chosen, or offer something. Where there is nothing to offer, Tab goes on to the next widget."""
        choice = self._choices.current
        if self._past.searching:
            self._end_search(choice)
        elif choice is not None:
            self._completer.take(choice, deeper=True)
        elif not self._completer.offer():
            raise SkipAction

    def action_close(self) -> None:
        """Close the list; without one the key is the app's."""
        if self._past.searching:
            self._end_search()
        elif not self._completer.close():
            raise SkipAction

    def action_up(self) -> None:
        """Up in the list or the text; from its first line to older prompts."""
        if self._choices.open:
            self._choices.move(-1)
        elif not self._area.on_first_row:
            self._area.action_cursor_up()
        elif self.queued and not self._area.text:
            self.post_message(self.Recall())
        elif (entry := self._past.back(self.draft)) is not None:
            self._recalled(entry)
            self._area.move_cursor((0, len(self._area.document[0])))

    def action_down(self) -> None:
        """Down in the list or the text; from its last line to newer prompts."""
        if self._choices.open:
            self._choices.move(1)
        elif self._area.on_last_row and self._past.walking:
            if (entry := self._past.on()) is not None:
                self._recalled(entry)
            else:
                self.draft = self._past.aside
        else:
            self._area.action_cursor_down()

    def action_search(self) -> None:
        """Search the prompts that were sent; again: the next older one."""
        if self._past.searching:
            self._choices.move(1)
            return
        aside = self.draft
        self._past.stop()
        self._past.aside, self._past.searching = aside, True
        self._area.load_text("")
        self._hint()
        self._changed()
        _: Worker[None] = self.run_worker(self._read_prompts, group="prompts")

    def action_unfold(self) -> None:
        """Open a folded paste."""
        if not self._area.unfold(_MOST_OPEN):
            raise SkipAction

    def action_chord(self) -> None:
        """Cut what is selected; else wait for the second key."""
        if self._area.selected_text:
            self._area.action_cut()
        else:
            self._chord = True

    def on_key(self, event: events.Key) -> None:
        """The second key of ctrl+x ctrl+e."""
        if self._chord and event.key == "ctrl+e":
            event.stop()
            self.action_edit()
        self._chord = False

    def action_edit(self) -> None:
        """Write in the person's editor."""
        self._end_search()
        _: Worker[None] = self.run_worker(self._edit, group="editor", exclusive=True)

    async def _edit(self) -> None:
        before = self._area.meant
        try:
            text = await edited(self.app, before)
        except EditorFailed as error:
            self._trouble(str(error))
        else:
            if text != before:
                self._area.show(text)
        self.focus()

    # --- what happens -------------------------------------------------------------------------------------------------

    def _send(self, *, steer: bool) -> None:
        text = plain(self._area.meant).rstrip()
        if not text:
            return
        self._past.keep(text)
        self.draft = Draft()
        self.post_message(self.Submitted(text, steer=steer))

    def _recalled(self, entry: str) -> None:
        """Show an older prompt; those before and after it stay in reach."""
        self._area.show(entry)
        self._past.showing(self._area.text)
        self._changed()

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

    def _trouble(self, text: str) -> None:
        self.post_message(self.Trouble(text))

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
            keys: dict[str, str] = {}
            for key, one in self.screen.active_bindings.items():
                keys.setdefault(one.binding.id or "", key)
            self._area.placeholder = hint(
                max(self._area.content_size.width, 10),
                searching=self._past.searching,
                busy=self._busy,
                send=keys.get("input.send", "enter"),
                steer=keys.get("input.steer", ""),
            )
