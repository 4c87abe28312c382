"""Items of the transcript: what a person reads of prompts, calls, notes and ends, folded and not, and what copying gives."""

from __future__ import annotations

from typing import Any, get_args
from unicodedata import category

import msgspec
import pytest
from drawing import COLOURED, golden, letters, styled
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.blocks import Activity, AnyBlock, Diff, Note, Table, Text
from pegboard.calls import Answer, Decision
from pegboard.events import TurnEnded, Usage
from pegboard.port import Described
from pegboard.terminal import spelled, visible
from pegboard.wording import refusal
from pegboard_tui.drawing import markdown
from pegboard_tui.drawing.cells import cells
from pegboard_tui.drawing.items import estimate, rows
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told
from pegboard_tui.selecting import source
from scripted import call_asked, call_finished


def drawn(item: AnyItem, width: int = 60) -> str:
    return letters(rows(item, Look(width=width)))


def call(text: str | None = None, *, echo: bool = True, commands: bool = False, ignored: Any = (), **more: Any) -> Made:
    """A call of a command; with a text it has finished."""
    activity = Activity(glyph="$", verb="Run", subject="make", details="[jobs=2]")
    described = Described(tool="bash", activity=activity, echo=echo, commands=commands, ignored=ignored)
    item = {key: more.pop(key) for key in ("state", "why", "progress", "folded", "drawn") if key in more}
    more["why"] = more.pop("stopped", None)
    finished = call_finished("1", text, **more) if text is not None else None
    return Made(key="1", asked=call_asked("1", "Run make"), described=described, finished=finished, **item)


CHANGE = Diff(path="a.py", change="created", added=1, removed=0, text="@@ -0,0 +1 @@\n+x = 1\n")


def test_a_prompt_stands_behind_a_bar_and_says_who_else_asked() -> None:
    assert drawn(Asked(key="1", text="do this\n[red]and that")) == "▌ do this\n▌ [red]and that"
    assert drawn(Asked(key="1", text="go", by="plugin:watch")) == "▌ go\n▌ by plugin:watch"
    long = Asked(key="1", text="\n".join(map(str, range(100))))
    assert drawn(long).endswith("▌ 15\n  … 84 more lines (Enter)")
    long.folded = False
    assert drawn(long).endswith("▌ 99")


def test_of_a_progress_bar_the_end_is_shown_of_what_a_command_printed_and_of_nothing_else() -> None:
    text = "\r".join(f"{n / 100:6.2f}%" for n in range(10_001)) + "\r\ninstalled"
    assert drawn(call(text, commands=True)).split("\n")[1:] == ["│ 100.00%", "│ installed"]
    assert "\\r" in drawn(call("no\ryes"))


def test_thinking_is_a_line_until_it_is_unfolded() -> None:
    thought = Thought(key="1", text="first\nsecond")
    assert drawn(thought) == "thinking … (2 lines)"
    thought.done = True
    assert drawn(thought) == "thought (2 lines)"
    thought.folded = False
    assert drawn(thought) == "thought (2 lines)\n┆ first\n┆ second"
    thought.folded = True
    assert drawn(thought) == "thought (2 lines)"


def test_an_answer_that_grows_is_drawn_as_it_is_when_it_is_whole() -> None:
    said = Said(key="1", text="# T\n\nHello *the")
    assert drawn(said) == "T\n\nHello *the"
    said.text, said.done = "# T\n\nHello *there*", True
    assert drawn(said) == "T\n\nHello there"
    said.text = "another"
    assert drawn(said) == "another"


def test_an_answer_that_grows_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = markdown._blocks
    monkeypatch.setattr(markdown, "_blocks", lambda text: (read.append(len(text)), real(text))[1])
    said, text = Said(key="1"), "A paragraph of some words.\n\n" * 50
    for at in range(0, len(text), 14):
        said.text = text[:at]
        rows(said, Look(width=60))
    said.done = True
    rows(said, Look(width=60))
    assert sum(read) < 6 * len(text)


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (call(), "$ Run make [jobs=2] · asked"),
        (call(state="waiting"), "$ Run make [jobs=2] · waiting for you"),
        (call(state="running", progress="3 of 9"), "$ Run make [jobs=2] · running: 3 of 9"),
        (
            call(state="lost"),
            "$ Run make [jobs=2] · not ended when this was opened;\n  another process has the session open",
        ),
        (call("x", echo=False), "$ Run make [jobs=2]"),
        (call("x", echo=False, duration_ms=61_000.0), "$ Run make [jobs=2] · 1 min 1 s"),
        (call("x", outcome="error", duration_ms=1_500.0), "$ Run make [jobs=2] · failed after 1.5 s\n│ x"),
        (call("x", outcome="interrupted", stopped="person"), "$ Run make [jobs=2] · interrupted by you\n│ x"),
        (call("x", outcome="blocked", block="invalid_arguments"), "$ Run make [jobs=2] · blocked\n│ x"),
    ],
)
def test_a_calls_line_says_how_it_is_doing(item: Made, line: str) -> None:
    assert drawn(item) == line


