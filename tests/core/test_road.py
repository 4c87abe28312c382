"""The road: the one way any call travels, from its name to its record."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest
from pegboard import events
from pegboard.blocks import Note as NoteBlock
from pegboard.calls import Call, Deny, Result
from pegboard.context import Context
from pegboard.errors import Pointless, ToolError
from pegboard.events import CallAsked, CallFinished, CallStarted
from pegboard.grant import Spent
from pegboard.lane import Lane
from pegboard.policy import Policy, Verdict
from pegboard.road import Road
from pegboard.running import Runner
from pegboard.tooling import tool
from pegboard.touches import Lists, Reads, Runs, Writes

RAN: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(category="write", aliases=["save"])
def put(path: Annotated[str, Writes("A file")], text: str = "", mode: int = 1) -> str:
    """Write a file."""
    RAN.append((path, text))
    return f"wrote {path}"


@tool
def look(path: Annotated[str, Reads("A file")]) -> str:
    """Read a file."""
    RAN.append(path)
    return f"read {path}"


def kinds(board: Any) -> list[str]:
    return [type(event).__name__ for event in board.events]


def finished(board: Any) -> CallFinished:
    (found,) = [event for event in board.events if isinstance(event, CallFinished)]
    return found


# --- the stages, their events and the record --------------------------------------------------------------------------


def test_a_call_is_asked_started_and_finished_in_the_log_and_its_record_says_the_same(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put])
    record = board.call("save", path="a.txt", text="x", other=1)
    asked, wanted, _, started, ended = board.events
    assert isinstance(asked, CallAsked) and isinstance(started, CallStarted) and isinstance(ended, CallFinished)
    assert (asked.tool, asked.requested, asked.set, asked.summary) == ("put", "save", "test", "Write a.txt")
    assert asked.arguments == {"path": "a.txt", "text": "x", "other": 1}
    assert [(t.kind, t.what, t.at, t.outside) for t in started.touches] == [("edit", "a.txt", "a.txt", False)]
    assert started.decision == ended.decision == record.decision
    assert {asked.id, wanted.call, started.id, ended.id, record.id} == {"c1"}
    assert {event.turn for event in board.events} == {None}
    assert (record.tool, record.requested, record.set) == ("put", "save", "test")
    assert (record.arguments, record.dropped) == ({"path": "a.txt", "text": "x"}, ["other"])
    assert (record.outcome, record.block, record.why, record.text) == (
        "ok",
        None,
        None,
        "wrote a.txt\n(ignored, put has no such parameter: other)",
    )
    assert record.session == board.session.id
    assert record.duration_ms > 0
    for name in ("outcome", "block", "why", "text", "data", "truncated", "full_output", "dropped", "duration_ms"):
        assert getattr(record, name) == getattr(ended, name)


KEYS = "id tool requested set arguments dropped outcome block why text data truncated full_output decision session"
RECORD = [*KEYS.split(), "duration_ms", "blocks"]
DECISION = ["action", "rule", "layer", "source", "sandbox", "answer"]


def test_the_records_json_has_the_contracts_keys_always_all_of_them(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put], guards=[lambda call, touches: Deny("g", "no") if "bad" in str(call) else None])
    for name, arguments in (("put", {"path": "a"}), ("put", {}), ("nothing", {}), ("put", {"path": "bad"})):
        written = json.loads(msgspec.json.encode(board.call(name, **arguments)))
        assert list(written) == RECORD
        if written["decision"] is None:
            assert written["block"] in ("unavailable", "invalid_arguments")
        else:
            assert list(written["decision"]) == DECISION
            assert written["decision"]["sandbox"] is False
    asked = json.loads(msgspec.json.encode(board.call("put", path="a")))["decision"]
    assert list(asked["answer"]) == ["granted", "by", "reason"]
    assert asked == {
        "action": "ask",
        "rule": "tool_permission.edit",
        "layer": "default",
        "source": None,
        "sandbox": False,
        "answer": {"granted": True, "by": "--yes", "reason": None},
    }


def test_call_started_is_in_the_log_before_the_tool_runs(pegboard_board: Any) -> None:
    seen: list[list[str]] = []

    @tool(inline=True)
    def peek() -> str:
        """Look at the log on disk."""
        lines = (board.session.folder / "events.jsonl").read_text().splitlines()
        seen.append([json.loads(line)["event"] for line in lines])
        return ""

    board = pegboard_board(tools=[peek])
    board.call("peek")
    assert seen == [["call_asked", "approval_asked", "approval_answered", "call_started"]]


@pytest.mark.row("R-001")
def test_every_caller_takes_the_one_road(pegboard_board: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    travelled, ran = [], []
    perform, run = Road.perform, Runner.run

    async def counted(self: Road, trip: Any) -> None:
        travelled.append(trip.call.caller)
        await perform(self, trip)

    async def counted_run(self: Runner, grant: Any) -> Any:
        ran.append(grant.call.caller)
        return await run(self, grant)

    monkeypatch.setattr(Road, "perform", counted)
    monkeypatch.setattr(Runner, "run", counted_run)

    @tool(pure=True)
    async def around(ctx: Context) -> str:
        """Call another tool."""
        return (await ctx.call("look", path="a")).text

    board = pegboard_board(tools=[look, around], steps=[("look", {"path": "a"}), "ok"])
    board.prompt()
    board.call("look", "person", path="a")
    board.call("around", "program")
    board.run(board.board.call("look", {"path": "a"}))
    assert travelled == ran == ["model", "person", "program", "tool", "program"]
    assert RAN == ["a"] * 4


@pytest.mark.row("R-002")
def test_a_tool_under_another_name_is_treated_the_same(pegboard_board: Any, tmp_path: Any) -> None:
    def one(name: str, folder: str) -> list[Any]:
        @tool(name=name, category="exec", aliases=[f"{name}_too"], timeout=5)
        def some(command: Annotated[str, Runs("A command")], limit: int = 3) -> str:
            """Do something."""
            return command

        (tmp_path / folder).mkdir()
        steps = [(name, {"command": "ls", "x": 1}), (name, {}), (f"{name}_too", {"command": "ls"}), "ok"]
        guards = [lambda call, touches: Deny("g", "no") if "rm" in str(call.arguments) else None]
        board = pegboard_board(root=tmp_path / folder, tools=[some], guards=guards, steps=steps)
        board.prompt()
        board.call(name, command="rm")
        said = msgspec.json.encode([board.events, board.board.offers(), board.model.requests]).decode()
        said = said.replace(name, "NAME").replace(f"/{folder}", "").replace(board.session.id, "ID")
        said = re.sub(r'"(duration_ms|context)":[\d.]+', r'"\1":0', said)  # the length of a name is part of a request's
        return json.loads(said)  # type: ignore[no-any-return]

    known, strange = one("run_command", "first"), one("zzyzx_unseen", "other")
    assert known == strange


# --- blocked: nothing happened ----------------------------------------------------------------------------------------


@pytest.mark.row("U-055", "U-058", "C-003")
def test_invalid_arguments_are_blocked_before_the_error_is_given_back(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put], steps=[("put", {"path": 3, "mode": "x"}), "ok"])
    board.prompt()
    ended = finished(board)
    assert (ended.outcome, ended.block, ended.decision) == ("blocked", "invalid_arguments", None)
    assert ended.text.startswith("Error: invalid arguments for put; nothing was run.\n- path: expected string, got 3")
    assert "- mode: expected integer" in ended.text
    assert kinds(board)[2:5] == ["Message", "CallAsked", "CallFinished"]
    assert stored(board)["outcome"] == "blocked" and stored(board)["block"] == "invalid_arguments"
    assert board.model.requests[1].messages[-1].reply.text == ended.text
    assert RAN == []


def stored(board: Any) -> dict[str, Any]:
    """The call's end as it stands on disk."""
    lines = (board.session.folder / "events.jsonl").read_text().splitlines()
    (found,) = [line for line in map(json.loads, lines) if line["event"] == "call_finished"]
    return found  # type: ignore[no-any-return]


