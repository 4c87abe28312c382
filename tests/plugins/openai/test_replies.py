"""Replies as servers send them: whole, in odd pieces, broken off, or not as a stream at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_server import ModelServer, Reply
from pegboard.errors import ModelError
from pegboard.events import WireCall
from pegboard.models import CallPart, ChatMessage, EndPart, Request, ToolReply
from pegboard_openai import stream
from pegboard_openai.assembly import Assembly, BrokenOff, Halves

CALL = {"path": "a.txt", "text": 'naïve 🙂 \\ " \n'}


def delta(calls: list[dict[str, Any]] | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    made = {**fields, **({"tool_calls": calls} if calls is not None else {})}
    return {"choices": [{"index": 0, "delta": made, "finish_reason": finish}]}


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "function": function}


def calls_of(chunks: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    assembly = Assembly()
    parts = [part for chunk in chunks for part in assembly.take(chunk)]
    parts += assembly.end()
    return [(part.call.name, part.call.arguments) for part in parts if isinstance(part, CallPart)]


async def test_text_thinking_and_usage_stream_in_pieces(talk: Any, model_server: ModelServer) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}, "cost": 0.5}
    model_server.say(Reply(thinking="let me see", text="hello world", piece=3, usage=usage))
    said = talk()
    await said.ask()
    assert (said.thinking, said.text) == ("let me see", "hello world")
    assert len(said.parts) > 6
    end = said.of(EndPart)[0]
    assert (end.input, end.output, end.cached, end.cost) == (9, 4, 3, 0.5)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
async def test_parallel_calls_are_put_together_however_they_were_cut(
    talk: Any, model_server: ModelServer, size: int
) -> None:
    model_server.say(Reply(text="two:", calls=[("look", CALL), ("list", {}), ("odd", "{broken")], piece=size))
    said = talk()
    await said.ask()
    found = [(part.call.name, part.call.arguments) for part in said.of(CallPart)]
    assert found == [("look", CALL), ("list", {}), ("odd", "{broken")]
    assert len({part.call.id for part in said.of(CallPart)}) == 3


@given(
    st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.integers(-9, 9), max_size=3), max_size=4),
    st.data(),
)
def test_cutting_a_call_anywhere_changes_nothing(wanted: list[dict[str, Any]], data: st.DataObject) -> None:
    chunks = []
    for index, arguments in enumerate(wanted):
        text = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
        cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
        chunks.append(delta([piece("t", "", index=index, id=f"id{index}")]))
        for at, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            chunks.append(delta([piece(None, text[at:end], index=index)]))
    assert calls_of([*chunks, delta(finish="tool_calls")]) == [("t", arguments) for arguments in wanted]


ODD_CALLS = {
    "no index, whole calls with ids": [
        delta([piece("a", '{"x": 1}', id="1")]),
        delta([piece("b", '{"y": 2}', id="2")]),
    ],
    "no index and no ids": [delta([piece("a", '{"x": 1}')]), delta([piece("b", '{"y": 2}')])],
    "every index is 0": [
        delta([piece("a", '{"x": 1}', index=0, id="1")]),
        delta([piece("b", '{"y": 2}', index=0, id="2")]),
    ],
    "every index is 0 and the ids are empty": [
        delta([piece("a", '{"x": 1}', index=0, id="")]),
        delta([piece("b", '{"y": 2}', index=0, id="")]),
    ],
    "the name and id are repeated": [
        delta([piece("a", '{"x"', index=0, id="1")]),
        delta([piece("a", ": 1}", index=0, id="1")]),
        delta([piece("b", '{"y": 2}', index=1, id="2")]),
        delta([piece("b", "", index=1, id="2")]),
    ],
    "both in one chunk": [delta([piece("a", '{"x": 1}', index=0), piece("b", '{"y": 2}', index=1)])],
    "interleaved": [
        delta([piece("a", '{"x"', index=0, id="1"), piece("b", '{"y"', index=1, id="2")]),
        delta([piece(None, ": 1}", index=0), piece(None, ": 2}", index=1)]),
    ],
    "arguments as objects": [delta([piece("a", {"x": 1}, index=0), piece("b", {"y": 2}, index=1)])],
    "encoded twice": [delta([piece("a", json.dumps('{"x": 1}'), index=0), piece("b", '{"y": 2}', index=1)])],
    "one that is no list": [
        {"choices": [{"delta": {"tool_calls": piece("a", '{"x": 1}')}}]},
        delta([piece("b", '{"y": 2}', id="2", index=1)]),
    ],
}


@pytest.mark.parametrize("chunks", ODD_CALLS.values(), ids=ODD_CALLS.keys())
def test_calls_of_servers_that_count_oddly(chunks: list[dict[str, Any]]) -> None:
    assert calls_of([*chunks, delta(finish="tool_calls")]) == [("a", {"x": 1}), ("b", {"y": 2})]


def test_a_call_is_handed_on_when_the_next_begins() -> None:
    assembly = Assembly()
    first = [*assembly.take(delta([piece("a", '{"x": 1}', index=0, id="1")]))]
    second = [*assembly.take(delta([piece("b", '{"y"', index=1, id="2")]))]
    assert first == []
    assert [part.call.name for part in second if isinstance(part, CallPart)] == ["a"]
    with pytest.raises(BrokenOff):
        list(assembly.end())


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_a_call_cut_off_by_a_limit_is_left_out_and_said(
    talk: Any, model_server: ModelServer, finish: str
) -> None:
    model_server.say(Reply(calls=[("look", {"a": 1}), ("erase", '{"path": "/"}')], finish=finish))
    said = talk()
    await said.ask()
    assert [part.call.name for part in said.of(CallPart)] == ["look"]
    assert "erase was left out" in said.notes[0]


@pytest.mark.parametrize("after", [3, 6, 8])
async def test_a_stream_that_breaks_keeps_whole_calls_and_runs_no_unfinished_one(
    talk: Any, model_server: ModelServer, after: int
) -> None:
    """Chunks: role, text, name 1, arguments 1 (twice), name 2, arguments 2 ..."""
    model_server.say(
        Reply(text="so: ", calls=[("look", {"a": 1}), ("erase", {"path": "x"})], piece=7, break_after=after)
    )
    said = talk()
    with pytest.raises(ModelError, match=r"broke off in the middle.*no unfinished call was run"):
        await said.ask()
    assert said.text == "so: "
    assert [part.call.name for part in said.of(CallPart)] == (["look"] if after > 5 else [])
    assert len(model_server.completions) == 1, "a reply that had begun was asked for again"


async def test_a_stream_that_ends_quietly_in_the_middle_is_broken_off(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="half", finish="", done=False))
    said = talk()
    with pytest.raises(ModelError, match="without saying that it was whole"):
        await said.ask()
    assert said.text == "half"


async def test_a_stream_without_done_is_whole_when_it_says_why_it_finished(
    talk: Any, model_server: ModelServer
) -> None:
    model_server.say(Reply(text="all", done=False))
    said = talk()
    await said.ask()
    assert said.text == "all"


@pytest.mark.parametrize("end", [{"break_after": 9, "pause": 0.01}, {"hang_after": 9}, {"done": False}])
async def test_a_reply_that_said_why_it_finished_is_whole_whatever_becomes_of_the_line(
    talk: Any, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, end: dict[str, Any]
) -> None:
    """Eight chunks and the one with the finish reason; that with the token counts never comes."""
    monkeypatch.setattr(stream, "LAST", 0.2)
    model_server.say(Reply(text="so: ", calls=[("look", {"a": 1}), ("erase", {"path": "x"})], **end))
    said = talk()
    async with asyncio.timeout(20):  # and not its 300 s of silence
        await said.ask()
    assert [part.call.name for part in said.of(CallPart)] == ["look", "erase"]
    assert len(said.of(EndPart)) == 1
    assert (said.text, said.notes, len(model_server.completions)) == ("so: ", [], 1)


async def test_token_counts_after_the_finish_reason_are_waited_for(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="all", piece=3, pause=0.05))
    said = talk()
    await said.ask()
    assert said.of(EndPart)[0].input == 10


async def test_a_reply_that_finishes_with_an_error_is_not_whole(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="half", finish="error"))
    said = talk()
    with pytest.raises(ModelError, match=r"broke off.*ended its reply with an error"):
        await said.ask()
    assert said.text == "half"


def read(*parts: bytes) -> list[Any]:
    """The chunks of a stream that comes in these parts."""

    async def give() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    async def take() -> list[Any]:
        return [chunk async for chunk in stream.chunks(give(), Assembly())]

    return asyncio.run(take())


@given(st.data(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_a_stream_cut_anywhere_is_read_the_same(data: st.DataObject, end: str, mark: bool) -> None:
    lines = [
        ": hello",
        "",
        'data: {"a":',
        "id: 3",
        'data:"é🙂"}',
        "",
        "event: x",
        "data: [1]",
        "",
        "data: [DONE]",
        "",
        "",
    ]
    sent = ("\ufeff" * mark).encode() + end.join(lines[2 * mark :]).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=6)))
    parts = [sent[at:to] for at, to in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    assert read(*parts) == [{"a": "é🙂"}, [1]]


@pytest.mark.parametrize(
    "line",
    [b"data: {nonsense\n\n", b"data: \xff\n\n", b"data: " + b"[" * 200_000 + b"\n\n"],
    ids=["json", "utf8", "deep"],
)
def test_what_is_no_json_is_told_as_that(line: bytes) -> None:
    with pytest.raises(stream.Unreadable):
        read(line)


def test_a_line_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MOST_LINE", 1000)
    with pytest.raises(stream.Unreadable, match="more than 1,000 bytes"):
        read(*[b"x" * 100] * 11)


@pytest.mark.parametrize("nonsense", ["{nonsense", "[" * 200_000], ids=["json", "deep"])
async def test_lines_that_are_no_json_before_the_first_word_are_asked_for_again(
    talk: Any, model_server: ModelServer, nonsense: str
) -> None:
    model_server.say(Reply(chunks=[nonsense]), Reply(text="ok"))
    said = talk()
    await said.ask()
    assert said.text == "ok"
    assert "cannot be read" in said.notes[0]


async def test_a_server_that_does_not_stream_is_understood(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="plain", calls=[("look", CALL)], plain=True))
    said = talk()
    await said.ask()
    assert said.text == "plain"
    assert said.of(CallPart)[0].call.arguments == CALL
    assert said.of(EndPart)[0].input == 10


async def test_a_page_instead_of_a_completion_names_the_address(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(status=200, body="<html>log in</html>", headers={"Content-Type": "text/html"}))
    with pytest.raises(ModelError, match=r"text/html, not with a completion.*base_url.*/v1"):
        await talk().ask()


async def test_lines_that_are_no_json_end_the_reply_with_an_error(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(chunks=[delta(content="a"), "{nonsense"]))
    said = talk()
    with pytest.raises(ModelError, match="cannot be read"):
        await said.ask()
    assert said.text == "a"


@pytest.mark.parametrize(
    "chunk", [[], "text", {"choices": None}, {"choices": [None]}, {"choices": [{"delta": 3}]}, {"usage": 5}]
)
async def test_chunks_of_another_shape_are_passed_over(talk: Any, model_server: ModelServer, chunk: Any) -> None:
    model_server.say(Reply(chunks=[json.dumps(chunk), delta(content="ok", finish="stop")]))
    said = talk()
    await said.ask()
    assert said.text == "ok"


async def test_refusals_and_typed_parts_are_text(talk: Any, model_server: ModelServer) -> None:
    typed = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "well"}]
    model_server.say(Reply(chunks=[delta(content=typed), delta(refusal=", no"), delta(finish="stop")]))
    said = talk()
    await said.ask()
    assert (said.thinking, said.text) == ("hm", "well, no")


async def test_a_character_cut_in_two_by_the_server_is_mended(talk: Any, model_server: ModelServer) -> None:
    halves = [r'{"choices":[{"delta":{"content":"a\ud83d"}}]}', r'{"choices":[{"delta":{"content":"\ude42b\udc00"}}]}']
    model_server.say(Reply(chunks=[*halves, delta(finish="stop")]))
    said = talk()
    await said.ask()
    assert said.text == "a🙂b\ufffd"


@given(st.text(st.characters(codec=None), max_size=12), st.integers(0, 12))
def test_text_cut_anywhere_can_be_said_in_utf8(text: str, at: int) -> None:
    halves = Halves()
    pieces = halves.take(text[:at]) + halves.take(text[at:]) + halves.rest()
    pieces.encode("utf-8")


async def test_cancelling_hangs_up(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="and so on ", forever=True, pause=0.01))
    said = talk()
    task = asyncio.create_task(said.ask())
    while not said.text:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(model_server.wait, lambda server: server.gone)


async def test_closing_the_iteration_hangs_up(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="one", hang_after=2))
    request = Request(model="m", system="", messages=[ChatMessage(role="user", text="hi")], tools=[])
    reply = talk().provider.reply(request)
    async for _ in reply:
        break
    await reply.aclose()
    assert await asyncio.to_thread(model_server.wait, lambda server: server.gone)


# --- what is sent -----------------------------------------------------------------------------------------------------


async def test_the_history_goes_out_in_the_apis_form(talk: Any, model_server: ModelServer) -> None:
    made = [WireCall(id="c1", name="look", arguments={"a": 1}), WireCall(id="c2", name="look", arguments="{broken")]
    await talk().ask(
        ChatMessage(role="user", text="go"),
        ChatMessage(role="assistant", text="", calls=made),
        ChatMessage(role="tool", reply=ToolReply(id="c1", name="look", text="seen", outcome="ok")),
        ChatMessage(role="tool", reply=ToolReply(id="c2", name="look", text="", outcome="interrupted")),
        max_tokens=7,
    )
    sent = model_server.completions[0]
    assert (sent["model"], sent["stream"], sent["max_tokens"]) == ("m", True, 7)
    assert sent["stream_options"] == {"include_usage": True}
    assert sent["tools"][0]["function"] == {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {}},
    }
    system, asked, assistant, first, second = sent["messages"]
    assert (system, asked) == ({"role": "system", "content": "Be good."}, {"role": "user", "content": "go"})
    ids = [call["id"] for call in assistant["tool_calls"]]
    assert assistant["content"] is None
    assert [first["tool_call_id"], second["tool_call_id"]] == ids
    assert all(len(id) == 9 and id.isalnum() for id in ids)
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in assistant["tool_calls"])
    assert (first["content"], bool(second["content"])) == ("seen", True)


@pytest.mark.parametrize(
    ("called", "sent"),
    [
        ("read_file", "read_file"),
        ("functions.read_file", "functions_read_file"),
        ("läs fil", "l_s_fil"),
        ("a\x1b[31m\n", "a__31m_"),
        ("n" * 300, "n" * 64),
        ("", "_"),
    ],
)
async def test_a_name_that_no_endpoint_would_take_does_not_go_back(
    talk: Any, model_server: ModelServer, called: str, sent: str
) -> None:
    call = WireCall(id="c1", name=called, arguments={})
    refused = ToolReply(id="c1", name=called, text="no such tool", outcome="blocked")
    await talk().ask(
        ChatMessage(role="user", text="hi"),
        ChatMessage(role="assistant", calls=[call]),
        ChatMessage(role="tool", reply=refused),
    )
    assert model_server.completions[0]["messages"][-2]["tool_calls"][0]["function"]["name"] == sent


async def test_what_a_thinking_endpoint_needs_back_goes_back_within_the_turn(
    talk: Any, model_server: ModelServer
) -> None:
    signed = {"google": {"thought_signature": "abc"}}
    chunks = [
        delta(reasoning_content="hm", reasoning_details=[{"type": "reasoning.text", "text": "hm"}]),
        delta([{**piece("look", "{}", index=0, id="1"), "extra_content": signed}]),
        delta(finish="tool_calls"),
    ]
    model_server.say(Reply(chunks=chunks))
    said = talk()
    await said.ask()
    data = said.of(EndPart)[0].provider_data
    json.dumps(data)
    reply = ChatMessage(
        role="assistant", thinking="hm", calls=[part.call for part in said.of(CallPart)], provider_data=data
    )
    result = ChatMessage(role="tool", reply=ToolReply(id="1", name="look", text="seen", outcome="ok"))
    asked = ChatMessage(role="user", text="go")
    await said.ask(asked, reply, result)
    sent = model_server.completions[1]["messages"][2]
    assert (sent["reasoning_content"], sent["reasoning_details"][0]["text"]) == ("hm", "hm")
    assert sent["tool_calls"][0]["extra_content"] == signed
    await said.ask(asked, reply, result, ChatMessage(role="assistant", text="ok"), asked)
    later = model_server.completions[2]["messages"][2]
    assert "reasoning_content" not in later and "reasoning_details" not in later
    assert later["tool_calls"][0]["extra_content"] == signed


async def test_a_server_that_refuses_stream_options_is_asked_without(talk: Any, model_server: ModelServer) -> None:
    refused = {"error": {"message": "Unrecognized request argument supplied: stream_options"}}
    model_server.say(Reply(status=400, body=refused), Reply(text="ok"), Reply(text="ok"))
    said = talk()
    await said.ask()
    await said.ask()
    assert ["stream_options" in body for body in model_server.completions] == [True, False, False]
    assert (said.text, said.notes) == ("ok", [])


async def test_a_model_that_wants_max_completion_tokens_gets_it(talk: Any, model_server: ModelServer) -> None:
    refused = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    model_server.say(Reply(status=400, body=refused), Reply(text="ok"))
    await talk().ask(max_tokens=5)
    assert model_server.completions[1]["max_completion_tokens"] == 5
    assert "max_tokens" not in model_server.completions[1]


async def test_own_keys_of_the_table_reach_the_request(talk: Any, model_server: ModelServer) -> None:
    from pegboard_openai import Options

    own = Options(stream_usage=False, api_version="2026-01-01", extra_body={"temperature": 0.5})
    await talk(options=own).ask()
    assert "stream_options" not in model_server.completions[0]
    assert model_server.completions[0]["temperature"] == 0.5
    assert model_server.requests[0].path.endswith("/chat/completions?api-version=2026-01-01")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda s: (
            st.lists(s, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "tool_calls",
                        "function",
                        "index",
                        "id",
                        "name",
                        "arguments",
                        "content",
                        "usage",
                        "finish_reason",
                    ]
                ),
                s,
                max_size=5,
            )
        ),
        max_leaves=25,
    )
)
def test_no_chunk_whatever_its_shape_breaks_the_assembly(chunk: Any) -> None:
    assembly = Assembly()
    list(assembly.take(chunk))
    list(assembly.take({"choices": [chunk]}))
    list(assembly.take({"choices": [{"delta": chunk}]}))
    list(assembly.take(delta(finish="stop")))
    list(assembly.end())
