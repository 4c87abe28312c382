"""The line session with a model behind a real HTTP endpoint: the whole of it, as a person meets it in one sitting."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pexpect
import pytest
from model_server import ModelServer, Reply

READY = "\x1b[?2004h> "
QUESTION = "Allow?"
LASTS = (
    "sh -c 'sleep 300 & echo $! > grandchild; wait' & "
    "until [ -s grandchild ]; do sleep 0.02; done; echo $$ > shell; {}wait"
)


def lasting(mark: str) -> str:
    """A command that starts more programs, says so, and lasts."""
    return LASTS.format(f"echo {mark}; ")


def is_gone(pid: int) -> bool:
    """Whether a process has ended: nobody is left of that number, or only what its parent has not fetched yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def processes(cli: Any) -> list[int]:
    return [int((cli.root / name).read_text()) for name in ("shell", "grandchild")]


def results(server: ModelServer) -> list[str]:
    """The results of calls that the model was last sent."""
    return [message["content"] for message in server.completions[-1]["messages"] if message["role"] == "tool"]


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


@pytest.fixture
def talk(cli: Any, model_server: ModelServer) -> Any:
    """`pegboard chat` on a pseudo-terminal, in the session `s1`, with the scripted server as its model."""

    def begin() -> Any:
        served = {"PEGBOARD_MODEL": "openai/scripted", "OPENAI_BASE_URL": model_server.base_url}
        child = cli.terminal("chat", "--session", "s1", **served)
        child.expect_exact(READY)
        return child

    return begin


def answer(child: Any, typed: str) -> None:
    child.expect_exact(QUESTION)
    child.sendline(typed)


def test_two_approvals_and_a_refusal_whose_reason_the_model_gets(
    cli: Any, talk: Any, model_server: ModelServer
) -> None:
    model_server.say(
        Reply(text="First one.", calls=[("write_file", {"path": "one.txt", "content": "1\n"})]),
        Reply(
            calls=[("write_file", {"path": "two.txt", "content": "2\n"}), ("write_file", {"path": "x", "content": "3"})]
        ),
        Reply(text="As you say."),
    )
    child = talk()
    child.sendline("write three files")
    answer(child, "y")
    child.expect_exact("[o]ne by one")
    child.sendline("o")
    answer(child, "y")
    answer(child, "n because x is no name for a file")
    child.expect_exact(READY)
    assert "As you say.\n" in plain(child.before)
    assert (cli.root / "one.txt").read_text() == "1\n" and (cli.root / "two.txt").read_text() == "2\n"
    assert not (cli.root / "x").exists()
    made, also_made, refused = results(model_server)
    assert "one.txt" in made and "two.txt" in also_made
    assert "declined" in refused and "x is no name for a file" in refused
    child.sendeof()
    child.expect(pexpect.EOF)


def test_a_stopped_command_a_cancelled_turn_and_a_next_one(cli: Any, talk: Any, model_server: ModelServer) -> None:
    model_server.say(
        Reply(calls=[("bash", {"command": lasting("started")})]),
        Reply(text="on and on ", forever=True, pause=0.01),
        Reply(text="Here again."),
    )
    child = talk()
    child.sendline("start it")
    answer(child, "y")
    child.expect_exact("  \x1b[2mstarted")
    running = processes(cli)
    assert not any(map(is_gone, running))
    child.sendintr()
    child.expect_exact("on and on")
    assert all(map(is_gone, running)), "the command and all that it started"
    assert "did not finish" in results(model_server)[0]
    child.sendintr()
    child.expect_exact(READY)
    assert plain(child.before).endswith("(cancelled)\n")
    assert model_server.wait(lambda server: server.gone), "the endpoint is hung up on"
    child.sendline("and now?")
    child.expect_exact("Here again.")
    said = [m["content"] for m in model_server.completions[-1]["messages"] if m["role"] == "assistant" and m["content"]]
    assert said and said[-1].startswith("on and on"), "what it had said is kept"
    child.expect_exact(READY)
    child.sendeof()
    child.expect(pexpect.EOF)


def test_killed_in_the_middle_of_a_call_it_can_be_gone_on_with(cli: Any, talk: Any, model_server: ModelServer) -> None:
    model_server.say(Reply(calls=[("bash", {"command": lasting("started")})]), Reply(text="I shall look first."))
    child = talk()
    child.sendline("start it")
    answer(child, "y")
    child.expect_exact("  \x1b[2mstarted")
    child.kill(signal.SIGKILL)
    child.expect(pexpect.EOF)
    child.close()
    for left in processes(cli):
        os.kill(left, signal.SIGKILL)
    child = talk()
    shown = plain(child.before)
    assert "> start it\n" in shown and "interrupted: Error: This call was started and did not finish" in shown
    child.sendline("what now?")
    child.expect_exact("I shall look first.")
    child.expect_exact(READY)
    child.sendeof()
    child.expect(pexpect.EOF)
    assert "did not finish, so its effects are unknown" in results(model_server)[0]
    calls = [call for message in model_server.completions[-1]["messages"] for call in message.get("tool_calls") or ()]
    assert [json.loads(call["function"]["arguments"])["command"] for call in calls] == [lasting("started")]
