"""Prompts, colour, the live tail and Ctrl-C, on a real pseudo-terminal."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pexpect
import pytest
from running import until

QUESTION = r"Allow\? "
HELLO: dict[str, Any] = {"text": "hello"}


def plain(text: str) -> str:
    """What is on the screen without colours and line ends of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r\n", "\n")


def tail(text: str) -> str:
    """A pattern for a line of the live tail."""
    return rf"\n  \S*{text}\S*\r\n"


def ended(child: Any) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return int(child.exitstatus if child.exitstatus is not None else -child.signalstatus)


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [[name, arguments]]}


@pytest.mark.row("S-005", "R-109")
def test_a_prompt_shows_the_call_the_file_its_diff_and_the_keys(cli: Any) -> None:
    cli.script(asks("poke", path="a.py", text="new one\nnew two"), HELLO)
    child = cli.terminal("run", "go")
    child.expect(r"Allow\? \[y\]es once / \[a\]lways / \[e\]dit / \[N\]o")
    before = child.before
    child.sendline("n")
    assert ended(child) == 0
    shown = [line.strip() for line in plain(before).split("\n")]
    start = shown.index("→ Write a.py [text=(2 lines)]")
    assert shown[start + 1 :][:10] == [
        "poke asks: tool_permission.edit (default)",
        "path: a.py",
        "text:",
        "│ new one",
        "│ new two",
        "(no newline at the end)",
        "a.py +2 -1",
        "@@ -1,2 +1,3 @@",
        "before",
        "-old",
    ]
    assert "\x1b[32m+new one" in before and "\x1b[31m-old" in before


@pytest.mark.row("R-010")
def test_the_key_argument_stands_in_the_prompt_too(cli: Any) -> None:
    cli.config('[tool_permission]\nstranger = "ask"\n[approval]\nstrict = true\n')
    cli.script(asks("execute", command="echo hi"), HELLO)
    child = cli.terminal("run", "go")
    child.expect(QUESTION)
    assert "$ Run echo hi" in plain(child.before).split("\n")
    child.sendline("")
    assert ended(child) == 0


@pytest.mark.row("S-006")
def test_yes_is_for_once(cli: Any) -> None:
    cli.script(asks("poke", path="a", text="1"), asks("poke", path="b", text="2"), HELLO)
    child = cli.terminal("run", "go")
    child.expect(QUESTION)
    child.sendline("y")
    child.expect(QUESTION)
    assert (cli.root / "a").read_text() == "1" and not (cli.root / "b").exists()
    child.sendline("n")
    assert ended(child) == 0
    assert not (cli.root / "b").exists()


@pytest.mark.row("S-008")
def test_a_no_with_a_reason_reaches_the_model(cli: Any) -> None:
    cli.script(asks("poke", path="a", text="1"), HELLO)
    child = cli.terminal("run", "go")
    child.expect(QUESTION)
    child.sendline("n because it belongs in src")
    assert ended(child) == 0
    heard = cli.heard()[-1]
    assert "declined" in heard and "it belongs in src" in heard and "alternative" in heard


@pytest.mark.parametrize("typed", ["", "maybe", "\x04"])
def test_only_a_yes_allows(cli: Any, typed: str) -> None:
    cli.script(asks("poke", path="a", text="1"), HELLO)
    child = cli.terminal("run", "go")
    child.expect(QUESTION)
    child.send(typed if typed == "\x04" else f"{typed}\n")
    if typed == "maybe":
        child.expect("answer y, a, e or n")
        child.expect(QUESTION)
        child.sendline("")
    assert ended(child) == 0
    assert not (cli.root / "a").exists()


def test_what_was_typed_before_the_question_does_not_answer_it(cli: Any) -> None:
    cli.script({"text": "wait for it", "sleep": 1, "calls": [["poke", {"path": "a", "text": "1"}]]}, HELLO)
    child = cli.terminal("run", "go")
    child.expect("wait for it")
    child.sendline("y")
    child.expect(QUESTION)
    child.sendline("")
    assert ended(child) == 0
    assert not (cli.root / "a").exists()


EVIL = "start\u202e\u2066\u200b\u200f\ufeff\u00a0\x1b[2K\x1b[1A\x07\x7f\x9b2J end"


@pytest.mark.parametrize("tool", ["gated", "shown", "poke"])
def test_nothing_hides_in_a_prompt(cli: Any, tool: str) -> None:
    more = {"path": "x\u202e.py"} if tool == "poke" else {}
    cli.script(asks(tool, text=f"{EVIL}\n{EVIL}", **more), HELLO)
    child = cli.terminal("run", "go", NO_COLOR="1")
    child.expect(QUESTION)
    shown = child.before[child.before.index("asks: ") :]
    child.sendline("n")
    assert ended(child) == 0
    assert not any(char in shown for char in "\u202e\u2066\u200b\u200f\ufeff\u00a0\x1b\x07\x7f\x9b")
    spelled = "start\\u202e\\u2066\\u200b\\u200f\\ufeff\\xa0\\x1b[2K\\x1b[1A\\x07\\x7f\\x9b2J end"
    assert shown.count(spelled) >= (2 if tool == "gated" else 4), "in the arguments, and in the preview"
    if more:
        assert "x\\u202e.py +2 -1" in shown


