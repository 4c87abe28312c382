"""One open session on a board: a `pegboard.port.Conversation`, which is what a front end shows of it beside its events."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard.activity import activity_of
from pegboard.arguments import InvalidArguments
from pegboard.blocks import AnyBlock, Note, Problem
from pegboard.errors import PegboardError
from pegboard.plugins.loaded import place_in
from pegboard.port import Cost, Described, Job, Port, Typed
from pegboard.rendering import MOST_BYTES, from_json, to_json
from pegboard.slash import Said
from pegboard.touches import kinds_in
from pegboard.wire import clean

if TYPE_CHECKING:
    from pegboard.agent import Agent
    from pegboard.board import Board
    from pegboard.events import CallAsked, CallFinished
    from pegboard.session import Session
    from pegboard.slashes import Slashes

MOST_WORDS = 1000
"""Completions of a slash command that are offered."""


class Talk:
    """One open session, its agent, and the slash commands there are."""

    def __init__(self, board: Board, session: Session, agent: Agent, slashes: Slashes) -> None:
        self._board = board
        self._session = session
        self._agent = agent
        self._slashes = slashes
        self._last = session.last

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
    def last(self) -> int:
        """The last event before it was opened."""
        return self._last

    def plain(self, model: str) -> bool:
        """Whether what that model says is no Markdown."""
        return model == self._agent.model and self._agent.plain

    def awaits(self, id: str) -> bool:
        """Whether a question waits here."""
        return self._agent.awaits(id)

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
            echo=asked.caller == "person" or (tool is not None and tool.declaration.echo),
            commands=tool is not None and any("run" in kinds_in(node) for _, node in tool.touched),
            ignored=[str(name) for name in given if tool is not None and name not in tool.shape.names],
        )

    async def draw(self, asked: CallAsked, finished: CallFinished) -> list[AnyBlock]:
        """What a plugin's renderer makes of the data."""
        tool = self._board.registry.get(asked.requested)
        blocks = await self._board.renderers.blocks(tool, finished.data)
        return [*(blocks or ()), *_notes(self._board.renderers.told())]

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

    @property
    def unasked(self) -> str:
        """What lets calls run unasked."""
        return self._agent.unasked

    def jobs(self) -> list[Job]:
        """Programs in the background."""
        from pegboard.kit.jobs.states import described

        return [Job(id=one.id, label=one.label, state=described(one), over=one.over) for one in self._agent.jobs()]

    async def command(self, name: str, rest: str) -> list[AnyBlock]:
        """Do a slash command."""
        module = None
        try:
            run = self._slashes.get(name).run
            module = getattr(run, "__module__", None)
            returned = run(self._said(rest))
            blocks = await returned if inspect.isawaitable(returned) else returned
            return [*_notes(self._slashes.told()), *_checked(name, blocks)]
        except PegboardError as error:
            return [Problem(text=clean(str(error)))]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a command may not end the session
            raised = f"{type(error).__name__}: {error}{place_in(error, module)}"
            told = f"/{name} failed: {raised}. What it had done until then is not known."
            return [Problem(text=clean(told))]

    def complete(self, name: str, rest: str) -> list[str]:
        """What could stand after a command."""
        try:
            command = self._slashes.get(name)
            words = list(command.complete(self._said(rest))) if command.complete is not None else []
            begun = rest.rpartition(" ")[2]
            return [word for word in words if isinstance(word, str) and word and word.startswith(begun)][:MOST_WORDS]
        except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: without completion one can still type
            return []

    @property
    def signs(self) -> Sequence[str]:
        """Prefixes of tools."""
        return list(dict.fromkeys(sign for sign, _, _ in self._prefixed()))

    def typed(self, line: str) -> Typed | None:
        """The call that a line with a tool's prefix means."""
        for sign, name, key in self._prefixed():
            if line.startswith(sign) and (rest := line.removeprefix(sign).strip()):
                return Typed(tool=name, arguments={key: rest})
        return None

    def _prefixed(self) -> Iterator[tuple[str, str, str]]:
        """Tools that declare a prefix: it, the tool's name, and the parameter that takes the rest of the line."""
        for tool in self._board.registry.tools:
            if tool.declaration.prefix and tool.key:
                yield tool.declaration.prefix, tool.name, tool.key

    def pattern_problem(self, pattern: str, command: str) -> str | None:
        """Why a pattern may not be kept; the parser of commands is imported now."""
        from pegboard.policy.patterns import pattern_problem

        return pattern_problem(pattern, command)

    async def close(self) -> None:
        """End what runs."""
        await self._agent.close()

    def _said(self, rest: str) -> Said:
        return Said(
            rest=rest,
            board=self._board,
            session=self._session,
            port=self._agent,
            policy=self._agent.policy,
            model=self._agent.model,
            explain=self._agent.explain,
        )


def _notes(told: Sequence[str]) -> list[AnyBlock]:
    return [Note(text=text) for text in told]


def _checked(name: str, returned: Any) -> list[AnyBlock]:
    """Blocks of a command as values of ours: each field of its type, valid UTF-8, and nobody else's.

    Raises:
        PegboardError: they are none, or too many to show.
    """
    if not isinstance(returned, list | tuple):
        raise PegboardError(f"/{name} was done, and returned a {type(returned).__name__} where blocks were expected.")
    body = to_json(returned)
    if len(body) > MOST_BYTES:
        raise PegboardError(f"/{name} was done, and returned more than {MOST_BYTES // 1024**2} MiB to show.")
    try:
        return from_json(body)
    except msgspec.ValidationError as error:
        raise PegboardError(f"/{name} was done, and returned what are no blocks ({error}).") from None
