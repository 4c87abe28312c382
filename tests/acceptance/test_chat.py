"""The line session on a real pseudo-terminal: prompts, slash commands, questions, Ctrl-C, sessions."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest
from running import until

PROGRAM = Path(sys.executable).with_name("pegboard")
READY = "\x1b[?2004h> "
"""What readline writes when it begins to edit a line."""
QUESTION = "Allow?"
HELLO: dict[str, Any] = {"text": "hello"}


def plain(text: str) -> str:
    """What is on the screen without colours and line ends of a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [[name, arguments]]}


def chat(cli: Any, *args: str, **environ: str) -> Any:
    """A line session that waits for its first prompt; `before` holds what it said so far."""
    child = cli.terminal("chat", *args, **environ)
    child.expect_exact(READY)
    return child


def said(child: Any, line: str) -> str:
    """Type a line, and what came until the next prompt."""
    child.sendline(line)
    child.expect_exact(READY)
    return plain(child.before)


def runs(child: Any, printed: str) -> None:
    """Wait until the live tail of a running command shows this line."""
    child.expect_exact(f"  \x1b[2m{printed}")


def left(child: Any) -> int:
    """Leave by Ctrl-D; the exit code."""
    child.sendeof()
    return ended(child)


def ended(child: Any) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return int(child.exitstatus if child.exitstatus is not None else -child.signalstatus)


def events(cli: Any, session: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cli.log(session).splitlines()]