@pytest.mark.row("U-056", "U-058", "U-051")
def test_a_tool_that_is_switched_off_is_unavailable_and_the_others_are_as_before(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put, look], settings={"tools.put": False}, steps=[("put", {"path": "a"}), "ok"])
    board.prompt()
    ended = finished(board)
    assert (ended.outcome, ended.block, ended.decision) == ("blocked", "unavailable", None)
    assert kinds(board)[2:5] == ["Message", "CallAsked", "CallFinished"]
    assert (stored(board)["outcome"], stored(board)["block"]) == ("blocked", "unavailable")
    assert board.model.requests[1].messages[-1].reply.outcome == "blocked"
    assert RAN == []
    assert board.call("look", path="a").outcome == "ok"


@pytest.mark.row("U-057", "U-058", "R-063")
@pytest.mark.parametrize(
    ("answers", "settings"),
    [("--no", {}), ("headless", {}), ("--yes", {"tool_permission.edit": "deny"}), ("--yes", {"tools.deny": ["put"]})],
)
def test_what_is_refused_is_blocked_and_never_entered(pegboard_board: Any, answers: str, settings: Any) -> None:
    board = pegboard_board(tools=[put], answers=answers, settings=settings, steps=[("put", {"path": "a"}), "ok"])
    board.prompt()
    ended = finished(board)
    assert (ended.outcome, ended.block) == ("blocked", "denied")
    assert (stored(board)["outcome"], stored(board)["block"]) == ("blocked", "denied")
    assert "CallStarted" not in kinds(board)
    assert "Nothing was run" in ended.text and "Ask the person for an alternative" in ended.text
    assert board.model.requests[1].messages[-1].reply.text == ended.text
    assert RAN == []


