"""`pegboard run` under limits, and taking a session up again."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest
from running import given_time

HELLO: dict[str, Any] = {"text": "hello"}


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply of the model that makes one call."""
    return {"calls": [[name, arguments]]}


def lines(done: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("flag", "begins"),
    [
        (("--max-steps", "2"), "steps: the turn was stopped after 2 replies"),
        (("--max-tokens", "1"), "budget: the turn took 2 tokens and may take 1,"),
        (("--timeout", "0.000001"), "timeout: the turn was stopped after 1e-06 s"),
    ],
)
def test_a_turn_that_reaches_a_limit_exits_with_1_and_says_what_to_do(
    cli: Any, flag: tuple[str, str], begins: str
) -> None:
    (cli.root / "a.py").write_text("a\n")
    cli.script(*[asks("peek", path="a.py", limit=n) for n in range(1, 5)], HELLO)
    events = lines(cli("run", "go", *flag, "--json"))
    ended = events[-1]
    assert (ended["event"], ended["status"]) == ("turn_ended", "stopped")
    assert ended["error"].startswith(begins) and "Ask again to go on" in ended["error"]
    done = cli("run", "go", *flag)
    assert (done.code, done.out) == (1, "")
    assert f"! stopped: {begins.split(':')[0]}: " in done.err


def test_the_configuration_sets_limits_and_a_flag_goes_above_it(cli: Any) -> None:
    cli.config("[limits]\nmax_steps = 1\n")
    cli.script(asks("peek", path="a.py"), asks("peek", path="b.py"), HELLO)
    assert cli("run", "go").code == 1
    assert cli("run", "go", "--max-steps", "3").code == 0


@pytest.mark.parametrize(
    "flag",
    [
        ("--max-steps", "0"),
        ("--max-steps", "many"),
        ("--max-tokens", "0"),
        ("--max-tokens", "-1"),
        ("--timeout", "0"),
        ("--timeout", "-1"),
        ("--timeout", "nan"),
        ("--timeout", "inf"),
        ("--continue", "--session=x"),
    ],
)
def test_limits_that_are_none_are_usage_errors_and_nothing_is_started(cli: Any, flag: tuple[str, ...]) -> None:
    cli.script(HELLO)
    done = cli("run", "hi", *flag)
    assert (done.code, done.out) == (2, "")
    assert flag[0] in done.err
    assert not (cli.root / "heard.json").exists()


def test_a_call_that_runs_when_the_time_is_over_is_interrupted(cli: Any) -> None:
    def attempt(limit: float) -> None:
        cli.script(asks("bash", command="echo begun; sleep 600"), HELLO)  # longer than a test may take
        done = cli("run", "go", "--timeout", str(limit), "--yes", "--json")
        assert done.code == 1
        (finished,) = [event for event in lines(done) if event["event"] == "call_finished"]
        assert (finished["outcome"], finished["why"]) == ("interrupted", "turn_ended")
        assert "begun" in finished["text"]
        assert lines(done)[-1]["error"].startswith("timeout: ")

    given_time(attempt, (1, 10, 40))


def test_a_model_that_goes_round_in_circles_is_told_and_then_stopped(cli: Any) -> None:
    (cli.root / "a.py").write_text("a\n")
    cli.script(*[asks("peek", path="a.py")] * 9)
    done = cli("run", "go")
    assert (done.code, done.out) == (1, "")
    assert "! stopped: repeats: " in done.err and "3rd time" in done.err
    assert len([line for line in done.err.splitlines() if line.startswith("← Read a.py")]) == 5
    assert any("third time" in text for text in cli.heard())


def test_continue_goes_on_with_the_last_session_of_this_folder(cli: Any, tmp_path: Any) -> None:
    cli.script(HELLO)
    first = lines(cli("run", "one", "--json"))[0]["session"]
    other = tmp_path / "other"
    other.mkdir()
    cli("run", "elsewhere", "--path", str(other))
    cli("tool", "peek", "path=a.py")  # a call alone is no conversation
    done = cli("run", "two", "--continue", "--json")
    assert done.code == 0
    started = lines(done)[0]
    assert (started["session"], started["turn"]) == (first, 2)
    assert [text for text in cli.heard() if text in ("one", "two", "elsewhere")] == ["one", "two"]


def test_continue_without_a_session_starts_nothing_and_says_so(cli: Any) -> None:
    cli.script(HELLO)
    done = cli("run", "hi", "--continue")
    assert (done.code, done.out) == (2, "")
    assert "no session of" in done.err and "nothing was started" in done.err
    assert not (cli.root / "heard.json").exists()
    assert cli("sessions", "list").out.strip() == "No sessions yet."


def test_after_kill_9_a_session_is_gone_on_with_and_the_model_knows(cli: Any) -> None:
    cli.script(asks("bash", command="touch begun; sleep 60"), HELLO)
    process = cli.start("run", "one", "--yes", "--json", "--session", "s")
    deadline = time.monotonic() + 60
    while not (cli.root / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    cli.script(HELLO)
    done = cli("run", "two", "--continue", "--json")
    assert done.code == 0
    heard = "\n".join(cli.heard())
    assert "did not finish" in heard and "bash (c1)" in heard and "attempt 2" in heard
    shown = cli("sessions", "show", "s").out
    assert "> one" in shown and "> two" in shown and "(to the model: Before this request" in shown
