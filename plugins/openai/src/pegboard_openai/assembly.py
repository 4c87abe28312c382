"""Chunks of a stream, put together. Servers differ in how they cut calls up; what is yielded is always whole.

A call is yielded when the next one begins or the reply ends well, never before: what is unfinished is never run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from pegboard.errors import ModelError
from pegboard.events import WireCall
from pegboard.models import CallPart, EndPart, NotePart, ReplyPart, TextPart, ThinkingPart

from pegboard_openai.messages import OURS

MOST_CALLS = 128
MOST_NAME = 200
MOST_ARGUMENTS = 8_000_000
"""Characters of one call's arguments."""

_CUT = {
    "length": "the reply was cut off: the endpoint's limit for one reply, or the model's context, was reached",
    "content_filter": "the reply was cut off by the endpoint's content filter",
}


class BrokenOff(Exception):
    """The stream ended before the reply was whole; its text, if any, says why."""


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    text: str = ""
    value: Any = None
    extra: Any = None

    @property
    def arguments(self) -> Any:
        """A mapping, or the text where it is not the JSON of one."""
        return self.value if self.value is not None else _decoded(self.text)

    @property
    def whole(self) -> bool:
        return isinstance(self.arguments, dict) and bool(self.text or self.value)


class Assembly:
    """One reply as it comes: `take` each chunk, then `end`."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._given = 0
        self._finish: str | None = None
        self._usage: dict[str, Any] = {}
        self._thinking_field: str | None = None
        self._details: list[Any] = []
        self._text, self._thinking = Halves(), Halves()

    @property
    def finished(self) -> bool:
        """Whether a chunk has said why the reply finished."""
        return self._finish is not None

    def take(self, chunk: Any) -> Iterator[ReplyPart]:
        """The parts that a chunk completes. What is not of the expected shape is passed over.

        Raises:
            BrokenOff: the chunk says that the reply ended with an error.
            ModelError: a call, or the number of calls, is beyond all measure.
        """
        if not isinstance(chunk, dict):
            return
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        if isinstance(finish := choice.get("finish_reason"), str) and finish:
            if finish == "error":
                raise BrokenOff("it ended its reply with an error")
            self._finish = finish

    def end(self) -> Iterator[ReplyPart]:
        """What is left when the stream has ended.

        Raises:
            BrokenOff: it ended without saying that the reply is whole.
        """
        if self._finish is None:
            raise BrokenOff
        yield from self._rest()
        left = self._calls[self._given :]
        if self._finish in _CUT:
            lost = f"; the unfinished call of {clean(left[-1].name)} was left out" if left and left[-1].name else ""
            yield NotePart(_CUT[self._finish] + lost)
            left = left[:-1]
        yield from (self._part(call) for call in left if call.name)
        yield self._ended()

    def _delta(self, delta: dict[str, Any]) -> Iterator[ReplyPart]:
        for name in ("reasoning_content", "reasoning"):
            if isinstance(text := delta.get(name), str) and text:
                self._thinking_field = name
                yield from _some(ThinkingPart, self._thinking.take(text))
                break  # some servers send both, with the same text
        if isinstance(details := delta.get("reasoning_details"), list):
            self._details += details
        yield from self._content(delta.get("content"))
        yield from self._content(delta.get("refusal"))
        calls = delta.get("tool_calls")
        for piece in calls if isinstance(calls, list) else [calls]:
            if isinstance(piece, dict):
                yield from self._call(piece)

    def _content(self, content: Any) -> Iterator[ReplyPart]:
        """Text, or a list of typed parts (Mistral)."""
        if isinstance(content, str):
            yield from _some(TextPart, self._text.take(content))
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(text := part.get("text"), str):
                yield from _some(TextPart, self._text.take(text))
            elif isinstance(part, dict) and isinstance(inner := part.get("thinking"), list):
                said = "".join(str(one.get("text", "")) for one in inner if isinstance(one, dict))
                yield from _some(ThinkingPart, self._thinking.take(said))

    def _call(self, piece: dict[str, Any]) -> Iterator[ReplyPart]:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        name, given, id = function.get("name"), function.get("arguments"), piece.get("id")
        name, id = name if isinstance(name, str) else "", id if isinstance(id, str) else ""
        index = piece.get("index") if isinstance(piece.get("index"), int) else None
        call = self._current(index, id, name, given)
        if call is None:
            yield from self._complete()
            call = _Call(index=index)
            self._calls.append(call)
            if len(self._calls) > MOST_CALLS:
                raise ModelError(f"the model asked for more than {MOST_CALLS} calls at once; the reply was given up.")
        call.id = call.id or id
        if name and name != call.name:
            call.name = (call.name + name)[:MOST_NAME]
        if isinstance(given, str):
            call.text += given
        elif given is not None:
            call.value = given
        if "extra_content" in piece:
            call.extra = piece["extra_content"]
        if len(call.text) > MOST_ARGUMENTS:
            raise ModelError("the model's arguments for a call grew beyond all measure; the reply was given up.")

    def _current(self, index: int | None, id: str, name: str, given: Any) -> _Call | None:
        """The call that a piece belongs to; None: it begins a new one. Not every server counts right."""
        same = [call for call in self._calls if index is None or call.index in (index, None)]
        call = same[-1] if same else None
        if call is None or (id and call.id and id != call.id):
            return None
        if name and given and not (id and id == call.id) and call.whole:
            return None
        return call

    def _complete(self) -> Iterator[ReplyPart]:
        """Calls before the one that begins now. One whose arguments are no JSON yet may still get the rest."""
        while self._given < len(self._calls) and self._calls[self._given].whole and self._calls[self._given].name:
            yield self._part(self._calls[self._given])
            self._given += 1

    def _part(self, call: _Call) -> CallPart:
        id = call.id or f"call_{self._calls.index(call) + 1}"
        return CallPart(WireCall(id=id, name=clean(call.name), arguments=call.arguments))

    def _rest(self) -> Iterator[ReplyPart]:
        yield from _some(ThinkingPart, self._thinking.rest())
        yield from _some(TextPart, self._text.rest())

    def _ended(self) -> EndPart:
        kept: dict[str, Any] = {}
        if self._thinking_field:
            kept["field"] = self._thinking_field
        if self._details:
            kept["details"] = self._details
        named = [call for call in self._calls if call.name]
        if extra := {str(at): call.extra for at, call in enumerate(named) if call.extra is not None}:
            kept["extra"] = extra
        usage = self._usage
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
        cost = usage.get("cost")
        return EndPart(
            input=_count(usage.get("prompt_tokens")),
            output=_count(usage.get("completion_tokens")),
            cached=_count(cached),
            cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
            provider_data={OURS: kept} if kept else None,
        )


class Halves:
    """Some servers cut a character outside the BMP in two; a half waits for the other, and one alone is replaced."""

    def __init__(self) -> None:
        self._held = ""

    def take(self, text: str) -> str:
        """The whole characters so far."""
        text, self._held = self._held + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return clean(text)

    def rest(self) -> str:
        """What never became whole."""
        text, self._held = self._held, ""
        return clean(text)


def clean(text: str) -> str:
    """A text that UTF-8 can say."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _some(kind: Any, text: str) -> Iterator[ReplyPart]:
    if text:
        yield kind(text)


def _decoded(text: str) -> Any:
    """The mapping that a text is the JSON of (some servers encode it twice), {} for none, else the text."""
    value: Any = text.strip() or "{}"
    for _ in range(2):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            break
        if not isinstance(value, str):
            break
    return value if isinstance(value, dict) else clean(text)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