@pytest.mark.row("S-010")
@pytest.mark.parametrize("declared", [{"effect": "read_only"}, {"pure": True}, {"permission_fn": lambda a: "allow"}])
def test_a_denied_tool_never_runs_whatever_it_says_of_itself(pegboard_board: Any, declared: Any) -> None:
    @tool(callers=["model", "program"], **declared)
    def eager(path: Annotated[str, Reads("A file")]) -> str:
        """Run whatever happens."""
        RAN.append(path)
        return ""

    for settings in ({"tools.deny": ["eager"]}, {"tool_permission.read": "deny"}):
        board = pegboard_board(tools=[eager], settings=settings, answers="--yes", steps=[("eager", {"path": "a"})])
        assert board.call("eager", path="a").block == "denied"
        board.prompt()
    assert RAN == []


@pytest.mark.row("R-073")
def test_policy_is_the_one_resolver_for_every_caller(pegboard_board: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    decide = Policy.decide

    def deny(self: Policy, *given: Any, **rest: Any) -> Verdict:
        verdict = decide(self, *given, **rest)
        refused = msgspec.structs.replace(verdict.decision, action="deny", rule="stub")
        return Verdict(decision=refused, text="the stub says no")

    monkeypatch.setattr(Policy, "decide", deny)

    @tool(pure=True)
    async def around(ctx: Context) -> str:
        """Call another tool."""
        return (await ctx.call("look", path="a")).text

    board = pegboard_board(tools=[look, around], steps=[("look", {"path": "a"}), "ok"])
    board.prompt()
    for caller in ("person", "program"):
        assert board.call("look", caller, path="a").decision.rule == "stub"
    assert board.run(board.board.call("look", {"path": "a"})).block == "denied"
    assert [event.block for event in board.events if isinstance(event, CallFinished)] == ["denied"] * 3
    assert RAN == []


@pytest.mark.row("R-074", "Z-028")
def test_allow_runs_ask_asks_and_deny_refuses_each_call_anew(pegboard_board: Any) -> None:
    for action, count in (("allow", 0), ("ask", 2), ("deny", 0)):
        board = pegboard_board(tools=[put], settings={"tool_permission.edit": action})
        records = [board.call("put", path="a") for _ in range(2)]
        assert [record.outcome for record in records] == ["blocked" if action == "deny" else "ok"] * 2
        assert kinds(board).count("ApprovalAsked") == count
        assert bool(board.board.offers()) == (action != "deny")
        board.close()


@pytest.mark.row("R-075")
def test_the_log_is_the_audit_trail_and_earlier_records_never_change(pegboard_board: Any, tmp_path: Any) -> None:
    board = pegboard_board(tools=[look, put], settings={"tools.deny": ["look"]})
    file, before = board.session.folder / "events.jsonl", b""
    for name, arguments, outcome in (
        ("put", {"path": "a"}, "granted"),
        ("look", {"path": "a"}, "denied"),
        ("put", {"path": "b"}, "granted"),
        ("put", {"path": "../c"}, "denied"),
    ):
        board.call(name, **arguments)
        content = file.read_bytes()
        assert content.startswith(before)
        before = content
        last = json.loads(content.splitlines()[-1])["decision"]
        assert (last["action"] == "deny") == (outcome == "denied")
        assert bool(last["answer"] and last["answer"]["granted"]) == (outcome == "granted")
        assert last["rule"] and last["layer"]
    board.close()
    declined = pegboard_board(tools=[put], answers="--no")
    declined.call("put", path="a")
    assert json.loads((declined.session.folder / "events.jsonl").read_text().splitlines()[-1])["decision"][
        "answer"
    ] == {
        "granted": False,
        "by": "--no",
        "reason": None,
    }


def test_a_refused_calls_record_holds_what_it_was_judged_by_and_the_log_what_was_asked(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put], answers="--no")
    record = board.call("put", path="a", text="a payload")
    assert record.arguments == {"path": "a"}
    assert board.events[0].arguments == {"path": "a", "text": "a payload"}