def test_nothing_is_cut_out_of_a_long_argument(cli: Any) -> None:
    lines = [f"line number {number}" for number in range(400)]
    cli.script(asks("gated", text="\n".join(lines), files=["a", "b c"], deep={"k": ["v"]}), HELLO)
    child = cli.terminal("run", "go")
    child.expect(QUESTION)
    shown = plain(child.before)
    child.sendline("n")
    assert ended(child) == 0
    assert all(f"│ {line}\n" in shown for line in lines)
    assert re.search(r"files:\n\s+1: a\n\s+2: b c\n\s+deep:\n\s+k:\n\s+1: v\n", shown)


def test_the_arguments_shown_are_those_it_would_run_with(cli: Any) -> None:
    cli.config('[plugins]\nrewriters = ["doubler"]\n')
    cli.script(asks("gated", text="ab", nonsense="x"), HELLO)
    child = cli.terminal("run", "go")
    child.expect(QUESTION)
    shown = plain(child.before)
    child.sendline("y")
    assert ended(child) == 0
    assert "  text: abab\n" in shown and "nonsense" not in shown
    assert cli.heard()[-1] == "done: abab"


def test_no_color_is_honoured(cli: Any) -> None:
    cli.script(asks("poke", path="a", text="1"), HELLO)
    child = cli.terminal("run", "go", NO_COLOR="1")
    child.expect(QUESTION)
    before = child.before
    child.sendline("y")
    child.expect(pexpect.EOF)
    assert "\x1b[" not in before + child.before


def test_the_answer_streams_without_what_a_terminal_would_obey(cli: Any) -> None:
    cli.script({"text": "one \x1b[31mtwo\x1b]0;title\x07 \u202ethree\n"})
    child = cli.terminal("run", "go")
    child.expect(pexpect.EOF)
    assert "one \\x1b[31mtwo\\x1b]0;title\\x07 \\u202ethree\r\n" in child.before and child.before.count("one") == 1


def test_a_call_at_a_terminal_asks_too(cli: Any) -> None:
    child = cli.terminal("tool", "gated", "text=x")
    child.expect(QUESTION)
    assert "gated asks: tool_permission.stranger" in plain(child.before)
    child.sendline("y")
    child.expect("done: x")
    assert ended(child) == 0


def test_a_tool_may_ask_the_person(cli: Any) -> None:
    cli.script(asks("wonder", question="which\x1b[2J one?", options=["red", "blue"]), HELLO)
    child = cli.terminal("run", "go")
    child.expect("Your answer")
    assert "which\\x1b[2J one?" in plain(child.before) and "2. blue" in child.before
    child.sendline("2")
    assert ended(child) == 0
    assert cli.heard()[-1] == "they said blue"


def test_what_an_option_means_stands_below_it_and_another_answer_may_be_none(cli: Any) -> None:
    more = {"options": ["red", "blue"], "details": ["", "like\x1b[2J\nthe sea"], "free": False}
    cli.script(asks("wonder", question="which?", **more), HELLO)
    child = cli.terminal("run", "go")
    child.expect("The number of your answer")
    shown = [line.strip() for line in plain(child.before).split("\n")]
    assert shown[shown.index("1. red") :][:4] == ["1. red", "2. blue", "like\\x1b[2J", "the sea"]
    child.sendline("green")
    child.expect("Please answer a number from 1 to 2")
    child.sendline("1")
    assert ended(child) == 0
    assert cli.heard()[-1] == "they said red"


@pytest.mark.row("R-068")
@pytest.mark.parametrize("command", ["run", "tool"])
def test_ctrl_c_at_the_question_ends_it(cli: Any, command: str) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    child = cli.terminal(*(["run", "go"] if command == "run" else ["tool", "gated", "text=x"]))
    child.expect(QUESTION)
    child.sendintr()
    assert ended(child) == 130
    assert "Traceback" not in child.before and "hello" not in child.before


def test_ctrl_c_stops_the_command_and_the_turn_goes_on(cli: Any) -> None:
    cli.script(asks("execute", command="echo started; sleep 60"), HELLO)
    child = cli.terminal("run", "go", "--yes")
    child.expect(tail("started"))
    child.sendintr()
    child.expect("hello")
    assert ended(child) == 0
    assert "interrupted" in cli.heard()[-1]


