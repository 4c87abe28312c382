"""The provider: replies from the messages alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pegboard.events import WireCall
from pegboard.models import CallPart, ChatMessage, EndPart, Provider, ProviderSettings, Request, TextPart, ToolReply
from pegboard_offline import provider


@pytest.fixture
def offline(tmp_path):
    return provider(ProviderSettings(name="offline", root=str(tmp_path)))


async def replied(offline, offers, *messages):
    """Text, calls and end of one reply."""
    request = Request(model="offline", system="", messages=list(messages), tools=offers)
    parts = [part async for part in offline.reply(request)]
    assert isinstance(parts[-1], EndPart)
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    return text, [part.call for part in parts if isinstance(part, CallPart)], parts[-1]


def said(text: str) -> ChatMessage:
    return ChatMessage(role="user", text=text)


def called(call: WireCall, text: str, outcome: str = "ok", data: Any = None) -> list[ChatMessage]:
    """The history after a call: the message that asked for it, and its result."""
    reply = ToolReply(id=call.id, name=call.name, text=text, outcome=outcome, data=data)
    return [ChatMessage(role="assistant", calls=[call]), ChatMessage(role="tool", reply=reply)]


def test_it_says_what_it_is_and_is_cautious(offline):
    assert isinstance(offline, Provider)
    assert offline.cautious
    assert "router" in offline.banner and "not a language model" in offline.banner and "key" not in offline.banner


async def test_a_request_becomes_a_call_and_its_result_the_answer(offline, core):
    ask = said("search for TODO in src")
    text, (call,), _ = await replied(offline, core, ask)
    assert text == ""
    assert (call.name, call.arguments) == ("grep", {"pattern": "TODO", "path": "src"})
    data = {"hits": [{"path": "src/a.py", "line": 3, "text": "# TODO", "cut": False}], "engine": "rg"}
    text, calls, end = await replied(offline, core, ask, *called(call, "src/a.py:3: # TODO", data=data))
    assert calls == [] and not end.asks_back
    assert text == "1 hit:\nsrc/a.py:3: # TODO"


async def test_steps_are_called_one_after_the_other(offline, core):
    messages = [said("read a.txt and then search for TODO in src")]
    seen = []
    for _ in range(2):
        _, (call,), _ = await replied(offline, core, *messages)
        seen.append((call.id, call.name))
        messages += called(call, f"result of {call.name}")
    text, calls, _ = await replied(offline, core, *messages)
    assert [name for _, name in seen] == ["read_file", "grep"] and len({id for id, _ in seen}) == 2
    assert calls == []
    assert "result of read_file" in text and "result of grep" in text


@pytest.mark.parametrize(
    ("outcome", "says"), [("error", "failed"), ("blocked", "Not done"), ("interrupted", "Interrupted")]
)
async def test_after_a_failure_it_says_so_and_stops(offline, core, outcome, says):
    ask = said("read a.txt and then search for TODO in src")
    _, (call,), _ = await replied(offline, core, ask)
    text, calls, _ = await replied(offline, core, ask, *called(call, "no such file: a.txt", outcome))
    assert calls == []
    assert says in text and "no such file: a.txt" in text
    assert "not done: search for TODO in src" in text


async def test_what_is_unclear_is_asked_back_with_what_it_could_do(offline, core):
    text, calls, end = await replied(offline, core, said("update README.md"))
    assert calls == [] and end.asks_back
    assert "edit_file" in text and "README.md" in text
    text, calls, end = await replied(offline, core, said("hello"))
    assert calls == [] and end.asks_back
    assert "router" in text
    assert sum(offer.examples[0].replace("{", "<").replace("}", ">") in text for offer in core) == 3


async def test_what_a_step_changed_does_not_stop_the_next(offline, core, tmp_path):
    """Once written, the file is there already: read again, that step alone would be refused."""
    ask = said('read a.txt, then write "bye" to b.txt, then run "ls"')
    messages = [ask]
    names = []
    for _ in range(3):
        _, (call,), _ = await replied(offline, core, *messages)
        names.append(call.name)
        messages += called(call, "done")
        if call.name == "write_file":
            (tmp_path / "b.txt").write_text("bye")
    assert names == ["read_file", "write_file", "bash"]
    text, calls, _ = await replied(offline, core, *messages)
    assert calls == [] and "not done" not in text


async def test_a_step_that_has_become_unclear_is_left_with_its_reason(offline, core, tmp_path):
    ask = said('run `touch b.txt`, then write "bye" to b.txt')
    _, (call,), _ = await replied(offline, core, ask)
    (tmp_path / "b.txt").write_text("")
    text, calls, _ = await replied(offline, core, ask, *called(call, "done"))
    assert calls == []
    assert 'not done: write "bye" to b.txt' in text and "is there already" in text


async def test_nobody_is_promised_a_model(offline, core):
    text, _, _ = await replied(offline, core, said("help"))
    assert "pegboard models" in text
    assert "key" not in text and "local" not in text and "key" not in offline.banner


async def test_a_text_that_was_asked_for_completes_the_request(offline, core):
    first = said("Write a python file fib.py with a fibonacci function")
    text, calls, end = await replied(offline, core, first)
    assert calls == [] and end.asks_back
    assert "content" in text
    asked = ChatMessage(role="assistant", text=text, provider_data=end.provider_data)
    _, (call,), _ = await replied(offline, core, first, asked, said("```python\ndef fib(n):\n    return n\n```"))
    assert (call.name, call.arguments) == ("write_file", {"path": "fib.py", "content": "def fib(n):\n    return n"})


async def test_only_a_literal_completes_it(offline, core):
    first = said("Write a python file fib.py with a fibonacci function")
    text, _, end = await replied(offline, core, first)
    asked = ChatMessage(role="assistant", text=text, provider_data=end.provider_data)
    _, calls, end = await replied(offline, core, first, asked, said("never mind"))
    assert calls == [] and end.asks_back


async def test_an_earlier_turn_leaves_nothing_behind(offline, core):
    first = said("read a.txt")
    _, (call,), _ = await replied(offline, core, first)
    history = [first, *called(call, "text"), ChatMessage(role="assistant", text="text")]
    _, calls, end = await replied(offline, core, *history, said("open it"))
    assert calls == [] and end.asks_back
    _, (again,), _ = await replied(offline, core, *history, said("read b.txt"))
    assert again.arguments == {"path": "b.txt"} and again.id != call.id


def notice(text: str) -> ChatMessage:
    return ChatMessage(role="user", text=text, by="pegboard")


async def test_what_the_loop_tells_the_model_is_no_request(offline, core):
    """Of jobs that ended, of what was undone, of a turn that was interrupted: before the request, behind it, and between."""
    ask = said("read a.txt and then search for TODO in src")
    messages = [notice("The person undid c1: read b.txt again."), ask, notice("Of what ran in the background: j1")]
    _, (call,), _ = await replied(offline, core, *messages)
    assert (call.name, call.arguments) == ("read_file", {"path": "a.txt"})
    messages += [*called(call, "text"), notice("The person undid c2.")]
    _, (call,), _ = await replied(offline, core, *messages)
    assert call.name == "grep"
    text, calls, _ = await replied(offline, core, *messages, *called(call, "none"))
    assert calls == [] and text


async def test_a_text_that_was_asked_for_completes_the_request_past_a_notice(offline, core):
    first = said("Write a python file fib.py with a fibonacci function")
    text, _, end = await replied(offline, core, first)
    asked = ChatMessage(role="assistant", text=text, provider_data=end.provider_data)
    given = said("```python\nx\n```")
    _, (call,), _ = await replied(offline, core, first, asked, notice("The person undid c1."), given)
    assert call.arguments == {"path": "fib.py", "content": "x"}


async def test_without_messages_or_tools_it_says_what_it_is(offline, core):
    text, calls, _ = await replied(offline, core)
    assert calls == [] and "router" in text
    text, calls, _ = await replied(offline, [], said("read a.txt"))
    assert calls == [] and "router" in text


def test_importing_it_reads_no_tables():
    """The word tables and patterns are loaded with the first request."""
    code = "import sys, pegboard_offline; sys.exit('pegboard_offline.lexicon' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
