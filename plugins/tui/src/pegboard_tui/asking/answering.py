"""What keys do in the panel: the steps of an answer, and the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

from pegboard import port
from pegboard.events import ApprovalAsked, QuestionAsked
from pegboard.terminal import plain
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from pegboard_tui.asking import editing
from pegboard_tui.asking.approval import arguments_of
from pegboard_tui.asking.keys import BINDINGS, FIELDS, Step, possible
from pegboard_tui.asking.picker import is_free
from pegboard_tui.asking.queue import Queue
from pegboard_tui.asking.quiet import Quiet
from pegboard_tui.asking.remember import PatternProblem, edited_patterns, patterns_of
from pegboard_tui.composer.editor import EditorFailed, edited
from pegboard_tui.items import Made

_ACTIONS = frozenset(binding.action.partition("(")[0] for binding in BINDINGS) | {"look_at"}


class Answering(Widget):
    """The half of the panel that answers. step: where in an answer the person is. message: what they are told of it.

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

    # --- what the other half does -------------------------------------------------------------------------------------

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

    @property
    def _approval(self) -> ApprovalAsked:
        """The one that is looked at, where `possible` has seen that it asks for permission."""
        return cast(ApprovalAsked, self.queue.current)

    # --- permission ---------------------------------------------------------------------------------------------------

    def action_yes(self) -> None:
        """Allow this one call."""
        if self._counts():
            self._send([port.Answer(id=self._approval.id, granted=True)])

    def action_no(self) -> None:
        """Refuse this one call."""
        if self._counts():
            self._send([port.Answer(id=self._approval.id, granted=False)])

    def action_reason(self) -> None:
        """Refuse it, with a reason that is written first."""
        if self._counts():
            self._open("reason", self.queue.draft(self._approval).reason, "why not? the model is told")

    def action_no_all(self) -> None:
        """Refuse every call that asks, with a reason that is written first."""
        if self._counts():
            self._open(
                "reason for all", self.queue.reason, f"why none of {len(self.queue.approvals)}? the model is told"
            )

    def action_always(self) -> None:
        """Show what "always" would keep, and how long it may stand."""
        if self._counts():
            self._go("scope")
            self.begin_quiet()

    def action_keep(self, scope: str) -> None:
        """Allow it, and keep that for so long."""
        if self._counts():
            event = self._approval
            remember = cast(Literal["session", "project", "user"], scope)
            pattern = edited_patterns(event, self.queue.draft(event))
            self._send([port.Answer(id=event.id, granted=True, remember=remember, pattern=pattern)])

    def action_pattern(self) -> None:
        """Change the pattern under the cursor."""
        draft = self.queue.draft(self._approval)
        self._open("pattern", patterns_of(self._approval, draft)[draft.pattern])

    def action_choose(self) -> None:
        """Mark this one, or take its mark away."""
        draft = self.queue.draft(self._approval)
        draft.chosen = not draft.chosen
        self._marked()

    def action_choose_all(self) -> None:
        """Mark all; where all are marked, none."""
        chosen = len(self.queue.chosen) < len(self.queue.approvals)
        for event in self.queue.approvals:
            self.queue.draft(event).chosen = chosen
        self._marked()

    def _marked(self) -> None:
        self.refresh_bindings()
        self.draw()

    def action_allow_chosen(self) -> None:
        """Allow those that bear a mark; the others stand."""
        if self._counts():
            self._send([port.Answer(id=event.id, granted=True) for event in self.queue.chosen])

    def action_only_chosen(self) -> None:
        """Allow those that bear a mark, and refuse the others."""
        if self._counts():
            chosen = {event.id for event in self.queue.chosen}
            self._send([port.Answer(id=event.id, granted=event.id in chosen) for event in self.queue.approvals])

    # --- edited arguments ---------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Edit the arguments in the panel."""
        text = self._begun() if self._counts() else None
        if text is not None and len(text) > editing.LONGEST:
            self._tell("They are too long to be edited here; your editor can do it.")
        elif text is not None:
            self._open("edit", text)

    def action_editor(self) -> None:
        """Edit the arguments in the editor that EDITOR names."""
        text = self._area.text if self.step == "edit" else self._begun()
        if text is not None:
            self.run_worker(self._edit_outside(self._approval, text), name="editor", exclusive=True)

    def action_done(self) -> None:
        """Go on with the arguments as they were edited; they are judged again."""
        event, text = self._approval, self._area.text
        self.queue.draft(event).arguments = text
        try:
            arguments = editing.read_json(text)
        except ValueError as error:
            self._tell(f"No JSON: {error}. Nothing was sent.")
            return
        if arguments == arguments_of(event, self._calls.get(event.call)):
            self._tell("They are as they were. Nothing was sent.")
            return
        self.queue.edited.add(event.call)
        self._send([port.Answer(id=event.id, granted=True, arguments=arguments)])

    async def _edit_outside(self, event: ApprovalAsked, text: str) -> None:
        try:
            text = await edited(self.app, text, suffix=".json")
        except EditorFailed as why:
            self._tell(str(why))
            return
        if self.queue.current is not event:
            self.app.notify("That question was settled meanwhile. Nothing was sent.", markup=False)
            return
        self.queue.draft(event).arguments = text
        self._open("edit", text if len(text) <= editing.LONGEST else "")
        self.action_done()

    def _begun(self) -> str | None:
        """The arguments as they were last edited; None where there is nothing to be edited."""
        event = self._approval
        arguments = arguments_of(event, self._calls.get(event.call))
        if not isinstance(arguments, Mapping):
            self._tell("These arguments cannot be edited.")
            return None
        return self.queue.draft(event).arguments or editing.as_json(arguments)

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

    def _tell(self, text: str) -> None:
        self.message = text
        self.draw()

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
