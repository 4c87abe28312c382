"""The calls that were asked for: which tool each means, and what it would do as a person is shown it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.activity import activity_of
from pegboard.arguments import InvalidArguments
from pegboard.terminal import visible

from pegboard_cli.prompt import Subject

if TYPE_CHECKING:
    from pegboard.config.schema import UISettings
    from pegboard.events import CallAsked
    from pegboard.registry import Named, Registry
    from pegboard.tooling import Tool


_LONGEST = 80


class Together:
    """Which calls are open at the same time, and whose line was shown last: so whether a result must say whose it is."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._several = False
        self._last: str | None = None

    def asked(self, id: str) -> None:
        """A call came."""
        self._several = self._several and bool(self._open)
        self._open.add(id)
        self._several = self._several or len(self._open) > 1

    def shown(self, id: str | None) -> None:
        """Its line was shown; None: those of several."""
        self._last = id

    def finished(self, id: str) -> None:
        """It is over."""
        self._open.discard(id)

    def is_unclear(self, id: str) -> bool:
        """Whether the line above a result is not its call's. From here on it is."""
        unclear, self._last = self._several and self._last != id, id
        return unclear


class AskedCalls:
    """Every call that a viewer has heard of, by its id."""

    def __init__(self, registry: Registry, ui: UISettings) -> None:
        self._registry = registry
        self._ui = ui
        self._calls: dict[str, CallAsked] = {}
        self._first: dict[str, Any] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._calls

    def hear(self, event: CallAsked) -> None:
        """Note a call."""
        self._calls[event.id] = event

    def tool(self, id: str) -> Tool | None:
        """The tool that a call means; None for a call, or a tool, that nobody knows."""
        asked = self._calls.get(id)
        return self._registry.get(asked.requested) if asked else None

    def words(self, id: str) -> str:
        """A call in a few words, to say whose a result is; nothing of one that nobody knows."""
        if id not in self._calls:
            return ""
        subject = self.subject(id)
        parts = dict.fromkeys((subject.activity.verb or subject.tool, subject.activity.subject))
        words = visible(" ".join(part for part in parts if part))
        return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"

    def subject(self, id: str) -> Subject:
        """A call with its arguments as its tool reads them, where it can."""
        asked = self._calls[id]
        named = self._registry.find(asked.requested)
        arguments = asked.arguments
        if named is not None:
            with suppress(InvalidArguments):
                arguments = msgspec.json.decode(named.tool.read(arguments, named.preset).body)
        return self._subject(asked, named, arguments)

    def subject_with(self, id: str, arguments: Any) -> Subject:
        """A call with the very arguments that it would run with; other ones than at the first question are a person's."""
        asked = self._calls[id]
        edited = self._first.setdefault(id, arguments) != arguments
        subject = self._subject(asked, self._registry.find(asked.requested), arguments)
        return msgspec.structs.replace(subject, edited=edited)

    def _subject(self, asked: CallAsked, named: Named | None, arguments: Any) -> Subject:
        activity = activity_of(named.tool if named else None, asked.requested, arguments, params=self._ui.glyph_params)
        return Subject(tool=asked.tool or asked.requested, activity=activity, arguments=arguments)
