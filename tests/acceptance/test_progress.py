"""The line that says what is waited for: there while one waits, at a terminal alone, and gone without a trace."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard import events
from pegboard.calls import Decision
from pegboard_cli.progress import EVERY, Waits, ticking
from pegboard_cli.screen import Screen, as_drawn
from pegboard_cli.widths import columns_of, fitted, padded, shortened

PROGRAM = Path(sys.executable).with_name("pegboard")
SEQUENCE = re.compile(r"\x1b\[(\d*)([A-Za-z])|(.)", re.DOTALL)


def on_screen(written: str, width: int) -> list[str]:
    """What a terminal of this width shows after all that was written: it wraps, and obeys what the screen sends."""
    lines, row, column = [[" "] * width], 0, 0
    for found in SEQUENCE.finditer(re.sub(r"\x1b\[[0-9;]*m", "", written)):
        number, letter, char = found.groups()
        if letter == "A":
            row = max(row - int(number or 1), 0)
        elif letter == "J":
            lines[row][column:] = [" "] * (width - column)
            del lines[row + 1 :]
        elif letter:
            raise AssertionError(f"a sequence that is not expected: {found[0]!r}")
        elif char == "\r":
            column = 0
        elif char == "\n":
            row += 1
        else:
            size = 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
            if column + size > width:
                row, column = row + 1, 0
            while len(lines) <= row:
                lines.append([" "] * width)
            if size:
                lines[row][column : column + size] = [char, *[""] * (size - 1)]
            column += size
        while len(lines) <= row:
            lines.append([" "] * width)
    return ["".join(line).rstrip() for line in lines]


def asks(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [[name, arguments]]}


class Seen:
    """Everything that a program has written to its terminal."""

    def __init__(self, child: Any, width: int) -> None:
        self.child = child
        self.width = width
        self.log = io.StringIO()
        child.logfile_read = self.log

    def finish(self) -> list[str]:
        """The lines on the terminal when it is over."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return on_screen(self.log.getvalue(), self.width)


def start(cli: Any, *args: str, width: int = 200, **environ: str) -> Seen:
    return Seen(cli.terminal(*args, dimensions=(24, width), **environ), width)


SLOW = {"text": "", "sleep": 2.5, "calls": [["peek", {"path": "a"}]]}


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}])
def test_waiting_for_the_model_is_said_and_leaves_no_trace(cli: Any, environ: dict[str, str]) -> None:
    cli.script(SLOW, {"text": "hello"})
    seen = start(cli, "run", "go", **environ)
    seen.child.expect("waiting for the model…")
    seen.child.expect(r"waiting for the model… \d s")
    lines = seen.finish()
    assert lines[-2:] == ["hello", ""] and "← Read a" in lines
    assert "waiting for" not in "\n".join(lines)
    assert ("\x1b[2m" in seen.log.getvalue()) == (not environ)


@pytest.mark.row("C-006")
def test_a_call_that_prints_nothing_is_told_of_and_named_while_it_runs(cli: Any) -> None:
    cli.script(asks("execute", command="sleep 1.6; echo over"), {"text": "hello"})
    seen = start(cli, "run", "go", "--yes")
    seen.child.expect(r"Run\S* sleep 1.6; echo over")
    seen.child.expect(r"running execute… 1 s")
    lines = seen.finish()
    assert "running" not in "\n".join(lines).replace("sleep", "") and lines[-2:] == ["hello", ""]


def test_a_call_alone_is_named_too(cli: Any) -> None:
    seen = start(cli, "tool", "execute", "command=sleep 1; echo over", "--yes")
    seen.child.expect("running execute…")
    lines = seen.finish()
    assert lines[-2:] == ["over", ""] and not [line for line in lines if "running" in line]


