"""The command line with a model behind a real HTTP endpoint: faults, patience, keys, and what is dialled at all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Reply
from running import until
from scripted_model import by_keywords

KEY = "sk-secret-of-the-person"


@pytest.fixture
def ask(cli: Any, model_server: ModelServer) -> Any:
    """`pegboard run --json` with the scripted server as its model."""

    def run(*args: str, **environ: str) -> Any:
        served = {"PEGBOARD_MODEL": "openai/scripted", "OPENAI_BASE_URL": model_server.base_url}
        return cli("run", "--json", *args, **(served | environ))

    return run


def of(done: Any, kind: str) -> list[dict[str, Any]]:
    return [event for event in done.events if event["event"] == kind]


def last(done: Any) -> dict[str, Any]:
    return dict(done.events[-1])


# --- the loop ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-003")
def test_a_model_is_offered_the_tools_in_the_apis_form(ask: Any, model_server: ModelServer) -> None:
    done = ask("hello", "--toolsets", "")
    assert (done.code, last(done)["text"]) == (0, "done")
    sent = model_server.completions[0]
    assert sent["model"] == "scripted"
    offered = [tool["function"]["name"] for tool in sent["tools"]]
    assert {"read_file", "edit_file", "bash"} <= set(offered)
    assert len(offered) == of(done, "turn_started")[0]["offered"]
    for tool in sent["tools"]:
        assert tool["type"] == "function"
        assert set(tool["function"]) == {"name", "description", "parameters"}
        assert tool["function"]["parameters"]["type"] == "object"


def test_without_tool_calling_no_tools_are_sent(ask: Any, model_server: ModelServer) -> None:
    assert ask("hello", PEGBOARD_TOOL_CALLING="false").code == 0
    assert "tools" not in model_server.completions[0]


@pytest.mark.parametrize("piece", [1, 3])
def test_parallel_calls_in_small_pieces_are_made_in_their_order(
    ask: Any, cli: Any, model_server: ModelServer, piece: int
) -> None:
    for name in ("a", "b"):
        (cli.root / f"{name}.txt").write_text(f"I am {name}\n", "utf-8")
    calls = [("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})]
    model_server.say(Reply(text="Both:", calls=calls, piece=piece), Reply(text="read"))
    done = ask("read both")
    assert [event["arguments"]["path"] for event in of(done, "call_asked")] == ["a.txt", "b.txt"]
    *_, assistant, first, second = model_server.completions[1]["messages"]
    assert assistant["content"] == "Both:"
    assert [first["tool_call_id"], second["tool_call_id"]] == [call["id"] for call in assistant["tool_calls"]]
    assert ("I am a" in first["content"], "I am b" in second["content"]) == (True, True)


def test_broken_arguments_and_unknown_tools_are_told_to_the_model(ask: Any, model_server: ModelServer) -> None:
    calls = [("read_file", '{"path": "a.t'), ("raed_file", {"path": "a.txt"})]
    model_server.say(Reply(calls=calls), Reply(text="I see"))
    done = ask("read it")
    assert [event["block"] for event in of(done, "call_finished")] == ["invalid_arguments", "unavailable"]
    broken, unknown = (message["content"] for message in model_server.completions[1]["messages"][-2:])
    assert "JSON" in broken
    assert "read_file" in unknown
    assert (done.code, last(done)["text"]) == (0, "I see")


def test_thinking_is_an_event_of_its_own_and_is_kept(ask: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(thinking="let me see", text="so"))
    done = ask("hello")
    assert "".join(event["text"] for event in of(done, "thinking")) == "let me see"
    assert (of(done, "message")[0]["thinking"], last(done)["text"]) == ("let me see", "so")


def test_an_empty_reply_ends_the_turn_and_does_no_harm(ask: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(), Reply(), Reply())
    done = ask("hello")
    assert last(done)["event"] == "turn_ended"
    assert "Traceback" not in done.err


# --- patience ---------------------------------------------------------------------------------------------------------


def test_a_busy_endpoint_is_asked_again_which_a_person_sees(cli: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(status=429, headers={"Retry-After": "0"}), Reply(text="now I can"))
    done = cli("run", "hello", PEGBOARD_MODEL="openai/scripted", OPENAI_BASE_URL=model_server.base_url)
    assert (done.code, done.out) == (0, "now I can\n")
    assert "answered 429; trying again in 0 s (2 of 5)" in done.err


def test_an_endpoint_that_stays_broken_ends_the_turn_with_what_to_do(ask: Any, model_server: ModelServer) -> None:
    model_server.say(*[Reply(status=503, headers={"Retry-After": "0"})] * 5)
    done = ask("hello")
    assert done.code == 1
    assert last(done)["status"] == "error"
    assert "answered 503" in last(done)["error"]
    assert "choose another model" in last(done)["error"]
    assert len(of(done, "note")) == 4


def test_a_connection_reset_in_the_middle_runs_no_unfinished_call(
    ask: Any, cli: Any, model_server: ModelServer
) -> None:
    calls = [("write_file", {"path": "one", "content": "1"}), ("write_file", {"path": "two", "content": "2" * 200})]
    model_server.say(Reply(text="I write. ", calls=calls, piece=10, break_after=18), Reply(text="went on"))
    done = ask("write both", "--yes")
    assert ((cli.root / "one").read_text("utf-8"), (cli.root / "two").exists()) == ("1", False)
    assert of(done, "message")[0]["text"] == "I write. "
    assert [event["arguments"]["path"] for event in of(done, "call_asked")] == ["one"]


def test_a_person_who_interrupts_hangs_up(cli: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="on and on ", forever=True, pause=0.02))
    served = {"PEGBOARD_MODEL": "openai/scripted", "OPENAI_BASE_URL": model_server.base_url}
    child = cli.start("run", "talk", "--json", "--session", "s", **served)
    for line in child.stdout:
        if json.loads(line)["event"] == "text":
            break
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert json.loads(out.splitlines()[-1])["status"] == "interrupted"
    assert model_server.wait(lambda server: server.gone)
    assert '"text":"on and ' in cli.log("s")


# --- keys and models --------------------------------------------------------------------------------------------------


def test_a_missing_key_is_named_and_nothing_is_started(cli: Any) -> None:
    done = cli("run", "hello", PEGBOARD_MODEL="openai/gpt-5")
    assert (done.code, done.out) == (2, "")
    assert "OPENAI_API_KEY is not set" in done.err
    assert "nothing was started" in done.err


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="hi"),
        Reply(status=401, body={"error": {"message": f"bad: {KEY}"}}),
        Reply(status=400, body={"error": {"message": f"bad: {KEY}"}}),
    ],
)
def test_a_key_is_nowhere_to_be_read(cli: Any, model_server: ModelServer, reply: Reply) -> None:
    model_server.say(reply)
    served = {"PEGBOARD_MODEL": "openai/m", "OPENAI_BASE_URL": model_server.base_url, "OPENAI_API_KEY": KEY}
    done = cli("run", "hello", "--session", "s", "--debug", **served)
    assert model_server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    said = done.out + done.err + cli.log("s")
    assert "secret-of" not in said
    assert "pegboard_openai" in done.err, "--debug shows no log lines"


def test_calls_of_tools_by_impossible_names_do_not_end_a_session(ask: Any, model_server: ModelServer) -> None:
    """Endpoints refuse a history with such a name, and would refuse it for good."""
    model_server.say(Reply(calls=[("functions.läs\x1b", {}), ("n" * 3000, {})]), Reply(text="I see"))
    done = ask("hello", "--session", "s")
    assert (done.code, last(done)["text"]) == (0, "I see")
    sent = model_server.completions[1]["messages"]
    names = [call["function"]["name"] for message in sent for call in message.get("tool_calls", ())]
    assert names == ["functions_l_s_", "n" * 64]


@pytest.mark.parametrize("depth", [101, 600, 50_000])
def test_arguments_too_deep_to_be_gone_through_are_refused_and_the_session_can_be_exported(
    ask: Any, cli: Any, model_server: ModelServer, depth: int
) -> None:
    deep = '{"path":' + "[" * depth + "]" * depth + "}"
    model_server.say(Reply(calls=[("read_file", deep)], piece=10_000), Reply(text="I see"))
    done = ask("hello", "--session", "s")
    assert [event["block"] for event in of(done, "call_finished")] == ["invalid_arguments"]
    assert (done.code, last(done)["text"]) == (0, "I see")
    for form in ("markdown", "json"):
        exported = cli("sessions", "export", "s", "--format", form)
        assert (exported.code, exported.err) == (0, "")


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_a_log_that_holds_deep_arguments_can_be_exported(
    ask: Any, cli: Any, model_server: ModelServer, form: str
) -> None:
    model_server.say(Reply(calls=[("read_file", {"path": "a.txt"})]))
    ask("hello", "--session", "s")
    (log,) = cli.home.rglob("sessions/s/events.jsonl")
    written = log.read_text("utf-8")
    assert written.count('{"path":"a.txt"}') == 2
    log.write_text(written.replace('{"path":"a.txt"}', '{"path":' + "[" * 600 + "]" * 600 + "}"), "utf-8")
    exported = cli("sessions", "export", "s", "--format", form)
    assert (exported.code, exported.err) == (0, "")
    assert "[" * 600 in exported.out


def test_one_piece_of_text_beyond_the_limit_of_a_reply_is_cut_there(ask: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(text="a" * 9_000_000, piece=9_000_000))
    done = ask("hello")
    assert done.code == 1
    assert len(last(done)["text"]) == len(of(done, "message")[0]["text"]) == 8_388_608
    assert sum(len(event["text"]) for event in of(done, "text")) == 8_388_608
    assert "longer than 8,388,608 characters" in last(done)["error"]


def test_a_key_that_cannot_be_sent_is_refused_by_its_variable(ask: Any, model_server: ModelServer) -> None:
    done = ask("hello", OPENAI_API_KEY="sk-one-line\nsk-another-line")
    assert (done.code, model_server.requests) == (2, [])
    assert "OPENAI_API_KEY" in done.err
    assert "-line" not in done.out + done.err


@pytest.mark.parametrize("json", ["--json", ""])
def test_an_answer_to_a_closed_stdout_is_lost_and_that_is_a_failure(
    cli: Any, model_server: ModelServer, json: str
) -> None:
    served = cli.environ | {"PEGBOARD_MODEL": "openai/m", "OPENAI_BASE_URL": model_server.base_url}
    line = f'exec "$0" run {json} hello >&-'
    ended = subprocess.run(
        ["sh", "-c", line, Path(sys.executable).with_name("pegboard")],
        cwd=cli.root,
        env=served,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert ended.returncode == 1
    assert "stdout was closed" in ended.stderr
    assert len(model_server.completions) == 1


def test_an_unknown_model_is_told_with_those_there_are(ask: Any, model_server: ModelServer) -> None:
    model_server.models = [{"id": "big-model"}, {"id": "small-model"}]
    model_server.say(Reply(status=404, body={"error": {"message": "no such model"}}))
    done = ask("hello", PEGBOARD_MODEL="openai/big-modle")
    assert done.code == 1
    assert "It has: big-model" in last(done)["error"]


def test_a_gateway_of_the_settings_answers(cli: Any, model_server: ModelServer) -> None:
    cli.config(
        f'[providers.gate]\nkind = "openai"\nbase_url = "{model_server.base_url}"\napi_key_env = "GATE"\n'
        'models = ["org/large"]\nheaders = { X-Team = "{env:TEAM}" }\nstream_usage = false\n'
    )
    environ = {"PEGBOARD_MODEL": "gate/org/large", "GATE": "k-123456", "TEAM": "blue"}
    done = cli("run", "hello", "--json", **environ)
    assert (done.code, done.events[0]["model"]) == (0, "gate/org/large")
    seen = model_server.requests[0]
    assert (seen.body["model"], seen.headers["x-team"], seen.headers["authorization"]) == (
        "org/large",
        "blue",
        "Bearer k-123456",
    )
    assert "stream_options" not in seen.body


@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({"OPENAI_API_KEY": KEY}, "openai/gpt-5"),
        ({"GATE": "k"}, "gate/org/large"),
        ({"GATE": "k", "OPENAI_API_KEY": KEY}, "gate/org/large"),
        ({}, "offline"),
    ],
)
def test_where_no_model_is_named_the_first_that_is_there_answers(
    cli: Any, model_server: ModelServer, environ: dict[str, str], model: str
) -> None:
    cli.environ.pop("PEGBOARD_MODEL")
    cli.config(
        f'[providers.gate]\nkind = "openai"\nbase_url = "{model_server.base_url}"\napi_key_env = "GATE"\n'
        'models = ["org/large"]\n'
    )
    done = cli("run", "hello", "--json", OPENAI_BASE_URL=model_server.base_url, **environ)
    assert done.events[0]["model"] == model


@pytest.mark.parametrize("way", ["flag", "environment"])
def test_offline_by_name_means_it(cli: Any, model_server: ModelServer, way: str) -> None:
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.base_url}
    if way == "flag":
        cli.environ.pop("PEGBOARD_MODEL")
        done = cli("run", "hello", "--json", "--model", "offline", **environ)
    else:
        done = cli("run", "hello", "--json", PEGBOARD_MODEL="offline", **environ)
    assert done.events[0]["model"] == "offline"
    assert model_server.requests == []


# --- models -----------------------------------------------------------------------------------------------------------

GATES = """\
[providers.gate]
kind = "openai"
base_url = "{url}"
models = ["stated"]

