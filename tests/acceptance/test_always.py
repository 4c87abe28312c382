"""Yes once, always, edit, no, and several together: at a real terminal, with what is remembered said before it is."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pexpect
import pytest

NO = r"\[e\]dit / \[N\]o \(or: \"n because \.\.\.\"\)"
ONCE = rf"Allow\? \[y\]es once / {NO}"
ALWAYS = rf"Allow\? \[y\]es once / \[a\]lways / {NO}"
SESSION = rf"Allow\? \[y\]es once / \[a\]lways for the rest of this run / {NO}"
HOW_LONG = (
    r"Always in: the re\[s\]t of this run / this \[p\]roject / \[e\]very project / (\[c\]hange the pattern / )?\[B\]ack"
)
EDITED = rf"Allow as edited\? \[y\]es once / {NO}"
SEVERAL = r"Allow\? \[y\]es to all / numbers for some \(1 3-4\) / \[o\]ne by one / \[N\]one"
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
    cli.script(calls(poke("a")), calls(poke("deep/b")), calls(poke("c")), calls(("gated", {"text": "x"})), HELLO)
    child = cli.terminal("run", "go", "--session", "s")
    child.expect(ALWAYS)
    assert plain(child.before).rstrip().endswith("always would allow: poke in the workspace")
    child.sendline("a")
    child.expect(HOW_LONG)
    assert not (cli.root / "a").exists()
    child.sendline("s")
    child.expect(SESSION)
    assert "gated asks" in plain(child.before)
    assert "always would allow, for the rest of this run: exactly this call of gated" in plain(child.before)
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
    for answers in (("a", "s"), ("n",)):
        child = cli.terminal("run", "go", "--session", "s")
        for question, answer in zip((ALWAYS, HOW_LONG), answers, strict=False):
            child.expect(question)
            child.sendline(answer)
        assert ended(child) == 0
    assert (cli.root / "a").exists() and not (cli.root / "b").exists()


def test_always_for_a_command_that_writes_is_for_that_command(cli: Any) -> None:
    first, other = ("execute", {"command": "echo one >> out"}), ("execute", {"command": "echo one >> out; echo two"})
    cli.script(calls(first), calls(first), calls(other), HELLO)
    child = cli.terminal("run", "go")
    child.expect(SESSION)
    assert "for the rest of this run: exactly this command of execute" in plain(child.before)
    child.sendline("always")
    child.expect(SESSION)
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
    child.expect("That cannot be remembered; please answer y, e or n")
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
    cli.script(calls(poke("a")), calls(poke("a")), HELLO)
    child = cli.terminal("run", "go")
    for answer in ("y", "n"):
        child.expect(ALWAYS)
        child.sendline(answer)
    assert ended(child) == 0


def test_an_always_typed_ahead_is_none(cli: Any) -> None:
    cli.script({"text": "wait for it", "sleep": 1} | calls(poke("a")), calls(poke("b")), HELLO)
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
    cli.script(calls(poke("a")), calls(poke("b")), HELLO)
    child = cli.terminal("run", "go", "--session", "s")
    child.expect(EITHER)
    child.sendline("n because it is not mine")
    child.expect(EITHER)
    child.sendintr()
    assert ended(child) == 130
    assert not (cli.root / "a").exists() and not (cli.root / "b").exists()
    assert len(cli.heard()) == 3, "the model was not asked again"
    declined, cut = logged(cli, "s", "call_finished")
    assert "it is not mine" in declined["text"] and "alternative" in declined["text"]
    assert (cut["outcome"], cut["block"]) == ("blocked", "denied")
    (end,) = logged(cli, "s", "turn_ended")
    assert end["status"] == "interrupted"


# --- what lasts: in the user's own file -------------------------------------------------------------------------------


def answered(cli: Any, *answers: tuple[str, str]) -> str:
    """Run a turn and answer each question in turn; returns what was on the screen."""
    child = cli.terminal("run", "go", "--session", "s")
    shown = ""
    for question, answer in answers:
        child.expect(question)
        shown += child.before
        child.sendline(answer)
    assert ended(child) == 0
    return plain(shown + child.before)


def test_always_in_every_project_is_a_rule_of_the_users_own_file_until_it_is_deleted_there(cli: Any) -> None:
    cli.config("# mine\n[ui]\nshow_usage = false\n")
    run = ("execute", {"command": "make -s one > /dev/null; make two"})
    cli.script(calls(run), calls(("execute", {"command": "make -s one && make two"})), HELLO)
    shown = answered(cli, (ALWAYS, "a"), (HOW_LONG, "e"))
    assert "always would allow: make -s one …" in shown and "always would allow: make two …" in shown
    file = cli.home / ".config" / "pegboard" / "config.toml"
    text = file.read_text()
    assert text.startswith("# mine\n[ui]\nshow_usage = false\n\n# ") and "project" not in text.partition("[[")[2]
    line = text.split("\n").index("[[permission.rules]]") + 1
    found = logged(cli, "s", "approval_answered")
    assert [(e["remember"], e["scope"]) for e in found] == [(["make -s one …", "make two …"], "user")]
    assert found[0]["source"] == {"file": str(file), "line": line}

    said = cli("explain", "execute", "command=make two -k", "--json", "--path", str(cli.home)).json
    assert (said["action"], said["layer"]) == ("allow", "user")
    assert said["source"] == {"file": str(file), "line": line}, "another process, another project"
    assert cli("explain", "execute", "command=make two; rm -rf x", "--json").json["action"] == "ask"
    assert f"{file}:{line}" in cli("config", "show", "--origin").out

    file.write_text(text.partition("# 20")[0])
    assert cli("explain", "execute", "command=make two -k", "--json").json["action"] == "ask"


def test_always_in_this_project_takes_an_edited_pattern_and_holds_in_no_other(cli: Any) -> None:
    cli.script(calls(("execute", {"command": "make one -k"})), calls(("execute", {"command": "make one -k -s"})), HELLO)
    child = cli.terminal("run", "go")
    child.expect(ALWAYS)
    child.sendline("a")
    child.expect(HOW_LONG)
    child.sendline("c")
    child.expect("pattern: make one")
    child.sendline("\x15*")
    child.expect("it would allow any command")
    child.expect(r"pattern: \*")
    child.sendline("\x15make one -k")
    child.expect("always would allow: make one -k …")
    child.expect(HOW_LONG)
    child.sendline("p")
    assert ended(child) == 0
    (rule,) = tomllib.loads((cli.home / ".config/pegboard/config.toml").read_text())["permission"]["rules"]
    assert (rule["command"], rule["project"]) == ("make one -k", str(cli.root))
    assert not (cli.root / ".pegboard" / "config.toml").exists()
    for path, command, action in [
        (cli.root, "make one -k two", "allow"),
        (cli.root, "make one two", "ask"),
        (cli.home, "make one -k two", "ask"),
    ]:
        assert cli("explain", "execute", f"command={command}", "--json", "--path", str(path)).json["action"] == action


# --- edit, and several together ---------------------------------------------------------------------------------------


def test_a_command_is_edited_in_its_place_and_runs_as_edited(cli: Any) -> None:
    cli.script(calls(("execute", {"command": "echo wrong > out"})), HELLO)
    shown = answered(cli, (SESSION, "e"), ("command: echo wrong > out", "\x15echo right > out"), (EDITED, "y"))
    assert "edited:" in shown and "command: echo right > out" in shown
    assert (cli.root / "out").read_text() == "right\n"
    answer, said = logged(cli, "s", "approval_answered")
    assert answer["arguments"] == {"command": "echo right > out"} and answer["remember"] == []
    assert said["granted"] and said["arguments"] is None
    (call,) = cli("sessions", "audit", "s", "--json").json["calls"]
    assert (call["arguments"], call["questions"][0]["edited"]) == ({"command": "echo wrong > out"}, answer["arguments"])


def test_arguments_are_edited_in_the_persons_editor_and_a_file_for_them_alone(cli: Any) -> None:
    editor = cli.home / "editor"
    editor.write_text('#!/bin/sh\nstat -c %a "$1" > mode\nsed -i "s/wrong/right/" "$1"\necho "$1" > name\n')
    editor.chmod(0o755)
    cli.environ["EDITOR"] = str(editor)
    cli.script(calls(poke("wrong")), HELLO)
    answered(cli, (ALWAYS, "e"), (EDITED, "y"))
    assert (cli.root / "right").read_text() == "right" and not (cli.root / "wrong").exists()
    assert (cli.root / "mode").read_text() == "600\n"
    assert not Path((cli.root / "name").read_text().strip()).exists()


def test_an_edit_that_leads_outside_is_refused_before_it_is_asked_about(cli: Any) -> None:
    editor = cli.home / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s,wrong,../out," "$1"\n')
    editor.chmod(0o755)
    cli.environ["EDITOR"] = str(editor)
    cli.script(calls(poke("wrong")), HELLO)
    shown = answered(cli, (ALWAYS, "e"))
    assert "as edited?" not in shown and "denied by paths.outside" in shown
    assert not (cli.root.parent / "out").exists()


@pytest.mark.parametrize(("answer", "written"), [("y", "abc"), ("1, 3", "ac"), ("n because not now", "")])
def test_several_calls_of_one_reply_are_reviewed_together(cli: Any, answer: str, written: str) -> None:
    cli.script(calls(poke("a"), poke("b"), poke("c")), HELLO)
    shown = answered(cli, (SEVERAL, answer))
    rows = [line for line in shown.split("\n") if re.match(r"  \d\. ", line)]
    assert [row.split()[3] for row in rows] == ["a", "b", "c"] and "3 calls ask:" in shown
    assert "".join(sorted(path.name for path in cli.root.iterdir() if len(path.name) == 1)) == written
    if "not now" in answer:
        assert "not now" in cli.heard()[-1]


def test_several_calls_can_be_gone_through_one_by_one(cli: Any) -> None:
    cli.script(calls(poke("a"), poke("b")), HELLO)
    answered(cli, (SEVERAL, "maybe"), (SEVERAL, "o"), (ALWAYS, "n"), (ALWAYS, "y"))
    assert not (cli.root / "a").exists() and (cli.root / "b").exists()


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
    assert [row for row in shown if row.startswith("Allow?")] == ["Allow? [y]es once / [a]lways for the "]
    text = "".join(re.sub(r"^ *│ ", "", row) for row in shown if "│" in row)
    assert text == "".join(lines), "all of it is there"