def test_what_a_call_prints_takes_the_lines_place(cli: Any) -> None:
    cli.script(asks("execute", command="sleep 1; echo one; sleep 1; echo two"), {"text": "hello"})
    seen = start(cli, "run", "go", "--yes")
    seen.child.expect("running execute…")
    seen.child.expect("one\x1b")
    lines = seen.finish()
    assert [line.strip() for line in lines if line.strip() in ("one", "two", "hello")] == ["one", "two", "hello"]
    assert not [line for line in lines if line.startswith("running")]


def test_a_line_typed_while_a_call_runs_leaves_no_trace_of_what_was_drawn(cli: Any) -> None:
    cli.script(asks("execute", command="sleep 2"), {"text": "hello"}, {"text": "again"})
    seen = start(cli, "chat", "--yes")
    seen.child.expect("> ")
    assert seen.child.getecho() is False, "readline draws what is typed"
    seen.child.sendline("go")
    seen.child.expect("running execute…")
    seen.child.sendline("and then")
    seen.child.expect("hello")
    seen.child.expect("again")
    seen.child.expect("> ")
    seen.child.sendeof()
    seen.child.expect(pexpect.EOF)
    lines = on_screen(re.sub(r"\x1b\[\?2004[hl]", "", seen.log.getvalue()), 200)
    assert not [line for line in lines if "running" in line]
    assert [line for line in lines if "and then" in line] == ["> and then"]


def test_that_there_was_no_output_is_said_once(cli: Any) -> None:
    cli.script(asks("bash", command="true"), {"text": "(no output)"})
    lines = start(cli, "run", "go", "--yes").finish()
    assert [line.strip() for line in lines].count("(no output)") == 1


@pytest.mark.parametrize("end", ["answer", "interrupt", "kill"])
def test_typed_text_is_shown_again_when_it_is_over(cli: Any, end: str) -> None:
    cli.script({"text": "", "sleep": 1 if end == "answer" else 60}, {"text": "hello"})
    command = f'trap : INT; "{PROGRAM}" run go; echo over; sleep 60'
    child = pexpect.spawn(
        "sh", ["-c", command], cwd=str(cli.root), env=cli.environ | {"TERM": "xterm"}, encoding="utf-8", timeout=60
    )
    child.expect("waiting for the model…")
    assert child.getecho() is False
    if end == "interrupt":
        child.sendintr()
    elif end == "kill":
        children = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
    child.expect("over")
    assert child.getecho() is True
    child.close(force=True)


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": "xterm"}])
def test_a_dumb_terminal_and_a_pipe_get_nothing(cli: Any, environ: dict[str, str]) -> None:
    cli.script({"text": "", "sleep": 1.2, "calls": [["peek", {"path": "a"}]]}, {"text": "hello"})
    if environ["TERM"] == "dumb":
        assert "waiting" not in "\n".join(start(cli, "run", "go", **environ).finish())
    else:
        done = cli("run", "go", **environ)
        assert "waiting" not in done.err and "\x1b" not in done.err and done.out == "hello\n"


def test_a_switched_off_status_has_no_line(cli: Any) -> None:
    cli.config("[ui]\nstatus = false\n")
    cli.script({"text": "", "sleep": 1.2, "calls": [["peek", {"path": "a"}]]}, {"text": "hello"})
    seen = start(cli, "run", "go")
    seen.finish()
    assert "waiting" not in seen.log.getvalue()


def test_an_answer_that_stalls_in_its_line_is_not_written_over(cli: Any) -> None:
    cli.script({"text": "one two", "sleep": 1.5})
    lines = start(cli, "run", "go").finish()
    assert "one twoone two" in lines, "the model says it in two pieces, with a pause between"


def test_no_line_is_drawn_beside_a_question(cli: Any) -> None:
    cli.script(asks("gated", text="x"), {"text": "hello"})
    seen = start(cli, "run", "go")
    seen.child.expect(r"Allow\b")
    asked = len(seen.log.getvalue())
    with pytest.raises(pexpect.TIMEOUT):
        seen.child.expect("waiting|running", timeout=1.5)
    assert "\x1b[J" not in seen.log.getvalue()[asked:]
    seen.child.sendline("n")
    assert seen.finish()[-2:] == ["hello", ""]