def refused(block: str, decision: Decision) -> str:
    return drawn(call("what the model is told", outcome="blocked", block=block, decision=decision))


def test_a_refusal_is_told_shortly() -> None:
    line = "$ Run make [jobs=2] · blocked\n  ! "
    asked = Decision(action="ask", rule="bash", answer=Answer(granted=False, by="person", reason="not now"))
    assert refused("denied", asked) == f"{line}declined by you: not now"
    assert refused("denied", Decision(action="deny", rule="bash", layer="user")) == f"{line}denied by bash (user)"
    assert (
        refused("guard", Decision(action="deny", rule="guard: rm -rf")) == f"{line}refused by the guard: guard: rm -rf"
    )
    alone = Decision(action="ask", rule="bash", answer=Answer(granted=False, by="headless"))
    assert refused("denied", alone) == f"{line}needs consent, nobody to ask"
    twice = call("x", outcome="blocked", block="denied", decision=asked, why="declined by person")
    assert drawn(twice).count("declined") == 1


def test_who_allowed_it_and_what_was_ignored_stand_below() -> None:
    item = call("done", why="allowed by --yes", dropped=["speed", "jobs"], ignored=["speed"])
    assert drawn(item) == golden(
        """
        $ Run make [jobs=2]
          allowed by --yes
          (ignored, there is no such parameter: speed)
        │ done
        """
    )


def test_a_long_result_is_folded_and_unfolded() -> None:
    item = call("\n".join(f"line {n}" for n in range(48)) + "\n")
    assert drawn(item) == golden(
        """
        $ Run make [jobs=2]
        │ line 0
        │ line 1
        │ line 2
        │ line 3
        │ line 4
        │ line 5
        │ line 6
        │ line 7
          … 40 more lines (Enter)
        """
    )
    item.folded = True
    assert drawn(item) == "$ Run make [jobs=2] … 48 lines"
    item.folded = False
    assert drawn(item).endswith("│ line 47")
    assert drawn(call("a\n" * 12)).count("│") == 12


def test_a_line_of_five_megabytes_is_cut_and_said_to_be() -> None:
    item = call('{"a": ' + "x" * 5_000_000)
    shown = drawn(item)
    assert len(shown) < 1_000 and "more characters (Enter)" in shown
    left = int(shown.rsplit("… ", 1)[1].split()[0].replace(",", ""))
    seen = sum(len(line.removeprefix("│ ")) for line in shown.split("\n")[1:-1])
    assert left + seen == 5_000_006
    item.folded = False
    assert len(drawn(item)) < 200_000 and "more characters" in drawn(item)[-60:]


def test_what_a_command_printed_loses_its_colours_and_nothing_else() -> None:
    printed = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J"
    assert drawn(call(printed, commands=True)).endswith("│ red \\x1b]0;title\\x07 \\x1b[2J")
    assert drawn(call(printed)).endswith("│ \\x1b[31mred\\x1b[0m \\x1b]0;title\\x07 \\x1b[2J")
    many = "\x1b[32m.\x1b[0m" * 300
    assert drawn(call(many, commands=True)) == "$ Run make [jobs=2]\n" + "\n".join(
        ["│ " + "." * 58] * 5 + ["│ " + "." * 10]
    )


def test_a_diff_is_shown_once_and_what_a_renderer_drew_stands_for_the_text() -> None:
    item = call("text", blocks=[CHANGE], drawn=[CHANGE, Note(text="drawn")])
    assert drawn(item) == golden(
        """
        $ Run make [jobs=2]
          a.py (created) +1 -0
          1 + x = 1
          drawn
        """
    )
    item.described = Described(tool="w", activity=Activity(glyph="→", verb="Write", subject="a.py"))
    assert drawn(item) == "→ Write a.py (created) +1 -0\n  1 + x = 1\n  drawn"


def test_a_line_of_a_call_is_kept_short_until_it_is_unfolded() -> None:
    item = call()
    item.described = Described(tool="bash", activity=Activity(glyph="$", verb="Run", subject="echo " + "word " * 99))
    assert len(drawn(item).split("\n")) == 3 and drawn(item).endswith("… · asked")
    item.folded = False
    assert drawn(item).count("word") == 99


