"""The board: one loaded set of plugins, tools and settings. A program builds one, uses it, closes it.

board = Board.build(root=".")
agent = board.agent(board.session(), answers="--yes")
record = await agent.call("word_count", {"path": "README.md"}, caller="program")
await board.close()
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pegboard import plugins
from pegboard.agent import Agent
from pegboard.assembly import Assembled, assemble
from pegboard.calls import Call, Caller, Record
from pegboard.commit import lock_folder
from pegboard.config.places import config_file, own_files, state_folder
from pegboard.desk import Answers, Desk
from pegboard.events import AnyEvent
from pegboard.hooks import Fragment
from pegboard.kit.workspace import Outside, Workspace
from pegboard.lane import Lane
from pegboard.models import Provider, ToolOffer
from pegboard.plugins import Entry, Plugin
from pegboard.policy import Policy
from pegboard.prompt import system_prompt
from pegboard.providers import load_provider
from pegboard.road import Road
from pegboard.running import Runner
from pegboard.session import Session
from pegboard.tooling import Tool
from pegboard.touches import kinds_in

EMBEDDED = "offline"
"""The provider that needs no key, network or download: what answers when nothing else is there."""


class Board:
    """Plugins, tools and settings, loaded. Build it with `build`; close it."""

    def __init__(self, assembled: Assembled, *, state: Path | None) -> None:
        self.assembled = assembled
        self.root = assembled.root
        self.loaded = assembled.loaded
        self.config = assembled.loaded.config
        self.origins = assembled.loaded.origins
        self.registry = assembled.registry
        self.guards = assembled.guards
        self.policy = Policy(assembled.loaded)
        self.notes = list(assembled.notes)
        self.failures = assembled.plugged.failures
        self.state = state
        self._entries = assembled.entries
        self._plugged = assembled.plugged
        self._agents: list[Agent] = []
        self._own = own_files(self.root, [assembled.user_file.parent, *([state] if state else [])])
        self.workspace = self._workspace(None)

    @classmethod
    def build(
        cls,
        root: str | None = None,
        *,
        flags: Mapping[str, Any] | None = None,
        user_file: Path | None = None,
        environ: Mapping[str, str] | None = None,
        state: Path | None = None,
        extra: Iterable[Entry] = (),
        discover: bool = True,
        without_guard: Iterable[str] = (),
    ) -> Board:
        """Read the configuration, find and load plugins, register tools.

        `flags` are settings by dotted key, above all others. `discover=False` loads the `extra` entries alone.

        Raises:
            ConfigError: a setting is wrong, or the root is not a folder.
            PluginError: an installed guard does not load; nothing starts without it, unless it is named in `without_guard`.
        """
        environ = os.environ if environ is None else environ
        state = state or state_folder(environ)
        assembled = assemble(
            root=root,
            flags=flags or {},
            user_file=user_file or config_file(environ),
            environ=environ,
            state=state,
            entries=[*(plugins.scan() if discover else ()), *extra],
            without_guard=frozenset(without_guard),
        )
        return cls(assembled, state=state)

    @property
    def sessions_folder(self) -> Path | None:
        """Where sessions are kept."""
        return self.state / "sessions" if self.state else None

    @property
    def set_names(self) -> list[str]:
        """The sets that loaded."""
        return [info.name for info in self.registry.sets.values() if info.loaded]

    def session(self, id: str | None = None, *, in_memory: bool = False) -> Session:
        """Open a session, making it if it is missing; None: a fresh one.

        Raises:
            SessionError: the name is not one, or its log cannot be read.
        """
        if in_memory or self.sessions_folder is None:
            return Session(id or "memory", self.root)
        return Session.open(self.sessions_folder, id, self.root)

    def offers(self, caller: Caller = "model") -> list[ToolOffer]:
        """The tools that a caller is told of, in a stable order."""
        return [_offer(tool) for tool in self.registry.tools if self.why_not(tool, caller) is None]

    def why_not(self, tool: Tool, caller: Caller = "model") -> str | None:
        """Why a registered tool is not offered: denied, caller, withheld (`tool_calling` is off), or None if it is."""
        if self.policy.hidden(tool):
            return "denied"
        if caller not in tool.declaration.callers:
            return "caller"
        return "withheld" if caller == "model" and not self.config.tool_calling else None

    def agent(
        self,
        session: Session,
        *,
        answers: Answers = "headless",
        model: str | None = None,
        provider: Provider | None = None,
    ) -> Agent:
        """An agent over this session. `provider` is given by tests and programs that bring their own.

        Raises:
            ConfigError: no such provider is installed.
        """
        name = model or self.config.model or EMBEDDED
        provider = provider or self.provider(name)
        agent = Agent(
            session=session,
            road=self.road(session, answers=answers, cautious=provider.cautious),
            provider=provider,
            model=name,
            system=system_prompt(self.workspace, self.config, self._fragments()),
            offers=self.offers,
            sets=self.set_names,
            not_loaded=[failure.entry.name for failure in self.failures],
        )
        session.observers += [_observer(plugin, observe) for plugin, observe in self._contributed("pegboard_observers")]
        self._agents.append(agent)
        return agent

    def road(self, session: Session, *, answers: Answers = "headless", cautious: bool = False) -> Road:
        """The road of one session."""
        approvers = [(plugin.entry.name, approve) for plugin, approve in self._contributed("pegboard_approvers")]
        desk = Desk(session, answers, approvers)
        workspace = self._workspace(session.folder) if session.folder else self.workspace
        runner = Runner(
            workspace=workspace,
            config=self.config,
            session=session,
            desk=desk,
            settings={plugin.entry.name: plugin.settings for plugin in self._plugged.plugins},
            locks=lock_folder(self.state) if self.state else None,
        )
        return Road(
            registry=self.registry,
            policy=self.policy,
            guards=self.guards,
            workspace=workspace,
            session=session,
            desk=desk,
            runner=runner,
            cautious=cautious,
            rewriters=[(plugin.entry.name, rewrite) for plugin, rewrite in self._contributed("pegboard_rewriters")],
        )

    def provider(self, model: str) -> Provider:
        """The provider of `provider/model`, imported now.

        Raises:
            ConfigError: it is not installed, or does not load.
        """
        return load_provider(model, self._entries, self.config, self.root)

    async def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, answers: Answers = "headless"
    ) -> Record:
        """One call by a program, in a session of its own in memory."""
        session = self.session(in_memory=True)
        road = self.road(session, answers=answers)
        try:
            return await road.travel(Call(id="", name=name, arguments=dict(arguments or {}), caller="program"), Lane())
        finally:
            road.runner.close()
            session.close()

    async def close(self) -> None:
        """Close every agent and let go of threads and files."""
        await asyncio.gather(*(agent.close() for agent in self._agents))
        self._agents.clear()
        self.guards.close()

    def _workspace(self, session: Path | None) -> Workspace:
        checks = [self._own, self.guards.path] if self.guards.seats else [self._own]
        # Where outside paths ask or are allowed, policy has spoken before the door is opened.
        outside: Outside = "refuse" if self.config.paths.outside == "refuse" else "allow"
        return Workspace(self.root, checks, outside=outside, session=str(session) if session else None)

    def _contributed(self, hook: str) -> list[tuple[Plugin, Any]]:
        return [(plugin, one) for plugin, given in self._plugged.contributed(hook) for one in given]

    def _fragments(self) -> list[tuple[str, Fragment]]:
        return [
            (plugin.entry.name, fragment)
            for plugin, fragment in self._contributed("pegboard_prompt")
            if isinstance(fragment, Fragment)
        ]


def _offer(tool: Tool) -> ToolOffer:
    return ToolOffer(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        examples=tool.declaration.examples,
        effect=tool.effect,
        category=tool.declaration.category,
        touches={name: kind for name, node in tool.touched for kind in kinds_in(node)},
    )


def _observer(plugin: Plugin, observe: Any) -> Any:
    failed = False

    def told(event: AnyEvent) -> None:
        nonlocal failed
        if failed:
            return
        try:
            observe(event)
        except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: an observer that fails is not asked again
            failed = True

    return told
