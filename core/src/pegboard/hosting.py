"""A `pegboard.port.Host` that stands on a board: what a front end of several sessions is given.

board = Board.build(root=".")
host = Hosted(board)
conversation = host.open()
await conversation.port.send(port.Prompt(text="hello"))
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard import __version__
from pegboard.activity import activity_of
from pegboard.arguments import InvalidArguments
from pegboard.blocks import AnyBlock, Note, Problem
from pegboard.board import EMBEDDED, Board
from pegboard.desk import Answers
from pegboard.entries import Entry, scan
from pegboard.errors import PegboardError
from pegboard.plugins import LoadProblem, import_guarded
from pegboard.policy import choices
from pegboard.port import Cost, Described, Offered, Past, Port, Typed
from pegboard.rendering import from_json, to_json
from pegboard.session import latest, sessions
from pegboard.slash import Said, Slash
from pegboard.touches import kinds_in
from pegboard.wire import clean

if TYPE_CHECKING:
    from pegboard.agent import Agent
    from pegboard.config.schema import UISettings
    from pegboard.events import CallAsked, CallFinished
    from pegboard.session import Session

GROUP = "pegboard.slash"
"""Entry points of slash commands."""
MOST_FILES = 100_000
"""Files of a workspace that are offered by name."""
_UNREADABLE = "unreadable"


class Commands:
    """The slash commands that are installed. Each is imported when it is needed; one that does not load is told of then."""

    def __init__(self, entries: list[Entry], disabled: frozenset[str]) -> None:
        self._entries: dict[str, Entry] = {}
        for entry in entries:  # ours come first
            if entry.group == GROUP and entry.name not in disabled:
                self._entries.setdefault(entry.name, entry)
        self._loaded: dict[str, Slash] = {}

    @property
    def names(self) -> list[str]:
        """Those there are; nothing is imported."""
        return sorted(self._entries)

    def get(self, name: str) -> Slash:
        """One command, imported now.

        Raises:
            PegboardError: there is none of that name, or it does not load; nothing was done.
        """
        if name not in self._loaded:
            entry = self._entries.get(name)
            if entry is None:
                raise PegboardError(f"there is no command /{name}; nothing was done. /help lists those there are.")
            whose = f"/{name} of {entry.distribution} {entry.version}"
            try:
                found = import_guarded(entry)
            except LoadProblem as problem:
                raise PegboardError(f"{whose} did not load: {problem}. Nothing was done.") from None
            if not isinstance(found, Slash):
                raise PegboardError(f"{whose} is a {type(found).__name__}, not a Slash. Nothing was done.")
            self._loaded[name] = found
        return self._loaded[name]

    def all(self) -> list[Offered]:
        """Every command with what it says of itself; one that does not load says why."""
        found = []
        for name in self.names:
            entry = self._entries[name]
            try:
                command = self.get(name)
                usage, text = command.usage, command.help
            except PegboardError as error:
                usage, text = f"/{name}", str(error)
            found.append(Offered(name=name, usage=usage, help=text, owner=entry.distribution))
        return found


class Talk:
    """One open session on a board: a `pegboard.port.Conversation`."""

    def __init__(self, board: Board, session: Session, agent: Agent, commands: Commands) -> None:
        self._board = board
        self._session = session
        self._agent = agent
        self._commands = commands

    @property
    def port(self) -> Port:
        """The agent."""
        return self._agent

    @property
    def id(self) -> str:
        """The session's name."""
        return self._session.id

    @property
    def model(self) -> str:
        """Who answers."""
        return self._agent.model

    @property
    def mode(self) -> str | None:
        """The mode that is on."""
        return self._agent.mode.name if self._agent.mode is not None else None

    @property
    def header(self) -> list[str]:
        """What answers, then the notes of the start."""
        return [self._agent.banner, *self._board.notes]

    @property
    def context(self) -> int | None:
        """Tokens that the model reads at most."""
        return self._agent.context

    def describe(self, asked: CallAsked, arguments: Any = None) -> Described:
        """A call in a person's words."""
        named = self._board.registry.find(asked.requested)
        tool = named.tool if named else None
        if arguments is None:
            arguments = asked.arguments
            if named is not None:
                with suppress(InvalidArguments):
                    arguments = msgspec.json.decode(named.tool.read(arguments, named.preset).body)
        given = asked.arguments if isinstance(asked.arguments, Mapping) else {}
        return Described(
            tool=asked.tool or asked.requested,
            activity=activity_of(tool, asked.requested, arguments, params=self._board.config.ui.glyph_params),
            arguments=arguments,
            echo=tool is not None and tool.declaration.echo,
            commands=tool is not None and any("run" in kinds_in(node) for _, node in tool.touched),
            ignored=[str(name) for name in given if tool is not None and name not in tool.shape.names],
        )

    async def draw(self, asked: CallAsked, finished: CallFinished) -> list[AnyBlock]:
        """What a plugin's renderer makes of the data."""
        tool = self._board.registry.get(asked.requested)
        blocks = await self._board.renderers.blocks(tool, finished.data)
        told = [Note(text=text) for text in self._board.renderers.told()]
        return [*(blocks or ()), *told]

    def costs(self) -> list[Cost]:
        """What each set adds to a request."""
        sets: dict[str, list[Any]] = {}
        policy = self._agent.policy
        for tool in self._board.registry.tools:
            if self._board.why_not(tool, policy=policy) is None:
                sets.setdefault(tool.set or "", []).append(tool)
        found = []
        for name, tools in sets.items():
            size = sum(tool.wire_size() for tool in tools)
            found.append(Cost(set=name, tools=[t.name for t in tools], bytes=size, tokens=-(-size // 4)))
        return found

    def _said(self, rest: str) -> Said:
        return Said(
            rest=rest,
            board=self._board,
            session=self._session,
            port=self._agent,
            policy=self._agent.policy,
            model=self._agent.model,
        )

    async def command(self, name: str, rest: str) -> list[AnyBlock]:
        """Do a slash command."""
        try:
            returned = self._commands.get(name).run(self._said(rest))
            blocks = await returned if inspect.isawaitable(returned) else returned
            return from_json(to_json(list(blocks)))  # ours, and nobody else's
        except PegboardError as error:
            return [Problem(text=str(error))]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a command may not end the session
            told = f"/{name} failed: {type(error).__name__}: {error}. What it had done until then is not known."
            return [Problem(text=clean(told))]

    def complete(self, name: str, rest: str) -> list[str]:
        """What could stand after a command."""
        try:
            command = self._commands.get(name)
            return list(command.complete(self._said(rest))) if command.complete else []
        except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: without completion one can still type
            return []

    def typed(self, line: str) -> Typed | None:
        """The call that a line with a tool's prefix means."""
        for tool in self._board.registry.tools:
            sign = tool.declaration.prefix
            if sign and tool.key and line.startswith(sign) and line.removeprefix(sign).strip():
                return Typed(tool=tool.name, arguments={tool.key: line.removeprefix(sign).strip()})
        return None

    async def close(self) -> None:
        """End what runs."""
        await self._agent.close()


class Hosted:
    """A `pegboard.port.Host` on a board. answers: who answers questions for permission; see `Board.agent`."""

    def __init__(self, board: Board, *, answers: Answers = "person") -> None:
        self._board = board
        self._answers = answers
        self._commands = Commands(scan(), self.disabled)

    @property
    def root(self) -> str:
        """The workspace root."""
        return self._board.root

    @property
    def version(self) -> str:
        """Pegboard's."""
        return __version__

    @property
    def ui(self) -> UISettings:
        """`[ui]`."""
        return self._board.config.ui

    @property
    def history(self) -> Path | None:
        """Where this project's prompts are kept."""
        from hashlib import sha256

        if self._board.state is None:
            return None
        return self._board.state / "prompts" / sha256(os.fsencode(self._board.root)).hexdigest()[:16]

    @property
    def disabled(self) -> frozenset[str]:
        """`plugins.disable`."""
        return frozenset(self._board.config.plugins.disable)

    def open(self, id: str | None = None, *, model: str | None = None, mode: str | None = None) -> Talk:
        """Open a session."""
        session = self._board.session(id)
        try:
            agent = self._board.agent(session, answers=self._answers, model=model)
            if mode is not None:
                agent.enter(mode or None)
        except BaseException:
            session.close()
            raise
        return Talk(self._board, session, agent, self._commands)

    def past(self) -> list[Past]:
        """Sessions, the latest first."""
        folder = self._board.sessions_folder
        here = clean(self._board.root)
        return [
            Past(
                id=one.id,
                title=one.title,
                changed=one.changed,
                turns=one.turns,
                root=one.root or "",
                here=one.root == here,
                status=one.status,
            )
            for one in (sessions(folder) if folder else [])
            if one.turns or one.status == _UNREADABLE
        ]

    def latest(self) -> str | None:
        """The last session of this root."""
        folder = self._board.sessions_folder
        return latest(folder, self._board.root) if folder else None

    async def files(self) -> list[str]:
        """Files that ignore rules leave."""
        return await asyncio.to_thread(_files, self._board.root)

    def commands(self) -> list[Offered]:
        """The slash commands there are."""
        return self._commands.all()

    def models(self) -> list[str]:
        """Models that are known by name."""
        named = [self._board.config.model] if self._board.config.model else []
        configured = [
            f"{name}/{model}"
            for name, table in self._board.config.providers.items()
            for model in (table.get("models") or () if isinstance(table, dict) else ())
        ]
        return list(dict.fromkeys([*named, *configured, EMBEDDED]))

    def modes(self) -> Mapping[str, str]:
        """The modes there are."""
        return choices(self._board.loaded)

    def keep(self, key: str, value: Any) -> str:
        """Write a setting into the user's own file."""
        from pegboard.config.places import config_file
        from pegboard.config.write import set_key

        file = config_file(self._board.environ)
        set_key(file, tuple(key.split(".")), value)
        return str(file)


def _files(root: str) -> list[str]:
    from itertools import islice

    from pegboard.kit.walk.ignore import top_scope
    from pegboard.kit.walk.walker import Rules, walk

    found = walk(os.fsencode(root), b"", top_scope(root), Rules(), lambda path, error: None)
    return [os.fsdecode(path) for path in islice(found, MOST_FILES)]
