"""What stands beside the answer: display keys, plugins' renderers, thinking, usage, and terminals of every kind."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pexpect
import pytest

HELLO: dict[str, Any] = {"text": "hello"}
CHARTS = '''
"""A renderer as a stranger would write it."""

import time
from typing import Annotated

import msgspec
from pegboard import Result, hookimpl, tool
from pegboard.blocks import Note, Table
from pegboard_charted import Count


def draw(found):
    match found.how:
        case "well":
            return [Table(columns=["word", "length"], rows=[[w, str(len(w))] for w in found.words])]
        case "badly":
            raise ValueError("no ink\\x1b[2J")
        case "never":
            time.sleep(3600)
        case "hidden":
            return [Note(text="\\x1b[2J\\u202e[red]")]
    return None


@hookimpl
def pegboard_renderers():
    return {Count: draw}
'''
TOOLS = '''
import msgspec
from pegboard import hookimpl, tool


class Count(msgspec.Struct):
    words: list[str]
    how: str

    def __str__(self):
        return f"{len(self.words)} words, plainly"


@tool(pure=True, inline=True, category="read", echo=True)
def count(text: str, how: str = "well") -> Count:
    """Count words."""
    return Count(words=text.split(), how=how)


@hookimpl
def pegboard_tools():
    return [count]
'''


@pytest.fixture
def charted(cli: Any, tmp_path: Path) -> Any:
    """The command line with a set whose data a plugin of its own draws."""
    site = tmp_path / "charts"
    info = site / "pegboard_charts-0.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pegboard-charts\nVersion: 0.2\n", "utf-8")
    groups = "[pegboard.toolsets]\ncharted = pegboard_charted\n[pegboard.renderers]\ncharts = pegboard_charts\n"
    (info / "entry_points.txt").write_text(groups, "utf-8")
    (site / "pegboard_charts.py").write_text(CHARTS, "utf-8")
    (site / "pegboard_charted.py").write_text(TOOLS, "utf-8")
    cli.environ |= {"PYTHONPATH": f"{site}{os.pathsep}{cli.environ['PYTHONPATH']}"}
    cli("tools")  # its plugins are known from here on
    return cli


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [[name, arguments]]}


def shown(cli: Any, *args: str, width: int = 200, **environ: str) -> list[str]:
    """The lines on a terminal on which nothing is drawn over."""
    child = cli.terminal(*args, dimensions=(24, width), **({"TERM": "dumb", "COLUMNS": ""} | environ))
    child.expect(pexpect.EOF)
    return [line.rstrip() for line in child.before.split("\r\n")]


# --- renderers --------------------------------------------------------------------------------------------------------


def test_a_renderer_draws_what_a_tool_returned_in_place_of_its_text(charted: Any) -> None:
    charted.script(asks("count", text="one three"), HELLO)
    lines = charted("run", "go").err.splitlines()
    at = lines.index("← Read one three [how=well]" if "← Read one three [how=well]" in lines else "← Read one three")
    assert lines[at + 1 : at + 4] == ["  word   length", "  one    3", "  three  5"]
    assert not any("plainly" in line for line in lines)
    assert charted.heard()[-1] == "2 words, plainly", "the model gets the text"


def test_a_narrow_terminal_gets_its_table_a_cell_a_line(charted: Any) -> None:
    charted.script(asks("count", text="one three"), HELLO)
    lines = shown(charted, "run", "go", width=12)
    assert [line for line in lines if line.startswith("  word:")] == ["  word: one", "  word: three"], lines


@pytest.mark.parametrize(
    ("how", "why"), [("badly", "raised ValueError: no ink\\x1b[2J"), ("never", "took longer than 250 ms")]
)
def test_a_renderer_that_fails_is_named_once_and_the_text_is_shown(charted: Any, how: str, why: str) -> None:
    charted.script({"calls": [["count", {"text": "a b", "how": how}], ["count", {"text": "a", "how": how}]]}, HELLO)
    done = charted("run", "go")
    assert (done.code, done.out) == (0, "hello\n")
    lines = done.err.splitlines()
    assert "  2 words, plainly" in lines and "  1 words, plainly" in lines
    told = [line for line in lines if "the renderer of plugin 'charts'" in line]
    assert len(told) == 1 and why in told[0] and "pegboard-charts 0.2" in told[0]


def test_what_a_renderer_draws_is_spelled_out(charted: Any) -> None:
    charted.script(asks("count", text="a", how="hidden"), HELLO)
    assert "  \\x1b[2J\\u202e[red]" in charted("run", "go").err.splitlines()


def test_a_renderer_may_be_switched_off(charted: Any) -> None:
    charted.config('[plugins]\ndisable = ["charts"]\n')
    charted.script(asks("count", text="one three"), HELLO)
    assert "  2 words, plainly" in charted("run", "go").err.splitlines()


def test_a_single_call_is_drawn_at_a_terminal_and_plain_for_a_script(charted: Any) -> None:
    assert shown(charted, "tool", "count", "text=one three")[:3] == ["word   length", "one    3", "three  5"]
    assert charted("tool", "count", "text=one three").out == "2 words, plainly\n"
    record = charted("tool", "count", "text=one three", "--json").json
    assert record["data"] == {"words": ["one", "three"], "how": "well"} and record["blocks"] == []


def test_nothing_that_was_drawn_is_in_the_log(charted: Any) -> None:
    charted.script(asks("count", text="one three"), HELLO)
    charted("run", "go", "--session", "s1")
    assert "length" not in charted.log("s1") and '"words":["one","three"]' in charted.log("s1")


# --- display keys -----------------------------------------------------------------------------------------------------


@pytest.mark.row("R-094")
@pytest.mark.parametrize("command", ["run", "chat"])
def test_tool_status_is_shown_unless_it_is_switched_off(cli: Any, command: str) -> None:
    cli.script({"calls": [["peek", {"path": "a.py"}], ["execute", {"command": "echo echoed"}]]}, HELLO)

    def said() -> Any:
        return cli("run", "go", "--yes") if command == "run" else cli("chat", "--yes", stdin="go\n")

    on = said()
    assert "← Read a.py" in on.err.splitlines() and "  echoed" in on.err.splitlines()
    cli.config("[ui]\nstatus = false\n")
    off = said()
    assert "hello" in off.out and off.code == on.code == 0
    assert "a.py" not in off.err and "echoed" not in off.err


@pytest.mark.row("R-110")
def test_an_error_of_a_call_by_hand_looks_like_any_other(cli: Any) -> None:
    lines = cli("chat", stdin="/tool stumble\n/tool nosuch\n").err.splitlines()
    errors = [line for line in lines if line.startswith("! ")]
    assert errors[0] == "! Error: it stumbled; nothing was changed."
    assert lines[lines.index(errors[0]) + 1] == "  Try something else."
    assert errors[1].startswith('! Error: unknown tool "nosuch"')
    cli.config("[ui]\nshow_errors = false\n")
    assert "stumbled" not in cli("chat", stdin="/tool stumble\n").err


SOFT = ["(empty file)", "(empty directory)", '(no matches for "x")', "(end of content)", "No search results found."]


@pytest.mark.row("R-111", "R-112")
@pytest.mark.parametrize("note", SOFT)
def test_a_result_that_says_there_was_nothing_is_a_soft_note(cli: Any, note: str) -> None:
    cli.script(asks("say", text=note), HELLO)
    assert f"  {note}" in cli("run", "go").err.splitlines(), "it is shown, though the tool does not echo"
    assert cli.heard()[-1] == note
    assert f"  {note}" not in cli("run", "go", PEGBOARD_UI_SHOW_NOTES="false").err.splitlines()


@pytest.mark.parametrize("text", ["(one) and (two)\n(three)", "No luck", "found.", "(no matches)\nbut more"])
def test_other_results_are_no_soft_notes(cli: Any, text: str) -> None:
    cli.script(asks("say", text=text), HELLO)
    shown = cli("run", "go").err.splitlines()
    assert not any(line in shown for line in (f"  {part}" for part in text.split("\n")))


def test_thinking_is_shown_where_that_is_wanted(cli: Any) -> None:
    cli.script(HELLO)
    assert "hm" not in cli("run", "go").err.split()
    lines = cli("run", "go", PEGBOARD_UI_SHOW_THINKING="true")
    assert "  hm" in lines.err.splitlines() and lines.out == "hello\n"


def test_usage_is_shown_where_that_is_wanted(cli: Any) -> None:
    cli.script(HELLO)
    assert "tokens" not in cli("run", "go").err
    assert "  1 tokens in, 1 out" in cli("run", "go", PEGBOARD_UI_SHOW_USAGE="true").err.splitlines()


# --- terminals --------------------------------------------------------------------------------------------------------

SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": ""}, {"TERM": "dumb", "NO_COLOR": "1"}])
def test_a_terminal_that_takes_no_sequences_gets_none(cli: Any, environ: dict[str, str]) -> None:
    cli.script(asks("execute", command="for i in 1 2 3; do echo step $i; sleep 0.3; done"), HELLO)
    child = cli.terminal("run", "go", "--yes", **environ)
    child.expect(pexpect.EOF)
    assert not SEQUENCE.search(child.before) and "step 3" in child.before and "hello" in child.before


def test_no_color_takes_colours_away_and_lets_lines_be_drawn_over(cli: Any) -> None:
    cli.script(asks("execute", command="for i in 1 2 3; do echo step $i; sleep 0.3; done"), HELLO)
    child = cli.terminal("run", "go", "--yes", NO_COLOR="1")
    child.expect(pexpect.EOF)
    assert set(SEQUENCE.findall(child.before)) <= {"\x1b[J", *(f"\x1b[{n}A" for n in range(6))}
    assert "\x1b[J" in child.before


@pytest.mark.parametrize("width", [1, 5, 20])
def test_nothing_is_lost_on_a_narrow_terminal(cli: Any, width: int) -> None:
    word = "x" * 300
    cli.script(asks("execute", command=f"echo {word}; echo 日本語"), {"text": f"an answer {word} end"})
    child = cli.terminal("run", "go", "--yes", dimensions=(24, width), TERM="dumb")
    child.expect(pexpect.EOF)
    whole = re.sub(r"[\r\n ]", "", child.before)
    assert whole.count(word) >= 2 and "日本語" in whole and whole.endswith("end")


def test_a_terminal_without_a_size_is_eighty_columns(cli: Any) -> None:
    cli.script({"text": "", "sleep": 1.2, "calls": [["peek", {"path": "a"}]]}, HELLO)
    child = cli.terminal("run", "go", dimensions=(0, 0))
    child.expect(pexpect.EOF)
    assert "waiting for the model…" in child.before and child.before.rstrip().endswith("hello")


def test_columns_that_were_set_are_kept_to(cli: Any) -> None:
    narrow = shown(cli, "tools", COLUMNS="40")
    assert narrow[0] == "Tools" and max(map(len, narrow)) <= 40
    assert max(map(len, shown(cli, "tools", COLUMNS="nonsense"))) > 40