def is_gone(pid: int) -> bool:
    """Whether a process has ended, or does so within a moment."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


# --- prompts and answers ----------------------------------------------------------------------------------------------


@pytest.mark.row("S-023")
def test_the_header_names_what_answers_and_the_sets_that_loaded(cli: Any) -> None:
    child = chat(cli)
    assert re.search(r"pegboard .* script: plays what is written", plain(child.before))
    assert re.search(r"root \S+ · sets core, dev, [a-z, -]+, web, stranger · session \d{8}-", plain(child.before))
    assert left(child) == 0


def test_each_line_is_a_turn_of_one_conversation(cli: Any) -> None:
    cli.script({"text": "first answer"}, {"text": "second answer"})
    child = chat(cli, "--session", "s1")
    assert "first answer\n" in said(child, "one")
    assert "second answer\n" in said(child, "two")
    assert left(child) == 0
    assert cli.heard() == ["one", "first answer", "two"]
    assert [e["text"] for e in events(cli, "s1") if e["event"] == "prompt"] == ["one", "two"]


def test_a_session_in_which_nothing_was_said_leaves_nothing_behind(cli: Any) -> None:
    child = chat(cli, "--session", "s1")
    assert left(child) == 0
    assert "No sessions yet" in cli("sessions", "list").out


def test_a_backslash_goes_on_in_the_next_line(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli)
    child.sendline("one\\")
    child.expect_exact("… ")
    said(child, "two")
    assert cli.heard() == ["one\ntwo"]
    assert left(child) == 0


def test_pasted_lines_are_one_prompt(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli)
    said(child, "\x1b[200~def f():\n    return 1\n\x1b[201~")
    assert cli.heard() == ["def f():\n    return 1"]
    assert left(child) == 0


def test_a_megabyte_can_be_pasted(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli)
    child.delaybeforesend = None
    text = "\n".join(f"line {number} " + "x" * 90 for number in range(10_000))
    child.send(f"\x1b[200~{text}\x1b[201~\r")
    child.expect_exact("hello", timeout=60)
    assert cli.heard() == [text]
    child.expect_exact(READY)
    assert left(child) == 0


def test_what_is_typed_during_a_turn_is_the_next_prompt(cli: Any) -> None:
    cli.script(asks("execute", command="echo started; until [ -e go ]; do sleep 0.02; done"), HELLO, {"text": "second"})
    child = chat(cli, "--yes")
    child.sendline("one")
    runs(child, "started")
    child.sendline("two")
    child.send("thr")
    (cli.root / "go").touch()
    child.expect_exact("second")
    child.expect_exact(READY + "thr")
    assert cli.heard()[-1] == "two"


def test_what_was_typed_before_a_question_does_not_answer_it_and_is_kept(cli: Any) -> None:
    cli.script({"text": "wait for it", "sleep": 1, "calls": [["poke", {"path": "a", "text": "1"}]]}, HELLO)
    child = chat(cli)
    child.sendline("go")
    child.expect_exact("wait for it")
    child.send("y\ny")
    child.expect_exact(QUESTION)
    child.sendline("")
    child.expect_exact("hello")
    child.expect_exact(READY)
    child.expect("y\r\n\r?y")
    assert not (cli.root / "a").exists()


@pytest.mark.parametrize("typed", ["zero\u200bwidth \u202e日本".encode(), b"\x16\x1b[31m \x16\x07"])
def test_odd_characters_reach_the_model_as_they_are(cli: Any, typed: bytes) -> None:
    cli.script(HELLO)
    child = pexpect.spawn(str(PROGRAM), ["chat"], cwd=str(cli.root), env=cli.environ | {"TERM": "xterm"}, timeout=60)
    child.expect_exact(READY)
    child.send(typed + b"\r")
    child.expect_exact("hello")
    child.expect_exact(READY)
    assert cli.heard() == [typed.replace(b"\x16", b"").decode()]
    assert left(child) == 0


def test_bytes_that_are_no_text_do_no_harm(cli: Any) -> None:
    cli.script(HELLO)
    child = pexpect.spawn(str(PROGRAM), ["chat"], cwd=str(cli.root), env=cli.environ | {"TERM": "dumb"}, timeout=60)
    child.expect_exact("> ")
    child.send(b"caf\xe9 \xff\xc3(\r")
    child.expect_exact("hello")
    child.expect_exact("> ")
    assert cli.heard()[0].startswith("caf")
    assert left(child) == 0


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": ""}, {"NO_COLOR": "1"}, {"LC_ALL": "C"}])
def test_a_poor_terminal_is_enough(cli: Any, environ: dict[str, str]) -> None:
    cli.script(asks("execute", command="echo ran"), {"text": "hello ✓"})
    child = cli.terminal("chat", "--yes", **environ)
    child.expect_exact("> ")
    child.sendline("go")
    child.expect("hello (✓|.u2713)")
    child.expect_exact("> ")
    assert environ.get("NO_COLOR") is None or "\x1b[1m" not in child.before
    assert left(child) == 0


def test_answers_may_go_to_a_file_while_a_person_types(cli: Any) -> None:
    cli.script(asks("gated", text="x"), {"text": "the answer"})
    child = pexpect.spawn(
        "sh",
        ["-c", '"$0" chat >out.txt', str(PROGRAM)],
        cwd=str(cli.root),
        env=cli.environ | {"TERM": "xterm"},
        encoding="utf-8",
        timeout=60,
    )
    child.expect_exact("> ")
    child.sendline("go")
    child.expect_exact(QUESTION)
    child.sendline("y")
    child.expect_exact("> ")
    assert left(child) == 0
    assert (cli.root / "out.txt").read_text("utf-8") == "the answer\n"


# --- slash commands ---------------------------------------------------------------------------------------------------


@pytest.mark.row("S-024", "S-025")
def test_tools_lists_the_counts_and_the_set_of_each(cli: Any) -> None:
    cli.config('[tools]\ndeny = ["dawdle"]\n')
    child = chat(cli)
    _, title, told, head, *shown, _, _ = said(child, "/tools").split("\n")
    assert title == "Tools" and head.split() == ["tool", "set", "~tokens"]
    offered, registered = map(int, re.findall(r"\d+", told))
    # Left out: the stranger's own, and one that nobody is told of.
    assert told == f"{offered} offered this turn of {registered} registered" and offered == registered - 2
    rows = {line.split()[0]: line.split()[1] for line in shown}
    assert rows["peek"] == "stranger" and rows["read_file"] == "core" and "dawdle" not in rows
    assert len(rows) == offered
    assert "path       string, needed" in said(child, "/tools peek")
    assert left(child) == 0


@pytest.mark.row("R-070")
def test_help_of_a_tool_has_description_parameters_category_and_permission(cli: Any) -> None:
    child = chat(cli)
    shown = said(child, "/help peek")
    for part in (
        "Look at a file.",
        "category: read",
        "permission: read",
        "path: string, needed",
        "limit: integer, default 10",
    ):
        assert part in shown
    assert "there is no tool 'pek'. Did you mean 'peek'?" in said(child, "/help pek")
    assert left(child) == 0


@pytest.mark.row("R-014")
def test_help_lists_the_commands_and_the_tools_with_their_short_labels(cli: Any) -> None:
    child = cli.terminal("chat", dimensions=(60, 80))
    child.expect_exact(READY)
    shown = said(child, "/help")
    assert re.search(r"^  /tool NAME ARGUMENTS +make one call yourself", shown, re.MULTILINE)
    assert re.search(r"^  say +say it$", shown, re.MULTILINE)
    assert max(map(len, shown.split("Tools", 1)[1].split("\n"))) <= 80
    assert "/resume [ID]: go on with another session" in said(child, "/help resume")
    assert re.search(r"^  /diff \[PATH\] +what this session has changed", shown, re.MULTILINE)
    assert re.search(r"^  /hail WHOM +hail somebody", shown, re.MULTILINE)  # the stranger's
    assert "/hail WHOM: hail somebody" in said(child, "/help /hail")
    assert left(child) == 0


@pytest.mark.row("R-069")
@pytest.mark.parametrize("written", ['{"text": "a b"}', "text='a b'", "text:='\"a b\"'"])
def test_tool_makes_a_call_under_the_same_policy(cli: Any, written: str) -> None:
    child = chat(cli, "--session", "s1")
    child.sendline(f"/tool gated {written}")
    child.expect_exact(QUESTION)
    assert "gated asks: tool_permission.stranger" in plain(child.before)
    child.sendline("y")
    child.expect_exact(READY)
    assert plain(child.before).endswith("done: a b\n")
    assert left(child) == 0
    log = events(cli, "s1")
    assert [e["event"] for e in log] == [
        "call_asked",
        "approval_asked",
        "approval_answered",
        "call_started",
        "call_finished",
    ]
    assert log[-1]["turn"] is None and log[-1]["decision"]["answer"] == {
        "granted": True,
        "by": "person",
        "reason": None,
    }


@pytest.mark.row("R-069")
def test_tool_is_refused_what_a_model_is_refused(cli: Any) -> None:
    cli.config('[tool_permission]\nstranger = "deny"\n')
    child = chat(cli)
    assert "tool_permission.stranger" in said(child, "/tool gated text=x")
    assert "is protected" in said(child, "/tool read_file path=.env") or "guard" in plain(child.before)
    assert "limit: expected" in said(child, "/tool peek path=a limit=x")
    assert left(child) == 0


def test_a_declined_call_says_so_and_the_session_goes_on(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli)
    child.sendline("/tool gated text=x")
    child.expect_exact(QUESTION)
    child.sendline("n because it rains")
    child.expect_exact(READY)
    assert "it rains" in plain(child.before).partition("it rains")[2]
    assert "hello" in said(child, "go")
    assert left(child) == 0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/tol peek", "there is no command /tol. Did you mean /tool?"),
        ("/etc", "there is no command /etc."),
        ("/tool", "write /tool NAME ARGUMENTS"),
        ("/tool peek path", "'path' is no argument"),
        ("/tool peek path='a", "No closing quotation"),
        ("/tool peek {broken", "the arguments of peek cannot be read"),
        ("/tool say text=@-", "stdin holds your prompts"),
        ("/tool nosuch", 'unknown tool "nosuch"'),
        ("/resume nosuch", "there is no session 'nosuch'"),
        ("/model nosuch/x", "nosuch"),
        ("/model script/", "script/: the name of a model is missing after the slash"),
        ("/model /x", "/x: the name of a provider is missing before the slash"),
        ("/new x y", "/new takes nothing after it"),
        ("/tools nosuch", "there is no tool 'nosuch'"),
        ("/tolos", "Did you mean /tools?"),
        ("/explain", "write /explain NAME"),
        ("/explain peek path", "'path' is no argument"),
        ("/explain nosuch", "there is no tool 'nosuch'"),
        ("/config ui.thene=x", "did you mean ui.theme?"),
        ("/config ui.status=perhaps", "expected true or false"),
        ("/export ../x.md", "Path escapes workspace"),
        ("/broken", "did not load"),
        ("/model openai/x", "or say /model offline"),
    ],
)
def test_a_command_that_cannot_be_done_says_why_and_nothing_is_sent(cli: Any, line: str, told: str) -> None:
    child = chat(cli)
    assert told in said(child, line)
    assert not (cli.root / "heard.json").exists()
    assert left(child) == 0


@pytest.mark.parametrize(
    ("line", "sent"),
    [("//tools", "/tools"), (" /tools", "/tools"), ("/etc/hosts: what is it?", "/etc/hosts: what is it?")],
)
def test_a_prompt_may_begin_with_a_slash(cli: Any, line: str, sent: str) -> None:
    cli.script(HELLO)
    child = chat(cli)
    assert "hello" in said(child, line)
    assert cli.heard() == [sent]
    assert left(child) == 0


def test_a_blank_line_is_no_prompt(cli: Any) -> None:
    child = chat(cli)
    assert said(child, "   ").strip() == ""
    assert not (cli.root / "heard.json").exists()
    assert left(child) == 0


@pytest.mark.parametrize("word", ["/quit", "/exit", "/QUIT "])
def test_quit_leaves(cli: Any, word: str) -> None:
    child = chat(cli)
    child.sendline(word)
    assert ended(child) == 0


def test_tab_completes_commands_and_tools(cli: Any) -> None:
    child = chat(cli)
    child.send("/he\tdra\t")
    child.expect_exact("/help draw ")
    child.send("\x15/tool plai\t")
    child.expect_exact("/tool plainly ")
    child.send("\x15/ha\tever\t")
    child.expect_exact("/hail everybody ")
    child.send("\x15/explain pee\tlim\t")
    child.expect_exact("/explain peek limit=")
    child.sendintr()
    child.expect_exact(READY)
    assert left(child) == 0


def test_what_this_session_is_and_did_is_shown_by_the_boards_commands(cli: Any) -> None:
    cli.script(asks("write_file", path="a.txt", content="one\n"), HELLO)
    child = chat(cli, "--yes", "--session", "s1")
    assert "no request was made" in said(child, "/cost")
    said(child, "go")
    shown = said(child, "/diff")
    assert "1 file changed, +1 -0\na.txt (created) +1 -0" in shown and "\n+one\n" in shown
    assert re.search(r"^turns +1$", said(child, "/cost"), re.MULTILINE)
    assert re.search(r"^stranger +on +\d+", said(child, "/sets"), re.MULTILINE)
    assert re.search(r"^stranger +toolset +on", said(child, "/plugins"), re.MULTILINE)
    assert "ask  poke: tool_permission.edit" in said(child, "/explain poke path=a text=b")
    assert left(child) == 0


def test_a_session_is_exported_into_the_workspace_and_never_over_a_file(cli: Any) -> None:
    cli.config('[[permission.rules]]\naction = "deny"\nkey = "edit"\npath = "locked/**"\n')
    cli.script({"text": "the answer"})
    done = cli(
        "chat", "--session", "s1",
        stdin="go\n/export out/s.md\n/export out/s.md\n/export s.json\n/export locked/s.md\n/export .env\n",
    )  # fmt: skip
    page = cli.root / "out" / "s.md"
    assert "the answer" in page.read_text("utf-8") and page.stat().st_mode & 0o777 == 0o600
    assert json.loads((cli.root / "s.json").read_bytes())["session"] == "s1"
    assert "it is there already" in done.err and "denies locked/s.md" in done.err and ".env" in done.err
    assert not (cli.root / "locked").exists() and not (cli.root / ".env").exists()


def test_a_strangers_slash_command_may_begin_a_turn(cli: Any) -> None:
    cli.script({"text": "to you too"})
    child = chat(cli)
    shown = said(child, "/hail all")
    assert "hailing all" in shown and "to you too" in shown and cli.heard() == ["hail all"]
    child.sendline("/hail nobody")
    until((cli.root / "hailing").exists)
    child.sendintr()
    child.expect("/hail was stopped")
    child.expect_exact(READY)
    assert left(child) == 0


def test_slash_commands_are_plugins_of_their_own_kind(cli: Any) -> None:
    cli.config('[plugins]\ndisable = ["hail"]\n')
    rows = {row["name"]: row for row in cli("plugins", "--json").json["plugins"] if row["kind"] == "slash"}
    assert {name for name, row in rows.items() if row["own"]} >= {"tools", "sets", "cost", "config", "diff", "export"}
    assert (rows["diff"]["state"], rows["hail"]["state"]) == ("on", "disabled")
    problems = {name: row["problem"]["what"] for name, row in rows.items() if row["problem"]}
    assert problems == {"help": "duplicate", "no word": "hook"}
    done = cli("chat", stdin="/hail all\n")
    assert "there is no command /hail" in done.err and not (cli.root / "heard.json").exists()
    assert "slash commands of ours: /config /cost" in cli("plugins").out


# --- questions and Ctrl-C ---------------------------------------------------------------------------------------------


@pytest.mark.row("R-067")
def test_n_declines_one_call_and_the_turn_goes_on(cli: Any) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    child = chat(cli)
    child.sendline("go")
    child.expect_exact(QUESTION)
    child.sendline("n")
    child.expect_exact("hello")
    child.expect_exact(READY)
    assert left(child) == 0


@pytest.mark.row("R-067", "R-066")
def test_ctrl_c_at_the_question_ends_the_whole_turn(cli: Any) -> None:
    cli.script({"calls": [["gated", {"text": "x"}], ["gated", {"text": "y"}]]}, HELLO)
    child = chat(cli, "--session", "s1")
    child.sendline("go")
    child.expect_exact(QUESTION)
    child.sendintr()
    child.expect_exact(READY)
    assert plain(child.before).endswith("(cancelled)\n") and QUESTION not in child.before
    log = events(cli, "s1")
    assert log[-1]["status"] == "interrupted" and "call_started" not in [e["event"] for e in log]
    assert "hello" in said(child, "again")
    assert left(child) == 0


@pytest.mark.row("R-066")
def test_ctrl_c_while_the_answer_streams_keeps_what_was_said(cli: Any) -> None:
    cli.script({"text": "as far as it came", "sleep": 60})
    child = chat(cli, "--session", "s1")
    child.sendline("go")
    child.expect_exact("as far as it came")
    child.sendintr()
    child.expect_exact(READY)
    assert plain(child.before).endswith("(cancelled)\n")
    assert [e["text"] for e in events(cli, "s1") if e["event"] == "message"] == ["as far as it came"]
    assert left(child) == 0


def test_the_prompt_comes_back_when_the_time_of_a_turn_is_over_at_a_question(cli: Any) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    child = chat(cli, "--timeout", "3", "--session", "s1")
    child.sendline("go")
    child.expect_exact(QUESTION)
    child.send("n because")
    child.expect_exact(READY)
    assert "stopped: timeout: " in plain(child.before)
    assert events(cli, "s1")[-1]["status"] == "stopped"
    assert "hello" in said(child, "again")
    assert cli.heard()[-1] == "again", "what was typed at the question is no prompt"
    assert left(child) == 0


SLEEPER = (
    "sleep 300 & echo $! > child; sh -c 'sleep 300 & echo $! > grandchild; wait' & "
    "until [ -s grandchild ]; do sleep 0.02; done; echo started; wait"
)
"""A command that starts children, writes their numbers down, and lasts."""


@pytest.mark.row("S-062")
def test_ctrl_c_kills_the_command_with_all_it_started_and_the_turn_goes_on(cli: Any) -> None:
    cli.script(asks("execute", command=SLEEPER), HELLO)
    child = chat(cli, "--yes")
    child.sendline("go")
    runs(child, "started")
    child.sendintr()
    child.expect_exact("hello")
    assert all(is_gone(int((cli.root / name).read_text())) for name in ("child", "grandchild"))
    assert "interrupted" in cli.heard()[-1]
    child.expect_exact(READY)
    assert "(cancelled)" not in child.before
    assert left(child) == 0


@pytest.mark.row("R-066")
def test_a_second_ctrl_c_ends_the_turn_and_the_call_in_it(cli: Any) -> None:
    cli.script(asks("execute", command=SLEEPER), asks("execute", command="echo second; sleep 300"), HELLO)
    child = chat(cli, "--yes", "--session", "s1")
    child.sendline("go")
    runs(child, "started")
    child.sendintr()
    runs(child, "second")
    child.sendintr()
    child.expect_exact(READY)
    assert plain(child.before).endswith("(cancelled)\n")
    finished = [e for e in events(cli, "s1") if e["event"] == "call_finished"]
    assert [(e["outcome"], e["why"]) for e in finished] == [("interrupted", "person")] * 2
    assert "hello" in said(child, "go on")
    assert left(child) == 0


def test_ctrl_c_may_always_mean_the_turn(cli: Any) -> None:
    cli.config('[ui]\nctrl_c = "turn"\n')
    cli.script(asks("execute", command="echo started; sleep 300"), HELLO)
    child = chat(cli, "--yes")
    child.sendline("go")
    runs(child, "started")
    child.sendintr()
    child.expect_exact(READY)
    assert plain(child.before).endswith("(cancelled)\n")
    assert left(child) == 0


def test_ctrl_c_stops_a_call_of_ones_own(cli: Any) -> None:
    child = chat(cli, "--yes", "--session", "s1")
    child.sendline("/tool execute command='echo started; sleep 300'")
    runs(child, "started")
    child.sendintr()
    child.expect_exact(READY)
    assert events(cli, "s1")[-1]["outcome"] == "interrupted"
    child.sendline("/tool gated text=x")
    child.expect_exact(READY)  # an end of input that is typed before the prompt is there may be lost
    assert left(child) == 0


def test_ctrl_c_at_the_prompt_takes_the_line_away_and_then_says_how_to_leave(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli)
    child.send("half a line")
    child.expect_exact("half a line")
    child.sendintr()
    child.expect_exact(READY)
    assert "Ctrl-D" not in child.before
    child.sendintr()
    child.expect_exact("(Ctrl-D or /quit ends the session)")
    child.expect_exact(READY)
    assert "hello" in said(child, "go") and cli.heard() == ["go"]
    assert left(child) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("busy", [False, True])
def test_told_to_end_it_leaves_the_session_and_the_terminal_whole(cli: Any, number: int, busy: bool) -> None:
    cli.script(asks("execute", command=SLEEPER), HELLO)
    before = None
    child = cli.terminal("chat", "--yes", "--session", "s1")
    child.expect_exact("Ctrl-D leaves")
    child.expect_exact(READY)
    if busy:
        child.sendline("go")
        runs(child, "started")
    keeper = os.open(os.ttyname(child.child_fd) if os.isatty(child.child_fd) else "/dev/null", os.O_RDWR | os.O_NOCTTY)
    os.kill(child.pid, number)
    child.expect(pexpect.EOF)
    before = termios.tcgetattr(child.child_fd)
    child.close()
    os.close(keeper)
    assert child.exitstatus == 130
    assert before[3] & termios.ECHO and before[3] & termios.ICANON
    if busy:
        log = events(cli, "s1")
        assert log[-1]["event"] == "turn_ended" and log[-1]["status"] == "interrupted"
        assert all(is_gone(int((cli.root / name).read_text())) for name in ("child", "grandchild"))


THREADS = """
import threading, time

