"""What of a session undoing is about, folded from its log: calls that change files, calls that run commands, undos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from pegboard import events

FILES, UNREACHED = frozenset({"edit"}), frozenset({"run", "mcp", "unknown"})
"""Kinds of touches: of calls whose changes are kept, and of calls that may change files in ways that nobody follows."""


class Deed(msgspec.Struct, kw_only=True):
    """A call that was started, or an undo.

    undoes: the deed that an undo took back; None for a call. call, tool: the call it comes down to. kinds: of the call's
    touches. outcome: None while it runs. wrote: false where it says itself that it changed no file. by: its last undo."""

    id: str
    call: str
    tool: str
    summary: str = ""
    kinds: frozenset[str] = frozenset()
    outcome: str | None = None
    undoes: str | None = None
    by: str | None = None
    wrote: bool = True


class Deeds:
    """All deeds of a log, in order."""

    def __init__(self, log: Iterable[events.AnyEvent]) -> None:
        self._asked: dict[str, events.CallAsked] = {}
        self._found: dict[str, Deed] = {}
        self.undos = 0
        for event in log:
            self._take(event)

    def __iter__(self) -> Iterator[Deed]:
        return iter(self._found.values())

    def get(self, id: str) -> Deed | None:
        """A deed by its id."""
        return self._found.get(id)

    def in_force(self, deed: Deed) -> bool:
        """Whether what it did stands: no undo of it does."""
        standing = True
        while deed.by is not None and (undo := self._found.get(deed.by)) is not None:
            standing, deed = not standing, undo
        return standing

    def _take(self, event: events.AnyEvent) -> None:
        match event:
            case events.CallAsked(id=id):
                self._asked[id] = event
            case events.CallStarted(id=id, touches=touches) if id in self._asked:
                asked = self._asked[id]
                tool, kinds = asked.tool or asked.requested, frozenset(touch.kind for touch in touches)
                self._found[id] = Deed(id=id, call=id, tool=tool, summary=asked.summary, kinds=kinds)
            case events.CallFinished(id=id, outcome=outcome, data=data) if id in self._found:
                self._found[id].outcome, self._found[id].wrote = outcome, _wrote(data)
            case events.Undone(id=id, undoes=undoes, call=call, tool=tool, error=None):
                self.undos += 1
                self._found[id] = Deed(id=id, call=call, tool=tool, outcome="ok", undoes=undoes)
                if undoes in self._found:
                    self._found[undoes].by = id
            case _:
                pass


def _wrote(data: Any) -> bool:
    """Whether a call may have changed files, going by what it says of them."""
    return not (isinstance(data, dict) and [] in (data.get("files"), data.get("changed")))


def told(undone: Sequence[events.Undone]) -> str:
    """What the model is told of undos, so that it does not believe that its changes are still there."""
    lines = []
    for event in undone:
        files = ", ".join(dict.fromkeys(file.to or file.path for file in event.files)) or "its files"
        deed = "took back their undo of" if event.redone else "undid"
        state = "as after" if event.redone else "as before"
        lines.append(f"The person {deed} {event.call} ({event.tool}). Now {state} that call: {files}.")
    return "\n".join([*lines, "Read these files again before you rely on what is in them."])