[providers.gone]
kind = "openai"
base_url = "http://127.0.0.1:1/v1"

[providers.bad]
kind = "openai"
base_url = "https://bad.example/v1"
"""


def test_models_lists_what_there_is_without_dialling(cli: Any, model_server: ModelServer) -> None:
    cli.config(GATES.format(url=model_server.base_url))
    done = cli("models", "--json", PEGBOARD_MODEL="gate/x")
    assert done.code == 0
    listed = done.json
    assert set(listed) == {"model", "why", "error", "providers"}
    assert (listed["model"], listed["error"]) == ("gate/x", None)
    assert "model is set (environment" in listed["why"]
    rows = {row["name"]: row for row in listed["providers"]}
    assert set(rows["gate"]) == {"name", "origin", "banner", "models", "problem"}
    assert (rows["gate"]["origin"], rows["gate"]["models"]) == ("config", ["stated"])
    assert "BAD_API_KEY" in rows["bad"]["problem"]
    assert (rows["offline"]["origin"], rows["openai"]["origin"]) == ("installed", "installed")
    assert "imported when its name is chosen" in rows["script"]["problem"]
    assert model_server.requests == []


def test_models_asks_every_endpoint_when_told_to_and_survives_those_that_are_gone(
    cli: Any, model_server: ModelServer
) -> None:
    cli.config(GATES.format(url=model_server.base_url))
    until(lambda: "gate/stated\n  gate/scripted\n" in cli("models", "--probe", PEGBOARD_MODEL="offline").out)
    done = cli("models", "--probe", PEGBOARD_MODEL="offline")
    assert done.code == 0
    assert "offline answers: model is set (environment" in done.out
    assert "cannot be reached" in done.out


def test_models_says_why_nothing_answers(cli: Any) -> None:
    done = cli("models", "--json", PEGBOARD_MODEL="nosuch/x")
    assert (done.code, done.json["model"]) == (0, None)
    assert "no provider 'nosuch' is installed" in done.json["error"]


# --- what is dialled --------------------------------------------------------------------------------------------------

WATCH = """\
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        with open({file!r}, "a", encoding="utf-8") as out:
            address = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[:2]
            if not isinstance(address, (str, bytes)):
                out.write(f"{{address[0]}}:{{address[1]}}\\n")