for _ in range(8):
    threading.Thread(target=lambda: [time.sleep(0.005) for _ in range(100_000)], daemon=True).start()
"""
"""Threads of a model: each of them may be the one that hears a signal."""


@pytest.mark.parametrize("turns", [0, 1])
def test_stopped_and_continued_the_line_is_still_there(cli: Any, turns: int) -> None:
    with (Path(cli.environ["PYTHONPATH"]) / "pegboard_stranger_model.py").open("a", encoding="utf-8") as module:
        module.write(THREADS)
    cli.script(*[asks("read_file", path="script.json"), {"text": "before"}] * turns, HELLO)
    environ = cli.environ | {"TERM": "xterm", "PS1": "shell: "}
    shell = pexpect.spawn("bash", ["--norc", "-i"], cwd=str(cli.root), env=environ, encoding="utf-8", timeout=60)
    shell.expect_exact("shell: ")
    shell.sendline(f"{PROGRAM} chat --yes")
    shell.expect_exact(READY)
    for _ in range(turns):
        assert "before" in said(shell, "a turn")
    shell.send("half")
    shell.expect_exact("half")
    for _ in range(2):
        shell.send("\x1a")  # Ctrl-Z
        shell.expect_exact("Stopped")
        shell.expect_exact("shell: ")
        shell.sendline("fg")
        shell.expect_exact(READY + "half")
    assert "hello" in said(shell, " a line")
    assert cli.heard()[-1] == "half a line"
    shell.sendeof()
    shell.expect_exact("shell: ")
    shell.sendline("exit $?")
    assert ended(shell) == 0


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_and_gone_on_with_in_place(cli: Any) -> None:
    cli.script({"text": "first answer"}, {"text": "second answer"})
    child = chat(cli, "--session", "older")
    said(child, "the first thing")
    assert left(child) == 0
    child = chat(cli, "--session", "newer")
    assert "first answer" in said(child, "the other thing")
    shown = said(child, "/sessions")
    assert re.search(r"older .*the first thing", shown) and "this one: newer" in shown
    shown = said(child, "/resume")
    assert "session older" in shown and "> the first thing\nfirst answer\n" in shown
    assert "second answer" in said(child, "more")
    assert cli.heard() == ["the first thing", "first answer", "more"]
    (cli.root.parent / "elsewhere").mkdir()
    assert cli("run", "there", "--session", "third", "--path", "../elsewhere", "--model", "offline").code == 0
    assert re.search("! session third worked in .*elsewhere; .* Nothing was done.", said(child, "/resume third"))
    assert "session newer" in said(child, "/resume new")
    assert left(child) == 0


def test_new_begins_a_session_without_a_past(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli, "--session", "s1")
    said(child, "one")
    assert re.search(r"session \d{8}-", said(child, "/new"))
    said(child, "two")
    assert cli.heard() == ["two"]
    assert left(child) == 0
    assert [e["text"] for e in events(cli, "s1") if e["event"] == "prompt"] == ["one"]


def test_another_model_may_go_on_with_the_session(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli, "--session", "s1")
    said(child, "one")
    assert "offline: a router" in said(child, "/model offline")
    said(child, "read a.txt")
    assert "script: plays" in said(child, "/model script")
    assert "script: plays" in said(child, "/model")
    assert left(child) == 0
    assert [e["model"] for e in events(cli, "s1") if e["event"] == "turn_started"] == ["script", "offline"]


def test_after_a_kill_the_session_says_what_was_interrupted(cli: Any) -> None:
    cli.script(asks("execute", command="echo started; sleep 300 & echo $! > child; wait"), HELLO)
    child = chat(cli, "--yes", "--session", "s1")
    child.sendline("start it")
    runs(child, "started")
    child.kill(signal.SIGKILL)
    child.expect(pexpect.EOF)
    child.close()
    os.kill(int((cli.root / "child").read_text()), signal.SIGKILL)
    child = chat(cli, "--session", "s1")
    assert "> start it" in plain(child.before)
    assert "interrupted: Error: This call was started and did not finish" in plain(child.before)
    assert "hello" in said(child, "what now?")
    assert "what now?" in cli.heard() and "its effects are unknown" in cli.heard()[cli.heard().index("what now?") - 1]
    assert left(child) == 0


def test_a_session_that_runs_a_turn_elsewhere_is_told_of_and_can_be_used_after_it(cli: Any) -> None:
    cli.script(asks("execute", command="echo started; until [ -e go ]; do sleep 0.02; done"), {"text": "theirs"}, HELLO)
    other = chat(cli, "--yes", "--session", "s1")
    child = chat(cli, "--session", "s1")
    other.sendline("their request")
    runs(other, "started")
    told = said(child, "mine")
    assert f"is running a turn in process {other.pid}; nothing was started" in told
    (cli.root / "go").touch()
    other.expect_exact("theirs")
    other.expect_exact(READY)
    shown = said(child, "mine again")
    assert "(meanwhile, another process asked here: their request)" in told + shown and "theirs" not in told + shown
    assert shown.endswith("hello\n")
    assert cli.heard()[-2:] == ["theirs", "mine again"]
    assert left(other) == left(child) == 0


# --- history ----------------------------------------------------------------------------------------------------------


def test_what_was_typed_comes_back_with_the_arrow_keys(cli: Any) -> None:
    cli.script(HELLO)
    child = chat(cli)
    said(child, "\x1b[200~first\nof two lines\x1b[201~")
    said(child, "second")
    assert left(child) == 0
    child = chat(cli)
    child.send("\x1b[A\x1b[A\r")
    child.expect_exact("hello")
    child.expect_exact(READY)
    assert cli.heard() == ["first\nof two lines"]
    assert left(child) == 0
    assert (cli.home / ".local/state/pegboard/history").stat().st_mode & 0o777 == 0o600


def test_answers_to_questions_are_no_prompts_to_come_back(cli: Any) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    child = chat(cli)
    child.sendline("go")
    child.expect_exact(QUESTION)
    child.sendline("n because secret")
    child.expect_exact(READY)
    assert left(child) == 0
    assert (cli.home / ".local/state/pegboard/history").read_text("utf-8") == '"go"\n'


# --- without a terminal -----------------------------------------------------------------------------------------------


def test_each_line_of_a_pipe_is_a_prompt(cli: Any) -> None:
    cli.script({"text": "first"}, {"text": "second"})
    done = cli("chat", "--session", "s1", stdin="one\ntwo \\\nlines")
    assert (done.code, done.out) == (0, "first\nsecond\n")
    assert "> one\n" in done.err and "sets core, dev, " in done.err
    assert cli.heard()[-1] == "two \nlines"


def test_in_a_pipe_nobody_is_asked_and_slash_commands_work(cli: Any) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    done = cli("chat", stdin="go\n/tool peek path=a\n/tool gated text=x\n")
    assert done.code == 0 and done.out == "hello\na from 1, 10 lines\n"
    assert "needs consent, nobody to ask" in done.err and "there is no one to ask" in done.err


def test_the_exit_code_is_that_of_the_last_turn(cli: Any) -> None:
    cli.script({"fail": "boom"})
    assert cli("chat", stdin="one\n").code == 1
    cli.script({"fail": "boom"}, HELLO)
    assert cli("chat", "--session", "s1", stdin="one\n/tools\n").code == 1
    assert cli("chat", stdin="").code == 0


def test_bytes_of_a_pipe_that_are_no_text_are_spelled(cli: Any) -> None:
    cli.script(HELLO)
    assert cli("chat", stdin=b"caf\xe9\0\n").out == "hello\n"
    assert cli.heard() == ["caf\\xe9\0"]


def test_a_closed_stdin_is_an_empty_one(cli: Any) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" chat <&-', str(PROGRAM)], cwd=cli.root, env=cli.environ, capture_output=True
    )
    assert done.returncode == 0 and b"Traceback" not in done.stderr


def test_a_reader_that_goes_away_ends_it_quietly(cli: Any) -> None:
    cli.script({"text": "long " * 50_000})
    command = 'printf "one\\ntwo\\nthree\\n" | "$0" chat --session s1 | head -c 10 >/dev/null'
    done = subprocess.run(
        ["sh", "-c", command, str(PROGRAM)], cwd=cli.root, env=cli.environ, capture_output=True, timeout=60
    )
    assert b"Traceback" not in done.stderr
    assert events(cli, "s1")[-1]["event"] == "turn_ended"


# --- pegboard alone ---------------------------------------------------------------------------------------------------


def test_alone_at_a_terminal_it_is_the_app(cli: Any) -> None:
    child = cli.terminal(TERM="xterm-256color")
    child.expect_exact("\x1b[?1049h")  # the other screen, which the app draws on
    child.expect("script")
    child.terminate(force=True)


@pytest.mark.parametrize("config", ['[ui]\napp = "chat"\n', ""])
def test_alone_it_is_a_line_session_where_that_is_wanted_or_the_terminal_is_dumb(cli: Any, config: str) -> None:
    cli.config(config)
    child = cli.terminal(TERM="xterm" if config else "dumb")
    child.expect_exact("> ")
    assert "script: plays" in plain(child.before)
    assert left(child) == 0


def test_alone_it_is_the_command_that_the_settings_name(cli: Any) -> None:
    cli.config('[ui]\napp = "hello"\n')
    child = cli.terminal()
    child.expect("Missing argument")
    assert ended(child) == 2
    cli.config('[ui]\napp = "nosuch"\n')
    child = cli.terminal()
    child.expect_exact('ui.app names "nosuch"')
    child.expect_exact(READY)
    assert left(child) == 0


def test_alone_without_a_terminal_it_is_help(cli: Any) -> None:
    done = cli()
    assert done.code == 0 and "Usage: pegboard" in done.out and not done.err


# --- approvers --------------------------------------------------------------------------------------------------------

APPROVER = """\
import asyncio, os
from pegboard import hookimpl
from pegboard.calls import Answer

async def when_it_is_time(asked):
    while not os.path.exists("go"):
        await asyncio.sleep(0.02)
    return Answer(granted=True, by="", reason=None)

@hookimpl
def pegboard_approvers(settings):
    return [when_it_is_time]
"""


def test_a_question_that_an_approver_answers_does_not_wait_for_the_person(cli: Any) -> None:
    site = Path(cli.environ["PYTHONPATH"])
    (site / "pegboard_waiting.py").write_text(APPROVER, "utf-8")
    info = site / "pegboard_waiting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pegboard-waiting\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[pegboard.approvers]\nwaiting = pegboard_waiting\n", "utf-8")
    cli.config('[plugins]\napprovers = ["waiting"]\n')
    cli.script(asks("gated", text="x"), HELLO)
    child = chat(cli, "--session", "s1")
    child.sendline("go")
    child.expect_exact(QUESTION)
    (cli.root / "go").touch()
    child.expect_exact("hello")
    child.expect_exact(READY)
    assert [e["by"] for e in events(cli, "s1") if e["event"] == "approval_answered"] == ["plugin:waiting"]
    assert cli.heard()[-1] == "done: x"
    assert left(child) == 0