def test_a_caller_without_the_right_is_told_so(pegboard_board: Any) -> None:
    @tool(pure=True, callers=["person"])
    def own() -> str:
        """For persons."""
        return "x"

    board = pegboard_board(tools=[own])
    assert board.call("own", "person").outcome == "ok"
    record = board.call("own", "program")
    assert (record.block, record.tool) == ("unavailable", "own")
    assert "program" in record.text


# --- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-009", "S-088", "R-080")
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link/x"])
def test_a_declared_path_outside_is_refused_and_plain_text_is_not_looked_at(
    pegboard_board: Any, tmp_path: Any, path: str
) -> None:
    (tmp_path / "link").symlink_to("/etc")

    @tool(pure=True)
    def note(path: str) -> str:
        """Take a text that looks like a path."""
        return path

    board = pegboard_board(tools=[look, note])
    record = board.call("look", path=path)
    assert (record.outcome, record.block, record.decision.rule) == ("blocked", "denied", "paths.outside")
    assert f"Path escapes workspace: {path}" in record.text
    assert RAN == []
    assert board.call("note", path=path).text == path


@pytest.mark.row("R-080", "R-089")
def test_asked_about_paths_outside_ask_and_are_denied_headless(pegboard_board: Any, tmp_path: Any) -> None:
    settings = {"paths.outside": "ask"}
    for answers, outcome in (("--yes", "ok"), ("headless", "blocked")):
        board = pegboard_board(tools=[look], settings=settings, answers=answers)
        assert board.call("look", path="../x").outcome == outcome
        assert board.call("look", path="x").outcome == "ok"
        board.close()


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_none_can_be_called_is_an_error_before_anything_runs(pegboard_board: Any, path: str) -> None:
    board = pegboard_board(tools=[look, put])
    for name in ("look", "put"):
        record = board.call(name, path=path)
        assert record.outcome in ("error", "blocked")
        assert record.text.startswith("Error: ")
    assert RAN == []


def test_a_call_above_its_tools_declared_effect_does_not_run(pegboard_board: Any) -> None:
    @tool(effect="read_only", touches=lambda arguments: [(arguments.kind, "a")])
    def sly(kind: str) -> str:
        """Say one thing and do another."""
        RAN.append(kind)
        return kind

    board = pegboard_board(tools=[sly])
    assert board.call("sly", kind="read").outcome == "ok"
    for kind in ("edit", "run", "unknown"):
        record = board.call("sly", kind=kind)
        assert record.outcome == "error" and "is declared read_only" in record.text
    assert RAN == ["read"]


@pytest.mark.parametrize(
    "touches", [lambda a: 1 / 0, lambda a: None, lambda a: [3], lambda a: ["ab"], lambda a: [("read",)]]
)
def test_a_touches_function_that_fails_stops_the_call(pegboard_board: Any, touches: Any) -> None:
    @tool(touches=touches)
    def some() -> str:
        """Do something."""
        RAN.append(1)
        return ""

    record = pegboard_board(tools=[some]).call("some")
    assert record.outcome == "error" and "nothing was run" in record.text.lower()
    assert RAN == []