def test_notes_and_problems_have_signs() -> None:
    assert drawn(Told(key="1", text="one\ntwo")) == "· one\n  two"
    assert drawn(Told(key="1", text="careful", level="warning")) == "! careful"
    shown = rows(Told(key="1", text="bad", level="problem"), Look(width=20, palette=COLOURED))
    assert styled(shown, COLOURED.problem) == ["! bad"]


def test_what_a_command_shows_stands_below_its_title() -> None:
    blocks: list[AnyBlock] = [Table(columns=["a"], rows=[["1"]]), Note(text="one"), Note(text="two"), Text(text="t")]
    assert drawn(Shown(key="1", title="/sets", blocks=blocks)) == "/sets\na\n─\n1\n\none\ntwo\n\nt"


@pytest.mark.parametrize(
    ("status", "error", "line"),
    [
        ("done", None, ""),
        ("asked_back", None, ""),
        ("error", "no answer\nask again", "! no answer\n  ask again"),
        ("stopped", None, "! stopped: a limit was reached"),
        ("interrupted", None, "! (cancelled)"),
    ],
)
def test_the_end_of_a_turn_is_told_when_it_is_not_just_done(status: Any, error: str | None, line: str) -> None:
    item = Ended(key="1", ended=TurnEnded(status=status, text="", usage={}, error=error), seconds=2.0)
    assert drawn(item) == line
    item.usage = Usage(input=1234, output=56, cached=1000, cost=0.0123)
    told = "2.0 s · 1,234 tokens in (1,000 cached), 56 out, $0.0123"
    assert drawn(item) == (f"{line}\n{told}" if line else told)


# --- heights --------------------------------------------------------------------------------------------------------------


def samples(text: str) -> list[AnyItem]:
    """An item of every kind, with the text at every place that takes one."""
    ended = TurnEnded(status="error", text=text, usage={}, error=text)
    made = call(
        text, outcome="error", why=text, blocks=[Text(text=text)], dropped=[text], ignored=[text], commands=True
    )
    return [
        Asked(key="1", text=text, by=text),
        Said(key="1", text=text),
        Thought(key="1", text=text, folded=False),
        made,
        call(state="running", progress=text, folded=True),
        Told(key="1", text=text),
        Shown(key="1", blocks=[Text(text=text)], title=text),
        Ended(key="1", ended=ended),
    ]


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(item) for item in samples("x")} == set(get_args(AnyItem))


@settings(max_examples=40)
@given(st.text(max_size=60), st.integers(1, 130), st.sampled_from([Palette(), COLOURED]))
def test_any_text_fits_and_holds_nothing_that_a_terminal_obeys(text: str, width: int, palette: Palette) -> None:
    for item in samples(text):
        for strip in rows(item, Look(width=width, palette=palette)):
            assert strip.cell_length == cells(strip.text) <= width
            assert visible(strip.text, keep="".join(c for c in strip.text if spelled(c) == c)) == strip.text
        assert all(char in "\n\t" or category(char) != "Cc" for char in source(item))
        assert estimate(item, width) >= 0


def test_a_guess_of_the_height_is_near_it() -> None:
    items = [
        Asked(key="1", text="one\ntwo"),
        Said(key="1", text="word " * 300, done=True),
        Thought(key="1", text="a\nb"),
        call("a\n" * 200),
        call("a\n" * 200, folded=True),
        call("ok", echo=False, blocks=[CHANGE]),
        call("long\n" * 9, outcome="blocked", block="guard", decision=Decision(action="deny", rule="r"), why="w"),
        Told(key="1", text="x"),
        Ended(key="1", ended=TurnEnded(status="done", text="", usage={})),
    ]
    for item in items:
        height = len(rows(item, Look(width=80)))
        assert abs(estimate(item, 80) - height) <= 2 + height // 4, item


def test_a_call_that_was_allowed_and_did_not_run_is_not_called_declined() -> None:
    answer = Answer(granted=True, by="person")
    decision = Decision(action="ask", rule="tool_permission.bash", layer="default", answer=answer)
    finished = call_finished("c1", "the turn ended before it ran", outcome="blocked", block="denied", decision=decision)
    assert refusal(finished) == ""
    declined = Decision(action="ask", rule="r", layer="default", answer=Answer(granted=False, by="person"))
    assert refusal(msgspec.structs.replace(finished, decision=declined)) == "declined by you"
