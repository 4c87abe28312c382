"""Shows a session's events to a person as they come: activity lines, the tail of what runs, diffs, errors, the answer.

It knows an agent by its port alone. Nothing it draws is kept anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.blocks import AnyBlock, Diff
from pegboard.config.schema import UISettings
from pegboard.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallFinished,
    CallOutput,
    CallStarted,
    Message,
    Note,
    Progress,
    Seen,
    StateChanged,
    Text,
    Thinking,
    TurnEnded,
    Undone,
    Usage,
)
from pegboard.registry import Registry
from pegboard.terminal import spelled, visible
from pegboard.wording import used

from pegboard_cli.answer import Answer
from pegboard_cli.asked_calls import AskedCalls, Together
from pegboard_cli.progress import Waits
from pegboard_cli.prompt import Subject
from pegboard_cli.render import activity_line, block_lines
from pegboard_cli.results import dropped_line, kept_line, result_text, short_error
from pegboard_cli.screen import Screen
from pegboard_cli.styles import columns
from pegboard_cli.thoughts import Thoughts
from pegboard_cli.undo_lines import undone_line

if TYPE_CHECKING:
    from pegboard.rendering import Renderers
    from pegboard.tooling import Tool

_SOFT_NOTE = re.compile(r"\([^\n]{1,400}\)|No [a-z ]{1,60} found\.")
"""A result that says in one line that there was nothing: `(no matches for "x")`, `No search results found.`"""
_MAY_REPEAT = (Text, Message, TurnEnded, Thinking, Usage, Seen, StateChanged)
"""Events after which an answer may still turn out to repeat the result before it."""


class Viewer:
    """Draws events on a screen.

    quiet: a single call outside a turn, whose result is printed by whoever made it: only questions, the tail and notes.
    renderers: plugins' own ways to draw a tool's data. running: ids of the calls that were started and have not finished."""

    def __init__(
        self,
        screen: Screen,
        registry: Registry,
        ui: UISettings,
        *,
        quiet: bool = False,
        renderers: Renderers | None = None,
    ) -> None:
        self.running: set[str] = set()
        self._waits = Waits()
        self._thoughts = Thoughts(screen, shown=ui.show_thinking)
        self._renderers = renderers
        self._drawn: list[AnyBlock] | None = None
        self._screen = screen
        self._ui = ui
        self._quiet = quiet
        self._calls = AskedCalls(registry, ui)
        self._announced: set[str] = set()
        self._shown_diff: set[str] = set()
        self._questions: dict[str, ApprovalAsked] = {}
        self._together = Together()
        self._soft = ""
        self._streamed = False
        self._last_message = ""
        self._answer = Answer(screen)
        self._handlers: dict[type, Callable[[Any], None]] = {
            Text: self._text,
            Message: self._message,
            CallAsked: self._asked,
            ApprovalAsked: self._approval_asked,
            ApprovalAnswered: self._approval_answered,
            CallStarted: self._started,
            CallOutput: self._output,
            Progress: self._progress,
            CallFinished: self._finished,
            Note: self._note,
            Undone: self._undone,
            Usage: self._usage,
            TurnEnded: self._turn_ended,
        }

    async def take(self, event: AnyEvent) -> None:
        """Draw one event, with what a renderer makes of a result's data in place of its text."""
        if isinstance(event, CallFinished) and event.outcome == "ok" and not self._quiet and self._ui.status:
            self._drawn = await self.drawn(self._calls.tool(event.id), event.data)
        self.show(event)

    async def drawn(self, tool: Tool | None, data: Any) -> list[AnyBlock] | None:
        """What a plugin's renderer makes of a tool's data; one that fails is told of, once."""
        if self._renderers is None:
            return None
        blocks = await self._renderers.blocks(tool, data)
        self._screen.say(*(self._screen.styles.warn(f"note: {visible(note)}") for note in self._renderers.told()))
        return blocks

    def show(self, event: AnyEvent) -> None:
        """Draw one event; those without a picture are passed over."""
        if isinstance(event, CallOutput) and event.id not in self.running:
            return  # it comes late: its call's result is shown, or held back
        self._waits.hear(event)
        known = isinstance(event, Note) and event.text.strip() == self._soft  # the result itself, said again
        if self._answer.holds and not known and not isinstance(event, _MAY_REPEAT):
            self._answer.settle()
        self._thoughts.hear(event)
        self._handlers.get(type(event), self._nothing)(event)
        if self.waits_for() is None:
            self._screen.show_wait(None)

    def waits_for(self) -> str | None:
        """The line that says what is being waited for, if a person should be told (see `progress.ticking`)."""
        return self._waits.line() if self._ui.status else None

    def question(self, event: ApprovalAsked) -> Subject:
        """The call that a question is about, with the very arguments that it would run with.

        From here on its activity line and its diff count as shown."""
        self._announced.add(event.call)
        self._together.shown(event.call if event.batch < 2 else None)
        if any(isinstance(block, Diff) for block in event.preview):
            self._shown_diff.add(event.call)
        return self._calls.subject_with(event.call, event.arguments)

    # --- the answer ---------------------------------------------------------------------------------------------------

    def _text(self, event: Text) -> None:
        self._streamed = True
        if self._screen.streams_answer:
            self._answer.add(event.text)

    def _message(self, event: Message) -> None:
        """One reply of the model is whole. Beside calls its text is a remark; the last one is the answer."""
        if self._screen.streams_answer:
            if not self._streamed:
                self._answer.add(event.text)
            if event.calls or event.text.strip():
                self._answer.settle()
            self._screen.end_answer()
        elif event.calls and event.text.strip():
            self._screen.say(*(self._screen.styles.dim(line) for line in spelled(event.text.strip()).split("\n")))
        self._streamed = False
        self._last_message = event.text

    def _turn_ended(self, event: TurnEnded) -> None:
        self._screen.clear_tail()
        last = self._last_message.strip()  # the end of the answer, where its stream broke and the model went on
        if event.text and not (self._screen.streams_answer and last and event.text.strip().endswith(last)):
            self._answer.add(event.text)
        self._answer.settle()
        self._screen.end_answer()
        match event.status:
            case "error":
                self._problem(event.error or "the turn failed")
            case "stopped":
                self._problem(f"stopped: {event.error or 'a limit was reached'}")
            case "interrupted" if event.error:
                self._problem(event.error)
            case "interrupted":
                self._screen.say("(cancelled)")
            case _:
                pass

    def _problem(self, text: str) -> None:
        lines = spelled(text.strip()).split("\n")
        self._screen.say(
            *(self._screen.styles.bad(f"{'!' if not number else ' '} {line}") for number, line in enumerate(lines))
        )

    # --- calls --------------------------------------------------------------------------------------------------------

    def _asked(self, event: CallAsked) -> None:
        self._calls.hear(event)
        self._together.asked(event.id)

    def _announce(self, call_id: str) -> None:
        """The activity line, once, when it is known that the call runs, or that it does not."""
        if call_id in self._announced or call_id not in self._calls or self._quiet or not self._ui.status:
            return
        self._announced.add(call_id)
        self._together.shown(call_id)
        subject = self._calls.subject(call_id)
        lines = activity_line(subject.activity, subject.tool, self._screen.styles, glyphs=self._ui.glyph_lines)
        self._screen.say(*lines)

    def _started(self, event: CallStarted) -> None:
        self.running.add(event.id)
        self._announce(event.id)

    def _output(self, event: CallOutput) -> None:
        """A snapshot of the end of what a call has printed."""
        printed = re.split(r"[\r\n]+", event.text)  # a progress bar writes over its line: its states are lines here
        tool = self._calls.tool(event.id)
        lines = [result_text(line, tool) for line in printed if line.strip()]
        self._screen.show_tail([line for line in lines if line.strip()])

    def _progress(self, event: Progress) -> None:
        self._screen.show_tail(spelled(event.text).split("\n"))

    def _finished(self, event: CallFinished) -> None:
        self.running.discard(event.id)
        self._screen.clear_tail()
        self._together.finished(event.id)
        if self._quiet or not self._ui.status:
            return
        self._announce(event.id)
        whose = self._calls.words(event.id) if self._together.is_unclear(event.id) else ""
        styles = self._screen.styles
        drawn, self._drawn = self._drawn, None
        for block in [*event.blocks, *(drawn or ())]:
            if not (isinstance(block, Diff) and event.id in self._shown_diff):
                self._block(block)
        tool = self._calls.tool(event.id)
        echo = tool is not None and tool.declaration.echo and not drawn
        self._result(event, result_text(event.text, tool, event.block), echo=echo, whose=whose)
        if ignored := dropped_line(event.dropped, tool):
            self._answer.settle()
            self._screen.say(styles.dim(ignored))

    def _block(self, block: AnyBlock) -> None:
        width = columns(sys.stderr)
        lines = block_lines(block, self._screen.styles, width=max(width - 2, 1) if width else None)
        self._screen.say(*(f"  {line}" for line in lines))

    def _result(self, event: CallFinished, text: str, *, echo: bool, whose: str) -> None:
        """whose: which call it is of, where the line above is another's."""
        styles = self._screen.styles
        if event.outcome != "ok":
            if self._ui.show_errors:
                self._screen.say(styles.dim(f"! {f'{whose}: ' if whose else ''}{short_error(event)}"))
        elif _SOFT_NOTE.fullmatch(text.strip()):
            self._soft = text.strip()
            if self._ui.show_notes:
                self._answer.result(event.text, [self._soft])
        elif echo and text.strip():
            if whose:
                self._answer.settle()
                self._screen.say(styles.dim(f"  {whose}:"))
            self._answer.result(event.text, text.rstrip("\n").split("\n"))

    # --- questions ----------------------------------------------------------------------------------------------------

    def _approval_asked(self, event: ApprovalAsked) -> None:
        self._questions[event.id] = event

    def _approval_answered(self, event: ApprovalAnswered) -> None:
        """Who allowed a call for the person, and what was asked. A refusal is told when the call is over."""
        asked = self._questions.pop(event.id, None)
        if kept := kept_line(event):
            self._screen.say(self._screen.styles.dim(kept))
        if asked is None or not event.granted or event.by == "person" or self._quiet or not self._ui.status:
            return
        self._announce(asked.call)
        line = f"  {asked.rule} ({asked.layer}) asks: allowed by {event.by}"
        self._screen.say(self._screen.styles.dim(visible(line)))

    # --- the rest -----------------------------------------------------------------------------------------------------

    def _note(self, event: Note) -> None:
        styles, text = self._screen.styles, spelled(event.text.strip())
        if event.level != "info":
            self._screen.say(*(styles.warn(f"{visible(event.level)}: {line}") for line in text.split("\n")))
        elif self._ui.show_notes and text != self._soft:
            self._screen.say(*(styles.dim(f"  {line}") for line in text.split("\n")))

    def _undone(self, event: Undone) -> None:
        """Somebody undoes in this session meanwhile."""
        self._screen.say(self._screen.styles.dim(f"  ({undone_line(event)})"))

    def _usage(self, event: Usage) -> None:
        if self._ui.show_usage:
            self._screen.say(self._screen.styles.dim(f"  {used(event)}"))

    def _nothing(self, event: object) -> None:
        """Not for the eye."""
