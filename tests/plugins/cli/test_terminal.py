"""What may reach a terminal: nothing that it obeys, and, where a person decides, nothing that hides."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard_cli.terminal import Stripper, plain, strip, visible

NASTY = st.text(
    st.one_of(
        st.characters(), st.sampled_from("\x1b[]\\PX^_()0123456789;?mhlAKJ\x07\x9b\x9d\x9c\r\n\t\x90\u202e\u200b")
    )
)


@given(NASTY)
def test_stripped_text_has_no_control_but_newline_and_tab(text: str) -> None:
    shown = strip(text)
    assert all(char in "\n\t" or unicodedata.category(char) != "Cc" for char in shown)
    shown.encode("utf-8")


@given(NASTY, st.lists(st.integers(0, 200), max_size=6))
def test_it_does_not_matter_how_a_text_is_cut_into_pieces(text: str, cuts: list[int]) -> None:
    stripper, places = Stripper(), sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert "".join(map(stripper.feed, pieces)) == strip(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t")))
def test_text_without_controls_is_left_alone(text: str) -> None:
    assert strip(text) == text


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x9cafter", "after"),
        ("\x9b2Jgone", "gone"),
        ("\x1b(0line", "line"),
        ("a\x08b\x00c\x7fd", "abcd"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("\x1b]0;never ends\nthe next line", "\nthe next line"),
        ("\x1b[31\x1b[2Kx", "x"),
        ("caf\udce9", "caf\\xe9"),
    ],
)
def test_sequences_are_taken_out_whole(sent: str, shown: str) -> None:
    assert strip(sent) == shown


@given(NASTY)
def test_visible_text_can_be_printed_and_loses_no_letter(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    for char in text:
        if char.isalnum() and char.isascii():
            assert char in shown


HIDDEN = (
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    "\u200b\u200c\u200d\u2060\ufeff\xad\xa0\u2003\u3000\u180e\x1b\x00\x7f\x85\u2028\u3164\ufe0f\U000e0041\u2800\u115f"
)


@pytest.mark.parametrize("char", HIDDEN)
def test_what_hides_is_spelled_out(char: str) -> None:
    shown = visible(f"a{char}b")
    assert char not in shown
    assert f"{ord(char):02x}" in shown.lower() or f"{ord(char):04x}" in shown.lower()


def test_spelling() -> None:
    assert visible("rm\u202e\x1b\ud7ff\t") == "rm\\u202e\\x1b\\ud7ff\\t"
    assert visible("a\n\tb", keep="\n\t") == "a\n\tb"
    assert visible("日本 é ← \\u202e") == "日本 é ← \\u202e"


def test_what_was_spelled_out_is_told_apart_by_colour() -> None:
    assert visible("x\u202e", colour=True) == "x\x1b[7m\\u202e\x1b[27m"


def test_command_line_bytes_that_are_not_utf8() -> None:
    assert plain("caf\udce9 \ud800") == "caf\\xe9 \\ud800"
    assert plain("plain ✓") == "plain ✓"
