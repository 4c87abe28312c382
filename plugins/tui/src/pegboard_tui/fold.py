"""A session's events folded into what the app shows: items, what runs, what is asked, panels, what was used.

Pure: it draws nothing, waits for nothing and knows no widget, so a whole session is one loop over its log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pegboard import events as kinds
from pegboard.blocks import AnyBlock
from pegboard.events import AnyEvent, ApprovalAsked, CallAsked, PanelChanged, QuestionAsked
from pegboard.port import Described

from pegboard_tui.items import AnyItem, Asked, Ended, Item, Made, Said, Shown, Thought, Told

Describe = Callable[[CallAsked, Any], Described]


class Fold:
    """What one session looks like so far.

    live: the number of the event after which things happen now; a question before it was asked by a process that is gone.
    items: in their order. running: calls that were started and have not finished, by id; tails: what they print.
    questions: those that wait for an answer, oldest first. panels: of plugins, by id. mode, model: of the last turn.
    usage: what turns took together, and the tokens of the last request. turn: the one that runs."""

    def __init__(self, describe: Describe, live: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
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
        self._clock = clock
        self._calls: dict[str, Made] = {}
        self._said: Said | None = None
        self._thought: Thought | None = None
        self._usage: kinds.Usage | None = None
        self._began: float | None = None
        self._count = 0

    def take(self, event: AnyEvent) -> list[AnyItem]:
        """Take one event in; returns the items that are new or changed, in their order."""
        live = event.seq is None or event.seq > self._live
        changed: list[AnyItem | None]
        match event:
            case kinds.TurnStarted():
                self.turn, self.model, self.mode = event.turn, event.model, event.mode
                self._usage, self._began = None, self._clock() if live else None
                changed = []
            case kinds.Prompt(text=text, by=by):
                level = Told(key=self._key(event), text=text) if by == kinds.LOOP else None
                changed = [self._add(level or Asked(key=self._key(event), text=text, by=by))]
            case kinds.Thinking(text=text):
                changed = [self._think(text)]
            case kinds.Text(text=text):
                changed = [self._end_thought(), self._say(text)]
            case kinds.Message():
                changed = self._message(event)
            case kinds.CallAsked():
                changed = [self._asked(event)]
            case kinds.ApprovalAsked() | kinds.QuestionAsked():
                changed = [self._question(event)] if live else []
            case kinds.ApprovalAnswered():
                changed = [self._approved(event)]
            case kinds.QuestionAnswered(id=id):
                asked = self.questions.pop(id, None)
                changed = [self._back(asked.call)] if asked else []
            case kinds.CallStarted(id=id):
                changed = [self._started(id)]
            case kinds.CallOutput(id=id, text=text):
                if id in self.running:
                    self.tails[id] = text
                changed = []
            case kinds.Progress(id=id, text=text):
                changed = [self._progress(id, text)]
            case kinds.CallFinished():
                changed = [self._finished(event)]
            case kinds.Note(level=level_, text=text):
                changed = [
                    self._add(Told(key=self._key(event), text=text, level="info" if level_ == "info" else "warning"))
                ]
            case kinds.Undone():
                changed = [self._add(Told(key=self._key(event), text=undone_text(event)))] if not event.error else []
            case kinds.Usage():
                self._use(event)
                changed = []
            case kinds.TurnEnded():
                changed = self._turn_ended(event)
            case kinds.PanelChanged(id=id):
                self.panels[id] = event
                changed = []
            case kinds.HistoryTrimmed(calls=calls):
                text = f"{len(calls)} old results were left out of what the model is sent; they are kept here"
                changed = [self._add(Told(key=self._key(event), text=text))]
            case kinds.Seen() | kinds.StateChanged():
                changed = []
        return [item for item in changed if item is not None]

    def tell(self, text: str, level: str = "info") -> AnyItem:
        """Add a note of the app's own."""
        kind: Any = level
        return self._add(Told(key=self._own(), text=text, level=kind))

    def show(self, blocks: list[AnyBlock], title: str = "") -> AnyItem:
        """Add what a command shows."""
        return self._add(Shown(key=self._own(), blocks=blocks, title=title))

    def settle(self) -> list[AnyItem]:
        """The log was read to where the app began: what had not ended by then never will, in any process of ours."""
        lost: list[AnyItem] = []
        for made in self._calls.values():
            if made.state in ("asked", "waiting", "running"):
                made.state = "lost"
                made.touch()
                lost.append(made)
        self.running.clear()
        self.tails.clear()
        self.turn = None
        return lost

    def call(self, id: str) -> Made | None:
        """A call by its id."""
        return self._calls.get(id)

    # --- items --------------------------------------------------------------------------------------------------------

    def _key(self, event: AnyEvent) -> str:
        return f"e{event.seq}" if event.seq is not None else self._own()

    def _own(self) -> str:
        self._count += 1
        return f"x{self._count}"

    def _add(self, item: AnyItem) -> AnyItem:
        self.items.append(item)
        return item

    # --- the answer ---------------------------------------------------------------------------------------------------

    def _think(self, text: str) -> AnyItem:
        if self._thought is None:
            self._thought = Thought(key=self._own())
            self._add(self._thought)
        self._thought.text += text
        self._thought.touch()
        return self._thought

    def _end_thought(self) -> AnyItem | None:
        thought, self._thought = self._thought, None
        if thought is not None:
            thought.done = True
            thought.touch()
        return thought

    def _say(self, text: str) -> AnyItem:
        if self._said is None:
            self._said = Said(key=self._own())
            self._add(self._said)
        self._said.text += text
        self._said.touch()
        return self._said

    def _message(self, event: kinds.Message) -> list[AnyItem | None]:
        thought = self._thought
        if thought is None and event.thinking.strip():
            thought = Thought(key=self._key(event) + "t")
            self._add(thought)
        if thought is not None:
            thought.text, thought.done = event.thinking or thought.text, True
            thought.touch()
        said, self._said, self._thought = self._said, None, None
        if said is None and not event.text.strip():
            return [thought]
        if said is None:
            said = Said(key=self._key(event))
            self._add(said)
        said.text, said.done = event.text, True
        said.touch()
        return [thought, said]

    # --- calls --------------------------------------------------------------------------------------------------------

    def _asked(self, event: CallAsked) -> AnyItem:
        made = Made(key=f"c{event.id}", asked=event, described=self._describe(event, None))
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

    def _started(self, id: str) -> AnyItem | None:
        made = self._calls.get(id)
        if made is not None:
            made.state = "running"
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
        self.context = event.input
        if event.cost is not None:
            self.cost = (self.cost or 0.0) + event.cost

    def _turn_ended(self, event: kinds.TurnEnded) -> list[AnyItem | None]:
        self.turn = None
        self.questions.clear()
        said, self._said = self._said, None
        if said is not None:  # its stream broke off
            said.done = True
            said.touch()
        seconds = self._clock() - self._began if self._began is not None else None
        self._began = None
        ended = Ended(key=self._key(event), ended=event, usage=self._usage, seconds=seconds)
        return [self._end_thought(), said, self._add(ended)]


def undone_text(event: kinds.Undone) -> str:
    """What an undo did, in a line: `undone: edit_file (2 files)`."""
    word = "done again" if event.redone else "undone"
    count = len(event.files)
    return (
        f"{word}: {event.tool} ({count} file{'' if count == 1 else 's'}: {', '.join(f.path for f in event.files[:3])})"
    )


__all__ = ["Fold", "Item", "undone_text"]