def test_ctrl_c_leaves_no_line_behind(cli: Any) -> None:
    cli.script({"text": "", "sleep": 60})
    seen = start(cli, "run", "go")
    seen.child.expect("waiting for the model…")
    seen.child.sendintr()
    lines = seen.finish()
    assert not [line for line in lines if "waiting" in line]
    assert seen.child.exitstatus == 130


def test_a_failure_leaves_no_line_behind(cli: Any) -> None:
    cli.script(asks("dawdle"), {"fail": "it broke"})
    lines = start(cli, "run", "go", "--yes").finish()
    assert any("it broke" in line for line in lines)
    assert not [line for line in lines if line.startswith(("waiting", "running"))]


@pytest.mark.parametrize("width", [40, 20, 8, 3])
def test_a_narrow_terminal_cuts_the_line(cli: Any, width: int) -> None:
    cli.script({"text": "", "sleep": 1.6, "calls": [["peek", {"path": "a"}]]}, {"text": "hi"})
    seen = start(cli, "run", "go", width=width)
    text = "\n".join(seen.finish())
    drawn = re.findall(r"\x1b\[2m(w[^\x1b\r\n]*)\x1b\[0m\r?\x1b?", seen.log.getvalue())
    assert drawn and all(columns_of(line) < width for line in drawn)
    assert "wai" not in text and text.rstrip().endswith("hi")


def test_a_terminal_made_narrower_meanwhile_keeps_no_rest(cli: Any) -> None:
    cli.script({"text": "", "sleep": 2.5, "calls": [["peek", {"path": "a"}]]}, {"text": "hi"})
    seen = start(cli, "run", "go", width=60)
    seen.child.expect("waiting for the model…")
    drawn = len(seen.log.getvalue())
    seen.child.setwinsize(24, 10)
    seen.child.expect("hi")
    taken = seen.log.getvalue()[drawn:]
    assert re.match(r"(\x1b\[0m)?\x1b\[2A\r\x1b\[J", taken), "22 columns are three rows of ten"


def test_a_program_in_the_background_draws_nothing(cli: Any) -> None:
    cli.script({"text": "", "sleep": 1.5, "calls": [["peek", {"path": "a"}]]}, {"text": "hello"})
    program = str(cli.terminal("--version").command)
    child = pexpect.spawn(
        "bash",
        ["-c", 'set -m; "$0" run go </dev/null & wait', program],
        cwd=str(cli.root),
        env=cli.environ | {"TERM": "xterm"},
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    assert "hello" in child.before and "waiting" not in child.before


# --- the words --------------------------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(call: str, tool: str) -> events.CallAsked:
    return events.CallAsked(lane="root", id=call, tool=tool, requested=tool, set=None, arguments={}, summary="")


def started(call: str) -> events.CallStarted:
    return events.CallStarted(lane="root", id=call, touches=[], decision=Decision(action="allow", rule="x"))


def finished(call: str) -> events.CallFinished:
    nothing: dict[str, Any] = {"block": None, "why": None, "data": None, "truncated": False, "decision": None}
    return events.CallFinished(lane="root", id=call, outcome="ok", text="", duration_ms=0, **nothing)


TURN = events.TurnStarted(session="s", model="m", sets=[], not_loaded=[], offered=0)
ENDED = events.TurnEnded(status="done", text="", usage={})


def test_what_is_waited_for_follows_from_the_events() -> None:
    clock = Clock()
    waits = Waits(clock)

    def after(seconds: float, *heard: Any) -> str | None:
        for event in heard:
            waits.hear(event)
        clock.now += seconds
        return waits.line()

    assert after(9) is None
    assert after(0.4, TURN) is None, "no flicker"
    assert after(0.2) == "waiting for the model…"
    assert after(2) == "waiting for the model… 2 s"
    assert after(3, events.Thinking(text="a"), events.Thinking(text="b")) == "thinking… 3 s"
    assert after(0.1, events.Text(text="x")) is None
    assert after(1, events.Message(text="x"), asked("c1", "bash\x1b[2J"), started("c1")) == "running bash\\x1b[2J… 1 s"
    assert after(70, asked("c2", "grep"), started("c2")) == "running 2 calls… 1 min 11 s"
    assert after(1, finished("c1")) == "running grep… 1 min 11 s"
    question = events.ApprovalAsked(lane="root", id="a1", call="c2", rule="", layer="")
    assert after(5, question) is None
    assert after(0, events.ApprovalAnswered(id="a1", granted=True, by="person")) == "running grep… 1 min 16 s"
    assert after(1, finished("c2")) == "waiting for the model… 1 s"
    assert after(9, ENDED) is None


# --- widths -----------------------------------------------------------------------------------------------------------

LINES = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]), max_size=60)


