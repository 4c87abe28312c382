"""A session as a page of Markdown, for a person: what was asked, said, called, decided and changed. It prints nothing.

What models, tools and files said cannot get out of its place: it stands in quotations and in fences longer than any in it.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.terminal import spelled, visible
from pegboard.wire import encode

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.calls import Decision
    from pegboard.events import AnyEvent, ApprovalAsked, CallAsked, CallFinished
    from pegboard.session import SessionInfo
    from pegboard.session.redaction import Redactor

DEPTH = 10_000
"""Calls within one another that an export may need."""
_SHORT = 120
"""Characters of an argument that may stand in its line; longer ones have a fence of their own."""


def page(info: SessionInfo, events: Sequence[AnyEvent]) -> str:
    """The whole page. Credentials were taken out of `events` before; undo data and kept outputs are no part of it."""
    return "\n".join([*_head(info), *_Page(events).lines()]) + "\n"


def exported(info: SessionInfo, found: Sequence[AnyEvent], format: str, redactor: Redactor | None) -> bytes:
    """A session as others may have it, in "markdown" or "json", without what looks like a credential."""
    # Arguments in a log of other makers may go deeper than Python goes by default; a log line ends before this.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEPTH))
    events = [redactor.value(event) if redactor else event for event in found]
    info = redactor.value(info) if redactor is not None else info
    if format != "json":
        return page(info, events).encode()
    about = {"session": info.id, "root": info.root, "started": info.started, "changed": info.changed}
    return encode(about | {"title": info.title, "turns": info.turns, "events": events}) + b"\n"


def fenced(text: str, language: str = "") -> list[str]:
    """Text between fences that nothing in it can close. Control characters are spelled out."""
    text = spelled(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *text.removesuffix("\n").split("\n"), fence]


def span(text: str) -> str:
    """A line as a code span that nothing in it can close."""
    text = visible(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks, pad = "`" * (longest + 1), " " if text[:1] in "` " or text[-1:] in "` " else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else "` `"


def plain(text: str) -> str:
    """A line as ordinary text: what Markdown or HTML would act on is escaped."""
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", visible(text))


def _head(info: SessionInfo) -> Iterator[str]:
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.started))
    yield f"# {plain(info.title or info.id)}"
    yield ""
    yield f"- session: {span(info.id)}"
    if info.root:
        yield f"- folder: {span(info.root)}"
    yield f"- started: {started}"
    yield f"- turns: {info.turns}, events: {info.events}"


class _Page:
    """The events of a session, turned into lines in one pass. What was asked about a call waits for its end."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self._events = events
        self._calls: dict[str, CallAsked] = {}
        self._asked: dict[str, ApprovalAsked] = {}
        self._started: set[str] = set()

    def lines(self) -> Iterator[str]:
        """Every line below the head."""
        for event in self._events:
            yield from self._of(event)
        for id, asked in self._calls.items():
            became = "started and not finished" if id in self._started else "asked for and never started"
            yield from ["", f"### {plain(id)} · {plain(asked.requested)}", "", f"This call was {became}."]

    def _of(self, event: AnyEvent) -> Iterator[str]:
        from pegboard import events as kinds

        from pegboard_cli.undo_lines import undone_line

        match event:
            case kinds.TurnStarted(turn=turn, model=model):
                yield from ["", f"## Turn {turn} · {plain(model)}"]
            case kinds.Prompt(text=text, by=by):
                yield from ["", f"**{'Prompt' if by == 'person' else f'Prompt by {plain(by)}'}**", "", *_quoted(text)]
            case kinds.Message(text=text) if text.strip():
                yield from ["", "**Answer**", "", *_quoted(text)]
            case kinds.CallAsked(id=id):
                self._calls[id] = event
            case kinds.ApprovalAsked(call=call):
                self._asked[call] = event
            case kinds.CallStarted(id=id):
                self._started.add(id)
            case kinds.CallFinished():
                yield from self._call(event)
            case kinds.QuestionAsked(question=question):
                yield from ["", "**Question**", "", *_quoted(question)]
            case kinds.QuestionAnswered(answer=answer):
                yield from ["", "**Reply**", "", *_quoted("(dismissed)" if answer is None else answer)]
            case kinds.Undone():
                yield from ["", f"*{plain(event.id)} · {plain(undone_line(event))}*"]
            case kinds.Note(text=text):
                yield from ["", f"*Note: {plain(' '.join(text.split()))}*"]
            case kinds.TurnEnded(status=status, error=error) if status != "done":
                yield from ["", f"*The turn ended: {plain(status)}{f' ({plain(error)})' if error else ''}.*"]
            case _:
                pass

    def _call(self, event: CallFinished) -> Iterator[str]:
        asked, approval = self._calls.pop(event.id, None), self._asked.pop(event.id, None)
        yield from ["", f"### {plain(event.id)} · {plain(asked.tool or asked.requested) if asked else 'call'}", ""]
        if asked is not None:
            yield from _arguments(asked.arguments)
        if event.decision is not None:
            yield from _decided(event.decision)
        shown = event.blocks or (approval.preview if approval is not None else [])
        yield from _diffs(shown)
        title = "Result" if event.outcome == "ok" else event.outcome.capitalize()
        took = f" after {event.duration_ms:.0f} ms" if event.outcome != "blocked" else ""
        yield from ["", f"{title}{took}{f' ({event.why or event.block})' if event.why or event.block else ''}:", ""]
        yield from fenced(event.text)
        if event.full_output is not None:
            yield from ["", "*The whole output was kept beside the session, and is not part of this page.*"]


def _arguments(arguments: Any) -> Iterator[str]:
    if not isinstance(arguments, Mapping):
        yield from fenced(msgspec.json.encode(arguments).decode(), "json")
        return
    for name, value in arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if "\n" in text or len(text) > _SHORT:
            yield from [f"- {span(str(name))}:", "", *fenced(text), ""]
        else:
            yield f"- {span(str(name))}: {span(text)}"


def _decided(decision: Decision) -> Iterator[str]:
    rule = f"by the rule {span(decision.rule)} ({plain(decision.layer)})"
    yield ""
    if decision.answer is None:
        yield {"allow": "Allowed", "deny": "Denied", "ask": "To be asked about"}[decision.action] + f" {rule}."
        return
    answer = decision.answer
    said = "Approved" if answer.granted else "Refused"
    reason = f": {plain(answer.reason)}" if answer.reason else ""
    yield f"{said} by {plain(answer.by)}{reason}; asked about {rule}."


def _diffs(blocks: Sequence[AnyBlock]) -> Iterator[str]:
    from pegboard.blocks import Diff

    for block in blocks:
        if isinstance(block, Diff):
            to = f" → {span(block.to)}" if block.to else ""
            yield from ["", f"{span(block.path)}{to}: {block.change}, +{block.added} -{block.removed}", ""]
            yield from fenced(block.text, "diff")


def _quoted(text: str) -> list[str]:
    """A quotation. What it leaves open (a fence, a comment) ends with it."""
    return [f"> {line}".rstrip() for line in spelled(text).rstrip("\n").split("\n")]
