"""Endpoints that refuse, are busy, are full or are not there: what is tried again, and what a person is told."""

from __future__ import annotations

import email.utils
import time
from typing import Any

import pytest
from model_server import ModelServer, Reply
from pegboard.errors import ContextFull, ModelError
from pegboard_openai.failures import wait_asked


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_busy_endpoint_is_asked_again_and_that_is_said(
    talk: Any, model_server: ModelServer, status: int
) -> None:
    model_server.say(Reply(status=status), Reply(status=status, headers={"Retry-After": "4"}), Reply(text="ok"))
    said = talk()
    await said.ask()
    assert said.text == "ok"
    assert said.notes[1].endswith(f"answered {status}; trying again in 4 s (3 of 5)")
    assert "(2 of 5)" in said.notes[0]
    assert said.waits[1] == 4


async def test_waits_grow_and_come_to_an_end(talk: Any, model_server: ModelServer) -> None:
    model_server.say(*[Reply(status=500)] * 9)
    said = talk()
    with pytest.raises(ModelError, match="answered 500"):
        await said.ask()
    assert len(model_server.completions) == 5
    assert len(said.waits) == len(said.notes) == 4
    assert all(0.7 * 2**n <= wait <= 1.3 * 2**n for n, wait in enumerate(said.waits))


async def test_an_endpoint_that_wants_a_long_rest_is_not_waited_for(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(status=429, headers={"Retry-After": "3600"}))
    said = talk()
    with pytest.raises(ModelError, match="left alone for 3600 s"):
        await said.ask()
    assert said.waits == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=429, body=error("You exceeded your current quota", code="insufficient_quota")),
        Reply(status=402, body=error("Insufficient credits")),
        Reply(status=503, headers={"x-should-retry": "false"}),
        Reply(status=400, body=error("no")),
        Reply(status=422, body={"detail": "no"}),
    ],
)
async def test_what_will_not_get_better_is_not_asked_again(talk: Any, model_server: ModelServer, reply: Reply) -> None:
    model_server.say(reply, Reply(text="ok"))
    with pytest.raises(ModelError, match="Nothing was changed"):
        await talk().ask()
    assert len(model_server.completions) == 1


@pytest.mark.parametrize("reply", [Reply(break_after=0), Reply(chunks=[], done=False)])
async def test_a_connection_lost_before_the_first_word_is_tried_again(
    talk: Any, model_server: ModelServer, reply: Reply
) -> None:
    model_server.say(reply, Reply(text="ok"))
    said = talk()
    await said.ask()
    assert said.text == "ok"
    assert "was lost" in said.notes[0]


async def test_an_endpoint_that_says_nothing_counts_as_lost(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(hang_after=0), Reply(text="ok"))
    said = talk(timeout=0.3)
    await said.ask()
    assert said.text == "ok"
    assert "was lost" in said.notes[0]


