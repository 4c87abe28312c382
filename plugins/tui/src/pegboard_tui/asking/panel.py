"""The panel above the input in which questions stand until they are answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pegboard import port
from pegboard.events import ApprovalAsked, QuestionAsked
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Made


class Asking(Widget, can_focus=True):
    """The questions that wait, the oldest first. Hidden while there is none."""

    DEFAULT_CSS = "Asking { height: auto; max-height: 60%; display: none; border-top: solid $accent; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", id="approval.yes"),
        Binding("n", "answer(False)", "no", id="approval.no"),
    ]

    class Answered(Message):
        """Answers that the person gave."""

        def __init__(self, answers: Sequence[port.Answer]) -> None:
            super().__init__()
            self.answers = answers

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self._questions: list[ApprovalAsked | QuestionAsked] = []

    def compose(self) -> ComposeResult:
        yield Static(id="question", markup=False)

    def put(self, questions: Sequence[ApprovalAsked | QuestionAsked], calls: Mapping[str, Made]) -> None:
        """Show these questions and no others. `calls`: those they are about, by id."""
        self._questions = list(questions)
        self.display = bool(questions)
        if questions:
            first = questions[0]
            self.query_one("#question", Static).update(f"{first.call}: {first}")
            self.focus()

    def action_answer(self, granted: bool) -> None:
        """Answer the first question."""
        if self._questions:
            self.post_message(self.Answered([port.Answer(id=self._questions[0].id, granted=granted)]))
