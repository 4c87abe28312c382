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
from typing import TYPE_CHECKING, Any

from pegboard.assembly import Assembled, assemble
from pegboard.calls import Call, Caller, Record
from pegboard.config.places import config_file, own_files, state_folder
from pegboard.context import Lasts
from pegboard.desk import Answers, Desk
from pegboard.editlock import lock_folder
from pegboard.entries import survey
from pegboard.hooks import Fragment
from pegboard.kit.workspace import Outside, PathCheck, Workspace
from pegboard.models import Provider, ToolOffer
from pegboard.plugins import Entry, Plugin
from pegboard.policy import Mode, Policy, mode_of
from pegboard.prompt import system_prompt
from pegboard.providers import Choice, Providers
from pegboard.rendering import Renderers
from pegboard.road import Road
from pegboard.running import Runner
from pegboard.seats import Seats
from pegboard.session import Session
from pegboard.session.presence import join
from pegboard.session.redaction import Redactor, redactor_of
from pegboard.standing import Standing
from pegboard.tooling import Tool

if TYPE_CHECKING:
    from pegboard.agent import Agent, Entered
    from pegboard.undoing import Undoing

EMBEDDED = "offline"
"""The provider that needs no key, network or download: what answers when nothing else is there."""


class Board:
    """Plugins, tools and settings, loaded. Build it with `build`; close it."""

    def __init__(
        self,
        assembled: Assembled,
        *,
        state: Path | None,
        environ: Mapping[str, str],
        redactor: Redactor | None = None,
        named: bool = True,
    ) -> None:
        """`named`: the root was named, and is not just the folder that the process is in."""
        self.assembled = assembled
        self.root = assembled.root
        self.loaded = assembled.loaded
        self.config = assembled.loaded.config
        self.origins = assembled.loaded.origins
        self.registry = assembled.registry
        self.guards = assembled.guards
        self.notes = list(assembled.notes)
        self._own = own_files(self.root, [assembled.user_file.parent, *([state] if state else [])])
        self._standing = Standing(
            self.loaded,
            assembled.entries,
            user_file=assembled.user_file,
            root=self.root,
            state=state,
            notes=self.notes,
        )
        self.launchers, self.mode, self.policy = self._standing.launchers, self._standing.mode, self._standing.policy
        self.failures = assembled.plugged.failures
        self.state = state
        self.environ = environ
        self.redactor = redactor
        self._named_root = named
        self.providers = Providers(assembled.entries, assembled.loaded, root=self.root, state=state)
        self._plugged = assembled.plugged
        self.renderers = Renderers(
            (plugin.entry, table) for plugin, table in self._plugged.contributed("pegboard_renderers")
        )
        self._agents: list[Agent] = []
        self._runners: list[Runner] = []
        self._seats = Seats(self._plugged, self.loaded, self.registry, self.root)
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
        found = survey() if discover else None
        assembled = assemble(
            root=root,
            flags=flags or {},
            user_file=user_file or config_file(environ),
            environ=environ,
            state=state,
            entries=[*(found.entries if found else ()), *extra],
            without_guard=frozenset(without_guard),
            remarks=found.copies if found else (),
            guarded=found is not None and bool(found.ours),
        )
        redactor = redactor_of(assembled.loaded.config.sessions, environ)
        return cls(assembled, state=state, environ=environ, redactor=redactor, named=root is not None)

    @property
    def confined(self) -> bool:
        """Whether a program can be held in a sandbox here. Looked at when it is first asked."""
        return self.launchers.confined

    async def settled(self) -> None:
        """Wait for the `[[hooks]]` that still run after calls."""
        await self._seats.settled()

    @property
    def sessions_folder(self) -> Path | None:
        """Where sessions are kept."""
        return self.state / "sessions" if self.state else None

    @property
    def set_names(self) -> list[str]:
        """The sets that loaded."""
        return [info.name for info in self.registry.sets.values() if info.loaded]

    def session(self, id: str | None = None, *, in_memory: bool = False) -> Session:
        """Open a session, making it if it is missing; None: a fresh one. One that is made here and in which nothing happens
        leaves nothing behind once it is closed.

        Raises:
            SessionElsewhere: it works in another root.
            SessionError: the name is not one, or its log cannot be read.
        """
        if in_memory or self.sessions_folder is None:
            return Session(id or "memory", self.root)
        store, named = self.sessions_folder, self._named_root
        return Session.open(store, id, self.root, self.redactor, state=self.state, named=named, traceless=True)

    def offers(self, caller: Caller = "model", *, policy: Policy | None = None) -> list[ToolOffer]:
        """The tools that a caller is told of, in a stable order. policy: of the mode that is on, if it is another's."""
        return [ToolOffer.of(tool) for tool in self.registry.tools if self.why_not(tool, caller, policy) is None]

    def why_not(self, tool: Tool, caller: Caller = "model", policy: Policy | None = None) -> str | None:
        """Why a registered tool is not offered: denied, caller, withheld (unadvertised, or `tool_calling` off), or None."""
        if (policy or self.policy).hidden(tool):
            return "denied"
        if caller not in tool.declaration.callers:
            return "caller"
        withheld = not tool.declaration.advertised or (caller == "model" and not self.config.tool_calling)
        return "withheld" if withheld else None

    def agent(
        self,
        session: Session,
        *,
        answers: Answers = "headless",
        model: str | None = None,
        provider: Provider | None = None,
        lasts: Lasts = "session",
    ) -> Agent:
        """An agent over this session. `provider`: of tests and programs that bring their own. lasts: "turn" where it is
        closed after one, so no command is to go on in the background by itself.

        Raises:
            ConfigError: no such provider is installed.
        """
        from pegboard.agent import Agent  # a single call needs none

        choice = self.choose(model) if provider is None else Choice(model=model or self.config.model or EMBEDDED)
        name = choice.model
        if provider is None:
            answering = self.providers.load(name, choice.server)
            provider, name = answering.provider, answering.model
        road = self.road(session, answers=answers, cautious=provider.cautious, lasts=lasts)
        agent = Agent(
            session=session,
            road=road,
            provider=provider,
            model=name,
            system=self._system(self.mode),
            offers=lambda: self.offers(policy=road.policy),
            sets=self.set_names,
            not_loaded=[failure.entry.name for failure in self.failures],
            limits=self.config.limits,
            enter=self._entered,
            mode=self.mode,
        )
        if choice.why:
            agent.banner += f" · {choice.why}"
        self._agents.append(agent)
        if session.folder is not None and self.state is not None:
            company = join(session, self.state, self.root)
            self.notes += [line for line in company if line not in self.notes]  # another session of ours was told, too
        return agent

    def _system(self, mode: Mode | None) -> str:
        fragments = [(owner, one) for owner, one in self._named("pegboard_prompt") if isinstance(one, Fragment)]
        return system_prompt(self.workspace, self.config, fragments, mode)

    def _entered(self, name: str | None) -> Entered:
        from pegboard.agent import Entered

        mode = mode_of(self.loaded, name) if name else None
        return Entered(mode, self.policy_in(mode), self._system(mode))

    def policy_in(self, mode: Mode | None) -> Policy:
        """The policy while a mode is on (`policy.mode_of` has it by its name); None: none is."""
        return self._standing.policy_in(mode)

    def road(
        self, session: Session, *, answers: Answers = "headless", cautious: bool = False, lasts: Lasts = "call"
    ) -> Road:
        """The road of one session; observers are told of what comes down it."""
        self._seats.observe(session)
        desk = Desk(
            session,
            answers,
            self._named("pegboard_approvers"),
            home=self._standing.home,
            lasting=self._standing.lasting,
        )
        made: list[Road] = []  # its policy is another once another mode is on
        rules = (lambda kind, path: made[0].policy.door(kind, path)) if self._standing.has_lists else None
        workspace = self._workspace(session.folder, rules) if session.folder or rules else self.workspace
        runner = Runner(
            workspace=workspace,
            config=self.config,
            session=session,
            desk=desk,
            settings={plugin.entry.name: plugin.settings for plugin in self._plugged.plugins},
            locks=lock_folder(self.state),
            launchers=self.launchers,
            lasts=lasts,
        )
        self._runners.append(runner)
        road = Road(
            registry=self.registry,
            policy=self.policy,
            guards=self._seats.beside(self.guards, session),
            workspace=workspace,
            session=session,
            desk=desk,
            runner=runner,
            cautious=cautious,
            rewriters=self._named("pegboard_rewriters"),
        )
        made.append(road)
        return road

    def undoing(self, session: Session) -> Undoing:
        """Undo in a session; observers are told of it."""
        from pegboard.undoing import Undoing  # seldom needed

        self._seats.observe(session)
        return Undoing(session, self.workspace, lock_folder(self.state))

    def choose(self, model: str | None = None) -> Choice:
        """The model that answers: the one named, else the configured one, else the first that is there. That one is looked
        for now, for at most a fifth of a second."""
        named = model or self.config.model
        return Choice(model=named) if named else self.providers.choose(self.environ, EMBEDDED)

    def provider(self, model: str) -> Provider:
        """The provider of `provider/model`, imported now.

        Raises:
            ConfigError: it is not installed, or does not load.
        """
        return self.providers.load(model).provider

    async def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, answers: Answers = "headless"
    ) -> Record:
        """One call by a program, in a session of its own in memory."""
        session = self.session(in_memory=True)
        road = self.road(session, answers=answers)
        try:
            call = Call(id="", name=name, arguments=dict(arguments or {}), caller="program")
            return await road.travel(call, road.lane())
        finally:
            await self.settled()
            await road.runner.end_jobs()
            road.runner.close()
            self._runners.remove(road.runner)
            session.close()

    async def close(self) -> None:
        """Close every agent and let go of threads and files."""
        await self._seats.settled()
        self._seats.close()
        await asyncio.gather(*(agent.close() for agent in self._agents))
        await self._seats.settled()  # what ran when they were closed has ended
        self._agents.clear()
        await asyncio.gather(*(runner.end_jobs() for runner in self._runners))
        self._runners.clear()
        self.guards.close()

    def _workspace(self, session: Path | None, rules: PathCheck | None = None) -> Workspace:
        """rules: what denies by path say at the door, where there may be any."""
        checks = [self._own, *([self.guards.path] if self.guards.seats else ()), *([rules] if rules else ())]
        # Where outside paths ask or are allowed, policy has spoken before the door is opened.
        outside: Outside = "refuse" if self.config.paths.outside == "refuse" else "allow"
        return Workspace(self.root, checks, outside=outside, session=str(session) if session else None)

    def _contributed(self, hook: str) -> list[tuple[Plugin, Any]]:
        return [(plugin, one) for plugin, given in self._plugged.contributed(hook) for one in given]

    def _named(self, hook: str) -> list[tuple[str, Any]]:
        """The same with the plugin's name."""
        return [(plugin.entry.name, one) for plugin, one in self._contributed(hook)]