# --- running ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("U-059")
@pytest.mark.parametrize(
    "error",
    [
        ToolError("the server is gone; nothing was changed; try later"),
        OSError(5, "Input/output error"),
        ConnectionResetError("peer"),
        ValueError("x"),
        TimeoutError("its own"),
        RecursionError("deep"),
        SystemExit(3),
        AssertionError(),
        asyncio.CancelledError(),
        StopIteration(),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("how", ["async", "thread", "inline"])
def test_a_failure_is_an_error_and_the_next_call_goes_on(pegboard_board: Any, error: BaseException, how: str) -> None:
    if how == "async":

        @tool(name="fails")
        async def fails() -> str:
            """Fail."""
            raise error

    else:

        @tool(name="fails", inline=how == "inline")
        def fails() -> str:  # type: ignore[misc]
            """Fail."""
            raise error

    board = pegboard_board(tools=[fails, look], steps=[("fails", {}), ("look", {"path": "a"}), "ok"])
    record = board.call("fails")
    assert (record.outcome, record.block, record.why) == ("error", None, None)
    assert record.text.startswith("Error: ") and record.text.count("Error: ") <= 2
    if isinstance(error, ToolError):
        assert record.text == f"Error: {error}"
    else:
        assert "unknown" in record.text and "'test'" in record.text
    assert board.prompt().status == "done"
    assert RAN == ["a"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), BaseException("odd")])
def test_nothing_that_a_tool_raises_in_its_thread_ends_the_program(pegboard_board: Any, error: BaseException) -> None:
    @tool
    def fails() -> str:
        """Fail."""
        raise error

    board = pegboard_board(tools=[fails, look])
    record = board.call("fails")
    assert record.outcome == "error" and type(error).__name__ in record.text
    assert board.call("look", path="a").outcome == "ok"


class Hits(msgspec.Struct):
    lines: list[int]

    def __str__(self) -> str:
        return f"{len(self.lines)} lines"


@dataclass
class Said:
    lines: list[int]

    def __str__(self) -> str:
        return f"{len(self.lines)} said"


@dataclass
class Mute:
    lines: list[int]


@pytest.mark.parametrize(
    ("returned", "text", "data"),
    [
        ("plain", "plain", None),
        (Hits([1, 2]), "2 lines", {"lines": [1, 2]}),
        (Said([1, 2]), "2 said", {"lines": [1, 2]}),
        (Mute([1, 2]), '{"lines":[1,2]}', {"lines": [1, 2]}),
        (Result(text="said", data={"a": 1}), "said", {"a": 1}),
        (Result(text="said", data=Hits([3])), "said", {"lines": [3]}),
        (None, "", None),
        ([1, 2], "[1,2]", [1, 2]),
        ({"a": 1}, '{"a":1}', {"a": 1}),
        (3, "3", 3),
        (True, "true", True),
    ],
)
def test_what_a_tool_returns_is_text_and_data(pegboard_board: Any, returned: Any, text: str, data: Any) -> None:
    @tool(pure=True)
    def some() -> Any:
        """Return something."""
        return returned

    record = pegboard_board(tools=[some]).call("some")
    assert (record.outcome, record.text, record.data) == ("ok", text, data)


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
ODD = [object(), "caf\udce9", Result(text="\ud800", data={"a": "\udcff", 1: object}), {"name": "caf\udce9"}, ENDLESS]


@pytest.mark.parametrize("returned", ODD, ids=["object", "text", "result", "mapping", "endless"])
def test_what_cannot_be_written_is_shown_and_the_log_stays_whole(pegboard_board: Any, returned: Any) -> None:
    @tool(pure=True)
    def some() -> Any:
        """Return something odd."""
        return returned

    board = pegboard_board(tools=[some])
    record = board.call("some")
    assert record.outcome == "ok"
    msgspec.json.encode(record)
    assert finished(board).text == record.text


