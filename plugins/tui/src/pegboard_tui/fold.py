"""A session's events folded into what the app shows: items, what runs, what is asked, panels, what was used.

Pure: it draws nothing, waits for nothing and knows no widget, so a whole session is one loop over its log. What streamed
comes to the same items as what stands in the log of it, under the same keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pegboard import events as kinds
from pegboard.blocks import AnyBlock
from pegboard.events import AnyEvent, ApprovalAsked, CallAsked, PanelChanged, QuestionAsked
from pegboard.port import Described

from pegboard_tui.items import AnyItem, Asked, Ended, Level, Made, Shown, Told
from pegboard_tui.replies import Replies

Describe = Callable[[CallAsked, Any], Described]


class Fold:
    """What one session looks like so far.

    live: the number of the event after which things happen now; a question before it was asked by a process that is gone.
    awaits: whether the question with this id waits for an answer here, and not in another process. plain: whether what that
    model says is no Markdown.
    items: in their order. running: calls that were started and have not finished, by id; tails: what they print.
    questions: those that wait for an answer, oldest first. panels: of plugins, by id. mode, model: of the last turn.
    tokens_in, tokens_out, cost: of all turns together. context: tokens of the last request and its reply; 0 is not known.
    turn: the one that runs, in whichever process. clock: the one that `Made.since` is told by."""

    def __init__(
        self,
        describe: Describe,
        live: int = 0,
        clock: Callable[[], float] = time.monotonic,
        awaits: Callable[[str], bool] = lambda id: True,
        plain: Callable[[str], bool] = lambda model: False,
    ) -> None:
        self.items: list[AnyItem] = []
        self.running: dict[str, Made] = {}
        self.tails: dict[str, str] = {}
        self.questions: dict[str, ApprovalAsked | QuestionAsked] = {}
        self.panels: dict[str, PanelChanged] = {}
        self.turn: int | None = None
        self.model = ""
        self.mode: str | None = None
        self.tokens_in = self.tokens_out = self.context = 0
        self.cost: float | None = None
        self._describe = describe
        self._live = live
        self.clock = clock
        self._awaits = awaits
        self._plain = plain
        self._calls: dict[str, Made] = {}
        self._replies = Replies(self._add)
        self._usage: kinds.Usage | None = None
        self._began: float | None = None
        self._own = 0

    def take(self, event: AnyEvent) -> list[AnyItem]:
        """Take one event in; returns the items that are new or changed, in their order."""
        live = event.seq is None or event.seq > self._live
        changed: list[AnyItem | None]
        match event:
            case kinds.TurnStarted():
                self.turn, self.model, self.mode = event.turn, event.model, event.mode
                self._usage, self._began = None, self.clock() if live else None
                self._replies.plain = self._plain(event.model)
                changed = []
            case kinds.Prompt(text=text, by=by):
                changed = [
                    self._tell(event, f"to the model: {text}")
                    if by == kinds.LOOP
                    else self._add(Asked(key=_key(event), text=text, by=by))
                ]
            case kinds.Thinking(text=text):
                changed = [*self._replies.think(text)]
            case kinds.Text(text=text):
                changed = [*self._replies.say(text)]
            case kinds.Message():
                changed = [*self._replies.whole(event)]
            case kinds.CallAsked():
                changed = [self._asked(event)]
            case kinds.ApprovalAsked() | kinds.QuestionAsked():
                changed = [self._question(event)] if live and self._awaits(event.id) else []
            case kinds.ApprovalAnswered():
                changed = [self._approved(event)]
            case kinds.QuestionAnswered(id=id):
                asked = self.questions.pop(id, None)
                changed = [self._back(asked.call)] if asked else []
            case kinds.CallStarted(id=id):
                changed = [self._started(id, live=live)]
            case kinds.CallOutput(id=id, text=text):
                if id in self.running:  # else it comes late: its call's result is shown
                    self.tails[id] = text
                changed = []
            case kinds.Progress(id=id, text=text):
                changed = [self._progress(id, text)]
            case kinds.CallFinished():
                changed = [self._finished(event)]
            case kinds.Note(level=level, text=text):
                changed = [self._tell(event, text, "info" if level == "info" else "warning")]
            case kinds.Undone(error=None):
                changed = [self._tell(event, undone_text(event))]
            case kinds.Undone(error=str(error)):
                changed = [self.tell(error, "problem")]
            case kinds.Usage():
                self._use(event)
                changed = []
            case kinds.TurnEnded():
                changed = self._turn_ended(event)
            case kinds.PanelChanged(id=id):
                self.panels[id] = event
                if not event.blocks:
                    del self.panels[id]
                changed = []
            case kinds.HistoryTrimmed() | kinds.Seen() | kinds.StateChanged():
                changed = []  # a note beside it says that history was trimmed
        return [item for item in changed if item is not None]

    def tell(self, text: str, level: Level = "info") -> AnyItem:
        """Add a note of the app's own. It is no part of the session: when that is opened again, it is gone."""
        return self._add(Told(key=self._own_key(), text=text, level=level))

    def show(self, blocks: list[AnyBlock], title: str = "") -> AnyItem:
        """Add what a command shows."""
        return self._add(Shown(key=self._own_key(), blocks=blocks, title=title))

    def settle(self) -> list[AnyItem]:
        """The log was read to where the app began: what had not ended by then may go on elsewhere, and not here."""
        lost: list[AnyItem] = []
        for made in self._calls.values():
            if made.state in ("asked", "waiting", "running"):
                made.state = "lost"
                made.touch()
                lost.append(made)
        self.running.clear()
        self.tails.clear()
        self.questions.clear()
        self.turn = None
        return lost

    def call(self, id: str) -> Made | None:
        """A call by its id."""
        return self._calls.get(id)

    @property
    def calls(self) -> list[Made]:
        """All of them, in their order."""
        return list(self._calls.values())

    # --- items --------------------------------------------------------------------------------------------------------

    def _own_key(self) -> str:
        self._own += 1
        return f"x{self._own}"

    def _add(self, item: AnyItem) -> AnyItem:
        self.items.append(item)
        return item

    def _tell(self, event: AnyEvent, text: str, level: Level = "info") -> AnyItem:
        return self._add(Told(key=_key(event) if event.seq is not None else self._own_key(), text=text, level=level))

    # --- calls --------------------------------------------------------------------------------------------------------

    def _asked(self, event: CallAsked) -> AnyItem:
        key = f"c{event.id}" if event.id not in self._calls else _key(event)
        made = Made(key=key, asked=event, described=self._describe(event, None))
        self._calls[event.id] = made
        return self._add(made)

    def _question(self, event: ApprovalAsked | QuestionAsked) -> AnyItem | None:
        self.questions[event.id] = event
        made = self._calls.get(event.call)
        if made is not None:
            if isinstance(event, ApprovalAsked):
                made.described = self._describe(made.asked, event.arguments)
            made.state = "waiting"
            made.touch()
        return made

    def _approved(self, event: kinds.ApprovalAnswered) -> AnyItem | None:
        asked = self.questions.pop(event.id, None)
        made = self._calls.get(asked.call) if asked else None
        if made is None:
            return None
        said = "allowed" if event.granted else "declined"
        made.why = "" if event.by == "person" and event.granted else f"{said} by {event.by}"
        if event.remember and event.granted:
            made.why = f"from now on: {'; '.join(event.remember)}"
        return self._back(made.asked.id)

    def _back(self, id: str) -> AnyItem | None:
        made = self._calls.get(id)
        if made is not None:
            made.state = "running" if id in self.running else "asked"
            made.touch()
        return made

    def _started(self, id: str, *, live: bool) -> AnyItem | None:
        made = self._calls.get(id)
        if made is not None:
            made.state, made.since = "running", self.clock() if live else None
            self.running[id] = made
            made.touch()
        return made

    def _progress(self, id: str, text: str) -> AnyItem | None:
        made = self.running.get(id)
        if made is not None:
            made.progress = text
            made.touch()
        return made

    def _finished(self, event: kinds.CallFinished) -> AnyItem | None:
        self.running.pop(event.id, None)
        self.tails.pop(event.id, None)
        for id in [id for id, asked in self.questions.items() if asked.call == event.id]:
            del self.questions[id]  # nobody waits for its answer any more
        made = self._calls.get(event.id)
        if made is not None:
            made.state, made.finished, made.progress = "done", event, ""
            made.touch()
        return made

    # --- the turn -----------------------------------------------------------------------------------------------------

    def _use(self, event: kinds.Usage) -> None:
        self._usage = event
        self.tokens_in += event.input
        self.tokens_out += event.output
        self.context = event.context or self.context
        if event.cost is not None:
            self.cost = (self.cost or 0.0) + event.cost

    def _turn_ended(self, event: kinds.TurnEnded) -> list[AnyItem | None]:
        """Questions of calls outside the turn go on waiting."""
        self.turn = None
        for id in [id for id, asked in self.questions.items() if asked.turn is not None]:
            del self.questions[id]
        seconds = self.clock() - self._began if self._began is not None else None
        self._began = None
        key = _key(event) if event.seq is not None else self._own_key()
        return [*self._replies.break_off(), self._add(Ended(key=key, ended=event, usage=self._usage, seconds=seconds))]


def _key(event: AnyEvent) -> str:
    return f"e{event.seq}"


def undone_text(event: kinds.Undone) -> str:
    """What an undo did, in a line: `undone: edit_file (2 files: a.py, b.py)`."""
    word = "done again" if event.redone else "undone"
    paths = [file.path for file in event.files]
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"{word}: {event.tool} ({len(paths)} file{'' if len(paths) == 1 else 's'}: {', '.join(paths[:3])}{more})"
