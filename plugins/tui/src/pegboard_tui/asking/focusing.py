"""When the panel has the focus: it takes it where that disturbs nobody, and gives it back to whoever types on."""

from __future__ import annotations

from textual import events
from textual.widget import Widget
from textual.widgets import Input, TextArea

from pegboard_tui.asking.answering import Answering
from pegboard_tui.asking.remember import PatternProblem
from pegboard_tui.composer.keyboards import pressed

_IN_FIELDS = frozenset({"enter", "backspace"})


class Focusing(Answering):
    """The panel's way with the focus and with keys that were not meant for it; `Asking` says what a person sees of it."""

    def __init__(self, problem: PatternProblem | None, *, id: str | None = None) -> None:
        super().__init__(problem, id=id)
        self._from: Widget | None = None
        self._left = False
        self._typed: Widget | None = None
        """Where a word goes on that was begun here; letters of it may still be on their way to the panel."""

    def take(self) -> None:
        """Take the focus because the person asked for it."""
        if self.queue.waiting:
            self._from = self.screen.focused if not self.has_focus_within else self._from
            self.took, self._typed = False, None
            self.quiet.skip()
            self.screen.set_focus(self, scroll_visible=False)

    def offer(self) -> None:
        """Take the focus unless that disturbs: where something is written, after the person left, behind another screen."""
        focused = self.screen.focused
        seen = self.app.screen is self.screen and all(
            node.display for node in self.ancestors_with_self if isinstance(node, Widget)
        )
        if not self.queue.waiting or self._left or not seen or self.has_focus_within or _written(focused):
            return
        self._from, self.took, self._typed = focused, True, None
        self.begin_quiet()
        self.screen.set_focus(self, scroll_visible=False)

    def focus(self, scroll_visible: bool = True) -> Focusing:
        """Take the focus because something else gave it up: keys do not count at once."""
        if not self.has_focus_within:
            self.begin_quiet()
        super().focus(scroll_visible)
        return self

    def leave(self) -> None:
        """Give the focus back; the questions stand."""
        self._left, self.took = True, False
        self._give_focus()

    def close_panel(self) -> None:
        """There is nothing to show any more."""
        if self.has_focus_within:
            self._give_focus()
        self.display = False

    def _give_focus(self) -> None:
        target = self._from
        if target is not None and target.is_attached and target.focusable and target is not self:
            self.screen.set_focus(target, scroll_visible=False)
        else:
            self.screen.focus_next()

    async def on_key(self, event: events.Key) -> None:
        """Keep what is typed on from being an answer; begin an answer in the person's own words."""
        written = event.character is not None and event.is_printable
        field = self.screen.focused
        if field is not self:  # it was on its way when a field took the focus: one of ours, or where the word goes on
            if (
                (written or event.key in _IN_FIELDS)
                and isinstance(field, Input | TextArea)
                and (field is self._typed or self in field.ancestors)  # a field lets go of none of these
            ):
                event.stop()
                event.prevent_default()
                field.post_message(events.Key(event.key, event.character))
            return
        if not written or event.character is None:
            return
        bound = event.key in self.screen.active_bindings
        event.stop()
        event.prevent_default()
        if self.quiet.over and (await pressed(self, event.key, self) if bound else self.begin_own(event.character)):
            return
        target = self._from
        if (
            self.took
            and target is not None
            and target.is_attached
            and not (self._is_ours(event.key) and self.quiet.over)
        ):
            self.took, self._typed = False, target
            self.screen.set_focus(target, scroll_visible=False)
            target.post_message(events.Key(event.key, event.character))
        elif bound:
            self.too_soon(event.character)
        else:
            self.begin_quiet()  # a word that is typed here does not answer with a letter in the middle of it

    def _is_ours(self, key: str) -> bool:
        """Whether it is a key of the panel, which may do nothing just now. One that the person bound otherwise is none."""
        bound = self._bindings.key_to_bindings.get(key, ())
        return any(binding.id not in self.app._keymap for binding in bound)

    def on_paste(self, event: events.Paste) -> None:
        """A paste answers nothing: it goes where the person was writing."""
        target = self._from
        if self.has_focus and target is not None and target.is_attached:
            event.stop()
            self.took, self._typed = False, target
            self.screen.set_focus(target, scroll_visible=False)
            target.post_message(events.Paste(event.text))

    def on_click(self, event: events.Click) -> None:
        if not self.has_focus_within:
            self.take()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-3)


def _written(widget: Widget | None) -> bool:
    """Whether something is written there that would be lost from sight."""
    if isinstance(widget, TextArea):
        return bool(widget.text)
    return isinstance(widget, Input) and bool(widget.value)