def test_what_cannot_even_be_put_into_words_is_an_error_that_says_it_ran(pegboard_board: Any) -> None:
    class Speechless(msgspec.Struct):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @tool(pure=True)
    def some() -> Any:
        """Return something odd."""
        return Speechless()

    record = pegboard_board(tools=[some]).call("some")
    assert record.outcome == "error" and "some ran, and what it returned cannot be shown" in record.text


def test_blocks_travel_with_the_record(pegboard_board: Any) -> None:
    @tool(pure=True)
    def some() -> Result:
        """Return a block."""
        return Result(text="x", blocks=[NoteBlock(text="seen")])

    board = pegboard_board(tools=[some])
    assert board.call("some").blocks == [NoteBlock(text="seen")]
    assert finished(board).blocks == [NoteBlock(text="seen")]


@pytest.mark.row("R-021")
def test_a_note_is_an_info_event_and_the_models_text_is_unchanged(pegboard_board: Any) -> None:
    @tool(pure=True, note=lambda result: "engine: python" if "hit" in result else None)
    def seek(word: str) -> str:
        """Seek."""
        return f"{word} hit" if word == "a" else "nothing"

    board = pegboard_board(tools=[seek], steps=[[("seek", {"word": "a"}), ("seek", {"word": "b"})], "ok"])
    board.prompt()
    notes = [event for event in board.events if isinstance(event, events.Note)]
    assert [(note.level, note.text) for note in notes] == [("info", "engine: python")]
    assert [m.reply.text for m in board.model.requests[1].messages if m.reply] == ["a hit", "nothing"]


@pytest.mark.parametrize("note", [lambda result: 1 / 0, lambda result: 3, lambda result: True, lambda result: ""])
def test_a_note_that_fails_fails_no_call(pegboard_board: Any, note: Any) -> None:
    @tool(pure=True, note=note)
    def some() -> str:
        """Do something."""
        return "x"

    board = pegboard_board(tools=[some])
    assert board.call("some").text == "x"
    assert "Note" not in kinds(board)


@pytest.mark.row("S-003")
def test_a_tool_its_plugin_passes_runs_unasked_and_an_unmarked_one_does_not(pegboard_board: Any) -> None:
    @tool(permission_fn=lambda arguments: "allow")
    def passed(path: Annotated[str, Writes("A file")]) -> str:
        """Write something harmless."""
        return "passed"

    board = pegboard_board(tools=[passed, put], answers="headless")
    assert board.call("passed", path="a").outcome == "ok"
    assert "ApprovalAsked" not in kinds(board)
    assert board.call("put", path="a").block == "denied"
    assert kinds(board).count("ApprovalAsked") == 1


def test_a_grant_is_spent_once(pegboard_board: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    run = Runner.run

    async def keep(self: Runner, grant: Any) -> Any:
        kept.append((self, grant))
        return await run(self, grant)

    monkeypatch.setattr(Runner, "run", keep)
    board = pegboard_board(tools=[look])
    board.call("look", path="a")
    ((runner, grant),) = kept
    with pytest.raises(Spent):
        board.run(run(runner, grant))
    assert RAN == ["a"]


def test_what_was_approved_is_what_runs(pegboard_board: Any) -> None:
    sent = {"path": "shown", "text": "shown"}

    @tool
    async def act(path: Annotated[str, Writes("A file")], text: str) -> str:
        """Act."""
        return f"{path} {text}"

    def meddle(call: Call, touches: Any) -> None:
        sent["path"] = sent["text"] = "other"  # the caller's own mapping, changed while the call is judged

    board = pegboard_board(tools=[act], guards=[meddle])
    assert board.run(board.agent.call("act", sent)).text == "shown shown"


# --- rewriters --------------------------------------------------------------------------------------------------------


def road_of(board: Any) -> Road:
    return board.agent._road  # type: ignore[no-any-return]


def test_a_rewriters_arguments_are_validated_recorded_and_told(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put])
    road_of(board).rewriters = [("mine", lambda call: {**call.arguments, "text": "rewritten"})]
    record = board.call("put", path="a", text="sent")
    assert RAN == [("a", "rewritten")]
    assert record.arguments["text"] == "rewritten"
    assert "Note" in kinds(board)
    (asked,) = [event for event in board.events if isinstance(event, events.ApprovalAsked)]
    assert asked.arguments["text"] == "rewritten"  # what a person is asked about is what would run
    for wrong in (lambda call: {"path": 3}, lambda call: "x", lambda call: 1 / 0):
        road_of(board).rewriters = [("mine", wrong)]
        assert board.call("put", path="a").block == "invalid_arguments"
    assert len(RAN) == 1


