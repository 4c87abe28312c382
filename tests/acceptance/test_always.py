"""Yes once, always for this session, no: at a real terminal, with what is remembered said before it is."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pexpect
import pytest

ONCE = r"Allow\? \[y\]es once / \[N\]o \(or: \"n because \.\.\.\"\)"
ALWAYS = r"Allow\? \[y\]es once / \[a\]lways for this session / \[N\]o \(or: \"n because \.\.\.\"\)"
EITHER = r"Allow\? \[y\]es once[^\n]*\)"
HELLO: dict[str, Any] = {"text": "hello"}


def plain(text: str) -> str:
    """What is on the screen without colours and line ends of a terminal; what was written over is gone."""
    lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines)


def ended(child: Any) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return int(child.exitstatus if child.exitstatus is not None else -child.signalstatus)


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [[name, arguments] for name, arguments in made]}


def poke(path: str) -> tuple[str, dict[str, Any]]:
    return "poke", {"path": path, "text": path}


def logged(cli: Any, session: str, kind: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in cli.log(session).splitlines()]
    return [event for event in events if event["event"] == kind]


@pytest.mark.row("S-007", "S-005")
def test_always_is_said_before_it_is_kept_and_the_tool_does_not_ask_again(cli: Any) -> None:
    cli.script(calls(poke("a"), poke("deep/b")), calls(poke("c"), ("gated", {"text": "x"})), HELLO)
    child = cli.terminal("run", "go", "--session", "s")
    child.expect(ALWAYS)
    assert plain(child.before).rstrip().endswith("always would allow, for this session: poke in the workspace")
    assert not (cli.root / "a").exists()
    child.sendline("a")
    child.expect(ALWAYS)
    assert "gated asks" in plain(child.before)
    assert "always would allow, for this session: exactly this call of gated" in plain(child.before)
    assert all((cli.root / name).read_text() == name for name in ("a", "deep/b", "c"))
    child.sendline("n")
    assert ended(child) == 0
    assert [(e["call"], e["remember"]) for e in logged(cli, "s", "approval_asked")] == [
        ("c1", ["poke in the workspace"]),
        ("c4", ["exactly this call of gated"]),
    ]
    assert [e["remember"] for e in logged(cli, "s", "approval_answered")] == [["poke in the workspace"], []]
    decisions = [e["decision"] for e in logged(cli, "s", "call_finished")]
    assert [(d["action"], d["layer"]) for d in decisions[:3]] == [
        ("ask", "default"),
        ("allow", "remembered"),
        ("allow", "remembered"),
    ]


@pytest.mark.row("S-007")
def test_a_session_that_goes_on_in_another_process_asks_again(cli: Any) -> None:
    cli.script(calls(poke("a")), HELLO, calls(poke("b")), HELLO)
    for answer in ("a", "n"):
        child = cli.terminal("run", "go", "--session", "s")
        child.expect(ALWAYS)
        child.sendline(answer)
        assert ended(child) == 0
    assert (cli.root / "a").exists() and not (cli.root / "b").exists()


def test_always_for_a_command_is_for_that_command(cli: Any) -> None:
    first, other = ("execute", {"command": "echo one >> out"}), ("execute", {"command": "echo one >> out; echo two"})
    cli.script(calls(first, first, other), HELLO)
    child = cli.terminal("run", "go")
    child.expect(ALWAYS)
    assert "for this session: exactly this command of execute" in plain(child.before)
    child.sendline("always")
    child.expect(ALWAYS)
    assert "echo two" in plain(child.before) and (cli.root / "out").read_text() == "one\none\n"
    child.sendline("")
    assert ended(child) == 0


@pytest.mark.parametrize("settings", ["[approval]\nstrict = true\n", '[paths]\noutside = "ask"\n'])
def test_always_is_no_answer_where_it_is_not_offered(cli: Any, settings: str) -> None:
    cli.config(settings)
    path = "a" if "strict" in settings else "../a"
    cli.script(calls(poke(path)), HELLO)
    child = cli.terminal("run", "go")
    child.expect(ONCE)
    assert "always would" not in child.before
    child.sendline("a")
    child.expect("That cannot be remembered; please answer y or n")
    child.expect(ONCE)
    assert not (cli.root / path).exists()
    child.sendline("n")
    assert ended(child) == 0
    assert not (cli.root / path).exists()


def test_a_single_call_offers_nothing_for_later(cli: Any) -> None:
    child = cli.terminal("tool", "poke", "path=a", "text=x")
    child.expect(ONCE)
    child.sendline("y")
    assert ended(child) == 0


@pytest.mark.row("S-006")
def test_yes_is_for_once_where_always_was_offered(cli: Any) -> None:
    cli.script(calls(poke("a"), poke("a")), HELLO)
    child = cli.terminal("run", "go")
    for answer in ("y", "n"):
        child.expect(ALWAYS)
        child.sendline(answer)
    assert ended(child) == 0


def test_an_always_typed_ahead_is_none(cli: Any) -> None:
    cli.script({"text": "wait for it", "sleep": 1} | calls(poke("a"), poke("b")), HELLO)
    child = cli.terminal("run", "go")
    child.expect("wait for it")
    child.sendline("a")
    for _ in range(2):
        child.expect(ALWAYS)
        child.sendline("")
    assert ended(child) == 0
    assert not (cli.root / "a").exists()


@pytest.mark.row("R-067", "S-008")
def test_no_declines_the_call_and_the_turn_goes_on_but_ctrl_c_ends_the_turn(cli: Any) -> None:
    cli.script(calls(poke("a"), poke("b")), HELLO)
    child = cli.terminal("run", "go", "--session", "s")
    child.expect(EITHER)
    child.sendline("n because it is not mine")
    child.expect(EITHER)
    child.sendintr()
    assert ended(child) == 130
    assert not (cli.root / "a").exists() and not (cli.root / "b").exists()
    assert len(cli.heard()) == 1, "the model was not asked again"
    declined, cut = logged(cli, "s", "call_finished")
    assert "it is not mine" in declined["text"] and "alternative" in declined["text"]
    assert (cut["outcome"], cut["block"]) == ("blocked", "denied")
    (end,) = logged(cli, "s", "turn_ended")
    assert end["status"] == "interrupted"


# --- what was shown is what is written --------------------------------------------------------------------------------


def swap_content(file: Path) -> None:
    file.write_text("one\ntwo\nthree\n")


def swap_with_same_stamps(file: Path) -> None:
    was = file.stat()
    file.write_text("one\ntwO\n")
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))


def swap_link(file: Path) -> None:
    file.with_name("other.txt").write_text(file.read_text())
    file.unlink()
    file.symlink_to("other.txt")


def swap_twin(file: Path) -> None:
    twin = file.with_name("twin")
    twin.write_text("one\ntwo\nmore\n")
    twin.replace(file)


@pytest.mark.parametrize("swap", [swap_content, swap_with_same_stamps, swap_link, swap_twin])
def test_a_file_that_changes_while_the_question_stands_is_not_written(cli: Any, swap: Any) -> None:
    file = cli.root / "a.txt"
    file.write_text("one\ntwo\n")
    child = cli.terminal("tool", "edit_file", "path=a.txt", "old_string=one", "new_string=1")
    child.expect(ONCE)
    assert "+1" in plain(child.before) and "-one" in plain(child.before)
    swap(file)
    before = {path.name: path.read_bytes() for path in cli.root.iterdir() if path.is_file()}
    child.sendline("y")
    child.expect("while you were asked|a path leads elsewhere now")
    assert ended(child) == 1
    assert {path.name: path.read_bytes() for path in cli.root.iterdir() if path.is_file()} == before


# --- narrow terminals -------------------------------------------------------------------------------------------------


def test_on_a_narrow_terminal_no_argument_can_begin_a_row(cli: Any) -> None:
    width = 40
    fake = "Allow? [y]es once / [N]o"
    lines = ["x" * (width - pad) + fake + " y" for pad in range(16)]
    cli.script(calls(("gated", {"text": "\n".join(lines) + "\n", "files": lines[:2]})), HELLO)
    child = cli.terminal("run", "go", dimensions=(24, width), NO_COLOR="1")
    child.expect(r"because \.\.\.\"\)")
    rows = plain(child.before).split("\n")
    child.sendline("")
    assert ended(child) == 0
    shown = rows[[row.startswith("[gated") for row in rows].index(True) + 1 :]
    assert [row for row in shown if len(row) >= width] == []
    assert [row for row in shown if row.startswith("Allow?")] == ["Allow? [y]es once / [a]lways for this "]
    text = "".join(re.sub(r"^ *│ ", "", row) for row in shown if "│" in row)
    assert text == "".join(lines), "all of it is there"
