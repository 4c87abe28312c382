"""Programs in the background, and their output as it comes, as a person at a terminal and a script meet them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

import pexpect
import pytest
from running import alive, pid_in, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what became of processes")

TWO = "echo first-part; while [ ! -e go ]; do sleep 0.02; done; echo second-part"


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [[name, arguments]]}


@pytest.mark.row("C-005")
@pytest.mark.parametrize(
    "replies",
    [
        [asks("exec", command="bash", args=["-c", TWO])],
        [asks("bash", command=TWO, shell="sh")],
        [asks("bg", action="start", command=TWO), asks("bg", action="wait", id="j1")],
    ],
    ids=["exec", "sh", "wait"],
)
def test_a_person_sees_output_while_the_command_still_runs(cli: Any, replies: list[dict[str, Any]]) -> None:
    cli.script(*replies, {"text": "hello"})
    child = cli.terminal("run", "go", "--yes")
    child.expect(r"\x1b\[2mfirst-part")
    (cli.root / "go").touch()
    child.expect("second-part")
    child.expect("hello")
    child.expect(pexpect.EOF)


def test_in_a_line_session_a_job_goes_on_while_the_person_thinks_and_its_end_is_told(cli: Any) -> None:
    cli.script(
        asks("bg", action="start", command="head -c 3000000 /dev/zero; touch done; exit 3"),
        {"text": "it runs"},
        {"text": "I see"},
    )
    child = cli.terminal("chat", "--yes")
    child.expect("> ")
    child.sendline("begin")
    child.expect("it runs")
    child.expect("> ")
    until((cli.root / "done").exists)  # nobody reads the terminal, and the loop stands still
    time.sleep(0.3)
    child.sendline("and")
    child.expect("I see")
    child.expect("> ")
    assert any("Of what ran in the background:\njob j1" in text and "exit code 3" in text for text in cli.heard())
    child.sendeof()
    child.expect(pexpect.EOF)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_whoever_ends_pegboard_ends_its_jobs(cli: Any, number: int) -> None:
    cli.script(
        asks("bg", action="start", command="trap '' HUP INT; echo $$ > pid; sleep 60"), {"text": "", "sleep": 60}
    )
    running = cli.start("run", "go", "--yes")
    pid = pid_in(cli.root / "pid")
    running.send_signal(number)
    running.communicate(timeout=60)
    until(lambda: not alive(pid))


@pytest.mark.parametrize(("how", "number"), [("tool", signal.SIGTERM), ("run", signal.SIGHUP), ("run", signal.SIGINT)])
def test_a_command_that_a_signal_to_pegboard_ended_says_which(cli: Any, how: str, number: signal.Signals) -> None:
    command = "echo $$ > pid; sleep 60"
    cli.script(asks("bash", command=command), {"text": ""})
    given = ("tool", "bash", f"command={command}") if how == "tool" else ("run", "go")
    cli.config('[ui]\nctrl_c = "turn"\n')
    running = cli.start(*given, "--yes", "--session", "s")
    pid = pid_in(cli.root / "pid")
    running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode == 130 and not alive(pid)
    [ended] = [event for line in cli.log("s").splitlines() if (event := json.loads(line))["event"] == "call_finished"]
    said = (
        "The user interrupted this command." if number == signal.SIGINT else f"{number.name} ended Pegboard while this"
    )
    assert ended["why"] == "person" and ended["text"].startswith(f"Error: {said}")


def test_a_plain_request_starts_a_command_that_ends_with_pegboard_as_is_said(cli: Any) -> None:
    done = cli("run", 'start "echo $$ > pid; sleep 60" in the background', "--model", "offline", "--yes")
    assert done.code == 0 and "started as job j1" in done.out and "it ends when Pegboard does" in done.out
    single = cli("tool", "bg", "command=echo $$ > pid; sleep 60", "--yes")
    assert single.code == 0 and "it ends with this call, at once" in single.out and "keep=true" in single.out
    for text in (done.out, single.out):
        assert not alive(int(text.partition("(process ")[2].partition(")")[0]))


def test_a_kept_job_outlives_pegboard_and_the_next_one_finds_it(cli: Any) -> None:
    command = "echo $$ > pid; echo begun; while [ ! -e go ]; do sleep 0.02; done; echo over; exit 5"
    started = cli("tool", "bg", "action=start", f"command={command}", "keep=true", "--yes", "--session", "s")
    assert started.code == 0 and "it goes on when Pegboard ends" in started.out
    pid = pid_in(cli.root / "pid")
    assert alive(pid)
    listed = cli("tool", "bg", "action=list", "--session", "s", "--json").json
    assert [(job["id"], job["state"], job["keep"], job["pid"]) for job in listed["data"]["jobs"]] == [
        ("j1", "running", True, pid)
    ]
    (cli.root / "go").touch()
    ended = cli("tool", "bg", "action=wait", "id=j1", "--session", "s", "--json").json
    assert ended["text"].startswith("begun\nover\n(j1 ended after ") and ended["data"]["exit_code"] == 5


def test_what_a_killed_pegboard_left_is_told_to_the_next_and_to_the_person_and_can_be_ended(cli: Any) -> None:
    cli.script(asks("bg", action="start", command="echo $$ > pid; exec sleep 60"), {"text": "", "sleep": 60})
    running = cli.start("run", "go", "--yes", "--session", "s")
    pid = pid_in(cli.root / "pid")
    folder = cli.home / ".local/state/pegboard/sessions/s/jobs"
    until(lambda: json.loads((folder / "j1.json").read_text())["child"] is not None)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    assert alive(pid)
    listed = cli("tool", "bg", "--session", "s")
    assert "j1  left behind by a Pegboard that was killed: it goes on (process" in listed.out
    cli.script({"text": "I see"})
    told = cli("run", "and?", "--session", "s")
    said = f"left behind by a Pegboard that was killed: it goes on (process {pid}), and nobody hears it"
    assert told.code == 0 and f"job j1 (echo $$ > pid; exec sleep 60): {said}" in told.err
    assert any("job j1" in text and "left behind" in text for text in cli.heard())
    ended = cli("tool", "bg", "action=cancel", "id=j1", "--session", "s")
    assert ended.code == 0 and "j1: cancelled" in ended.out
    assert not alive(pid)


def test_a_setting_sends_what_takes_long_to_the_background(cli: Any) -> None:
    cli.config("[exec]\nbackground_after = 0.3\n")
    cli.script(asks("bash", command="echo begun; sleep 60"), {"text": "it runs"})
    child = cli.terminal("chat", "--yes")
    child.expect("> ")
    child.sendline("go")
    child.expect("it runs")
    child.expect("> ")
    child.sendeof()
    child.expect(pexpect.EOF)
    [heard] = [text for text in cli.heard() if text.startswith("begun")]
    assert heard.startswith("begun\n(still running after 0.3 s: it goes on in the background as job j1.")


def test_where_pegboard_ends_with_the_call_or_the_turn_nothing_is_sent_there(cli: Any) -> None:
    cli.config("[exec]\nbackground_after = 0.1\n")
    command = "sleep 0.5; echo built > built; echo end"
    prompt = f'run the command "{command}"'

    single = cli("tool", "bash", f"command={command}", "--yes")
    assert single.out == "end\n"
    for given in (("run", prompt, "--model", "offline", "--yes"), ("chat", "--model", "offline", "--yes")):
        (cli.root / "built").unlink()
        done = cli(*given, stdin=f"{prompt}\n")
        assert done.code == 0 and "in the background" not in done.out + done.err
        assert (cli.root / "built").exists(), given
