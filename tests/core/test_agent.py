"""The loop: fold the log into a request, take the reply, make its calls, until a reply has none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from pegboard import events, port
from pegboard.config.schema import LimitSettings
from pegboard.errors import ConfigError, ModelError, SessionError
from pegboard.events import ApprovalAsked, CallFinished, TurnEnded, WireCall
from pegboard.hooks import Fragment, hookimpl
from pegboard.models import CallPart, EndPart, NotePart, ReplyPart, Request, TextPart, ThinkingPart
from pegboard.plugins import given
from pegboard.session import SessionBusy
from pegboard.testing.scripted import Scripted
from pegboard.tooling import tool
from pegboard.touches import Writes

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(aliases=["say"], param_aliases={"text": "word"})
def echo(word: Annotated[str, "What to say"], times: int = 1) -> str:
    """Say a word."""
    RAN.append(word)
    return word * times


@tool
def put(path: Annotated[str, Writes("A file")]) -> str:
    """Write a file."""
    RAN.append(path)
    return f"put {path}"


def kinds(board: Any) -> list[str]:
    return [type(event).__name__ for event in board.events]


def roles(request: Any) -> list[str]:
    return [message.role for message in request.messages]


# --- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-003", "R-016", "R-019")
def test_each_tool_is_advertised_as_a_function_in_openais_form(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo, put])
    board.prompt()
    assert [offer.wire() for offer in board.model.requests[0].tools] == [
        {
            "type": "function",
            "function": {
                "name": "echo",
                "description": "Say a word.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "word": {"type": "string", "description": "What to say"},
                        "times": {"type": "integer", "default": 1},
                    },
                    "required": ["word"],
                },
            },
        },
        {
            "type": "function",
            "function": {
                "name": "put",
                "description": "Write a file.",
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "description": "A file"}},
                    "required": ["path"],
                },
            },
        },
    ]


@pytest.mark.row("R-091")
def test_with_tool_calling_off_no_tools_are_sent(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], settings={"tool_calling": False})
    board.prompt()
    assert board.model.requests[0].tools == []
    assert pegboard_board(tools=[echo]).board.offers() != []


@pytest.mark.row("R-093")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Use tabs."),
        ({"project_instructions": "RULES.md"}, "Use spaces."),
        ({"project_instructions": ""}, None),
        ({"project_instructions": "missing.md"}, None),
        ({"project_instructions": "../outside.md"}, None),
    ],
)
def test_the_projects_instructions_are_in_the_system_prompt(
    pegboard_board: Any, tmp_path: Path, settings: Any, said: str | None
) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    (tmp_path / "RULES.md").write_text("Use spaces.")
    (tmp_path.parent / "outside.md").write_text("Be evil.")
    board = pegboard_board(settings=settings)
    board.prompt()
    system = board.model.requests[0].system
    for text in ("Use tabs.", "Use spaces.", "Be evil."):
        assert (text in system) == (text == said)


def test_the_system_prompt_and_the_tools_are_the_same_bytes_on_every_request(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo, put], steps=[("echo", {"word": "a"}), "ok", ("put", {"path": "b"}), "ok"])
    board.prompt()
    board.prompt()
    sent = [msgspec.json.encode([request.system, request.tools]) for request in board.model.requests]
    assert len(sent) == 4 and len(set(sent)) == 1


def test_each_request_begins_with_the_bytes_of_the_one_before(pegboard_board: Any) -> None:
    steps = [
        ("echo", {"word": "a"}),
        [("put", {"path": "b"}), ("nosuch", {})],
        [TextPart("half "), ModelError("cut")],
        "ok",
    ]
    board = pegboard_board(tools=[echo, put], steps=[*steps, ("echo", "{"), [EndPart()], "ok"])
    board.prompt()
    board.prompt()
    sent = [msgspec.json.encode([request.system, request.tools, request.messages]) for request in board.model.requests]
    assert len(sent) == 7
    for before, after in pairwise(sent):
        assert after.startswith(before.removesuffix(b"]]")) and len(after) > len(before)


def test_fragments_are_ordered_by_owner_and_name(tmp_path: Path) -> None:
    from pegboard.board import Board
    from pegboard.testing.scripted import Scripted

    def module(owner: str, *names: str) -> Any:
        made = ModuleType(f"fragments_{owner}")

        @hookimpl
        def pegboard_prompt(settings: object) -> list[Fragment]:
            return [Fragment(name=name, text=f"<{owner} {name}>") for name in names]

        made.pegboard_prompt = pegboard_prompt  # type: ignore[attr-defined]
        return given(owner, "pegboard.prompts", made)

    extra = [module("zed", "one"), module("abc", "two", "one")]
    board = Board.build(
        str(tmp_path), user_file=tmp_path / "c.toml", environ={}, state=tmp_path / "s", extra=extra, discover=False
    )
    model = Scripted([])

    async def turn() -> None:
        agent = board.agent(board.session(), provider=model)
        await agent.send(port.Prompt(text="go"))
        await agent.wait()
        await board.close()

    asyncio.run(turn())
    system = model.requests[0].system
    found = [system.index(f"<{part}>") for part in ("abc one", "abc two", "zed one")]
    assert found == sorted(found)


# --- the turn ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-061", "R-065")
def test_the_loop_goes_on_with_the_grown_context_until_a_plain_answer(pegboard_board: Any) -> None:
    steps = [
        ("echo", {"word": "a"}),
        [("echo", {"word": "b"}), ("echo", {"word": "c"})],
        "all said",
        "never asked for",
    ]
    board = pegboard_board(tools=[echo], steps=steps)
    ended = board.prompt("say a, b and c")
    assert (ended.status, ended.text, ended.error) == ("done", "all said", None)
    assert RAN == ["a", "b", "c"]
    assert [roles(request) for request in board.model.requests] == [
        ["user"],
        ["user", "assistant", "tool"],
        ["user", "assistant", "tool", "assistant", "tool", "tool"],
    ]


@pytest.mark.row("R-062", "R-064")
def test_the_history_holds_calls_thinking_and_results_as_a_provider_needs_them(pegboard_board: Any) -> None:
    call = CallPart(WireCall(id="from-provider", name="say", arguments={"text": "a"}))
    parts = [ThinkingPart("let me "), ThinkingPart("think"), TextPart("I say "), TextPart("it"), call]
    board = pegboard_board(tools=[echo], steps=[[*parts, EndPart(provider_data={"signature": "x"})], "ok"])
    board.prompt()
    user, assistant, result = board.model.requests[1].messages
    assert (user.role, user.text) == ("user", "go")
    assert (assistant.role, assistant.text, assistant.thinking) == ("assistant", "I say it", "let me think")
    assert [(c.id, c.name, c.arguments) for c in assistant.calls] == [("c1", "say", {"text": "a"})]
    assert assistant.provider_data == {"signature": "x"}
    assert (result.role, result.reply.id, result.reply.name, result.reply.text) == ("tool", "c1", "say", "a")


def test_a_turn_is_this_sequence_of_events(pegboard_board: Any) -> None:
    parts = [NotePart("retried"), TextPart("x"), CallPart(WireCall(id="1", name="echo", arguments={"word": "a"}))]
    board = pegboard_board(tools=[echo], steps=[[*parts, EndPart(input=3, output=2, cached=1, cost=0.5)], "ok"])
    board.prompt()
    assert kinds(board) == [
        "TurnStarted",
        "Prompt",
        "Note",
        "Message",
        "CallAsked",
        "ApprovalAsked",
        "ApprovalAnswered",
        "CallStarted",
        "CallFinished",
        "Message",
        "Usage",
        "TurnEnded",
    ]
    assert {event.turn for event in board.events} == {1}
    started = board.events[0]
    assert (started.session, started.model, started.sets, started.not_loaded, started.offered) == (
        board.session.id,
        "scripted",
        ["test"],
        [],
        1,
    )
    usage, ended = board.events[-2:]
    assert (usage.input, usage.output, usage.cached, usage.cost) == (3, 2, 1, 0.5)
    assert ended.usage == {"input": 3, "output": 2, "cached": 1, "cost": 0.5}


def test_what_streams_is_shown_as_it_comes_and_not_kept(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[ThinkingPart("hm"), TextPart("one "), TextPart("two"), EndPart()]])

    async def watch() -> list[Any]:
        seen: list[Any] = []

        async def collect() -> None:
            async for event in board.agent.events():
                seen.append(event)

        watching = asyncio.create_task(collect())
        await asyncio.sleep(0)
        await board.agent.send(port.Prompt(text="go"))
        await board.agent.wait()
        await asyncio.sleep(0)
        watching.cancel()
        return seen

    seen = board.run(watch())
    streamed = [(type(event).__name__, event.text, event.seq) for event in seen if event.seq is None]
    assert streamed == [("Thinking", "hm", None), ("Text", "one ", None), ("Text", "two", None)]
    assert [event for event in seen if event.seq] == board.events
    assert not {"Text", "Thinking"} & set(kinds(board))


def test_call_ids_are_the_sessions_own_and_go_on_over_turns(pegboard_board: Any) -> None:
    twice = [("echo", {"word": "a"}), ("echo", {"word": "b"})]
    board = pegboard_board(tools=[echo], steps=[twice, "ok", twice, "ok"], session="s")
    board.prompt()
    board.call("echo", word="x")
    board.prompt()
    assert [event.id for event in board.events if isinstance(event, CallFinished)] == ["c1", "c2", "c3", "c4", "c5"]


def test_a_question_back_is_a_status_of_its_own(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[TextPart("Which one?"), EndPart(asks_back=True)]])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("asked_back", "Which one?")


def test_a_model_that_never_answers_is_stopped(pegboard_board: Any) -> None:
    steps = [("echo", {"word": str(number)}) for number in range(LimitSettings().max_steps + 5)]
    board = pegboard_board(tools=[echo], steps=steps)
    ended = board.prompt()
    assert (ended.status, len(RAN)) == ("stopped", LimitSettings().max_steps)
    assert ended.error is not None and "steps" in ended.error


@pytest.mark.parametrize("error", [RuntimeError("gone"), LookupError("no"), ValueError(), SystemExit(2)])
def test_a_provider_that_fails_ends_the_turn_and_what_it_had_said_is_kept(pegboard_board: Any, error: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[[TextPart("half "), error], "again"])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("error", "half ")
    assert ended.error is not None and type(error).__name__ in ended.error and "scripted" in ended.error
    assert board.prompt("go on").status == "done"
    assert [m.text for m in board.model.requests[1].messages] == ["go", "half ", "go on"]


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [('{"word": "a"}', "ok"), ('{"word": "a"', "blocked"), ("", "blocked"), (None, "blocked"), ([1], "blocked")],
)
def test_arguments_may_come_as_text_and_broken_ones_are_told_to_the_model(
    pegboard_board: Any, arguments: Any, outcome: str
) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", arguments), "ok"])
    assert board.prompt().status == "done"
    reply = board.model.requests[1].messages[-1].reply
    assert reply.outcome == outcome
    assert (["a"] if outcome == "ok" else []) == RAN


def test_an_unknown_tool_is_told_to_the_model_and_the_turn_goes_on(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("ecko", {}), "ok"])
    assert board.prompt().status == "done"
    assert 'Error: unknown tool "ecko"' in board.model.requests[1].messages[-1].reply.text


# --- approval ---------------------------------------------------------------------------------------------------------


async def with_person(board: Any, *granted: bool | str) -> TurnEnded:
    """A turn in which a person answers each question in turn; a text is a no with that reason."""
    answers = list(granted)

    async def answer() -> None:
        async for event in board.agent.events():
            if isinstance(event, ApprovalAsked):
                said = answers.pop(0)
                reason = said if isinstance(said, str) else None
                await board.agent.send(port.Answer(id=event.id, granted=said is True, reason=reason))

    answering = asyncio.create_task(answer())
    await board.agent.send(port.Prompt(text="go"))
    ended: TurnEnded = await asyncio.wait_for(board.agent.wait(), 60)
    answering.cancel()
    assert answers == []
    return ended


@pytest.mark.row("S-006")
def test_a_yes_is_for_this_call_and_the_next_one_asks_again(pegboard_board: Any) -> None:
    steps = [[("put", {"path": "a"}), ("put", {"path": "a"}), ("put", {"path": "b"})], "ok"]
    board = pegboard_board(tools=[put], answers="person", steps=steps)
    assert board.run(with_person(board, True, True, False)).status == "done"
    assert RAN == ["a", "a"]
    assert [event.outcome for event in board.events if isinstance(event, CallFinished)] == ["ok", "ok", "blocked"]


@pytest.mark.row("S-008")
def test_a_no_is_told_to_the_model_with_the_reason_and_what_to_do(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put], answers="person", steps=[("put", {"path": "a"}), "ok"])
    board.run(with_person(board, "that file is not mine"))
    text = board.model.requests[1].messages[-1].reply.text
    assert "the person declined this call" in text
    assert "that file is not mine" in text
    assert "Ask the person for an alternative" in text
    assert RAN == []


@pytest.mark.row("S-009", "R-090")
def test_with_yes_no_gated_call_prompts_and_with_no_each_is_declined(pegboard_board: Any) -> None:
    for answers, ran in (("--yes", ["a", "b"]), ("--no", [])):
        RAN.clear()
        steps = [[("put", {"path": "a"}), ("put", {"path": "b"})], "ok"]
        board = pegboard_board(tools=[put], answers=answers, steps=steps)
        assert board.prompt().status == "done"
        assert ran == RAN
        assert {e.by for e in board.events if isinstance(e, events.ApprovalAnswered)} == {answers}
        board.close()


@pytest.mark.row("R-089")
def test_headless_what_asks_is_denied_and_only_what_is_allowed_works(pegboard_board: Any) -> None:
    @tool(pure=True)
    def safe() -> str:
        """Do nothing."""
        RAN.append("safe")
        return ""

    board = pegboard_board(tools=[put, safe], answers="headless", steps=[[("put", {"path": "a"}), ("safe", {})], "ok"])
    assert board.prompt().status == "done"
    assert RAN == ["safe"]
    assert "there is no one to ask" in board.model.requests[1].messages[-2].reply.text


def test_a_cautious_model_is_asked_about_even_where_rules_allow(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put], settings={"tool_permission.edit": "allow"})
    board.model.cautious = True
    agent = board.board.agent(board.board.session("other"), answers="headless", provider=board.model)

    async def turn() -> TurnEnded:
        await agent.send(port.Prompt(text="go"))
        return await agent.wait()

    board.model._steps = iter([("put", {"path": "a"}), "ok"])
    board.run(turn())
    (ended,) = [event for event in agent.session.read() if isinstance(event, CallFinished)]
    assert ended.decision is not None
    assert (ended.block, ended.decision.rule) == ("denied", "model.cautious")
    assert RAN == []


# --- the port ---------------------------------------------------------------------------------------------------------


def test_a_second_prompt_while_a_turn_runs_is_refused(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=["ok"])

    async def twice() -> TurnEnded:
        await board.agent.send(port.Prompt(text="one"))
        with pytest.raises(SessionBusy, match="Nothing was started"):
            await board.agent.send(port.Prompt(text="two"))
        ended: TurnEnded = await board.agent.wait()
        return ended

    assert board.run(twice()).status == "done"
    assert [event.text for event in board.events if isinstance(event, events.Prompt)] == ["one"]


def test_what_a_person_adds_meanwhile_is_read_before_the_next_step(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def pause() -> str:
        """Let the person speak."""
        await board.agent.send(port.Steer(text="and b too"))
        return "paused"

    board = pegboard_board(tools=[pause], steps=[("pause", {}), "ok"])
    assert board.prompt("a").status == "done"
    assert [m.text for m in board.model.requests[1].messages if m.role == "user"] == ["a", "and b too"]


def test_what_a_person_adds_during_the_last_reply_is_answered_in_the_same_turn(pegboard_board: Any) -> None:
    board = pegboard_board(steps=["first answer", "second answer"])

    async def turn() -> TurnEnded:
        await board.agent.send(port.Prompt(text="one"))
        await board.agent.send(port.Steer(text="two"))
        ended: TurnEnded = await board.agent.wait()
        return ended

    board.model._steps = iter([[TextPart("x"), EndPart()], "second answer"])
    reply, steered = board.model.reply, []

    async def slow(request: Any) -> Any:
        async for part in reply(request):
            if not steered:
                steered.append(1)
                await board.agent.send(port.Steer(text="three"))
            yield part

    board.model.reply = slow
    assert board.run(turn()).text == "second answer"
    assert len(board.model.requests) == 2
    assert [m.text for m in board.model.requests[1].messages if m.role == "user"] == ["one", "two", "three"]


def test_a_turn_that_another_process_holds_is_told_and_leaves_nothing_in_the_log(
    pegboard_board: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard.session import session as module

    monkeypatch.setattr(module, "_TURN_WAIT", 0.05)
    board = pegboard_board(session="s")
    other = board.board.session("s")

    async def busy() -> TurnEnded:
        async with other.turn():
            await board.agent.send(port.Prompt(text="go"))
            ended: TurnEnded = await board.agent.wait()
            return ended

    ended = board.run(busy())
    assert ended.status == "error" and ended.error is not None and "is running a turn in process" in ended.error
    assert board.events == []


def test_every_viewer_gets_the_same_durable_events_from_where_it_begins(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "a"}), "ok"])

    async def watch() -> list[list[int]]:
        async def collect(since: int) -> list[int]:
            seen = []
            async for event in board.agent.events(since):
                if event.seq is not None:
                    seen.append(event.seq)
                if isinstance(event, TurnEnded):
                    break
            return seen

        early = asyncio.create_task(collect(0))
        await asyncio.sleep(0)
        await board.agent.send(port.Prompt(text="go"))
        await board.agent.wait()
        return [await early, await collect(0), await collect(3)]

    early, late, part = board.run(watch())
    assert early == late == list(range(1, len(board.events) + 1))
    assert part == late[3:]


def test_the_log_on_disk_is_the_event_stream_byte_for_byte(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "ä\n"}), "ok"])
    board.prompt()
    lines = (board.session.folder / "events.jsonl").read_bytes().splitlines()
    assert lines == [msgspec.json.encode(event) for event in board.events]
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize("error", [ConfigError("the key was refused"), RuntimeError("lost")])
def test_what_was_said_before_a_provider_failed_is_kept(pegboard_board: Any, error: Exception) -> None:
    class Failing(Scripted):
        async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
            yield TextPart("I was about to")
            raise error

    board = pegboard_board()
    board.agent = board.board.agent(board.session, provider=Failing([]))
    ended = board.prompt("go")
    assert (ended.status, str(error) in (ended.error or "")) == ("error", True)
    said = [event.text for event in board.events if isinstance(event, events.Message)]
    assert said == ["I was about to"]


def test_a_turn_ends_when_what_became_of_a_call_cannot_be_written_down(pegboard_board: Any, monkeypatch: Any) -> None:
    board = pegboard_board(tools=[put], steps=[("put", {"path": "a.py"}), "it is there"])
    append = board.session.append

    def full(*entries: Any) -> Any:
        if any(isinstance(entry, CallFinished) for entry in entries):
            raise SessionError("the session's log could not be written (No space left on device).")
        return append(*entries)

    monkeypatch.setattr(board.session, "append", full)
    with pytest.raises(SessionError, match=r"what became of put .* could not be written"):
        board.prompt()
    assert len(board.model.requests) == 1, "the model is not told that nothing came of it"


def test_what_a_turn_was_told_and_did_not_read_is_said_to_no_other(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[60.0], "the next"])

    async def turns() -> None:
        await board.agent.send(port.Prompt(text="one"))
        await asyncio.sleep(0.05)
        await board.agent.send(port.Steer(text="never mind"))
        await board.agent.send(port.Interrupt())
        assert (await board.agent.wait()).status == "interrupted"
        await board.agent.send(port.Prompt(text="two"))
        assert (await board.agent.wait()).text == "the next"

    board.run(turns())
    assert not any("never mind" in m.text for m in board.model.requests[-1].messages)
