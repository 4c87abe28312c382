"""A board around functions and modules, with a loop of its own, for plain (synchronous) tests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard import port
from pegboard.board import Board
from pegboard.brought import Replies
from pegboard.calls import Caller
from pegboard.desk import Answers, Desk, Reply
from pegboard.events import AnyEvent, ApprovalAsked, QuestionAsked, TurnEnded
from pegboard.hooks import Asked, Guard
from pegboard.models import Provider
from pegboard.testing import approvals
from pegboard.testing.called import Called, called, calls_of
from pegboard.testing.clock import ClockLoop
from pegboard.testing.files import Content, read_files, write_files
from pegboard.testing.happenings import Happenings, Kind
from pegboard.testing.plugged import entries_of, own_file
from pegboard.testing.scripted import Scripted, Step
from pegboard.testing.underway import Underway

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.grant import Grant

T = TypeVar("T")


class TestBoard:
    """A board over `root`, with its own state folder beside it, and one session.

    asked: calls that needed consent, as they were shown, whoever answered. approvals: where `answers` is a list."""

    __test__ = False

    def __init__(
        self,
        root: Path,
        *,
        tools: Sequence[Any] | Mapping[str, ModuleType] = (),
        guards: Iterable[Guard] | Mapping[str, ModuleType] = (),
        modules: Mapping[str, ModuleType] | None = None,
        settings: Mapping[str, Any] | None = None,
        answers: Answers | approvals.Approvals | Sequence[approvals.Reply] = "--yes",
        steps: Iterable[Step] | Scripted = (),
        provider: Provider | Replies | None = None,
        model: str | None = None,
        session: str | None = None,
        state: Path | None = None,
        files: Mapping[str, Content] | None = None,
        own_file: str = "",
        named: bool = True,
        own_guards: bool = True,
        watch_writes: bool = True,
        **plugins: Any,
    ) -> None:
        """Plugins come as a list of the objects that a hook returns, or as modules by name (the name of their table):
        `tools`, `guards`, and beside them `approvers`, `rewriters`, `renderers` (functions by type), `observers`, `prompts`.
        `providers`, `launchers` and `slash` are what an entry point names, by name.

        modules: tool sets by name, as in `tools`. settings: dotted keys. answers: who answers where a call asks: a word of
        `desk.Answers`, a function as programs give one, or a list, as a person (see `approvals`). steps: what the scripted
        model says, or the model. provider: answers instead of it, or `model` does, of `providers`; where there is but one of
        those, that. launchers: where there is one, every program of a tool runs in it, unless `settings` say otherwise.
        files: written into the root first. own_file: the person's own settings, TOML; approvers and rewriters are `named`
        there. own_guards: they count as ours, which run inline. watch_writes: a test fails in which a tool that is declared
        read_only writes a file."""
        write_files(root, files or {})
        brought = {"tools": tools, **plugins, "guards": guards}
        extra = [*entries_of({"tools": modules or {}}), *entries_of(brought, own_guards=own_guards)]
        self.state = state or root.parent / f"{root.name}-state"
        self.loop = ClockLoop()
        self.board = Board.build(
            str(root),
            flags=_confined(plugins.get("launchers") or {}) | dict(settings or {}),
            user_file=self._own_file(own_file, extra, named),
            environ={},
            state=self.state,
            extra=extra,
            discover=False,
        )
        self.model = steps if isinstance(steps, Scripted) else Scripted(steps)
        self.approvals, answering = _answering(answers)
        self.session = self.board.session(session)
        providers = list(plugins.get("providers") or ())
        if provider is None and model is None:
            model = providers[0] if len(providers) == 1 else None
        own = provider is None and model is None
        self.agent = self.board.agent(
            self.session,
            answers=answering,
            model="scripted" if own else model,
            provider=self.model if own else provider,
        )
        self.asked: list[Asked] = []
        self.entered: set[str] = set()
        self.happenings = Happenings(self.session, self._heard)
        self._wrote: deque[tuple[str, list[str]]] = deque(maxlen=256)  # of calls that are over too: threads may go on
        self._watch(writes=watch_writes)
        self._record(self.agent.road.desk)

    # -- what is done

    def call(self, name: str, _caller: Caller = "program", /, **arguments: Any) -> Called:
        """Take one call down the road and return its record; `expect` on that says what it was to come to."""
        return called(self, self.run(self.agent.call(name, arguments, _caller)))

    def begin(self, name: str, _caller: Caller = "program", /, **arguments: Any) -> Underway:
        """Take a call down the road until its tool runs and waits for something, or somebody is asked, or it is over."""
        return Underway.begun(self, name, arguments, _caller)

    def prompt(self, text: str = "go") -> TurnEnded:
        """Run one turn of the model."""

        async def turn() -> TurnEnded:
            await self.agent.send(port.Prompt(text=text))
            return await self.agent.wait()

        return self.run(turn())

    def slash(self, line: str) -> list[AnyBlock]:
        """What a slash command shows, such as `/letters one three`."""
        from pegboard.conversation import Talk
        from pegboard.slashes import Slashes

        name, _, rest = line.removeprefix("/").partition(" ")
        slashes = Slashes(self.board.assembled.entries, self.board.loaded)
        return self.run(Talk(self.board, self.session, self.agent, slashes).command(name, rest.strip()))

    def advance(self, seconds: float) -> None:
        """Let time pass for all that waits on this board's loop: limits, pauses (see `testing.clock`)."""
        self.loop.advance(seconds)
        self._check()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on this board's loop.

        Raises:
            AssertionError: a tool that is declared read_only wrote a file meanwhile, or no answer was left for a question.
        """
        result = self.loop.run_until_complete(work)
        self._check()
        return result

    # -- what came of it

    @property
    def events(self) -> list[AnyEvent]:
        """The session's durable events so far."""
        return list(self.session.read())

    def happened(self, kind: Kind, where: Callable[[Any], object] | None = None) -> list[Any]:
        """Events of a kind so far, the ephemeral ones too; `where`: for which that is true."""
        return self.happenings.of(kind, where)

    def until(self, kind: Kind, where: Callable[[Any], object] | None = None, *, within: float = 10.0) -> Any:
        """The first event of a kind, waited for. within: seconds.

        Raises:
            AssertionError: it did not come.
        """
        return self.run(self.happenings.first(kind, where, within=within))

    @property
    def calls(self) -> list[Called]:
        """Every finished call of the session, the model's too, in the order in which they ended."""
        return calls_of(self)

    @property
    def files(self) -> dict[str, Content]:
        """The files of the workspace as they are now: texts, bytes, and links as the path that they lead to."""
        return read_files(Path(self.board.root))

    @property
    def notes(self) -> list[str]:
        """What a person is told at the start: a plugin that did not load, a setting that nothing knows."""
        return self.board.notes

    @property
    def system(self) -> str:
        """The system prompt, with the fragments of plugins."""
        return self.agent._loop.system

    # -- how it is seen

    def _own_file(self, text: str, extra: list[Any], named: bool) -> Path:
        text = own_file(text, extra, named=named)
        if not text:
            return self.state / "no-config.toml"
        self.state.mkdir(parents=True, exist_ok=True)
        file = self.state / "config.toml"
        file.write_text(text, encoding="utf-8")
        return file

    def _watch(self, *, writes: bool) -> None:
        """Know when a tool is entered; run read_only ones under a detector of writes, whoever calls them."""
        runner = self.agent._road.runner
        run = runner.run
        allowed = [self.session.folder] if self.session.folder else []
        root = Path(self.board.root)

        async def watching(grant: Grant) -> Any:
            if writes and grant.tool.effect == "read_only":
                from pegboard.testing.writes import watched

                function = watched(grant.tool, allowed, [root], lambda *found: self._wrote.append(found))
                grant.tool = replace(grant.tool, function=function)
            self.entered.add(grant.call.id)
            return await run(grant)

        runner.run = watching  # type: ignore[method-assign]

    def _record(self, desk: Desk) -> None:
        """Keep what is asked, as it is shown."""
        approve = desk.approve

        async def recording(asked: Asked, **given: Any) -> Reply:
            self.asked.append(asked)
            if self.approvals is not None:
                self.approvals.asked.append(asked)
            return await approve(asked, **given)

        desk.approve = recording  # type: ignore[method-assign]

    def _heard(self, event: AnyEvent) -> None:
        """Answer as the person would who watches."""
        if self.approvals is None or not isinstance(event, ApprovalAsked | QuestionAsked):
            return
        if isinstance(event, QuestionAsked):
            self.approvals.questions.append(event)
        self.loop.call_soon(self._answer, event)  # once whoever asked waits

    def _answer(self, event: ApprovalAsked | QuestionAsked) -> None:
        assert self.approvals is not None
        if self.agent.awaits(event.id):
            self.agent.road.desk.take(self.approvals.answer(event))

    def _check(self) -> None:
        wrote = [(name, found) for name, found in self._wrote if found]
        problems = self.approvals.problems() if self.approvals is not None else []
        if wrote:
            from pegboard.testing.writes import complaint

            problems += [complaint(name, found) for name, found in wrote]
            self._wrote.clear()
        if problems:
            raise AssertionError("\n".join(problems))

    def close(self) -> None:
        """Close the board and its loop.

        Raises:
            AssertionError: an answer is left that nobody asked for; or as in `run`.
        """
        if not self.loop.is_closed():
            try:
                self.run(self.board.close())
            finally:
                self.loop.close()
            if self.approvals is not None and (left := self.approvals.left):
                raise AssertionError(f"answers are left that nobody asked for: {', '.join(map(repr, left))}")


def _answering(
    answers: Answers | approvals.Approvals | Sequence[approvals.Reply],
) -> tuple[approvals.Approvals | None, Answers]:
    """Who answers as a person, and what the desk is told."""
    if isinstance(answers, approvals.Approvals):
        return answers, "person"
    if isinstance(answers, str) or callable(answers):
        return None, answers  # type: ignore[return-value]
    return approvals.Approvals(answers), "person"


def _confined(launchers: Mapping[str, Any]) -> dict[str, Any]:
    if len(launchers) != 1:
        return {}
    name = next(iter(launchers))
    return {"launcher": name, f"{name}.mode": "require"}
