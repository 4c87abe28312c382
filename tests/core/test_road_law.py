"""The laws of the road, for any tools, guards, settings and calls: every call has its record, and a no stays a no."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard.blocks import Text
from pegboard.calls import Ask, Call, Deny, Record, Touch
from pegboard.errors import ToolError
from pegboard.events import ApprovalAnswered, ApprovalAsked, CallAsked, CallFinished, CallStarted
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.touches import Fetches, Lists, Reads, Runs, Writes

KINDS = {"read": Reads, "list": Lists, "edit": Writes, "run": Runs, "net": Fetches}
ACTIONS = ["allow", "ask", "deny"]


class Spec(msgspec.Struct, frozen=True):
    """A made-up tool: what it touches, how it runs, what it does, what it says of itself."""

    kind: str | None
    how: str
    does: str
    pure: bool
    said: str | None
    preview: bool


def fails(does: str) -> None:
    match does:
        case "tool error":
            raise ToolError("it did not go; nothing was changed")
        case "error":
            raise ValueError("a fault")
        case "exit":
            raise SystemExit(1)
        case _:
            pass


def make(name: str, spec: Spec, ran: list[str]) -> Any:
    """The tool that a spec describes; it writes its name down when it is run."""
    if spec.how == "async":

        async def some(word: str, count: int = 1) -> str:
            """Do something."""
            ran.append(name)
            await asyncio.sleep(0)
            fails(spec.does)
            return word * count

    else:

        def some(word: str, count: int = 1) -> str:  # type: ignore[misc]
            """Do something."""
            ran.append(name)
            fails(spec.does)
            return word * count

    if spec.kind:
        some.__annotations__["word"] = Annotated[str, KINDS[spec.kind]("What")]
    else:
        some.__annotations__["word"] = str
    some.__annotations__["count"] = int

    def preview(arguments: Any, context: Any) -> list[Any]:
        fails(spec.does)
        return [Text(text=arguments.word)]

    return tool(
        name=name,
        aliases=[f"{name}_too"],
        pure=spec.pure and spec.kind is None,
        inline=spec.how == "inline",
        permission_fn=(lambda arguments: spec.said) if spec.said else None,  # type: ignore[arg-type,return-value]
        preview=preview if spec.preview else None,
    )(some)


GUARDS: dict[str, Callable[[Call, list[Touch]], Any]] = {
    "none": lambda call, touches: None,
    "ask": lambda call, touches: Ask("g.ask", "look at it"),
    "deny": lambda call, touches: Deny("g.deny", "no"),
    "nonsense": lambda call, touches: True,
    "raises": lambda call, touches: 1 / 0,
    "meddles": lambda call, touches: (call.arguments.clear(), touches.clear(), None)[-1],
    "some": lambda call, touches: Deny("g.some", "not a") if "a" in str(call.arguments) else None,
}
SPECS = st.builds(
    Spec,
    kind=st.sampled_from([None, *KINDS]),
    how=st.sampled_from(["async", "inline", "thread"]),
    does=st.sampled_from(["return", "return", "tool error", "error", "exit"]),
    pure=st.booleans(),
    said=st.sampled_from([None, None, *ACTIONS, "nonsense"]),
    preview=st.booleans(),
)
NAMES = ["one", "two", "one_too", "test:two", "nothing", "", "on"]
ARGUMENTS = st.one_of(
    st.fixed_dictionaries(
        {"word": st.sampled_from(["a", "b", "../c", "/etc", "", "x\0"])}, optional={"count": st.integers(0, 2)}
    ),
    st.dictionaries(
        st.sampled_from(["word", "count", "wrd", "other"]), st.none() | st.integers() | st.text(max_size=3)
    ),
    st.sampled_from(['{"word": "a"}', "{", None, 3, [1]]),
)
CALLS = st.lists(st.tuples(st.sampled_from(NAMES), ARGUMENTS, st.sampled_from(["model", "person", "tool"])), max_size=5)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "tool_permission.edit": st.sampled_from(ACTIONS),
        "tool_permission.read": st.sampled_from(ACTIONS),
        "tool_permission.unknown": st.sampled_from(ACTIONS),
        "tools.deny": st.sampled_from([["one"], ["test:*"], ["two"]]),
        "tools.allow": st.sampled_from([["one"], []]),
        "approval.strict": st.booleans(),
        "paths.outside": st.sampled_from(["refuse", "ask", "allow"]),
    },
)
ANSWERS = st.sampled_from(["--yes", "--no", "headless"])


class World:
    """One board of made-up tools, and what it did with some calls."""

    def __init__(self, root: Path, specs: list[Spec], guards: list[str], answers: Any, rules: dict[str, Any]) -> None:
        self.ran: list[str] = []
        self.records: list[Record] = []
        self.ran_by_call: list[list[str]] = []
        tools = [make(name, spec, self.ran) for name, spec in zip(("one", "two"), specs, strict=False)]
        chosen = [GUARDS[name] for name in guards]
        self.board = TestBoard(root, tools=tools, guards=chosen, answers=answers, settings=rules, state=root / ".state")

    def __enter__(self) -> World:
        return self

    def __exit__(self, *rest: object) -> None:
        self.board.close()

    def take(self, calls: list[Any]) -> None:
        for name, arguments, caller in calls:
            before = len(self.ran)
            self.records.append(self.board.run(self.board.agent.call(name, arguments, caller)))
            self.ran_by_call.append(self.ran[before:])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("law")


QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(
    specs=st.lists(SPECS, max_size=2),
    guards=st.lists(st.sampled_from(list(GUARDS)), max_size=2),
    answers=ANSWERS,
    rules=SETTINGS,
    calls=CALLS,
)
def test_every_call_has_its_events_in_order_and_runs_at_most_once_where_it_may(
    root: Path, specs: list[Spec], guards: list[str], answers: str, rules: dict[str, Any], calls: list[Any]
) -> None:
    with World(root, specs, guards, answers, rules) as world:
        world.take(calls)
        events = world.board.events
    ids = [record.id for record in world.records]
    assert len(set(ids)) == len(calls)
    assert [e.id for e in events if isinstance(e, CallAsked)] == ids
    assert [e.id for e in events if isinstance(e, CallFinished)] == ids
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    for record, ran in zip(world.records, world.ran_by_call, strict=True):
        mine = [e for e in events if record.id in (getattr(e, "id", None), getattr(e, "call", None))]
        kinds = [type(e) for e in mine if not isinstance(e, ApprovalAnswered)]
        started = CallStarted in kinds
        asked = ApprovalAsked in kinds
        assert kinds == [CallAsked, *[ApprovalAsked] * asked, *[CallStarted] * started, CallFinished]
        assert ran == ([record.tool] if started else [])
        if record.outcome == "blocked":
            assert record.block is not None and not started
            assert record.text.startswith("Error: ")
        else:
            assert (record.block is None and record.decision is not None) or record.outcome == "error"
        if started:
            decision = record.decision
            assert decision is not None and decision.action != "deny"
            assert decision.action == "allow" or (decision.answer is not None and decision.answer.granted)
            assert not {"deny", "nonsense", "raises"} & set(guards)
        assert (record.decision is None) == (record.block in ("unavailable", "invalid_arguments")) or (
            record.outcome == "error" and not started
        )


@QUICK
@given(
    specs=st.lists(SPECS, min_size=1, max_size=2),
    guards=st.lists(st.sampled_from(list(GUARDS)), max_size=1),
    added=st.sampled_from(list(GUARDS)),
    answers=ANSWERS,
    rules=SETTINGS,
    calls=CALLS,
)
def test_adding_a_guard_never_turns_a_refusal_into_a_run(
    root: Path,
    specs: list[Spec],
    guards: list[str],
    added: str,
    answers: str,
    rules: dict[str, Any],
    calls: list[Any],
) -> None:
    with (
        World(root, specs, guards, answers, rules) as without,
        World(root, specs, [*guards, added], answers, rules) as more,
    ):
        without.take(calls)
        more.take(calls)
    for before, after in zip(without.ran_by_call, more.ran_by_call, strict=True):
        assert after in (before, [])
