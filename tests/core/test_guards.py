"""Guards: each with its own copy of the call; Deny beats Ask beats None, and anything else is Deny."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from pegboard.calls import Ask, Call, Deny, Touch
from pegboard.context import Context
from pegboard.guards import Guards, GuardSeat
from pegboard.tooling import tool
from pegboard.touches import Reads, Writes
from running import until

DENY, ASK = Deny("rule.deny", "not this"), Ask("rule.ask", "a person should see this")


@tool
def put(path: Annotated[str, Writes("A file")], text: str = "") -> str:
    """Write."""
    put.ran.append(path)  # type: ignore[attr-defined]
    return path


@pytest.fixture(autouse=True)
def ran() -> list[str]:
    calls: list[str] = []
    put.ran = calls  # type: ignore[attr-defined]
    return calls


def says(answer: Any) -> Any:
    def guard(call: Call, touches: list[Touch]) -> Any:
        return answer

    return guard


def waits(answer: Any) -> Any:
    async def guard(call: Call, touches: list[Touch]) -> Any:
        await asyncio.sleep(0)
        return answer

    return guard


class Odd(Exception):
    pass


def raises(error: BaseException) -> Any:
    def guard(call: Call, touches: list[Touch]) -> Any:
        raise error

    return guard


def raises_later(error: BaseException) -> Any:
    async def guard(call: Call, touches: list[Touch]) -> Any:
        await asyncio.sleep(0)
        raise error

    return guard


OWN = pytest.mark.parametrize("own", [True, False], ids=["own", "stranger"])


@pytest.mark.row("S-012")
@OWN
@pytest.mark.parametrize("answers", ["--yes", "person", "--no", "headless"])
def test_a_refused_call_is_refused_before_anyone_is_asked(
    pegboard_board: Any, ran: list[str], own: bool, answers: str
) -> None:
    board = pegboard_board(tools=[put], guards=[says(DENY)], own_guards=own, answers=answers)
    record = board.call("put", path="a")
    assert (record.outcome, record.block) == ("blocked", "guard")
    assert (
        record.decision.action == "deny" and record.decision.rule == "rule.deny" and record.decision.layer == "plugin"
    )
    assert record.decision.answer is None
    assert "testguard" in record.text and "not this" in record.text and "Nothing was run" in record.text
    assert [type(event).__name__ for event in board.events] == ["CallAsked", "CallFinished"]
    assert ran == []


@OWN
@pytest.mark.parametrize(
    "guard",
    [
        *(says(answer) for answer in (False, True, 0, "", "deny", [], {}, object(), Deny, Ask, (DENY,))),
        *(waits(answer) for answer in (False, "deny", Deny)),
        *(raises(error) for error in (Odd("x"), SystemExit(1), RecursionError(), AssertionError(), TimeoutError())),
        *(raises_later(error) for error in (Odd("x"), SystemExit(1), TimeoutError("mine"))),
    ],
)
def test_nonsense_and_failure_refuse(pegboard_board: Any, ran: list[str], own: bool, guard: Any) -> None:
    board = pegboard_board(tools=[put], guards=[guard], own_guards=own)
    record = board.call("put", path="a")
    assert (record.outcome, record.block, ran) == ("blocked", "guard", [])


@OWN
@pytest.mark.parametrize(
    ("guards", "block"),
    [
        ([says(None)], None),
        ([], None),
        ([says(ASK), says(DENY)], "guard"),
        ([says(DENY), says(ASK)], "guard"),
        ([says(None), waits(DENY)], "guard"),
        ([waits(ASK), says(DENY)], "guard"),
        ([says(DENY), waits(None)], "guard"),
        ([says(ASK), waits(None)], "denied"),  # asked, and nobody is there
        ([waits(ASK), says(None)], "denied"),
        ([waits(ASK), waits(None)], "denied"),
    ],
)
def test_deny_beats_ask_beats_none(pegboard_board: Any, guards: list[Any], block: str | None, own: bool) -> None:
    settings = {"tool_permission.edit": "allow"}
    board = pegboard_board(tools=[put], guards=guards, own_guards=own, answers="headless", settings=settings)
    record = board.call("put", path="a")
    assert record.block == block
    if block == "denied":
        assert (record.decision.action, record.decision.rule, record.decision.layer) == ("ask", "rule.ask", "plugin")


@OWN
def test_where_rules_ask_already_it_is_they_that_ask(pegboard_board: Any, own: bool) -> None:
    record = pegboard_board(tools=[put], guards=[says(ASK)], own_guards=own).call("put", path="a")
    assert (record.decision.action, record.decision.rule, record.decision.layer) == (
        "ask",
        "tool_permission.edit",
        "default",
    )


@OWN
def test_a_guard_makes_nothing_looser(pegboard_board: Any, own: bool) -> None:
    board = pegboard_board(tools=[put], guards=[says(ASK)], own_guards=own, settings={"tool_permission.edit": "deny"})
    record = board.call("put", path="a")
    assert (record.block, record.decision.action, record.decision.rule) == ("denied", "deny", "tool_permission.edit")


@OWN
def test_each_guard_has_its_own_copy_and_none_changes_the_call(pegboard_board: Any, ran: list[str], own: bool) -> None:
    seen: list[tuple[Any, list[str]]] = []

    def meddles(call: Call, touches: list[Touch]) -> None:
        seen.append((dict(call.arguments), [touch.what for touch in touches]))
        call.arguments["path"] = "elsewhere"
        touches.clear()

    board = pegboard_board(tools=[put], guards=[meddles, meddles, meddles], own_guards=own)
    record = board.call("put", path="mine", text="x")
    assert seen == [({"path": "mine", "text": "x"}, ["mine"])] * 3
    assert ran == ["mine"]
    assert record.arguments == {"path": "mine", "text": "x"}


def test_a_guard_sees_canonical_arguments_and_resolved_touches(pegboard_board: Any, tmp_path: Any) -> None:
    seen: list[Any] = []

    @tool(param_aliases={"file": "path"}, aliases=["view"])
    def look(path: Annotated[str, Reads("A file")], limit: int = 3) -> str:
        """Look."""
        return path

    def guard(call: Call, touches: list[Touch]) -> None:
        seen.append((call.name, call.arguments, call.caller, [(t.kind, t.what, t.at, t.outside) for t in touches]))

    board = pegboard_board(tools=[look], guards=[guard])
    board.call("view", file="x/../a.txt", limit="5", other=1)
    assert seen == [("look", {"path": "x/../a.txt", "limit": 5}, "program", [("read", "x/../a.txt", "a.txt", False)])]


def test_our_own_plain_guards_run_on_the_loop_and_strangers_in_a_thread(pegboard_board: Any) -> None:
    threads: list[threading.Thread] = []

    def guard(call: Call, touches: list[Touch]) -> None:
        threads.append(threading.current_thread())

    for own in (True, False):
        pegboard_board(tools=[put], guards=[guard], own_guards=own).call("put", path="a")
    assert threads[0] is threading.main_thread()
    assert threads[1] is not threading.main_thread()


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_stranger_that_takes_too_long_refuses(pegboard_board: Any, ran: list[str], kind: str) -> None:
    release = threading.Event()

    def plain(call: Call, touches: list[Touch]) -> None:
        release.wait(600)  # longer than a test may take

    async def waiting(call: Call, touches: list[Touch]) -> None:
        await asyncio.sleep(600)

    guard = plain if kind == "plain" else waiting
    board = pegboard_board(tools=[put], guards=[guard], own_guards=False, settings={"plugins.guard_timeout": 0.05})
    first = board.call("put", path="a")
    assert (first.block, ran) == ("guard", [])
    assert "did not answer within 0.05 s" in first.text
    second = board.call("put", path="b")
    assert (second.block, ran) == ("guard", [])
    if kind == "plain":
        assert "has not ended yet" in second.text  # refuses at once until its thread has ended
        release.set()
        until(lambda: board.call("put", path="c").outcome == "ok")


def test_an_async_guard_of_our_own_has_the_limit_too(pegboard_board: Any) -> None:
    async def waiting(call: Call, touches: list[Touch]) -> None:
        await asyncio.sleep(10)

    board = pegboard_board(tools=[put], guards=[waiting], own_guards=True, settings={"plugins.guard_timeout": 0.05})
    assert board.call("put", path="a").block == "guard"


class Paths:
    """A guard that the workspace's door asks as well."""

    def __init__(self, answer: Any = None, error: BaseException | None = None) -> None:
        self.answer, self.error = answer, error
        self.seen: list[tuple[str, str]] = []

    def __call__(self, call: Call, touches: list[Touch]) -> None:
        return None

    def path(self, kind: str, path: str) -> Any:
        self.seen.append((kind, path))
        if self.error:
            raise self.error
        return self.answer


