"""The whole loop as a person runs it, with the provider for OpenAI-compatible endpoints, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_server import ModelServer, Reply


@pytest.fixture
def run(cli: Any, model_server: ModelServer) -> Any:
    """`pegboard run` with the scripted server as its model; gives what it printed and the events of its log."""

    def ask(*args: str) -> tuple[Any, list[dict[str, Any]]]:
        environ = {
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": model_server.base_url,
            "PEGBOARD_MODEL": "openai/scripted",
        }
        done = cli("run", *args, "--session", "s", **environ)
        return done, [json.loads(line) for line in cli.log("s").splitlines()]

    return ask


def notes(events: list[dict[str, Any]]) -> list[str]:
    return [event["text"] for event in events if event["event"] == "note"]


def test_a_model_reads_changes_and_answers(run: Any, cli: Any, model_server: ModelServer) -> None:
    (cli.root / "a.txt").write_text("old words\n")
    model_server.say(
        Reply(calls=[("read_file", {"path": "a.txt"})]),
        Reply(
            text="I change it.",
            calls=[
                ("edit_file", {"path": "a.txt", "old_string": "old", "new_string": "new"}),
                ("read_file", {"path": "a.txt"}),
            ],
        ),
        Reply(text="Done: it says new words."),
    )
    done, _ = run("change old to new", "--yes")
    assert (done.code, done.out) == (0, "Done: it says new words.\n")
    assert (cli.root / "a.txt").read_text() == "new words\n"
    roles = [message["role"] for message in model_server.completions[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "tool"]
    assert "new words" in model_server.completions[-1]["messages"][-1]["content"]


def test_a_full_context_is_no_raw_400_the_oldest_results_give_way(
    run: Any, cli: Any, model_server: ModelServer
) -> None:
    for number in range(6):
        (cli.root / f"{number}.txt").write_text(f"{number} words\n" * 600)
    script = [Reply(calls=[("read_file", {"path": f"{number}.txt"})]) for number in range(6)] + [
        Reply(text="All read.")
    ]
    full = {
        "error": {
            "message": "This model's maximum context length is 9000 tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        }
    }

    def answer(body: dict[str, Any]) -> Reply:
        return Reply(status=400, body=full) if len(json.dumps(body["messages"])) > 36_000 else script.pop(0)

    model_server.then = answer
    done, events = run("read them all", "--toolsets", "stranger")
    assert (done.code, done.out) == (0, "All read.\n")
    assert "outgrown" in done.err and "400" not in done.err and "maximum context" not in done.err
    (left_out,) = [event["calls"] for event in events if event["event"] == "history_trimmed"]
    assert left_out[0] == "c1" and len(left_out) < 5
    said = [m["content"] for m in model_server.completions[-1]["messages"] if m["role"] == "tool"]
    assert [text.startswith("[result of read_file left out") for text in said] == [
        f"c{number}" in left_out for number in range(1, 7)
    ]
    script.append(Reply(text="As I said."))
    before = model_server.completions[-1]["messages"]
    run("and?")
    assert model_server.completions[-1]["messages"][: len(before)] == before


def test_what_fits_in_no_way_is_told_with_what_to_do(run: Any, model_server: ModelServer) -> None:
    full = {"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}
    model_server.then = lambda body: Reply(status=400, body=full)
    done, _ = run("hi")
    assert (done.code, done.out) == (1, "")
    assert "Begin a new session" in done.err and len(model_server.completions) == 1


def test_a_stream_that_breaks_after_a_finished_call_runs_it_and_goes_on(
    run: Any, cli: Any, model_server: ModelServer
) -> None:
    (cli.root / "a.txt").write_text("hello\n")

    def chunk(**delta: Any) -> dict[str, Any]:
        return {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}

    def call(index: int, name: str, arguments: str) -> dict[str, Any]:
        return {
            "index": index,
            "id": f"i{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }

    model_server.say(
        Reply(
            chunks=[
                chunk(role="assistant", content="I look"),
                chunk(tool_calls=[call(0, "read_file", '{"path": "a.txt"}')]),
                chunk(tool_calls=[call(1, "write_file", '{"path": "b.txt", "con')]),
            ],
            break_after=3,
        ),
        Reply(text="It says hello."),
    )
    done, events = run("look", "--yes")
    assert (done.code, done.out) == (0, "It says hello.\n")
    assert not (cli.root / "b.txt").exists()
    (asked,) = [event for event in events if event["event"] == "call_asked"]
    assert (asked["tool"], asked["arguments"]) == ("read_file", {"path": "a.txt"})
    assert any("its finished call is run" in note for note in notes(events))


def test_a_text_that_broke_off_is_gone_on_with(run: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="The answer is " * 3, piece=14, break_after=2), Reply(text="42."))
    done, events = run("what is it?")
    assert done.code == 0 and done.out.startswith("The answer is ") and done.out.endswith("42.\n")
    assert events[-1]["text"] == done.out.strip()
    last = model_server.completions[-1]["messages"]
    assert last[-2]["role"] == "assistant" and last[-2]["content"].startswith("The answer is")
    assert last[-1]["role"] == "user"


def test_at_a_terminal_an_answer_in_two_pieces_is_shown_once(cli: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="The answer is certainly ", piece=12, break_after=3), Reply(text="42."))
    environ = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": model_server.base_url, "PEGBOARD_MODEL": "openai/scripted"}
    child = cli.terminal("run", "what is it?", **environ)
    child.expect("42")
    shown = child.before + child.after + child.read()
    child.wait()
    assert child.exitstatus == 0
    assert (shown.count("The answer"), shown.count("42.")) == (1, 1)


def test_a_model_that_goes_round_in_circles_is_told_and_stopped(run: Any, cli: Any, model_server: ModelServer) -> None:
    (cli.root / "a.txt").write_text("hello\n")
    model_server.then = lambda body: Reply(calls=[("read_file", {"path": "a.txt"})])
    done, _ = run("look")
    assert done.code == 1 and "stopped: repeats: " in done.err
    assert len(model_server.completions) == 6
    told = ["third time" in str(body["messages"][-1]["content"]) for body in model_server.completions]
    assert told == [False, False, False, True, False, False]


def test_tokens_that_the_endpoint_counts_are_the_budget(run: Any, model_server: ModelServer) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    model_server.then = lambda body: Reply(calls=[("glob", {"pattern": f"{len(body['messages'])}*"})], usage=usage)
    done, events = run("look", "--max-tokens", "250")
    assert done.code == 1 and "budget: the turn took 300 tokens and may take 250" in done.err
    assert events[-1]["usage"]["input"] == 270