# --- explain: the road stopped after decide ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "outcome", "action"),
    [
        ("put", {"path": "a"}, "ok", "ask"),
        ("look", {"path": "a"}, "ok", "allow"),
        ("look", {"path": "../a"}, "blocked", "deny"),
        ("put", {}, "blocked", None),
        ("nothing", {}, "blocked", None),
    ],
)
def test_until_decide_nobody_is_asked_nothing_is_logged_and_nothing_runs(
    pegboard_board: Any, name: str, arguments: Any, outcome: str, action: str | None
) -> None:
    board = pegboard_board(tools=[put, look], answers="person")
    call = Call(id="", name=name, arguments=arguments, caller="person")
    record = board.run(road_of(board).travel(call, Lane(), until="decide"))
    assert record.outcome == outcome
    assert (record.decision.action if record.decision else None) == action
    assert board.events == [] and RAN == []


# --- output -----------------------------------------------------------------------------------------------------------


def prints(text: str, **declared: Any) -> Any:
    @tool(name="prints", pure=True, **declared)
    def some() -> str:
        """Return a text."""
        return text

    return some


LINES = "".join(f"line {n} of many\n" for n in range(9_000))  # 150,000 characters and more


@pytest.mark.row("R-071", "S-092")
def test_a_long_result_is_cut_at_a_line_end_and_says_how_much_and_where_the_rest_is(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[prints(LINES)])
    record = board.call("prints")
    kept, _, marker = record.text.rpartition("\n")
    assert len(record.text) < 31_000 and LINES.startswith(kept + "\n")
    assert record.truncated and record.full_output == "session:out/c1.txt"
    left = len(LINES) - len(kept) - 1
    assert marker == f"... [truncated {left:,} chars; all of it: session:out/c1.txt]"
    assert (board.session.folder / "out" / "c1.txt").read_text() == LINES


@pytest.mark.row("S-092")
def test_without_a_place_to_keep_it_the_marker_counts_alone(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[prints("x" * 71_233)])
    record = board.run(board.board.call("prints"))
    assert record.text.endswith("... [truncated 41,233 chars]")
    assert record.full_output is None and record.truncated


@pytest.mark.row("R-072")
@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("short\n", {}),
        ("x" * 30_000, {}),
        ("x\n" * 2_000, {}),
        (LINES * 3, {"output.max_chars": 0, "output.max_bytes": 0, "output.max_lines": 0}),
    ],
)
def test_what_fits_reaches_the_model_unchanged_and_0_is_no_limit(pegboard_board: Any, text: str, settings: Any) -> None:
    board = pegboard_board(tools=[prints(text)], settings=settings, steps=[("prints", {}), "ok"])
    board.prompt()
    assert board.model.requests[1].messages[-1].reply.text == text
    assert not finished(board).truncated


@pytest.mark.row("U-061")
@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"output.max_lines": 10}, {"lines": 10}),
        ({"output.max_bytes": 1_000}, {"bytes": 1_000}),
        ({"output.max_chars": 500}, {"chars": 500}),
        ({"output.max_lines": 10, "output.max_bytes": 50}, {"bytes": 50}),
        ({"output.max_lines": 2, "output.max_bytes": 1_000}, {"lines": 2}),
    ],
)
def test_the_first_limit_hit_wins(pegboard_board: Any, settings: Any, most: dict[str, int]) -> None:
    text = "".join(f"zeile {n} äöü\n" for n in range(5_000))
    board = pegboard_board(tools=[prints(text)], settings=settings, steps=[("prints", {}), "ok"])
    board.prompt()
    kept = board.model.requests[1].messages[-1].reply.text.rpartition("... [truncated")[0]
    assert kept and text.startswith(kept)
    size = {"lines": kept.count("\n"), "bytes": len(kept.encode()), "chars": len(kept)}
    longest = 20
    for measure, limit in most.items():
        assert size[measure] <= limit
        assert size[measure] > limit - (1 if measure == "lines" else longest)


