"""Modes on the command line: for one command, in a line session, in the log, in the shell's completion."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

POKE: dict[str, Any] = {"calls": [["poke", {"path": "b.txt", "text": "x"}]]}
DONE: dict[str, Any] = {"text": "done"}
OWN = '[modes.careful]\ndescription = "Nothing from the web"\ntool_permission.web = "deny"\n'


def started(cli: Any, session: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in cli.log(session).splitlines()]
    return [event for event in events if event["event"] == "turn_started"]


def test_a_mode_is_on_for_one_call_and_its_rule_is_named(cli: Any) -> None:
    done = cli("tool", "poke", "path=b.txt", "text=x", "--mode", "plan", "--yes", "--json")
    assert (done.code, done.json["outcome"], done.json["block"]) == (2, "blocked", "denied")
    assert (done.json["decision"]["rule"], done.json["decision"]["layer"]) == (
        "modes.plan: tool_permission.edit",
        "flag",
    )
    assert not (cli.root / "b.txt").exists()
    assert cli("tool", "poke", "path=b.txt", "text=x", "--mode", "accept-edits").code == 0
    assert (cli.root / "b.txt").exists()
    assert cli("tool", "execute", "command=touch c", "--mode", "accept-edits").code == 2
    assert not (cli.root / "c").exists()


def test_explain_says_what_a_call_would_get_in_a_mode(cli: Any) -> None:
    words = ("explain", "poke", "path=b.txt", "text=x", "--json")
    assert [cli(*words, *mode).json["action"] for mode in ((), ("--mode", "plan"), ("--mode", "accept-edits"))] == [
        "ask",
        "deny",
        "allow",
    ]


def test_a_mode_that_is_not_there_starts_nothing(cli: Any) -> None:
    cli.script(POKE, DONE)
    done = cli("run", "go", "--yes", "--mode", "plam", "--session", "s1")
    assert done.code == 2 and "did you mean plan?" in done.err
    assert not (cli.root / "b.txt").exists()


@pytest.mark.row("R-085")
def test_a_turn_names_its_mode_and_who_goes_on_is_in_none_because_of_it(cli: Any) -> None:
    cli.script(POKE, DONE)
    first = cli("run", "go", "--yes", "--mode", "plan", "--session", "s1")
    assert " · mode plan" in first.err and not (cli.root / "b.txt").exists()
    cli.script(DONE, DONE, POKE, DONE)
    again = cli("run", "go", "--yes", "--session", "s1")
    assert " · mode " not in again.err and (cli.root / "b.txt").exists()
    assert [event["mode"] for event in started(cli, "s1")] == ["plan", None]
    assert started(cli, "s1")[0]["offered"] < started(cli, "s1")[1]["offered"]


def test_a_flag_goes_before_the_configuration_and_may_say_none(cli: Any) -> None:
    cli.config('mode = "plan"\n')
    words = ("tool", "poke", "path=b.txt", "text=x", "--yes")
    assert cli(*words).code == 2
    assert cli(*words, "--mode", "careful").code == 2  # there is none yet
    assert cli(*words, "--mode", "").code == 0


@pytest.mark.row("R-085")
def test_a_line_session_lists_modes_and_stays_in_the_one_that_was_chosen(cli: Any) -> None:
    cli.config(OWN)
    cli.script(POKE, DONE)
    lines = [
        "/mode",
        "/mode plan",
        "go",
        "/new",
        "go",
        "/model script",
        "go",
        "/mode nosuch",
        "/mode none",
        "/new",
        "go",
    ]
    done = cli("chat", "--yes", stdin="\n".join(lines))
    assert "careful       Nothing from the web" in done.out and "no mode is on · /mode NAME changes it" in done.out
    assert "! mode: there is no mode 'nosuch'" in done.err
    headers = re.findall(r"session (\S+)( · mode plan)?\n", done.err)
    assert [bool(mode) for _, mode in headers] == [False, True, False]
    modes = [[event["mode"] for event in started(cli, session)] for session, _ in headers]
    assert modes == [["plan"], ["plan", "plan"], [None]]
    denied = ["modes.plan: tool_permission.edit says deny" in cli.log(session) for session, _ in headers]
    assert denied == [True, True, False] and (cli.root / "b.txt").exists()


def test_a_person_sees_the_mode_where_they_type_and_its_names_are_completed(cli: Any) -> None:
    child = cli.terminal("chat")
    child.expect_exact("\x1b[?2004h> ")
    child.send("/mode acc\t\r")
    child.expect_exact("the mode is accept-edits")
    child.expect_exact("\x1b[?2004haccept-edits> ")
    child.sendline("/mode none")
    child.expect_exact("\x1b[?2004h> ")
    child.sendeof()
    child.wait()


def test_the_shell_completes_modes(cli: Any) -> None:
    cli.config(OWN)
    words = ["pegboard", "run", "--mode", ""]
    done = cli(_PEGBOARD_COMPLETE="complete_bash", COMP_WORDS="\n".join(words), COMP_CWORD="3")
    assert set(done.out.split()) == {"plan", "accept-edits", "auto", "careful"}


def test_the_banner_names_the_mode_and_what_it_withholds(cli: Any) -> None:
    told = cli("run", "hello", "--mode", "plan").err
    [line] = [line for line in told.splitlines() if "withheld" in line]
    assert line.startswith("note: mode plan: these tools are withheld while it is on: ") and "write_file" in line
    assert "withheld" not in cli("run", "hello").err
