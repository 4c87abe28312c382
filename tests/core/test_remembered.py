"""Answers that stand for later calls of a session: how narrow they are, and what they never reach."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import Context, port
from pegboard.calls import Answer, Ask, Call, Record, Touch
from pegboard.events import ApprovalAnswered, ApprovalAsked, CallFinished, CallStarted, QuestionAsked
from pegboard.policy import Policy
from pegboard.policy.remembered import Remembered, address_of, offer_of
from pegboard.policy.rules import Rule, ordered
from pegboard.testing.scripted import Scripted
from pegboard.tooling import Tool, tool
from pegboard.touches import Fetches, Reads, Runs, Writes

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool
def put(path: Annotated[str, Writes("A file")], text: str = "") -> str:
    """Write a file."""
    RAN.append(f"put {path} {text}")
    return "put"


@tool
def other(path: Annotated[str, Writes("A file")]) -> str:
    """Write a file, too."""
    RAN.append(f"other {path}")
    return "put"


@tool
def execute(command: Annotated[str, Runs("Command")], cwd: str = ".") -> str:
    """Run something."""
    RAN.append(f"execute {command} {cwd}")
    return ""


@tool
def fetch(url: Annotated[str, Fetches("URL")]) -> str:
    """Fetch something."""
    RAN.append(f"fetch {url}")
    return ""


@tool
def strange(what: str) -> str:
    """Nobody knows."""
    RAN.append(f"strange {what}")
    return ""


@tool(touches=lambda given: [Touch("mcp", "server")], effect="side_effecting")
def remote(what: str) -> str:
    """Somewhere else."""
    RAN.append(f"remote {what}")
    return ""


@tool(permission="edit", touches=lambda given: [("edit", "index")], permission_fn=lambda given: "ask")
def commit(message: str) -> str:
    """Ask each time."""
    RAN.append(f"commit {message}")
    return ""


TOOLS = [put, other, execute, fetch, strange, remote, commit]


class Person:
    """A board with someone at it, who answers questions in turn: y, a, u (always, in every project), n.

    Calls go down the agent's road."""

    def __init__(self, board: Any, agent: Any = None) -> None:
        self.board = board
        self.agent = agent or board.agent
        self.asked: list[ApprovalAsked] = []

    async def _answer(self, answers: list[str]) -> None:
        seen = len([e for e in self.agent.session.read() if isinstance(e, ApprovalAsked)])
        async for event in self.agent.events():
            if isinstance(event, ApprovalAsked):
                if seen:
                    seen -= 1
                    continue
                self.asked.append(event)
                said = answers.pop(0)
                remember: Any = {"a": "session", "u": "user"}.get(said)
                await self.agent.send(port.Answer(id=event.id, granted=said in "yau", remember=remember))

    def call(self, name: str, arguments: dict[str, Any], answers: str = "", caller: Any = "model") -> Record:
        """One call, which must ask exactly as often as there are answers."""

        async def both() -> Record:
            left = list(answers)
            answering = asyncio.create_task(self._answer(left))
            await asyncio.sleep(0)
            try:
                record: Record = await asyncio.wait_for(self.agent.call(name, arguments, caller), 60)
            finally:
                answering.cancel()
            assert left == []
            return record

        made: Record = self.board.run(both())
        return made


@pytest.fixture
def person(pegboard_board: Any) -> Any:
    def make(**given: Any) -> Person:
        return Person(pegboard_board(tools=given.pop("tools", TOOLS), answers="person", **given))

    return make


def offered(person: Person) -> list[str]:
    return person.asked[-1].remember


# --- what it covers ---------------------------------------------------------------------------------------------------


@pytest.mark.row("S-007")
def test_always_runs_the_call_and_later_ones_of_the_tool_are_not_asked_about(person: Any) -> None:
    someone = person()
    assert someone.call("put", {"path": "a"}, "a").outcome == "ok"
    assert offered(someone) == ["put in the workspace"]
    record = someone.call("put", {"path": "deep/b", "text": "x"})
    assert record.outcome == "ok" and RAN == ["put a ", "put deep/b x"]
    assert record.decision is not None
    assert (record.decision.action, record.decision.rule, record.decision.layer) == (
        "allow",
        "remembered: put in the workspace",
        "remembered",
    )
    assert record.decision.answer is None


