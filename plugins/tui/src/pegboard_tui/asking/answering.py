"""Answers in words, what Enter does in a line, and how a person moves about among the questions."""

from __future__ import annotations

from typing import cast

from pegboard import port
from pegboard.events import ApprovalAsked, QuestionAsked
from pegboard.terminal import plain
from textual.widgets import Input, TextArea

from pegboard_tui.asking.keys import FIELDS
from pegboard_tui.asking.permitting import Permitting
from pegboard_tui.asking.picker import is_free
from pegboard_tui.asking.remember import patterns_of


class Answering(Permitting):
    """The half of the panel that answers."""

    # --- words --------------------------------------------------------------------------------------------------------

    def action_take(self) -> None:
        """Answer with the option under the cursor, or open the line for one's own words."""
        event = cast(QuestionAsked, self.queue.current)
        option = self.queue.draft(event).option
        if option >= len(event.options):
            self.begin_own("")
        else:
            self.action_pick(option + 1)

    def action_pick(self, number: int) -> None:
        """Answer with this option, counted from 1."""
        event = cast(QuestionAsked, self.queue.current)
        if number > len(event.options):
            self.begin_own(str(number))
        elif self._counts():
            self._send([port.Answer(id=event.id, granted=True, text=event.options[number - 1])])

    def begin_own(self, text: str) -> bool:
        """Open the line for an answer in the person's own words, with this typed; False where none would do."""
        event = self.queue.current
        if self.step != "look" or not isinstance(event, QuestionAsked) or not is_free(event):
            return False
        if self._counts():
            self._open("free", self.queue.draft(event).free + text, "your answer")
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.step == "pattern" and event.value == self._line.value:
            self._tell(self._pattern_problem(event.value) or "")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.message and self._area.has_focus and event.text_area.text != self.queue.draft(self._approval).arguments:
            self._tell("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a line: it refuses, answers a tool, or keeps a pattern for the choice. It never allows."""
        event.stop()
        text, question = plain(event.value.strip()), self.queue.current
        if question is None:
            return
        match self.step:
            case "reason":
                self._send([port.Answer(id=question.id, granted=False, reason=text or None)])
            case "reason for all":
                self._send([port.Answer(id=a.id, granted=False, reason=text or None) for a in self.queue.approvals])
                self.queue.reason = ""
            case "pattern":
                self._take_pattern(text)
            case "free" if text:
                self._send([port.Answer(id=question.id, granted=True, text=text)])
            case "free":
                self._tell("Nothing is written.")

    def _take_pattern(self, text: str) -> None:
        problem = self._pattern_problem(text)
        if problem is not None:
            self._tell(problem)
            return
        draft = self.queue.draft(self._approval)
        patterns = patterns_of(self._approval, draft)
        patterns[draft.pattern] = text
        draft.patterns = patterns
        self._go("scope")
        self.begin_quiet()

    def _pattern_problem(self, text: str) -> str | None:
        if not text.strip():
            return "nothing is left of it"
        command = self._approval.commands[self.queue.draft(self._approval).pattern]
        return self._problem(text, command) if self._problem is not None else None

    # --- about --------------------------------------------------------------------------------------------------------

    def action_back(self) -> None:
        """A step back; what was written stays."""
        question = self.queue.current
        if question is None:
            return
        draft, line = self.queue.draft(question), self._line.value
        match self.step:
            case "reason":
                draft.reason = line
            case "reason for all":
                self.queue.reason = line
            case "free":
                draft.free = line
            case "edit":
                draft.arguments = self._area.text
        if self.step == "pattern":
            self._go("scope")
            self.begin_quiet()
        elif self.step != "look":
            self._go("look")
        elif isinstance(question, ApprovalAsked):
            self.leave()
        elif self._counts():
            self._send([port.Answer(id=question.id, granted=False)])

    def action_details(self) -> None:
        """Show long arguments by their lengths, or in full."""
        draft = self.queue.draft(self._approval)
        draft.full = not draft.full
        self.draw()

    def action_next(self) -> None:
        """Look at the next question."""
        self._move(1)

    def action_previous(self) -> None:
        """Look at the one before."""
        self._move(-1)

    def action_look_at(self, number: int) -> None:
        """Look at this one, counted from 0."""
        self._move(number - self.queue.at)

    def _move(self, by: int) -> None:
        if self.step in FIELDS:
            return
        self.queue.move(by)
        self._go("look")

    def action_up(self) -> None:
        """The cursor up: among options, patterns, questions; where there is one alone, it scrolls."""
        self._cursor(-1)

    def action_down(self) -> None:
        """The cursor down."""
        self._cursor(1)

    def _cursor(self, by: int) -> None:
        event = self.queue.current
        if event is None:
            return
        draft = self.queue.draft(event)
        if isinstance(event, QuestionAsked):
            draft.option = max(0, min(draft.option + by, len(event.options) - (0 if is_free(event) else 1)))
            self.draw()
        elif self.step == "scope" and len(event.commands) > 1:
            draft.pattern = (draft.pattern + by) % len(event.commands)
            self.draw()
        elif self.step == "look" and len(self.queue.waiting) > 1:
            self._move(by)
        else:
            self.scroll_rows(by)

    def action_page(self, by: int) -> None:
        """Scroll by so many pages."""
        self.scroll_rows(by * self._page)

    def scroll_rows(self, by: int) -> None:
        """Scroll the question by rows; it stops at either end."""
        if self.queue.current is not None:
            draft = self.queue.draft(self.queue.current)
            draft.scroll = max(draft.scroll + by, 0)
            self.draw()
