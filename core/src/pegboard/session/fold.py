"""Folds: what the log says so far. Resuming a session is this, over its events; running one keeps it up to date.

Authority is never folded: an answer counts only in the process that asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.events import (
    AnyEvent,
    CallAsked,
    CallFinished,
    CallStarted,
    HistoryTrimmed,
    Message,
    Prompt,
    Seen,
    StateChanged,
    TurnEnded,
    TurnStarted,
    Undone,
)
from pegboard.models import ChatMessage, ToolReply

UNFINISHED = (
    "This call was started and did not finish: the session ended in the middle of it. It did not finish, so its effects are "
    "unknown. Look at the state of things before you do anything like it again."
)
NEVER_STARTED = "The turn ended before this call was started; nothing happened. Ask again if it is still wanted."


def marker_of(name: str, text: str, kept: str | None) -> str:
    """What stands for a result that was left out to make room. `kept`: where all of the output is, if it was kept."""
    more = f"all of it: {kept}" if kept else "make the call again, for a smaller part if that will do, if it is needed"
    return f"[result of {name[:64]} left out to make room: {len(text):,} chars; {more}]"


class Fold:
    """What the events so far come to.

    messages: the history as a provider gets it. open_calls: asked and not finished, in order, with whether they were
    started. seen: the last `seen` event of each path. state: tools' values by key. turn: the last turn's number;
    turn_open: whether it has not ended. calls: the highest number given to a call. unsure: calls that were interrupted
    and of which the model has not heard since, as tools by id. undone: what the person undid since the model last spoke.
    failed: how many turns up to here did not come to their
    end, in a row. handlers: what `apply` does, by type."""

    def __init__(self) -> None:
        self.messages: list[ChatMessage] = []
        self.open_calls: dict[str, tuple[CallAsked, bool]] = {}
        self.seen: dict[str, Seen] = {}
        self.state: dict[str, Any] = {}
        self.turn = 0
        self.turn_open = False
        self.calls = 0
        self.unsure: dict[str, str] = {}
        self.undone: list[Undone] = []
        self.failed = 0
        self._waiting: dict[str, str] = {}
        self._kept: dict[str, str] = {}
        self.handlers: dict[type, Callable[[Any], None]] = {
            TurnStarted: self._turn_started,
            TurnEnded: self._turn_ended,
            Prompt: self._prompt,
            Message: self._message,
            CallAsked: self._asked,
            CallStarted: self._started,
            CallFinished: self._finished,
            Seen: self._saw,
            StateChanged: self._state,
            HistoryTrimmed: self._trimmed,
            Undone: self._undone,
        }

    def apply(self, event: AnyEvent) -> None:
        """Take one durable event in."""
        handler = self.handlers.get(type(event))
        if handler is not None:
            handler(event)

    def history(self) -> list[ChatMessage]:
        """The messages, with an answer for every call: one that has none yet is `interrupted`."""
        self._close_waiting()
        return self.messages

    def _turn_started(self, event: TurnStarted) -> None:
        self.turn, self.turn_open = event.turn or self.turn, True

    def _turn_ended(self, event: TurnEnded) -> None:
        self.turn_open = False
        self.failed = 0 if event.status in ("done", "asked_back") else self.failed + 1
        if self._waiting:
            self._close_waiting()

    def _prompt(self, event: Prompt) -> None:
        if self._waiting:
            self._close_waiting()
        self.messages.append(ChatMessage(role="user", text=event.text, by=event.by))

    def _message(self, event: Message) -> None:
        if self._waiting:
            self._close_waiting()
        self.unsure.clear()
        self.undone.clear()
        if not event.text and not event.calls:
            return  # thinking alone: no provider takes a reply without text or calls back
        self.messages.append(
            ChatMessage(
                role="assistant",
                text=event.text,
                thinking=event.thinking,
                calls=event.calls,
                provider_data=event.provider_data,
            )
        )
        for call in event.calls:
            self._waiting[call.id] = call.name
            self._count(call.id)

    def _asked(self, event: CallAsked) -> None:
        self._count(event.id)
        self.open_calls[event.id] = (event, False)

    def _started(self, event: CallStarted) -> None:
        asked = self.open_calls.get(event.id)
        if asked is not None:
            self.open_calls[event.id] = (asked[0], True)

    def _finished(self, event: CallFinished) -> None:
        self.open_calls.pop(event.id, None)
        name = self._waiting.pop(event.id, None)
        if name is not None:
            reply = ToolReply(id=event.id, name=name, text=event.text, outcome=event.outcome, data=event.data)
            self.messages.append(ChatMessage(role="tool", reply=reply))
            if event.outcome == "interrupted":
                self.unsure[event.id] = name
            if event.full_output is not None:
                self._kept[event.id] = event.full_output

    def _trimmed(self, event: HistoryTrimmed) -> None:
        """Calls that are not answered yet, or whose message is not there, are passed over."""
        left_out = set(event.calls)
        for index, message in enumerate(self.messages):
            reply = message.reply
            if reply is not None and reply.id in left_out:
                text = marker_of(reply.name, reply.text, self._kept.get(reply.id))
                short = ToolReply(id=reply.id, name=reply.name, text=text, outcome=reply.outcome)
                self.messages[index] = ChatMessage(role="tool", reply=short)

    def _undone(self, event: Undone) -> None:
        if self.messages:  # else there is no model that believes anything
            self.undone.append(event)

    def _saw(self, event: Seen) -> None:
        self.seen[event.path] = event

    def _state(self, event: StateChanged) -> None:
        self.state[event.key] = event.value

    def _count(self, call_id: str) -> None:
        digits = call_id[1:]
        if call_id[:1] == "c" and digits.isdecimal() and (number := int(digits)) > self.calls:
            self.calls = number

    def _close_waiting(self) -> None:
        for call_id, name in self._waiting.items():
            started = self.open_calls.get(call_id, (None, False))[1]
            text = UNFINISHED if started else NEVER_STARTED
            reply = ToolReply(id=call_id, name=name, text=text, outcome="interrupted")
            self.messages.append(ChatMessage(role="tool", reply=reply))
        self._waiting.clear()