@pytest.mark.row("S-007")
def test_another_tool_and_another_session_ask_again(person: Any) -> None:
    someone = person()
    someone.call("put", {"path": "a"}, "a")
    assert someone.call("other", {"path": "a"}, "n").outcome == "blocked"
    board = someone.board
    new = Person(board, board.board.agent(board.board.session("new"), answers="person", provider=Scripted(())))
    assert new.call("put", {"path": "a"}, "n").outcome == "blocked"
    assert RAN == ["put a "]


def test_what_is_written_down_holds_in_every_other_session_of_the_process_at_once(person: Any) -> None:
    someone = person()
    someone.call("put", {"path": "a"}, "u")
    board = someone.board
    new = Person(board, board.board.agent(board.board.session("new"), answers="person", provider=Scripted(())))
    record = new.call("put", {"path": "b"})
    assert record.outcome == "ok" and record.decision is not None and record.decision.source is not None
    assert Path(record.decision.source.file).read_text().count("[[permission.rules]]") == 1


@pytest.mark.row("S-007")
def test_a_session_that_is_resumed_asks_again_whatever_its_log_says(person: Any) -> None:
    someone = person(session="mine")
    someone.call("put", {"path": "a"}, "a")
    answered = [event for event in someone.board.events if isinstance(event, ApprovalAnswered)]
    assert answered[0].remember == ["put in the workspace"]
    board = someone.board
    again = Person(board, board.board.agent(board.board.session("mine"), answers="person", provider=Scripted(())))
    assert again.call("put", {"path": "a"}, "n").outcome == "blocked"


@pytest.mark.row("S-006")
def test_a_plain_yes_is_remembered_by_nobody(person: Any) -> None:
    someone = person()
    for _ in range(2):
        assert someone.call("put", {"path": "a"}, "y").outcome == "ok"
    assert [event.remember for event in someone.board.events if isinstance(event, ApprovalAnswered)] == [[], []]


def test_of_a_command_the_pattern_that_names_it_is_remembered_and_nothing_beside_it(person: Any) -> None:
    someone = person()
    someone.call("execute", {"command": "pytest -x tests/a.py"}, "a")
    assert offered(someone) == ["pytest …"]
    record = someone.call("execute", {"command": "cd . && pytest -q tests/b.py | tail -5"})
    assert record.outcome == "ok"
    record = someone.call("execute", {"command": "pytest"})
    assert record.decision is not None
    assert (record.decision.rule, record.decision.layer) == ("remembered: pytest …", "remembered")
    for line in (
        "pytest; rm -rf x",
        "pytest > out",
        "pytest $(touch x)",
        "pytest & touch x",
        "PYTHONPATH=. pytest",
        "env pytest",
        "./pytest",
        "'pytest'",
        "pytest-watch",
        "echo pytest; make x",
    ):
        assert someone.call("execute", {"command": line}, "n").outcome == "blocked", line


def test_of_a_line_of_several_commands_all_that_asked_are_offered_together(person: Any) -> None:
    someone = person(settings={"tool_permission.bash_allow": ["make lint"]})
    someone.call("execute", {"command": "make lint && make test -k; npm run build && make test"}, "a")
    assert offered(someone) == ["make test …", "npm run build …"]
    assert someone.asked[-1].commands == ["make test -k", "npm run build"]
    assert someone.call("execute", {"command": "npm run build -- --fast"}).outcome == "ok"
    assert someone.call("execute", {"command": "npm run deploy"}, "n").outcome == "blocked"


@pytest.mark.parametrize(
    "line", ["make test > out", "make $TARGET", "bash -c x", "A=1 make test", "make 'unclosed", "rm -rf x"]
)
def test_of_a_line_that_does_more_than_run_commands_this_very_one_is_remembered(person: Any, line: str) -> None:
    someone = person()
    someone.call("execute", {"command": line}, "a")
    assert offered(someone) == ["exactly this command of execute"]
    assert (someone.asked[-1].scopes, someone.asked[-1].commands) == (["session"], [])
    assert someone.call("execute", {"command": line, "cwd": "."}).outcome == "ok"  # the default, spelled out
    for more in ({"command": f"{line} "}, {"command": f"{line}; true"}, {"command": line, "cwd": ".."}):
        assert someone.call("execute", more, "n").outcome == "blocked"


