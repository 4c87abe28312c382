"""The input at the foot of a session.

Enter sends; what is offered for a word is in a list above, drawn over the transcript. What is sent is what is shown, with
what its chips stand for: a file that was picked after `@` is its path, without the sign.
"""

from __future__ import annotations

from typing import ClassVar

from pegboard.port import Conversation, Host
from pegboard.terminal import plain
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message

from pegboard_tui.composer.drafts import Draft
from pegboard_tui.composer.editor import EditorFailed, edited
from pegboard_tui.composer.field import Field
from pegboard_tui.working import work

_MOST_OPEN = 100_000
"""Characters of a paste that are opened in the input."""


class Composer(Field):
    """The input. `queued`: how many prompts wait, of which Up in an empty input takes the last one back."""

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
        super().__init__(host, conversation, id=id)
        self.queued = 0
        self._chord = False
        self._area.holder = self
        self._area.before = self._second

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
        self._begin_search()

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

    def _second(self, key: str) -> bool:
        """Whether a key is the second one of ctrl+x ctrl+e."""
        chord, self._chord = self._chord and key == "ctrl+e", False
        if chord:
            self.action_edit()
        return chord

    def action_edit(self) -> None:
        """Write in the person's editor."""
        self._end_search()
        work(self, self._edit, "editing", group="editor", exclusive=True)

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

    def _trouble(self, text: str) -> None:
        self.post_message(self.Trouble(text))
