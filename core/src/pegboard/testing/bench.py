"""A board around functions and modules, with a loop of its own, for plain (synchronous) tests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard import port
from pegboard.board import Board
from pegboard.calls import Caller, Record
from pegboard.desk import Answers
from pegboard.events import AnyEvent, TurnEnded
from pegboard.hooks import Guard, hookimpl
from pegboard.plugins import Entry, given
from pegboard.testing.scripted import Scripted, Step

if TYPE_CHECKING:
    from pegboard.grant import Grant

T = TypeVar("T")


class TestBoard:
    """A board over `root`, with its own state folder beside it, and one session."""

    __test__ = False

    def __init__(
        self,
        root: Path,
        *,
        tools: Sequence[Any] = (),
        guards: Iterable[Guard] = (),
        modules: Mapping[str, ModuleType] | None = None,
        settings: Mapping[str, Any] | None = None,
        answers: Answers = "--yes",
        steps: Iterable[Step] | Scripted = (),
        session: str | None = None,
        state: Path | None = None,
        own_guards: bool = True,
        watch_writes: bool = True,
    ) -> None:
        """`modules`: tool sets by name. `settings`: dotted keys. `steps`: what the scripted model says, or the model.
        watch_writes: a test fails in which a tool that is declared read_only writes a file."""
        extra = [given(name, "pegboard.toolsets", module, own=True) for name, module in (modules or {}).items()]
        if tools:
            extra.append(_module_entry("test", "pegboard.toolsets", "pegboard_tools", list(tools), own=True))
        guard_list = list(guards)
        if guard_list:
            extra.append(_module_entry("testguard", "pegboard.guards", "pegboard_guards", guard_list, own=own_guards))
        self.state = state or root.parent / f"{root.name}-state"
        self.loop = asyncio.new_event_loop()
        self.board = Board.build(
            str(root),
            flags=dict(settings or {}),
            user_file=self.state / "no-config.toml",
            environ={},
            state=self.state,
            extra=extra,
            discover=False,
        )
        self.model = steps if isinstance(steps, Scripted) else Scripted(steps)
        self.session = self.board.session(session)
        self.agent = self.board.agent(self.session, answers=answers, model="scripted", provider=self.model)
        self._wrote: deque[tuple[str, list[str]]] = deque(maxlen=256)  # of calls that are over too: threads may go on
        if watch_writes:
            self._watch()

    def call(self, name: str, _caller: Caller = "program", /, **arguments: Any) -> Record:
        """Take one call down the road and return its record."""
        return self.run(self.agent.call(name, arguments, _caller))

    def prompt(self, text: str = "go") -> TurnEnded:
        """Run one turn of the scripted model."""

        async def turn() -> TurnEnded:
            await self.agent.send(port.Prompt(text=text))
            return await self.agent.wait()

        return self.run(turn())

    @property
    def events(self) -> list[AnyEvent]:
        """The session's durable events so far."""
        return list(self.session.read())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on this board's loop.

        Raises:
            AssertionError: a tool that is declared read_only wrote a file meanwhile.
        """
        result = self.loop.run_until_complete(work)
        self._check()
        return result

    def _watch(self) -> None:
        """Run read_only tools under a detector of writes, whoever calls them."""
        from pegboard.testing.writes import watched

        runner = self.agent._road.runner
        run = runner.run
        allowed = [self.session.folder] if self.session.folder else []
        root = Path(self.board.root)

        async def watching(grant: Grant) -> Any:
            if grant.tool.effect == "read_only":
                function = watched(grant.tool, allowed, [root], lambda *found: self._wrote.append(found))
                grant.tool = replace(grant.tool, function=function)
            return await run(grant)

        runner.run = watching  # type: ignore[method-assign]

    def _check(self) -> None:
        wrote = [(name, found) for name, found in self._wrote if found]
        if wrote:
            from pegboard.testing.writes import complaint

            told = "\n".join(complaint(name, found) for name, found in wrote)
            self._wrote.clear()
            raise AssertionError(told)

    def close(self) -> None:
        """Close the board and its loop."""
        if not self.loop.is_closed():
            try:
                self.run(self.board.close())
            finally:
                self.loop.close()


def _module_entry(name: str, group: str, hook: str, contributed: list[Any], *, own: bool) -> Entry:
    module = ModuleType(f"pegboard_test_{name}")

    def impl() -> list[Any]:
        return contributed

    impl.__name__ = hook
    setattr(module, hook, hookimpl(impl))
    return given(name, group, module, own=own)