@given(LINES, st.integers(-2, 70))
def test_a_fitted_line_never_takes_more_than_its_width(text: str, width: int) -> None:
    for cut in (fitted(text, width), shortened(text, width)):
        assert columns_of(cut) <= max(width, 0) or cut == text
        assert cut == text or cut == "" or (cut.endswith("…") and text.startswith(cut[:-1]))
    assert (fitted(text, width) == text) == (columns_of(text) <= width) or text == ""


def test_wide_characters_take_two_columns_and_combining_ones_none() -> None:
    assert columns_of("日本語") == 6 and columns_of("e\u0301") == 1
    assert fitted("日本語", 5) == "日本…" and fitted("日本語", 4) == "日…" and fitted("日本語", 6) == "日本語"
    assert padded("日本", 6) == "日本  " and padded("日本", 6, right=True) == "  日本"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "gbk"])
def test_a_line_fits_as_the_terminal_will_hold_it(encoding: str) -> None:
    for width in range(30):
        drawn = as_drawn("wäiting… 日本", width, encoding)
        assert columns_of(drawn.encode(encoding, "backslashreplace").decode(encoding)) <= width


class Written(io.StringIO):
    encoding = "utf-8"


@contextmanager
def live() -> Iterator[tuple[Screen, Written]]:
    """A screen whose stderr is taken for a terminal, and what it writes there."""
    with redirect_stderr(Written()) as written:
        screen = Screen()
        screen.live = True
        yield screen, written


def test_a_screen_that_draws_and_says_shows_what_was_said_alone() -> None:
    with live() as (screen, written):
        screen.show_wait("waiting")
        screen.show_wait("waiting 1 s")
        screen.say("one")
        screen.show_wait("waiting 2 s")
        screen.show_tail(["tail", "日" * 100])
        screen.show_wait("hidden by the tail")
        assert on_screen(written.getvalue().replace("\n", "\r\n"), 80)[:2] == ["one", "  tail"]
        screen.say("two")
        screen.show_wait("waiting 3 s")
        screen.ask("sure? ")
        assert on_screen(written.getvalue().replace("\n", "\r\n"), 80) == ["one", "two", "sure?"]


def test_the_same_line_is_written_once() -> None:
    with live() as (screen, written):
        for _ in range(5):
            screen.show_wait("waiting 1 s")
        assert written.getvalue().count("waiting") == 1
        screen.show_wait(None)
    assert on_screen(written.getvalue(), 80) == [""]


async def test_the_line_is_gone_however_the_waiting_ends() -> None:
    with live() as (screen, written):
        with pytest.raises(ValueError, match="it broke"):
            async with ticking(screen, lambda: "waiting"):
                while "waiting" not in written.getvalue():
                    await asyncio.sleep(0.01)
                raise ValueError("it broke")
        assert on_screen(written.getvalue(), 80) == [""]
        await asyncio.sleep(2 * EVERY)
        assert written.getvalue().count("waiting") == 1, "nothing ticks any more"