def guards(*given: Any) -> Guards:
    return Guards(GuardSeat(guard, owner=f"g{n}", own=True, timeout=1) for n, guard in enumerate(given))


def test_the_door_asks_every_guard_that_has_a_path_check() -> None:
    one, other = Paths(), Paths()
    assert guards(one, says(DENY), other).path("read", "a/b") is None
    assert one.seen == other.seen == [("read", "a/b")]


@pytest.mark.parametrize(
    "guard", [Paths(DENY), Paths("no"), Paths(ASK), Paths(True), Paths(error=Odd("x")), Paths(error=SystemExit())]
)
def test_a_path_check_that_denies_fails_or_talks_nonsense_denies(guard: Paths) -> None:
    assert isinstance(guards(Paths(), guard).path("edit", "a"), Deny)


def test_a_path_that_a_guard_denies_is_not_read(pegboard_board: Any, tmp_path: Any) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "plain").write_text("y")

    class Secret(Paths):
        def path(self, kind: str, path: str) -> Any:
            return DENY if path == "secret" else None

    @tool(pure=True)
    def peek(name: str, ctx: Context) -> str:
        """Look, without saying so."""
        return ctx.workspace.read_text(name)

    board = pegboard_board(tools=[peek], guards=[Secret()])
    assert board.call("peek", name="plain").text == "y"
    record = board.call("peek", name="secret")
    assert record.outcome == "error" and "not this" in record.text