def test_where_no_rule_looks_into_commands_a_pattern_is_offered_all_the_same(person: Any) -> None:
    someone = person(settings={"tool_permission.bash_read_only": "ask"})
    someone.call("execute", {"command": "make test"}, "a")
    assert offered(someone) == ["make test …"]
    assert someone.call("execute", {"command": "make test -k"}).outcome == "ok"


def test_of_a_command_that_a_tool_finds_out_the_one_that_was_shown_is_remembered(person: Any) -> None:
    lines = ["make > test", "make > test", "make > evil", "make > test"]

    @tool(touches=lambda given: [("run", lines.pop(0))])
    def check() -> str:
        """Run what a file says."""
        return ""

    someone = person(tools=[check])
    someone.call("check", {}, "a")
    assert offered(someone) == ["exactly this command of check"]
    assert someone.call("check", {}).outcome == "ok"
    assert someone.call("check", {}, "n").outcome == "blocked"
    assert someone.call("check", {}).outcome == "ok"


def test_of_what_nobody_knows_this_very_call_is_remembered(person: Any) -> None:
    someone = person()
    someone.call("strange", {"what": "a"}, "a")
    assert offered(someone) == ["exactly this call of strange"]
    assert someone.call("strange", {"what": "a"}).outcome == "ok"
    assert someone.call("strange", {"what": "b"}, "n").outcome == "blocked"


def test_of_a_request_tool_and_host_are_remembered(person: Any) -> None:
    someone = person(settings={"tool_permission.web": "ask"})
    someone.call("fetch", {"url": "https://example.com/a"}, "a")
    assert offered(someone) == ["fetch to https://example.com"]
    assert someone.call("fetch", {"url": "https://EXAMPLE.com:443/b?c"}).outcome == "ok"
    for url in (
        "https://example.com.evil.net/",
        "http://example.com/",
        "https://example.com:8443/",
        "https://e@example.com",
    ):
        assert someone.call("fetch", {"url": url}, "n").outcome == "blocked"


def test_of_an_mcp_servers_tool_the_tool_is_remembered(person: Any) -> None:
    someone = person()
    someone.call("remote", {"what": "a"}, "a")
    assert offered(someone) == ["remote, whatever its arguments"]
    assert someone.call("remote", {"what": "b"}).outcome == "ok"


def test_it_covers_the_calls_of_everyone_in_the_session_and_of_running_tools(person: Any) -> None:
    @tool(pure=True)
    async def outer(ctx: Context) -> str:
        """Call another tool."""
        return (await ctx.call("put", path="c")).outcome

    someone = person(tools=[put, outer])
    someone.call("put", {"path": "a"}, "a", caller="person")
    assert someone.call("put", {"path": "b"}, caller="program").outcome == "ok"
    assert someone.call("outer", {}).text == "ok"
    assert RAN == ["put a ", "put b ", "put c "]


# --- what it never reaches --------------------------------------------------------------------------------------------


def test_a_path_outside_is_neither_offered_nor_covered(person: Any) -> None:
    for setting in ("ask", "allow"):
        someone = person(settings={"paths.outside": setting})
        assert someone.call("put", {"path": "../x"}, "a").outcome == "ok"
        assert offered(someone) == []
        someone.call("put", {"path": "a"}, "a")
        assert offered(someone) == ["put in the workspace"]
        assert someone.call("put", {"path": "../x"}, "n").outcome == "blocked"
        someone.board.close()
    refusing = person()
    refusing.call("put", {"path": "a"}, "a")
    record = refusing.call("put", {"path": "../x"})
    assert record.decision is not None and (record.block, record.decision.rule) == ("denied", "paths.outside")


def test_a_link_that_leads_out_is_not_covered(person: Any, tmp_path: Path) -> None:
    someone = person(settings={"paths.outside": "allow"})
    someone.call("put", {"path": "a"}, "a")
    root = Path(someone.board.board.root)
    (root / "out").symlink_to(tmp_path.parent)
    assert someone.call("put", {"path": "out/x"}, "n").outcome == "blocked"


def test_a_guard_asks_and_refuses_whatever_is_remembered(person: Any) -> None:
    from pegboard.calls import Deny

    def guard(call: Any, touches: Any) -> Any:
        path = call.arguments.get("path")
        return {"asks": Ask("g.ask", "look"), "denied": Deny("g.deny", "no")}.get(path)

    someone = person(guards=[guard])
    someone.call("put", {"path": "a"}, "a")
    assert someone.call("put", {"path": "asks"}, "a").outcome == "ok"
    assert offered(someone) == []
    assert someone.call("put", {"path": "asks"}, "n").outcome == "blocked"
    assert someone.call("put", {"path": "denied"}).block == "guard"


