"""The board: one loaded set of plugins, tools and settings. A program builds one, uses it, closes it.

async with Board.build(root=".", sets=["git"]) as board:
    record = await board.call("git_log", {"limit": 3})
    ended = await board.run("what changed last?", answers=lambda asked: asked.tool == "git_show")

docs/python.md has the whole of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from pegboard.assembly import Assembled, assemble
from pegboard.brought import Replies, entries_of, provider_of
from pegboard.calls import Call, Caller, Record
from pegboard.config.places import config_file, state_folder
from pegboard.context import Lasts
from pegboard.desk import Answers
from pegboard.editlock import lock_folder
from pegboard.entries import survey
from pegboard.hooks import Fragment, Guard
from pegboard.models import Provider, ToolOffer
from pegboard.plugins import Entry
from pegboard.policy import Mode, Policy, mode_of
from pegboard.prompt import system_prompt
from pegboard.providers import Answering, Choice, Providers
from pegboard.rendering import Renderers
from pegboard.road import Road
from pegboard.roads import Roads
from pegboard.seats import Seats
from pegboard.selection import insist_on_sets
from pegboard.session import Session
from pegboard.session.presence import join
from pegboard.session.redaction import Redactor, redactor_of
from pegboard.standing import Standing
from pegboard.switching import Switches
from pegboard.tooling import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from pegboard.agent import Agent, Entered
    from pegboard.calling import Calls
    from pegboard.events import TurnEnded
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
        provider: Provider | None = None,
        off: Iterable[str] = (),
    ) -> None:
        """`named`: the root was named, and is not just the folder that the process is in. `provider`: the program's own."""
        self.assembled = assembled
        self.root = assembled.root
        self.loaded = assembled.loaded
        self.config = assembled.loaded.config
        self.origins = assembled.loaded.origins
        self.registry = assembled.registry
        self.guards = assembled.guards
        self.notes = list(assembled.notes)
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
        self._provider = provider
        self.providers = Providers(assembled.entries, assembled.loaded, root=self.root, state=state)
        self.renderers = Renderers(
            (plugin.entry, table) for plugin, table in assembled.plugged.contributed("pegboard_renderers")
        )
        self.switches = Switches(self, off)
        self._agents: list[Agent] = []
        self._sessions: list[Session] = []
        self._seats = Seats(assembled.plugged, self.loaded, self.registry, self.root)
        self._roads = Roads(assembled, self._standing, self._seats, state=state)
        self.workspace = self._roads.workspace

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
        sets: Iterable[str] | None = None,
        tools: Iterable[Callable[..., Any]] = (),
        guards: Iterable[Guard] = (),
        provider: Provider | Replies | None = None,
        off: Iterable[str] = (),
    ) -> Board:
        """Read the configuration, find and load plugins, register tools.

        `flags` are settings by dotted key, above all others. `discover=False` loads the `extra` entries alone, and what the
        program brings along.
        sets: the tool sets to select among those that are installed, besides `core`; None: as the settings say.
        tools, guards: the program's own, without an entry point; the tools are the set `program`, and go before others
        of their names. provider: answers where no model is named, instead of what is installed; closed with the board.
        off: plugins that are not loaded this time, by name, as `plugins.disable` would have it; a guard is never among them.

        Raises:
            ConfigError: a setting is wrong, there is no such set, or the root is not a folder.
            PluginError: an installed guard does not load; nothing starts without it, unless it is named in `without_guard`.
        """
        environ = os.environ if environ is None else environ
        state = state or state_folder(environ)
        found = survey() if discover else None
        brought = entries_of(tools, guards)
        entries = [*brought, *(found.entries if found else ()), *extra]
        chosen = None if sets is None else insist_on_sets(sets, entries)
        assembled = assemble(
            root=root,
            flags={**(flags or {}), **({} if chosen is None else {"toolSets": chosen})},
            user_file=user_file or config_file(environ),
            environ=environ,
            state=state,
            entries=entries,
            without_guard=frozenset(without_guard),
            remarks=found.copies if found else (),
            guarded=found is not None and bool(found.ours),
            off=frozenset(off),
        )
        redactor = redactor_of(assembled.loaded.config.sessions, environ)
        return cls(
            assembled,
            state=state,
            environ=environ,
            redactor=redactor,
            named=root is not None,
            provider=None if provider is None else provider_of(provider),
            off=off,
        )

    def switched(self, name: str, *, on: bool) -> None:
        """What hangs on the board without a plugin from now on, or with it again; see `Switches`, which says when."""
        self.registry.switch(name, on=on)
        self.renderers.switch(name, on=on)
        self._seats.switch(name, on=on)
        for agent in self._agents:
            agent.renew()

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
        session: Session | str | None = None,
        *,
        answers: Answers = "headless",
        model: str | None = None,
        provider: Provider | Replies | None = None,
        lasts: Lasts = "session",
    ) -> Agent:
        """An agent over this session, which is closed with it. session: an open one, or the name of a kept one; None: one in
        memory. answers: who answers where a call asks; a function of the program's, or `desk.Answers` in words.
        `provider`: of tests and programs that bring their own, closed with the agent. lasts: "turn" where it is closed
        after one, so no command is to go on in the background by itself.

        Raises:
            ConfigError: no such provider is installed.
            SessionError: there cannot be such a session.
        """
        from pegboard.agent import Agent  # a single call needs none

        shared = provider is None and model is None and self._provider is not None
        answering = self._answering(model, provider)
        provider, name = answering.provider, answering.model
        if not isinstance(session, Session):
            session = self.session(session, in_memory=session is None)
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
            shared=shared,
        )
        if answering.why:
            agent.banner += f" · {answering.why}"
        self._agents.append(agent)
        if session.folder is not None and self.state is not None:
            company = join(session, self.state, self.root)
            self.notes += [line for line in company if line not in self.notes]  # another session of ours was told, too
        return agent

    def _answering(self, model: str | None, provider: Provider | Replies | None) -> Answering:
        """Who answers: the provider that is given, else the model that is named, else the board's own provider."""
        provider = self._provider if provider is None and model is None else provider
        if provider is not None:
            return Answering(provider=provider_of(provider), model=model or self.config.model or EMBEDDED)
        choice = self.choose(model)
        return msgspec.structs.replace(self.providers.load(choice.model, choice.server), why=choice.why)

    def _system(self, mode: Mode | None) -> str:
        named = self._roads.named("pegboard_prompt")
        fragments = [(who, one) for who, one in named if isinstance(one, Fragment) and who not in self.switches.off]
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
        return self._roads.build(session, answers=answers, cautious=cautious, lasts=lasts)

    def calls(
        self, session: Session | str | None = None, *, answers: Answers = "headless", caller: Caller = "model"
    ) -> Calls:
        """The tools in a loop that is not ours. session: as for `agent`; one that is made here is closed with the board.

        Raises:
            SessionError: there cannot be such a session.
        """
        from pegboard.calling import Calls

        if not isinstance(session, Session):
            session = self.session(session, in_memory=session is None)
            self._sessions.append(session)
        return Calls(self.road(session, answers=answers, lasts="session"), lambda: self.offers(caller), caller)

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
            await self._roads.release(road)
            session.close()

    async def run(
        self,
        prompt: str,
        *,
        session: Session | str | None = None,
        answers: Answers = "headless",
        model: str | None = None,
        provider: Provider | Replies | None = None,
    ) -> TurnEnded:
        """One turn, in a session that is closed after it; all as for `agent`. `Agent.stream` gives its events as well.

        Raises:
            ConfigError: no such provider is installed.
            SessionError: there cannot be such a session.
        """
        agent = self.agent(session, answers=answers, model=model, provider=provider, lasts="turn")
        try:
            return await agent.run(prompt)
        finally:
            await agent.close()
            self._agents.remove(agent)
            await self._roads.release(agent.road)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every agent, the program's provider and the sessions of `calls`, and let go of threads and files. Again does
        nothing."""
        await self._seats.settled()
        self._seats.close()
        await asyncio.gather(*(agent.close() for agent in self._agents))
        await self._seats.settled()  # what ran when they were closed has ended
        self._agents.clear()
        await self._roads.close()
        for session in self._sessions:
            session.close()
        self._sessions.clear()
        if self._provider is not None:
            await self._provider.close()
            self._provider = None
        self.guards.close()
