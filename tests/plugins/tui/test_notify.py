"""Telling a person who looks elsewhere."""

from __future__ import annotations

from pegboard.events import TurnEnded
from pegboard_tui.items import Ended
from pegboard_tui.notify import Notifier, sequence_of


def ended(seconds: float | None, status: str = "done") -> Ended:
    return Ended(key="e1", ended=TurnEnded(status=status, text="", usage={}), seconds=seconds)  # type: ignore[arg-type]


def test_a_bell_a_note_of_the_desktop_both_or_nothing() -> None:
    xterm = {"TERM": "xterm-256color"}
    assert sequence_of("bell", "done", xterm) == "\a"
    assert sequence_of("desktop", "done", xterm) == "\x1b]9;pegboard: done\a"
    assert sequence_of("both", "done", xterm) == "\x1b]9;pegboard: done\a\a"
    assert sequence_of("off", "done", xterm) == ""
    assert sequence_of("desktop", "done", {"TERM": "rxvt-unicode"}) == "\x1b]777;notify;pegboard;done\a"


def test_inside_tmux_the_note_is_passed_on_and_a_bell_goes_with_it() -> None:
    told = sequence_of("desktop", "done", {"TMUX": "/tmp/x", "TERM": "tmux-256color"})
    assert told == "\x1bPtmux;\x1b\x1b]9;pegboard: done\a\x1b\\\a"
    assert sequence_of("desktop", "x", {"STY": "1.a"}).startswith("\x1bP\x1b]9;")


def test_a_text_cannot_end_the_note_nor_begin_another_field() -> None:
    hostile = "a\x1b\\\x07\x9c;b" + "c" * 500
    for environ in ({}, {"VTE_VERSION": "7000"}):
        told = sequence_of("desktop", hostile, environ)
        assert told.count("\x1b") == 1 and told.count("\a") == 1 and "\x9c" not in told and len(told) < 200
        assert told.count(";") == (3 if environ else 1)


def test_long_turns_and_questions_are_told_unless_the_person_looks() -> None:
    written: list[str] = []
    notifier = Notifier("bell", {}, written.append)
    notifier.saw(ended=ended(3.0))
    notifier.saw(ended=ended(None))
    assert written == []
    notifier.saw(ended=ended(30.0))
    notifier.saw(waiting=1)
    assert written == ["\a", "\a"]  # nobody knows who has the focus
    notifier.focused = True
    notifier.saw(ended=ended(30.0))
    notifier.saw(waiting=2)
    assert len(written) == 2
    notifier.focused = False
    notifier.saw(ended=ended(30.0, "error"))
    assert len(written) == 3


def test_what_is_told_says_how_it_ended_and_how_many_wait() -> None:
    written: list[str] = []
    notifier = Notifier("desktop", {}, written.append)
    notifier.saw(ended=ended(75.0))
    notifier.saw(ended=ended(75.0, "error"))
    notifier.saw(waiting=1)
    notifier.saw(waiting=3)
    assert [one.removeprefix("\x1b]9;pegboard: ").removesuffix("\a") for one in written] == [
        "done after 1m 15s",
        "it failed after 1m 15s",
        "a question waits",
        "3 questions wait",
    ]