def test_a_second_ctrl_c_ends_the_turn(cli: Any) -> None:
    cli.script(asks("execute", command="echo one; sleep 60"), asks("execute", command="echo two; sleep 60"), HELLO)
    child = cli.terminal("run", "go", "--yes")
    child.expect(tail("one"))
    child.sendintr()
    child.expect(tail("two"))
    child.sendintr()
    assert ended(child) == 130


def test_ctrl_c_may_always_mean_the_turn(cli: Any) -> None:
    cli.config('[ui]\nctrl_c = "turn"\n')
    cli.script(asks("execute", command="echo started; sleep 60"), HELLO)
    child = cli.terminal("run", "go", "--yes")
    child.expect(tail("started"))
    child.sendintr()
    assert ended(child) == 130


def test_the_tail_of_a_running_command_is_shown_and_taken_away(cli: Any) -> None:
    cli.script(
        asks("execute", command="for i in 1 2 3; do echo step $i; sleep 0.3; done; printf '\\033[2Jx\\n'"), HELLO
    )
    child = cli.terminal("run", "go", "--yes")
    child.expect(pexpect.EOF)
    tail, _, after = child.before.rpartition("\x1b[J")
    assert "step 2" in tail and "\x1b[2J" not in child.before.replace("\\x1b[2J", "")
    assert "step 3" in after, "the whole result is shown when it is over: the tool echoes"


def on_dumb_terminal(cli: Any, *args: str) -> list[str]:
    child = cli.terminal(*args, TERM="dumb")
    child.expect(pexpect.EOF)
    return [line.strip() for line in child.before.split("\r\n")]


@pytest.mark.parametrize("answer", ["one\ntwo\n", "one\ntwo\n(exit code 0)", "tw"])
def test_a_result_that_the_answer_repeats_is_shown_once(cli: Any, answer: str) -> None:
    cli.script(asks("execute", command="echo one; echo two"), {"text": answer})
    lines = on_dumb_terminal(cli, "run", "go", "--yes")
    assert (lines.count("one"), lines.count("two")) == (1, 1)
    assert "\n".join(lines).strip().endswith(answer.strip())


def test_a_result_in_an_answer_loses_its_colours_as_alone(cli: Any) -> None:
    cli.script(asks("execute", command="printf '\\033[31mred\\033[2Kone'"), {"text": "\x1b[31mred\x1b[2Kone"})
    lines = on_dumb_terminal(cli, "run", "go", "--yes")
    assert [line for line in lines if line.endswith("one")] == ["red\\x1b[2Kone"]


def test_a_result_is_shown_before_an_answer_that_only_begins_like_it(cli: Any) -> None:
    cli.script(asks("execute", command="echo one; echo two"), {"text": "one\nmore"})
    assert "\n".join(on_dumb_terminal(cli, "run", "go", "--yes")).strip().endswith("one\ntwo\none\nmore")


def test_a_result_is_shown_when_another_call_follows(cli: Any) -> None:
    cli.script(asks("execute", command="echo one"), asks("peek", path="a"), {"text": "one\n"})
    lines = on_dumb_terminal(cli, "run", "go", "--yes")
    assert lines.count("one") == 2 and lines.index("one") < lines.index("← Read a")


def test_a_refusal_is_named_in_one_line(cli: Any) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    child = cli.terminal("run", "go", NO_COLOR="1")
    child.expect(QUESTION)
    child.sendline("n because of the rain")
    child.expect(pexpect.EOF)
    assert "! Error: declined by you: of the rain" in plain(child.before).split("\n")


@pytest.mark.parametrize("command", ["run", "tool"])
def test_ctrl_d_means_no_and_ends_the_line(cli: Any, command: str) -> None:
    cli.script(asks("gated", text="x"), HELLO)
    child = cli.terminal(*(["run", "go"] if command == "run" else ["tool", "gated", "text=x"]), NO_COLOR="1")
    child.expect(QUESTION)
    child.expect(r"\.\.\.\"\) ")
    child.sendeof()
    child.expect(pexpect.EOF)
    assert plain(child.before).lstrip("\x04\b^D").startswith("\n")


def test_ctrl_c_ends_the_line_that_it_is_shown_on(cli: Any) -> None:
    cli.script({"text": "thinking\n", "sleep": 60})
    child = cli.terminal("run", "go", TERM="dumb")
    child.expect("thinking\r\n")
    child.sendintr()
    child.expect(pexpect.EOF)
    assert child.before.startswith("^C\r\n")


