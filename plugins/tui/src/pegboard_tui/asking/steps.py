"""The steps of an answer: where in one the person is, what they are told, and what is sent in the end."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard import port
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from pegboard_tui.asking.keys import BINDINGS, Step, possible
from pegboard_tui.asking.queue import Queue
from pegboard_tui.asking.quiet import Quiet
from pegboard_tui.asking.remember import PatternProblem
from pegboard_tui.items import Made

_ACTIONS = frozenset(binding.action.partition("(")[0] for binding in BINDINGS) | {"look_at"}


class Steps(Widget):
    """What all answers of the panel have in common. step: where in an answer the person is. message: what they are told.

    ignored: a key that came too soon. took: the focus was taken by the panel itself, and nothing was answered since."""

    class Answered(Message, namespace="asking"):
        """Answers that the person gave."""

        def __init__(self, answers: Sequence[port.Answer]) -> None:
            super().__init__()
            self.answers = answers

    def __init__(self, problem: PatternProblem | None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.queue = Queue()
        self.quiet = Quiet()
        self.step: Step = "look"
        self.message = self.ignored = ""
        self.took = False
        self._problem = problem
        self._page = 1
        self._calls: dict[str, Made] = {}

    # --- what the panel does ------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw the question that is looked at."""
        raise NotImplementedError

    def close_panel(self) -> None:
        """There is nothing to show any more."""
        raise NotImplementedError

    def leave(self) -> None:
        """Give the focus back; the questions stand."""
        raise NotImplementedError

    # --- steps --------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key does something now."""
        if action not in _ACTIONS:
            return super().check_action(action, parameters)
        question = self.queue.current
        if question is None:
            return False
        name = f"keep({parameters[0]})" if action == "keep" else action
        return name in possible(self.step, question, self.queue)

    def begin_quiet(self) -> None:
        """From now on keys do not count for a moment; the title says so while it lasts."""
        self.quiet.begin()
        self.set_timer(self.quiet.pause + 0.02, self.draw)

    def too_soon(self, key: str) -> None:
        """Say that this key did nothing."""
        self.ignored = key
        self.begin_quiet()
        self.draw()

    def turn_to(self) -> None:
        """Another question is looked at than before, and not because the person went there."""
        if self.step == "reason for all":
            self.queue.reason = self._line.value
        self._go("look")
        self.ignored = ""
        self.begin_quiet()

    def _counts(self) -> bool:
        if self.quiet.counts():
            self.ignored, self.took = "", False
            return True
        self.too_soon("that key")
        return False

    def _go(self, step: Step) -> None:
        """To a step that has no field."""
        inside = self._line.has_focus or self._area.has_focus
        self.step, self.message = step, ""
        if inside:
            self.screen.set_focus(self, scroll_visible=False)
        self._line.display = self._area.display = False
        self.refresh_bindings()
        self.draw()

    def _open(self, step: Step, text: str, placeholder: str = "") -> None:
        """To a step that has a field, with this in it."""
        self.step, self.message = step, ""
        field: Input | TextArea
        if step == "edit":
            field = self._area
            field.load_text(text)
        else:
            field = self._line
            field.value, field.placeholder = text, placeholder
            field.cursor_position = len(text)
        field.display = True
        self.screen.set_focus(field, scroll_visible=False)
        self.refresh_bindings()
        self.draw()

    def _send(self, answers: Sequence[port.Answer]) -> None:
        self.queue.answered([answer.id for answer in answers])
        self.post_message(self.Answered(answers))
        self.turn_to()
        if not self.queue.waiting:
            self.close_panel()

    @property
    def _line(self) -> Input:
        return self.query_one("#line", Input)

    @property
    def _area(self) -> TextArea:
        return self.query_one("#arguments", TextArea)

    def _tell(self, text: str) -> None:
        self.message = text
        self.draw()