@pytest.mark.parametrize(
    "settings", [{"approval.strict": True}, {"approval.strict": True, "tool_permission.edit": "allow"}]
)
def test_in_strict_mode_nothing_is_remembered(person: Any, settings: dict[str, Any]) -> None:
    someone = person(settings=settings)
    for _ in range(2):
        assert someone.call("put", {"path": "a"}, "a").outcome == "ok"
        assert offered(someone) == []


@pytest.mark.row("U-031")
def test_in_strict_mode_each_of_two_identical_calls_has_its_own_approval_whatever_allows_them(person: Any) -> None:
    rules = [{"action": "allow", "tool": "put"}, {"action": "allow", "command": "make"}]
    someone = person(settings={"approval.strict": True, "permission.rules": rules, "tool_permission.mcp": "allow"})
    for name, arguments in [("put", {"path": "a"}), ("execute", {"command": "make"}), ("remote", {"what": "x"})]:
        assert someone.call(name, arguments, "a").outcome == "ok"
        assert offered(someone) == []
        assert someone.call(name, arguments, "n").outcome == "blocked"
    assert RAN == ["put a ", "execute make .", "remote x"]


@pytest.mark.row("U-029")
def test_in_strict_mode_what_only_reads_or_asks_the_person_is_not_asked_about(person: Any) -> None:
    @tool
    def look(path: Annotated[str, Reads("A file")]) -> str:
        """Read something."""
        return "seen"

    @tool(touches=lambda given: [Touch("ask", "person")], effect="user_mediated")
    async def wonder(ctx: Context) -> str:
        """Ask the person."""
        return str(await ctx.ask("Which?"))

    someone = person(tools=[look, wonder, put], settings={"approval.strict": True})
    assert someone.call("look", {"path": "a"}).outcome == "ok"

    async def answer() -> Record:
        agent = someone.agent
        calling = asyncio.create_task(agent.call("wonder", {}, "model"))
        async for event in agent.events():
            if isinstance(event, QuestionAsked):
                await agent.send(port.Answer(id=event.id, text="this"))
                break
        record: Record = await asyncio.wait_for(calling, 60)
        return record

    assert someone.board.run(answer()).text == "this"
    assert not [event for event in someone.board.events if isinstance(event, ApprovalAsked)]
    assert someone.call("put", {"path": "a"}, "n").outcome == "blocked"


@pytest.mark.parametrize("settings", [{}, {"tool_permission.edit": "allow"}])
def test_a_cautious_models_calls_are_asked_about_each_time(person: Any, settings: dict[str, Any]) -> None:
    someone = person(settings=settings)
    board = someone.board
    board.model.cautious = True
    cautious = Person(board, board.board.agent(board.board.session("c"), answers="person", provider=board.model))
    if not settings:
        cautious.call("put", {"path": "a"}, "a", caller="person")  # whose call it is decides what is offered
        assert offered(cautious) == ["put in the workspace"]
    for _ in range(2):
        assert cautious.call("put", {"path": "a"}, "a").outcome == "ok"
        assert offered(cautious) == []


def test_a_tool_that_asks_by_itself_is_asked_about_each_time(person: Any) -> None:
    for said in ({}, {"tool_permission.edit": "allow"}):
        someone = person(settings=said)
        for _ in range(2):
            assert someone.call("commit", {"message": "x"}, "a").outcome == "ok"
            assert offered(someone) == []
        someone.board.close()


@pytest.mark.parametrize("answers", ["--yes", "--no", "headless"])
def test_where_no_person_answers_nothing_is_offered(pegboard_board: Any, answers: str) -> None:
    board = pegboard_board(tools=TOOLS, answers=answers)
    for _ in range(2):
        board.call("put", path="a")
    asked = [event for event in board.events if isinstance(event, ApprovalAsked)]
    assert [event.remember for event in asked] == [[], []]