def gives_in(answer: Any) -> Any:
    """A guard that answers only when it is told to stop."""

    async def guard(call: Call, touches: list[Touch]) -> Any:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            return answer

    return guard


@pytest.mark.parametrize("answer", [None, ASK, True])
def test_what_a_guard_says_when_it_is_being_stopped_does_not_count(pegboard_board: Any, answer: Any) -> None:
    board = pegboard_board(tools=[put], guards=[gives_in(answer)], settings={"plugins.guard_timeout": 0.05})
    record = board.call("put", path="a")
    assert (record.outcome, record.block, put.ran) == ("blocked", "guard", [])  # type: ignore[attr-defined]
    assert "did not answer" in record.text


def test_a_guard_that_will_not_stop_is_left_behind_and_refuses(pegboard_board: Any) -> None:
    over = asyncio.Event()

    async def guard(call: Call, touches: list[Touch]) -> None:
        while not over.is_set():
            try:
                await asyncio.sleep(0.2)
            except asyncio.CancelledError:
                continue

    board = pegboard_board(tools=[put], guards=[guard], settings={"plugins.guard_timeout": 0.05})
    first, second = board.call("put", path="a"), board.call("put", path="a")
    assert (first.block, second.block, put.ran) == ("guard", "guard", [])  # type: ignore[attr-defined]
    assert "has not ended yet" in second.text
    over.set()
    board.run(asyncio.sleep(0.3))


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), GeneratorExit(), StopIteration()])
@pytest.mark.parametrize("make", [raises, raises_later])
def test_a_guard_cannot_end_the_call_or_the_program(pegboard_board: Any, make: Any, error: BaseException) -> None:
    board = pegboard_board(tools=[put], guards=[make(error)], own_guards=False)
    record = board.call("put", path="a")
    assert (record.outcome, record.block, put.ran) == ("blocked", "guard", [])  # type: ignore[attr-defined]
    assert "testguard" in record.text


def test_a_guard_that_will_not_stop_does_not_keep_the_program_from_ending(pegboard_board: Any) -> None:
    async def guard(call: Call, touches: list[Touch]) -> None:
        while True:
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                continue

    seat = GuardSeat(guard, owner="stubborn", own=False, timeout=0.05)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await seat.slow(Call(id="c1", name="put"), [])

    asyncio.run(main())  # it would wait for ever
