"""The laws of calls that overlap, for any mix of them with failures, stops and interrupts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard import port
from pegboard.calls import Deny
from pegboard.context import Context
from pegboard.errors import ToolError
from pegboard.events import CallAsked, CallFinished, CallStarted
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool

OVERLAPS = ["exclusive", "parallel", "background"]
BOUND = 3


class Plan(msgspec.Struct, frozen=True):
    """One call: how it may overlap, how long it takes (turns of the loop), how it ends, and what it calls itself."""

    overlap: str
    steps: int
    does: str
    inner: int = 0


PLANS = st.builds(
    Plan,
    overlap=st.sampled_from(OVERLAPS),
    steps=st.integers(0, 12),
    does=st.sampled_from(["return", "return", "return", "tool error", "error", "cancelled", "swallow", "refused"]),
    inner=st.sampled_from([0, 0, 0, 2]),
)
STOPS = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 6)), max_size=3)
"""(after so many turns of the loop, which call is stopped; 0: all that run)"""


class World:
    """What runs in each lane at any time, and every breach of the rule."""

    def __init__(self) -> None:
        self.running: dict[str, list[tuple[str, str]]] = {}
        self.wrong: list[str] = []
        self.ran: list[str] = []

    def begin(self, lane: str, id: str, overlap: str) -> None:
        there = self.running.setdefault(lane, [])
        front = [kind for _, kind in there if kind != "background"]
        if "exclusive" in front or (overlap == "exclusive" and front):
            self.wrong.append(f"{id} ({overlap}) began beside {there}")
        if len(there) >= BOUND:
            self.wrong.append(f"{id} began beside {len(there)} others")
        there.append((id, overlap))
        self.ran.append(id)

    def end(self, lane: str, id: str, overlap: str) -> None:
        self.running[lane].remove((id, overlap))

    async def go(self, plan: Plan, ctx: Context) -> str:
        grant: Any = ctx._grant  # type: ignore[attr-defined]
        lane, id = grant.lane.name, grant.call.id
        self.begin(lane, id, plan.overlap)
        try:
            for _ in range(plan.steps):
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError:
                    if plan.does != "swallow":
                        raise
            if plan.inner:
                made = (
                    ctx.call(f"run_{kind}", **arguments(Plan(kind, 2, "return"))) for kind in OVERLAPS[: plan.inner]
                )
                await asyncio.gather(*made)
            if plan.does == "cancelled":
                raise asyncio.CancelledError
        finally:
            self.end(lane, id, plan.overlap)
        if plan.does == "tool error":
            raise ToolError("it went wrong")
        if plan.does == "error":
            raise ValueError("a fault")
        return "went well"


WORLD: list[World] = [World()]


def make(overlap: Any) -> Any:
    @tool(name=f"run_{overlap}", pure=True, overlap=overlap)
    async def run(steps: int, does: str, inner: int, ctx: Context, number: int = 0) -> str:
        """Do as planned."""
        return await WORLD[0].go(Plan(overlap, steps, does, inner), ctx)

    return run


def arguments(plan: Plan) -> dict[str, Any]:
    return {"steps": plan.steps, "does": plan.does, "inner": plan.inner}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestBoard]:
    made = TestBoard(
        tmp_path_factory.mktemp("law"),
        tools=[make(overlap) for overlap in OVERLAPS],
        settings={"concurrency.tool_calls": BOUND},
        guards=[lambda call, touches: Deny("no", "no") if "refused" in str(call) else None],
    )
    yield made
    made.close()


async def turn(board: TestBoard, stops: list[tuple[int, int]], interrupt: int | None) -> str:
    first = board.session.fold.calls
    await board.agent.send(port.Prompt(text="go"))
    last = max([*(after for after, _ in stops), interrupt or 0])
    for step in range(last + 1):
        for after, which in stops:
            if after == step:
                await board.agent.send(port.Cancel(call=f"c{first + which}" if which else None))
        if interrupt == step:
            await board.agent.send(port.Interrupt())
        await asyncio.sleep(0)
    ended = await asyncio.wait_for(board.agent.wait(), 60)  # else it is a deadlock
    return ended.status


@pytest.mark.row("U-043", "U-044", "U-047")
@settings(
    max_examples=1500 if os.environ.get("PEGBOARD_LONG") else 80,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(plans=st.lists(PLANS, min_size=1, max_size=7), stops=STOPS, interrupt=st.none() | st.integers(0, 40))
def test_no_mix_of_calls_failures_and_stops_breaks_the_barrier_the_bound_the_order_or_loses_a_record(
    board: TestBoard, plans: list[Plan], stops: list[tuple[int, int]], interrupt: int | None
) -> None:
    WORLD[0] = world = World()
    since = board.session.last
    calls = [(f"run_{plan.overlap}", {**arguments(plan), "number": number}) for number, plan in enumerate(plans)]
    board.model.script([calls, "done"])
    status = board.run(turn(board, stops, interrupt))
    events = list(board.session.read(since))
    assert world.wrong == []
    assert not any(world.running.values()), "nothing runs any more"
    assert board.session.fold.open_calls == {}
    asked = [e.id for e in events if isinstance(e, CallAsked) and e.lane == "root"]
    ended = [e for e in events if isinstance(e, CallFinished) and e.lane == "root"]
    assert [e.id for e in ended] == asked, "one record each, in the calls' order"
    every = [e.id for e in events if isinstance(e, CallFinished)]
    assert len(every) == len(set(every)) and set(every) == {e.id for e in events if isinstance(e, CallAsked)}
    started = [e.id for e in events if isinstance(e, CallStarted)]
    assert sorted(started) == sorted(world.ran), "what ran is what was started, once"
    if interrupt is None:
        assert status == "done" and len(asked) == len(plans)
        for plan, end in zip(plans, ended, strict=True):
            if end.outcome == "ok":
                assert plan.does in ("return", "swallow")
            if not stops:
                expected = {"return": "ok", "swallow": "ok", "refused": "blocked"}
                assert end.outcome == expected.get(plan.does, "error")
    assert not board.agent._lane.running and not board.agent._lane._waiting
    assert board.agent._lane._busy == 0