async def test_an_approvers_yes_is_for_once() -> None:
    from pegboard.desk import Desk
    from pegboard.hooks import Asked
    from pegboard.session import Session

    async def yes(asked: Asked) -> Answer:
        return Answer(granted=True, by="x")

    made = Tool.of(put, owner="fs", set="fs")
    touches = [Touch("edit", "a", "a")]
    desk = Desk(Session("s", "/"), "person", [("p", yes)])
    from pegboard.calls import Decision

    asked = Asked(
        id="c", call=Call(id="c", name="put"), tool="put", touches=touches, decision=Decision(action="ask", rule="r")
    )
    policy, call = Policy(ordered([Rule(action="ask", name="r")])), Call(id="c", name="put")
    offer = offer_of(policy, made, call, b"{}", touches)
    assert offer is not None
    assert (await desk.approve(asked, turn=None, lane="root", offer=offer)).answer.granted
    assert not desk.remembered


# --- in the log -------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-075")
def test_what_is_remembered_is_in_the_log_and_each_call_says_that_it_was(person: Any) -> None:
    someone = person()
    someone.call("put", {"path": "a"}, "a")
    before = (someone.board.session.folder / "events.jsonl").read_bytes()
    someone.call("put", {"path": "b"})
    after = (someone.board.session.folder / "events.jsonl").read_bytes()
    assert after.startswith(before)
    events = [json.loads(line) for line in after.splitlines()]
    (answered,) = [event for event in events if event["event"] == "approval_answered"]
    assert (answered["granted"], answered["by"], answered["remember"]) == (True, "person", ["put in the workspace"])
    started, finished = [event for event in someone.board.events if isinstance(event, CallStarted | CallFinished)][2:]
    for event in (started, finished):
        assert event.decision is not None and event.decision.layer == "remembered"


# --- scopes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://example.com/a", "https://example.com"),
        ("http://Example.com:80", "http://example.com"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/x", "http://[::1]:8080"),
        ("https://user@example.com", None),
        ("https://example.com\\@evil.net", None),
        ("https://exa mple.com", None),
        ("https://example.com:99999", None),
        ("https://[::1", None),
        ("ftp://example.com", None),
        ("example.com", None),
        ("", None),
    ],
)
def test_the_address_of_a_url(url: str, address: str | None) -> None:
    assert address_of(url) == address


TOUCHES = st.builds(
    Touch,
    st.sampled_from(["run", "net", "mcp", "ask", "state", "unknown"]),
    st.sampled_from(["a", "b", "a; b", "a > b", "http://a/x", "http://b", "https://u@a"]),
    st.none(),
    st.just(False),
    st.booleans(),
) | st.builds(
    Touch, st.sampled_from(["read", "list", "edit"]), st.just("a"), st.just("a"), st.booleans(), st.booleans()
)
MADE = [Tool.of(one, owner="fs", set="fs") for one in (put, execute, strange)]
ASKS = Policy(ordered([Rule(action="ask", name="all")]))


@settings(deadline=None)
@given(
    st.sampled_from(MADE),
    st.sampled_from(MADE),
    st.sampled_from([b"1", b"2"]),
    st.sampled_from([b"1", b"2"]),
    st.lists(TOUCHES, max_size=3),
    st.lists(TOUCHES, max_size=3),
)
def test_what_is_covered_is_the_same_tool_and_never_more_than_was_asked_about(
    one: Tool, two: Tool, body: bytes, later: bytes, asked: list[Touch], touched: list[Touch]
) -> None:
    remembered = Remembered()
    call = Call(id="c", name="x")
    offer = offer_of(ASKS, one, call, body, asked)
    if offer is None:
        assert any(touch.outside for touch in asked)
        return
    remembered.keep(offer)

    def allowed(tool: Tool, body: bytes, touches: list[Touch]) -> bool:
        policy = remembered.over(ASKS, tool, body, touches)
        return policy.decide(tool, call, touches).decision.action == "allow"

    assert allowed(one, body, asked)
    if not allowed(two, later, touched):
        return
    assert one is two
    assert not any(touch.outside for touch in touched)
    assert {touch.kind for touch in touched} <= {touch.kind for touch in asked}
    hosts = {(address_of(t.what), t.sends) for t in asked if t.kind == "net"}
    assert {(address_of(t.what), t.sends) for t in touched if t.kind == "net"} <= hosts
    if not asked or any(touch.kind == "unknown" for touch in [*asked, *touched]):
        assert body == later
    ran = {word for t in asked if t.kind == "run" for word in t.what.split("; ")}
    for touch in touched:
        if touch.kind == "run" and body != later:
            assert set(touch.what.split("; ")) <= ran and ">" not in touch.what
