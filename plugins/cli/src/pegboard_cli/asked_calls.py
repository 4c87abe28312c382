"""The calls that were asked for: which tool each means, and what it would do as a person is shown it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.activity import activity_of
from pegboard.arguments import InvalidArguments

from pegboard_cli.prompt import Subject

if TYPE_CHECKING:
    from pegboard.config.schema import UISettings
    from pegboard.events import CallAsked
    from pegboard.registry import Named, Registry
    from pegboard.tooling import Tool


class AskedCalls:
    """Every call that a viewer has heard of, by its id."""

    def __init__(self, registry: Registry, ui: UISettings) -> None:
        self._registry = registry
        self._ui = ui
        self._calls: dict[str, CallAsked] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._calls

    def hear(self, event: CallAsked) -> None:
        """Note a call."""
        self._calls[event.id] = event

    def tool(self, id: str) -> Tool | None:
        """The tool that a call means; None for a call, or a tool, that nobody knows."""
        asked = self._calls.get(id)
        return self._registry.get(asked.requested) if asked else None

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
        """A call with the very arguments that it would run with."""
        asked = self._calls[id]
        return self._subject(asked, self._registry.find(asked.requested), arguments)

    def _subject(self, asked: CallAsked, named: Named | None, arguments: Any) -> Subject:
        activity = activity_of(named.tool if named else None, asked.requested, arguments, params=self._ui.glyph_params)
        return Subject(tool=asked.tool or asked.requested, activity=activity, arguments=arguments)