sys.addaudithook(watch)
"""


@pytest.fixture
def dialled(cli: Any, tmp_path: Path) -> Any:
    """What the process and the Pythons that it starts have dialled so far: every address and every name looked up."""
    file = tmp_path / "dialled"
    site = Path(cli.environ["PYTHONPATH"])
    (site / "sitecustomize.py").write_text(WATCH.format(file=str(file)), "utf-8")
    return lambda: set(file.read_text("utf-8").splitlines()) if file.exists() else set()


def test_nothing_but_the_endpoint_is_dialled(cli: Any, model_server: ModelServer, dialled: Any) -> None:
    """No telemetry: a whole turn with calls, keys in the environment of everyone, and the search for servers left on."""
    (cli.root / "a.txt").write_text("hello\n", "utf-8")
    model_server.then = by_keywords
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.base_url, "PEGBOARD_LOCAL_MODELS": "true"}
    done = cli("run", "read a.txt and run 'echo hi'", "--yes", "--json", PEGBOARD_MODEL="openai/m", **environ)
    assert (done.code, len(of(done, "call_finished"))) == (0, 2)
    assert dialled() == {f"127.0.0.1:{model_server.port}"}


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["tools", "--json"],
        ["tool", "read_file", "path=a.txt"],
        ["sessions", "list"],
        ["run", "read a.txt", "--model", "offline"],
        ["models", "--json"],
    ],
    ids=" ".join,
)
def test_what_needs_no_model_dials_nothing(cli: Any, dialled: Any, command: list[str]) -> None:
    (cli.root / "a.txt").write_text("hello\n", "utf-8")
    cli.environ.pop("PEGBOARD_MODEL")
    assert cli(*command, OPENAI_API_KEY=KEY).code == 0
    assert dialled() == set()


def test_the_watch_would_see_it(cli: Any, dialled: Any) -> None:
    import subprocess
    import sys

    code = "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"
    subprocess.run([sys.executable, "-c", code], env=cli.environ, check=True)
    assert dialled() == {"127.0.0.1:1"}