@pytest.mark.parametrize(
    "environ", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_an_ascii_terminal_is_no_crash(cli: Any, environ: dict[str, str]) -> None:
    cli.script(asks("poke", path="a", text="日本"), {"text": "done ✓"})
    child = cli.terminal("run", "go", **environ)
    child.expect(QUESTION)
    child.sendline("y")
    assert ended(child) == 0
    assert "done \\u2713" in child.before and "Traceback" not in child.before


def test_standard_error_in_a_file_means_nobody_is_there_to_ask(cli: Any) -> None:
    cli.script(asks("poke", path="a", text="1"), HELLO)
    child = pexpect.spawn(
        "sh",
        ["-c", '"$0" run go 2>err.txt', str(cli.terminal("--version").command)],
        cwd=str(cli.root),
        env=cli.environ,
    )
    child.expect(pexpect.EOF)
    assert not (cli.root / "a").exists() and "nobody to ask" in (cli.root / "err.txt").read_text("utf-8")


SLOW = """
import time
from pegboard import hookimpl, tool

time.sleep(1.5 if "pegboard.board" not in __import__("sys").modules else 0)


@tool(pure=True)
def slowly(text: str) -> str:
    'Say.'
    return text


@hookimpl
def pegboard_tools(settings):
    return [slowly]
"""


def test_a_look_at_a_new_plugin_that_takes_long_is_said_at_a_terminal_only(cli: Any, tmp_path: Path) -> None:
    module = tmp_path / "site" / "pegboard_stranger.py"
    module.write_text(SLOW, "utf-8")
    child = cli.terminal("tools")
    child.expect_exact("looking at new plugins: stranger…")
    child.expect_exact("slowly")
    child.expect_exact(pexpect.EOF)
    module.write_text(SLOW + "\n", "utf-8")
    assert "looking" not in cli("tools").err


TIMED = """
from pegboard import Context, hookimpl, tool


@tool(category="ask", pure=True, timeout=3)
async def wonder(question: str, ctx: Context) -> str:
    'Ask the person.'
    return str(await ctx.ask(question, []))


@hookimpl
def pegboard_tools(settings):
    return [wonder]
"""


@pytest.mark.parametrize("how", ["flag", "setting"])
def test_a_question_goes_away_when_the_time_of_the_turn_is_over(cli: Any, how: str) -> None:
    cli.config("[limits]\ntimeout = 3\n" if how == "setting" else "")
    cli.script(asks("gated", text="x"), HELLO)
    child = cli.terminal("run", "go", *(["--timeout", "3"] if how == "flag" else []), NO_COLOR="1")
    child.expect(QUESTION)
    assert ended(child) == 1
    assert "stopped: timeout: " in child.before and "hello" not in child.before


def test_a_tools_question_goes_away_when_the_time_of_the_turn_is_over(cli: Any) -> None:
    cli.script(asks("wonder", question="which?"), HELLO)
    child = cli.terminal("run", "go", "--timeout", "3", NO_COLOR="1")
    child.expect_exact("Your answer")
    assert ended(child) == 1
    assert "stopped: timeout: " in child.before


def test_a_question_goes_away_when_the_time_of_its_call_is_over(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "site" / "pegboard_stranger.py").write_text(TIMED, "utf-8")
    child = cli.terminal("tool", "wonder", "question=which?")
    child.expect_exact("Your answer")
    assert ended(child) == 124


SWALLOWED = """
import time


class Held:
    def __del__(self):
        open("starting", "w").close()
        time.sleep(15)


Held()
raise SystemExit("it went on")
"""
"""A module of Python's own, in whose place an exception is ignored, as one that comes in the middle of an import may be."""
STARTING = """
_provider = provider


def provider(settings):
    import pathlib, time

    pathlib.Path("starting").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
    return _provider(settings)
"""
"""A model that takes a while to be there."""


def starts(cli: Any) -> None:
    """Wait until a start has come to where it says so."""
    until((cli.root / "starting").exists)


@pytest.mark.parametrize("command", [["chat"], ["run", "go"], ["tools"]])
def test_ctrl_c_in_the_middle_of_an_import_is_the_end(cli: Any, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "site" / "difflib.py").write_text(SWALLOWED, "utf-8")
    child = cli.terminal(*command)
    starts(cli)
    child.sendintr()
    assert ended(child) == -signal.SIGINT
    assert child.before.replace("^C", "").strip() == ""


@pytest.mark.parametrize("command", [["chat"], ["run", "go"]])
def test_ctrl_c_before_the_first_prompt_is_the_end(cli: Any, tmp_path: Path, command: list[str]) -> None:
    cli.script(HELLO)
    with (tmp_path / "site" / "pegboard_stranger_model.py").open("a", encoding="utf-8") as module:
        module.write(STARTING)
    child = cli.terminal(*command, NO_COLOR="1")
    starts(cli)
    child.sendintr()
    child.expect_exact("^C")
    (cli.root / "go").touch()
    assert ended(child) == 130
    assert "Traceback" not in child.before and "hello" not in child.before
