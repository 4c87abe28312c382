"""A host and a conversation without a board: events are given by the test, operations are kept for it to look at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from pegboard import port
from pegboard.blocks import Activity, AnyBlock, Note, Problem
from pegboard.calls import Decision
from pegboard.config.schema import UISettings
from pegboard.errors import PegboardError
from pegboard.events import EPHEMERAL, AnyEvent, CallAsked, CallFinished, CallStarted


class ScriptedPort:
    """A `port.Port` whose events a test emits. `sent`: the operations that came, in order."""

    def __init__(self) -> None:
        self.sent: list[port.AnyOperation] = []
        self.turn: int | None = None
        self._log: list[AnyEvent] = []
        self._viewers: list[asyncio.Queue[AnyEvent | None]] = []
        self._seq = 0

    async def send(self, operation: port.AnyOperation) -> None:
        self.sent.append(operation)

    async def events(self, since: int = 0) -> AsyncIterator[AnyEvent]:
        queue: asyncio.Queue[AnyEvent | None] = asyncio.Queue()
        for event in self._log:
            if event.seq is not None and event.seq > since:
                queue.put_nowait(event)
        self._viewers.append(queue)
        while (event := await queue.get()) is not None:
            yield event

    def emit(self, *events: AnyEvent, elsewhere: bool = False) -> None:
        """Let these happen; durable ones are numbered. Their turns count as begun here, or by another process."""
        for event in events:
            if not isinstance(event, EPHEMERAL) and event.seq is None:
                self._seq += 1
                event = msgspec.structs.replace(event, seq=self._seq)
            if event.turn is not None and not elsewhere:
                self.turn = event.turn
            if event.seq is not None:
                self._log.append(event)
            for queue in self._viewers:
                queue.put_nowait(event)

    def end(self) -> None:
        """No more events."""
        for queue in self._viewers:
            queue.put_nowait(None)


class ScriptedConversation:
    """A `port.Conversation` over a `ScriptedPort`. What it shows is what a test puts into its attributes.

    last: the number of the event before it was opened. elsewhere: ids of questions that another process asked."""

    def __init__(self, id: str = "s-1") -> None:
        self.port = ScriptedPort()
        self.id = id
        self.model = "scripted/model"
        self.mode: str | None = None
        self.header = ["scripted/model answers"]
        self.context: int | None = 100_000
        self.cost_list = [port.Cost(set="core", tools=["read_file", "bash"], bytes=4_000, tokens=1_000)]
        self.commands: dict[str, list[AnyBlock]] = {"sets": [Note(text="core")]}
        self.asked_commands: list[tuple[str, str]] = []
        self.drawn: list[AnyBlock] = []
        self.echo = True
        self.closed = False
        self.last = 0
        self.unasked = ""
        self.job_list: list[port.Job] = []
        self.elsewhere: set[str] = set()
        self.signs = ["!"]

    def plain(self, model: str) -> bool:
        return model == "offline"

    def awaits(self, id: str) -> bool:
        return id not in self.elsewhere

    def describe(self, asked: CallAsked, arguments: Any = None) -> port.Described:
        verb, _, subject = asked.summary.partition(" ")
        activity = Activity(glyph="$", verb=verb, subject=subject)
        return port.Described(
            tool=asked.tool or asked.requested,
            activity=activity,
            arguments=asked.arguments if arguments is None else arguments,
            echo=self.echo,
            commands=verb == "Run",
        )

    async def draw(self, asked: CallAsked, finished: CallFinished) -> list[AnyBlock]:
        return list(self.drawn)

    def costs(self) -> list[port.Cost]:
        return list(self.cost_list)

    def jobs(self) -> list[port.Job]:
        return list(self.job_list)

    async def command(self, name: str, rest: str) -> list[AnyBlock]:
        self.asked_commands.append((name, rest))
        return self.commands.get(name) or [Problem(text=f"there is no command /{name}")]

    def complete(self, name: str, rest: str) -> list[str]:
        return ["alpha", "beta"] if name == "sets" else []

    def typed(self, line: str) -> port.Typed | None:
        call = port.Typed(tool="bash", arguments={"command": line[1:].strip()})
        return call if line[:1] in self.signs and call.arguments["command"] else None

    def pattern_problem(self, pattern: str, command: str) -> str | None:
        return None if command.startswith(pattern) else f"it is not how this command begins: {command}"

    async def close(self) -> None:
        self.closed = True
        self.port.end()


class ScriptedHost:
    """A `port.Host` whose sessions are scripted. `opened`: the conversations that were opened, in order."""

    def __init__(self, root: Path, ui: UISettings | None = None) -> None:
        self.root = str(root)
        self.version = "0.1.0"
        self.ui = ui or UISettings()
        self.history: Path | None = root / ".history"
        self.disabled: frozenset[str] = frozenset()
        self.opened: list[ScriptedConversation] = []
        self.sessions: list[port.Past] = []
        self.names = ["README.md", "src/app.py", "src/main.py", "tests/test_app.py"]
        self.kept: dict[str, Any] = {}

    def open(self, id: str | None = None, *, model: str | None = None, mode: str | None = None) -> ScriptedConversation:
        made = ScriptedConversation(id or f"s-{len(self.opened) + 1}")
        made.model, made.mode = model or made.model, mode or None
        self.opened.append(made)
        return made

    def past(self) -> list[port.Past]:
        return list(self.sessions)

    def latest(self) -> str | None:
        return self.sessions[0].id if self.sessions else None

    async def files(self) -> list[str]:
        return list(self.names)

    def commands(self) -> list[port.Offered]:
        return [port.Offered(name="sets", usage="/sets", help="the tool sets", owner="pegboard-cli")]

    def models(self) -> list[str]:
        return ["scripted/model", "scripted/other", "offline"]

    def modes(self) -> Mapping[str, str]:
        return {"plan": "look, change nothing", "auto": "ask seldom"}

    def keep(self, key: str, value: Any) -> str:
        if key == "ui.broken":
            raise PegboardError("it cannot be written; nothing was changed")
        self.kept[key] = value
        return "config.toml"


def call_asked(id: str, summary: str, turn: int = 1, **arguments: Any) -> CallAsked:
    """A call of a tool that is called like the first word of its summary."""
    name = summary.split()[0].lower()
    return CallAsked(
        turn=turn, lane="root", id=id, tool=name, requested=name, set="core", arguments=arguments, summary=summary
    )


def call_started(id: str, turn: int = 1) -> CallStarted:
    """It runs."""
    decision = Decision(action="allow", rule="tool_permission.read", layer="default")
    return CallStarted(turn=turn, lane="root", id=id, touches=[], decision=decision)


def call_finished(id: str, text: str = "done", turn: int = 1, **more: Any) -> CallFinished:
    """It is over."""
    values: dict[str, Any] = {
        "outcome": "ok",
        "block": None,
        "why": None,
        "data": None,
        "truncated": False,
        "decision": None,
        "duration_ms": 1.0,
    }
    return CallFinished(turn=turn, lane="root", id=id, text=text, **(values | more))
