"""The panel above the input in which questions stand until they are answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import ClassVar

from pegboard.events import ApprovalAsked
from pegboard.terminal import visible
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from pegboard_tui.asking import frame
from pegboard_tui.asking.approval import arguments_of, call_rows
from pegboard_tui.asking.arguments import has_long
from pegboard_tui.asking.cells import Row, Rows, prose
from pegboard_tui.asking.focusing import Focusing
from pegboard_tui.asking.hints import Hint, hint_rows
from pegboard_tui.asking.keys import BINDINGS, ENTER, FIELDS, WORDS
from pegboard_tui.asking.lines import Lines
from pegboard_tui.asking.one_line import OneLine
from pegboard_tui.asking.picker import question_rows
from pegboard_tui.asking.queue import Question
from pegboard_tui.asking.remember import PatternProblem, remember_rows
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.items import Made
from pegboard_tui.keys import keys_now, spelled_keys

AHEAD = 1_000
"""Rows that are made and counted beyond those in sight."""
LEAST = 3
"""Rows that the panel takes at least: who asks, a row of the question, and the keys."""


class Asking(Focusing, can_focus=True):
    """The questions that wait, the oldest first. Hidden while there is none.

    It takes the focus by itself only from where nothing is written, and a key answers only once `quiet.PAUSE` seconds went
    by without one. A character that is typed before that goes where the focus was taken from, and takes the focus back
    there. So whoever types a prompt while a question appears neither answers it nor loses a word. Enter never allows a call.

    Escape goes a step back: from a field to the question with what was written kept, from a question for permission to the
    input, where the question stands on: escape neither allows nor refuses. A tool's question, which asks for words, is
    dismissed by it. In the input, escape and Ctrl-C are the session's: they end the turn, and what waits is refused with it.
    """

    DEFAULT_CSS = """
    Asking { height: auto; display: none; layout: vertical; background: $panel; }
    Asking > Input { height: 1; border: none; padding: 0; background: $surface; display: none; }
    Asking > TextArea { border: none; padding: 0; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*BINDINGS]

    def __init__(self, palette: Palette, problem: PatternProblem | None = None, *, id: str | None = None) -> None:
        """`problem`: why a pattern may not be kept for a command; None: every pattern may."""
        super().__init__(problem, id=id)
        self._palette = palette
        self._body_of: tuple[object, Rows] = (None, Rows(()))
        self._shown: tuple[str, int | None] | None = None
        self._room: object = None

    def compose(self) -> ComposeResult:
        yield Lines(id="asked")
        yield OneLine(id="line", compact=True, select_on_focus=False)
        yield TextArea(id="arguments", compact=True)
        yield Lines(id="keys")

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.draw())
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._resized())
        self.watch(self.screen, "stack_updates", self.offer, init=False)
        self.draw()

    @property
    def palette(self) -> Palette:
        """The styles of text."""
        return self._palette

    @palette.setter
    def palette(self, palette: Palette) -> None:
        self._palette = palette
        self.draw()

    @property
    def waiting(self) -> int:
        """How many questions have no answer yet."""
        return len(self.queue.waiting)

    def put(self, questions: Sequence[Question], calls: Mapping[str, Made]) -> None:
        """Show these questions and no others; what the person has begun with those that stay is kept.

        `calls`: those they are about, by id. Cheap where nothing has changed."""
        self._calls = dict(calls)
        before, was = [one.id for one in self.queue.waiting], self.queue.current
        new = self.queue.put(questions)
        if [one.id for one in self.queue.waiting] == before:
            return
        if was is not None and self.queue.current is not None and was.id != self.queue.current.id:
            self.turn_to()
        if not self.waiting:
            self.close_panel()
            return
        self.display = True
        if new:
            self._left = False
        self.offer()
        self.draw()

    # --- drawing ------------------------------------------------------------------------------------------------------

    def words(self, id: str, question: Question) -> tuple[str, str]:
        """How a key is told of, where that depends on the question."""
        match id:
            case "approval.yes" if self.queue.as_edited(question):
                return "allow as edited", "yes"
            case "approval.details":
                return ("in short", "short") if self.queue.draft(question).full else ("in full", "full")
            case "approval.allow_chosen":
                return f"allow chosen ({len(self.queue.chosen)})", "chosen"
            case "approval.back" if self.step == "look":
                return ("to the input", "back") if isinstance(question, ApprovalAsked) else ("dismiss", "dismiss")
            case _:
                return WORDS[id]

    def draw(self) -> None:
        """Draw the question that is looked at, in the rows there are, with the keys always in sight."""
        question = self.queue.current
        if question is None or not self.is_mounted or not isinstance(self.parent, Widget):
            return
        whole = self.parent.size
        look = Look(width=max(self.content_size.width or whole.width, 1), palette=self.palette)
        rows = max(LEAST, whole.height * (3 if self.step != "edit" else 4) // 5)
        body, at = (Rows(()), None) if self.step == "edit" else self._body(question, look)
        draft = self.queue.draft(question)
        count = body.reach(draft.scroll + rows + AHEAD)
        foot = self._foot(question, look, rows)
        field = 0 if self.step not in FIELDS else 1 if self.step != "edit" else max(rows - 1 - len(foot), 1)
        listed = frame.list_length(self.queue) if self.step == "look" else 0
        share = frame.shares(rows, keys=len(foot), waiting=listed, field=field, body=count)
        draft.scroll = _scrolled(draft.scroll, at if self._shown != (question.id, at) else None, share.body, count)
        self._shown = (question.id, at)
        below = max(count - draft.scroll - share.body, 0)
        notice = self._notice(0 if share.rule else below)
        always = self.step in ("scope", "pattern")
        top = [frame.title_row(question, self.queue, self._calls, look, notice, always=always)]
        top += frame.list_rows(self.queue, self._calls, look, share.list)
        if share.line:
            top.append(frame.rule_row(look))
        top += body.between(draft.scroll, draft.scroll + share.body)
        if share.rule:
            key = keys_now(self.screen).get("approval.page_down", "pgdn")
            top.append(frame.rule_row(look, draft.scroll, below, key, body.whole))
        self._page = max(share.body - 1, 1)
        self.query_one("#asked", Lines).show(top)
        self.query_one("#arguments", TextArea).styles.height = field
        self.query_one("#keys", Lines).show(foot)

    def _body(self, question: Question, look: Look) -> tuple[Rows, int | None]:
        """The rows of a question, and the one that has to be in sight."""
        draft = self.queue.draft(question)
        if not isinstance(question, ApprovalAsked):
            rows, option = question_rows(question, draft, look)
            return Rows(rows), option
        made = self._calls.get(question.call)
        kept: list[Row] = []
        at: int | None = None
        if self.step in ("scope", "pattern"):
            kept, at = remember_rows(question, draft, look)
        key = (question.id, look, draft.full, made.described.activity if made else None, str(kept))
        if self._body_of[0] != key:
            edited = self.queue.as_edited(question)
            call = call_rows(question, made, look, full=draft.full, edited=edited)
            self._body_of = (key, Rows(chain(kept, [[]] if kept else [], call)))
        return self._body_of[1], at

    def _foot(self, question: Question, look: Look, rows: int) -> list[Strip]:
        """What there is to be told, and the keys."""
        palette = look.palette
        told = prose([Segment(visible(self.message), palette.problem)], look.width) if self.message else []
        most = 1 if rows < frame.SMALL else 2 if rows < 10 else 4
        foot = hint_rows(self._hints(question), look, most)
        return [*told[: max(rows - 2 - len(foot), 1 if rows > LEAST else 0)], *foot]

    def _hints(self, question: Question) -> list[Hint]:
        if not self.has_focus_within:
            return [Hint(keys_now(self.screen).get("approval.focus", "shift+tab"), "answer", "answer")]
        found: list[Hint] = [Hint("enter", *ENTER[self.step])] if self.step in ENTER else []
        if self.step == "look" and not isinstance(question, ApprovalAsked) and len(question.options) > 1:
            found.append(Hint(f"1-{min(len(question.options), 9)}", "take by number", "number"))
        for active in self.screen.active_bindings.values():
            binding = active.binding
            id = binding.id or ""
            if id not in WORDS or self._untold(id, question) or any(hint.action == binding.action for hint in found):
                continue
            found.append(Hint(spelled_keys(binding.key), *self.words(id, question), binding.action))
        return found

    def _untold(self, id: str, question: Question) -> bool:
        """Whether a key that does something is not told of: it would only be noise here."""
        match id:
            case "approval.no_all":
                return len(self.queue.approvals) < 2
            case "approval.editor":
                return self.step != "edit"
            case "approval.details" if isinstance(question, ApprovalAsked):
                arguments = arguments_of(question, self._calls.get(question.call))
                return not has_long(arguments, self.content_size.width)
            case _:
                return False

    def _notice(self, below: int) -> str:
        if not self.has_focus_within:
            return "your keys go elsewhere"
        if self.ignored and not self.quiet.over:
            return f"{self.ignored} came too soon: once more"
        if not self.quiet.over and self.step in ("look", "scope"):
            return "keys count in a moment"
        return f"+{below} rows" if below else ""

    def on_descendant_focus(self) -> None:
        self.draw()

    def on_focus(self) -> None:
        self.draw()

    def on_blur(self) -> None:
        self.draw()

    def on_resize(self) -> None:
        self._resized()

    def on_show(self) -> None:
        self.offer()

    def _resized(self) -> None:
        size = self.parent.size if isinstance(self.parent, Widget) else None
        if size is not None and self._room != (size, self.content_size.width):
            self._room = (size, self.content_size.width)
            self.draw()


def _scrolled(scroll: int, at: int | None, room: int, count: int) -> int:
    """Rows to scroll past, so that this one is in sight, and no room is left empty that there are rows for."""
    if at is not None:
        scroll = at if at < scroll else max(scroll, at - room + 1)
    return max(min(scroll, count - room), 0)