async def test_a_server_of_this_machine_that_does_not_run_is_told_of_at_once(talk: Any) -> None:
    said = talk(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:1 cannot be reached.*Check that the endpoint runs"):
        await said.ask()
    assert said.waits == []


async def test_an_error_told_within_the_stream_before_anything_is_tried_again(
    talk: Any, model_server: ModelServer
) -> None:
    model_server.say(Reply(chunks=[error("upstream is down", code=502)]), Reply(text="ok"))
    said = talk()
    await said.ask()
    assert said.text == "ok"


async def test_an_error_told_within_the_stream_keeps_what_was_said(talk: Any, model_server: ModelServer) -> None:
    said_first = {"choices": [{"delta": {"content": "half"}}]}
    model_server.say(Reply(chunks=[said_first, error("upstream is down", code=502)]))
    said = talk()
    with pytest.raises(ModelError, match=r"broke off.*upstream is down"):
        await said.ask()
    assert said.text == "half"


async def test_an_event_of_kind_error_is_one_and_its_message_is_shown(talk: Any, model_server: ModelServer) -> None:
    event = 'event: error\ndata: {"message": "bad things"}'
    model_server.say(Reply(chunks=['{"choices": []}\n\n' + event]), Reply(text="ok"))
    said = talk()
    await said.ask()
    assert said.text == "ok"
    model_server.say(*[Reply(chunks=['{"choices": []}\n\n' + event])] * 5)
    with pytest.raises(ModelError, match="bad things"):
        await said.ask()


async def test_an_error_that_is_a_plain_text_is_shown(talk: Any, model_server: ModelServer) -> None:
    model_server.say(*[Reply(chunks=[{"error": "out of memory"}])] * 5)
    with pytest.raises(ModelError, match="out of memory"):
        await talk().ask()


async def test_a_proxy_that_cannot_be_reached_is_named_without_its_login(talk: Any) -> None:
    said = talk(proxy="http://me:hush-hush@127.0.0.1:1")
    with pytest.raises(ModelError, match=r"cannot be reached through the proxy 127\.0\.0\.1:1 ") as caught:
        await said.ask()
    assert "hush" not in str(caught.value)


async def test_the_environments_proxy_is_named(talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://me:hush-hush@127.0.0.1:1")
    said = talk(base_url="http://models.example/v1", api_key_env="")
    with pytest.raises(ModelError, match=r"models\.example cannot be reached through the proxy 127\.0\.0\.1:1 "):
        await said.ask()


@pytest.mark.parametrize(
    ("asked", "told"),
    [("1e9", "more than a year"), ("1000000000", "more than a year"), ("90000", "25 hours"), ("900000", "10 days")],
)
async def test_a_long_rest_is_told_in_words(talk: Any, model_server: ModelServer, asked: str, told: str) -> None:
    model_server.say(Reply(status=429, headers={"Retry-After": asked}))
    with pytest.raises(ModelError, match=f"left alone for {told}"):
        await talk().ask()


FULL = {
    "OpenAI": (
        error("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
        8192,
    ),
    "OpenAI, newer": (error("Your input exceeds what it takes.", code="context_length_exceeded"), None),
    "vLLM": (
        {
            "object": "error",
            "message": "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens "
            "(112946 in the messages, 10000 in the completion).",
            "type": "BadRequestError",
            "code": 400,
        },
        16384,
    ),
    "SGLang": (error("The input (9000 tokens) is longer than the model's context length (4096 tokens)."), 4096),
    "llama.cpp": (error("it is too much", type="exceed_context_size_error", n_prompt_tokens=70494, n_ctx=67584), 67584),
    "llama.cpp, older": (error("request (7049 tokens) exceeds the available context size (6758 tokens)"), 6758),
    "llama-cpp-python": (error("Requested tokens (2285) exceed context window of 2048"), 2048),
    "OpenRouter": (
        error("This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens."),
        131072,
    ),
    "LM Studio": (
        {
            "error": "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded "
            "with context length of only 32768 tokens, which is not enough."
        },
        32768,
    ),
    "Ollama": (error("prompt too long; exceeded max context length by 100 tokens"), None),
    "Anthropic": (error("prompt is too long: 208310 tokens > 200000 maximum"), 200000),
    "Anthropic, with the reply": (
        error("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it"),
        200000,
    ),
    "Gemini": (
        [error("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")],
        1048576,
    ),
}
"""What servers say, as their sources and issue trackers have it."""


@pytest.mark.parametrize(("body", "limit"), FULL.values(), ids=FULL.keys())
async def test_a_full_context_is_known_whatever_the_server_calls_it(
    talk: Any, model_server: ModelServer, body: Any, limit: int | None
) -> None:
    model_server.say(Reply(status=400, body=body))
    with pytest.raises(ContextFull) as caught:
        await talk().ask()
    assert caught.value.limit == limit
    assert "no longer fits" in str(caught.value)


async def test_a_full_context_told_of_within_a_stream_is_known(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(chunks=[FULL["LM Studio"][0]]))
    with pytest.raises(ContextFull):
        await talk().ask()


async def test_a_request_too_large_for_the_server_is_a_full_context(talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(status=413, body="<html>413</html>"))
    with pytest.raises(ContextFull):
        await talk().ask()


async def test_a_rate_limit_counted_in_tokens_is_no_full_context(talk: Any, model_server: ModelServer) -> None:
    refused = error(
        "Request too large: tokens per minute. Please reduce the length of the messages", code="rate_limit_exceeded"
    )
    model_server.say(Reply(status=413, body=refused))
    with pytest.raises(ModelError) as caught:
        await talk().ask()
    assert not isinstance(caught.value, ContextFull)


async def test_an_unknown_model_is_told_with_those_there_are(talk: Any, model_server: ModelServer) -> None:
    model_server.models = [{"id": name} for name in ("llama3", "qwen3", "m-large")]
    model_server.say(Reply(status=404, body=error("model 'm' not found, try pulling it first")))
    with pytest.raises(ModelError, match=r"404.*Check the model's name.*It has: .*m-large"):
        await talk().ask()


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_told_by_its_variable_and_never_repeated(
    talk: Any, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret-1")
    told = error(
        "Incorrect API key provided: sk-very-secret-1 (also ...et-1)" if status == 401 else "sk-very-secret-1: no"
    )
    model_server.say(Reply(status=status, body=told))
    with pytest.raises(ModelError, match="MY_KEY") as caught:
        await talk(api_key_env="MY_KEY").ask()
    assert model_server.requests[0].headers["authorization"] == "Bearer sk-very-secret-1"
    assert "secret-1" not in str(caught.value) and "et-1" not in str(caught.value)


async def test_redirects_are_told_of_and_not_followed(talk: Any, model_server: ModelServer) -> None:
    with ModelServer() as other:
        model_server.say(Reply(status=307, headers={"Location": other.base_url + "/chat/completions"}, body="moved"))
        with pytest.raises(ModelError, match=r"Redirects are not followed.*base_url"):
            await talk().ask()
        assert other.requests == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after-ms": "nan?"}, None),
    ],
)
def test_what_retry_after_asks(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_asked(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    asked = wait_asked({"retry-after": email.utils.formatdate(time.time() + 100, usegmt=True)})
    assert asked is not None
    assert 90 < asked <= 100
    assert wait_asked({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