def test_data_that_is_too_big_is_left_out_and_said_to_be(pegboard_board: Any) -> None:
    @tool(pure=True)
    def some(n: int) -> Result:
        """Return much data."""
        return Result(text="x", data=["y" * 100] * n)

    board = pegboard_board(tools=[some])
    assert len(board.call("some", n=10).data) == 10
    record = board.call("some", n=10_000)
    assert (record.data, record.truncated, record.text) == (None, True, "x")


# --- text in any shape ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("look", {"path": "caf\udce9"}),
        ("look", {"path": "a", "\ud800": "\udcff"}),
        ("caf\udce9", {"path": object()}),
        ("look", '{"path": "\\ud800"}'),
        ("look", {"path": {"a": object()}}),
        ("look", "\udce9"),
        ("look", None),
        ("", {}),
        ("look\n", {"path": "a"}),
        ("x" * 100_000, {"path": "y" * 100_000}),
    ],
)
def test_whatever_is_called_has_a_record_and_the_log_stays_whole(
    pegboard_board: Any, name: str, arguments: Any
) -> None:
    board = pegboard_board(tools=[look])
    record = board.run(board.agent.call(name, arguments))
    msgspec.json.encode(record)
    assert record.outcome in ("ok", "error", "blocked")
    assert kinds(board)[0] == "CallAsked" and kinds(board)[-1] == "CallFinished"
    board.close()
    again = pegboard_board(session=board.session.id)
    assert kinds(again)[-1] == "CallFinished"


@pytest.mark.parametrize("kind", [Lists, Reads])
def test_what_is_touched_is_where_it_resolves_to(pegboard_board: Any, tmp_path: Any, kind: Any) -> None:
    @tool
    def some(path: str) -> str:
        """Do something."""
        return ""

    some.__annotations__["path"] = Annotated[str, kind("x")]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link").symlink_to("..")
    board = pegboard_board(tools=[some])
    for path, at in ((".", "."), ("sub", "sub"), ("./sub/../sub", "sub"), ("sub/link", "."), (str(tmp_path), ".")):
        board.call("some", path=path)
        started = [event for event in board.events if isinstance(event, CallStarted)][-1]
        assert (started.touches[0].what, started.touches[0].at) == (path, at)


# --- strangers that would end the program -----------------------------------------------------------------------------


def exits(*given: Any) -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize("what", ["permission_fn", "touches", "summary", "note", "preview", "param_aliases"])
def test_no_part_of_a_tool_can_end_the_program(pegboard_board: Any, what: str) -> None:
    declared: dict[str, Any] = {what: {"text": ("word", exits)} if what == "param_aliases" else exits}

    @tool(**declared)
    def some(word: str) -> str:
        """Do something."""
        return word

    board = pegboard_board(tools=[some, look])
    record = board.call("some", text="x") if what == "param_aliases" else board.call("some", word="x")
    harmless = what in ("summary", "note", "preview")
    assert (record.outcome == "ok") == harmless
    assert board.call("look", path="a").outcome == "ok"


@pytest.mark.parametrize("answers", ["person", "--yes"])
def test_nobody_is_asked_about_a_call_whose_preview_says_it_is_pointless(pegboard_board: Any, answers: str) -> None:
    ran: list[str] = []

    def shows(arguments: Any, ctx: Any) -> list[Any]:
        raise (Pointless if arguments.word == "pointless" else ToolError)("there is nothing to do.")

    @tool(touches=lambda arguments: [("run", arguments.word)], preview=shows)
    def some(word: str) -> str:
        """Do something."""
        ran.append(word)
        return word

    board = pegboard_board(tools=[some], answers=answers)
    record = board.call("some", word="pointless")
    assert (record.outcome, record.text) == ("error", "Error: there is nothing to do.")
    assert [event for event in board.events if isinstance(event, events.ApprovalAsked)] == [] == ran
    if answers == "--yes":  # of any other error a person hears, and decides
        assert board.call("some", word="other").outcome == "ok" and ran == ["other"]
