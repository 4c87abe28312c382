"""`[[hooks]]`: commands that are run before and after calls of the tools they match (decision 55).

One that is run before a call judges it as a guard does: exit 0 lets it go on, 2 refuses it with what was printed on stderr,
and whatever else it ends as refuses it too, for a check that could not be made has not been passed. One that is run after a
call changes nothing about it; the next call waits for it, so that a formatter is through with a file before it is read.

Each is given the call as one JSON object on stdin and run in the workspace root, as its owner would run it: in no sandbox.
"""

from __future__ import annotations

import asyncio
import fnmatch
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from pegboard.calls import Call, Deny, Source, Touch
from pegboard.config.authority import HookSettings
from pegboard.config.load import Loaded
from pegboard.errors import SessionError, ToolError
from pegboard.events import AnyEvent, CallFinished, Note
from pegboard.guards import Concern, GuardSeat
from pegboard.kit import process
from pegboard.registry import Registry, matches
from pegboard.session import Session
from pegboard.tooling import Tool
from pegboard.wire import clean, encode

OWNER = "hooks"
"""Whose a hook's refusal is."""
REFUSES = 2
"""The exit code by which a command refuses a call."""
_KEPT = 8 * 1024
_REASON = 2000
_NAMED = 120


class Hook(msgspec.Struct, frozen=True):
    """One of `[[hooks]]`, and where it stands."""

    settings: HookSettings
    source: Source | None = None

    @property
    def rule(self) -> str:
        """How people are told of it."""
        command = _plain(shlex.join(self.settings.command))
        return f"hooks: {command if len(command) <= _NAMED else command[: _NAMED - 1] + '…'}"

    def matches(self, tool: Tool | None, made_as: str) -> bool:
        """Whether it is for calls of this tool, or for those made by this name, which may be an alias."""
        pattern = self.settings.match.replace("/", ":")
        name = made_as.replace("/", ":")
        names = [name, f"{tool.set}:{name}" if tool is not None and tool.set else name]
        by_name = any(name == pattern or fnmatch.fnmatchcase(name, pattern) for name in names)
        return by_name or (tool is not None and matches(pattern, tool))


def hooks_of(loaded: Loaded) -> list[Hook]:
    """The hooks of a configuration, in its order: a person's before those of a project that they trust."""
    return [
        Hook(table if isinstance(table, HookSettings) else msgspec.convert(table, HookSettings), said.item(number))
        for said in loaded.stated
        if said.key == ("hooks",)
        for number, table in enumerate(said.value)
    ]


def would_run(hooks: Sequence[Hook], tool: Tool, made_as: str) -> list[Hook]:
    """The hooks that a call would be put to before it runs. To explain a call runs none of them: they may do anything."""
    return [hook for hook in hooks if hook.settings.event == "pre_tool" and hook.matches(tool, made_as)]


class _Seen(msgspec.Struct, frozen=True):
    """A call under way."""

    call: Call
    touches: list[Touch]
    tool: Tool | None
    made_as: str


class HookSeat(GuardSeat):
    """The hooks of one road: a guard's seat, and an observer of its session."""

    __slots__ = ("_after", "_calls", "_hooks", "_registry", "_root", "_session")

    def __init__(self, hooks: Sequence[Hook], registry: Registry, session: Session, root: str) -> None:
        super().__init__(lambda call, touches: None, owner=OWNER, own=True, timeout=float("inf"))
        self.inline, self.acts = False, True
        self._hooks = list(hooks)
        self._registry = registry
        self._session = session
        self._root = root
        self._calls: dict[str, _Seen] = {}
        self._after: set[asyncio.Task[None]] = set()

    async def slow(self, call: Call, touches: list[Touch], made_as: str = "") -> Concern:
        """What the hooks say before a call. Cancelling this kills the one that is running."""
        await self.settled()
        seen = _Seen(call, touches, self._registry.get(call.name), made_as or call.name)
        self._calls[call.id] = seen
        for hook in self._hooks:
            if hook.settings.event == "pre_tool" and hook.matches(seen.tool, seen.made_as):
                concern = await self._ask(hook, seen)
                if concern is not None:
                    return concern
        return None

    def heard(self, event: AnyEvent) -> None:
        """An event that is in the session's log: after a call that ran, the hooks for that are begun."""
        if not isinstance(event, CallFinished):
            return
        seen = self._calls.pop(event.id, None)
        if seen is None or event.outcome == "blocked":
            return
        hooks = [
            hook for hook in self._hooks if hook.settings.event == "post_tool" and hook.matches(seen.tool, seen.made_as)
        ]
        if hooks:
            task = asyncio.get_running_loop().create_task(self._run_after(hooks, seen, event))
            self._after.add(task)
            task.add_done_callback(self._after.discard)

    async def settled(self) -> None:
        """Wait for the hooks that run after calls. Cancelling this kills them."""
        running = [*self._after]
        if not running:
            return
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            raise

    async def _ask(self, hook: Hook, seen: _Seen) -> Deny | None:
        why, said = await self._run(hook, self._told(hook, seen))
        if why is None:
            return None
        if why == REFUSES:
            return Deny(hook.rule, said or "it gave no reason")
        place = f" ({hook.source.file}:{hook.source.line})" if hook.source else ""
        said = f": {said}" if said else ""
        return Deny(hook.rule, f"the hook could not pass it: {_how(why)}{said}. Mend the hook{place}, or take it out")

    async def _run_after(self, hooks: Sequence[Hook], seen: _Seen, event: CallFinished) -> None:
        for hook in hooks:
            more = {"outcome": event.outcome, "why": event.why, "text": event.text, "truncated": event.truncated}
            why, said = await self._run(hook, self._told(hook, seen) | more)
            if why is not None:
                text = f"{hook.rule} after {event.id}: {_how(why)}" + (f": {said}" if said else "")
                with suppress(OSError, ValueError, SessionError):  # the session was closed meanwhile
                    self._session.append(Note(level="warning", text=text))

    def _told(self, hook: Hook, seen: _Seen) -> dict[str, Any]:
        """What a hook is given: the call as it would run."""
        tool, call = seen.tool, seen.call
        return {
            "event": hook.settings.event,
            "id": call.id,
            "tool": call.name,
            "qualified": tool.qualified if tool is not None else call.name,
            "requested": seen.made_as,
            "arguments": call.arguments,
            "caller": call.caller,
            "touches": [msgspec.to_builtins(touch) for touch in seen.touches],
            "root": self._root,
            "session": self._session.id,
        }

    async def _run(self, hook: Hook, told: dict[str, Any]) -> tuple[int | str | None, str]:
        """Run a command: (how it ended: None for well, else its exit code or words; what it printed on stderr)."""
        limit = hook.settings.timeout
        try:
            ended = await process.run(
                hook.settings.command, cwd=self._root, stdin=encode(told) + b"\n", timeout=limit, keep=_KEPT
            )
        except ToolError as error:
            return _plain(str(error).partition(". ")[0]), ""
        said = _plain(ended.stderr.decode("utf-8", "replace"))
        if ended.timed_out:
            return f"it took longer than {limit:g} s and was ended", said
        if ended.exit_code is None:
            return f"{ended.signal} ended it", said
        return (ended.exit_code or None), said


def _how(why: int | str) -> str:
    return f"it ended with exit {why}" if isinstance(why, int) else why.rstrip(".")


def _plain(text: str) -> str:
    """A command's words as a text of lines, without anything that a terminal would obey."""
    lines = (
        "".join(char if char.isprintable() else " " for char in line).rstrip() for line in clean(text).splitlines()
    )
    return "\n".join(lines).strip()[:_REASON]
