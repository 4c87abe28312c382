"""What may reach a terminal: nothing that it obeys, and nothing that hides."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.terminal import Speller, command_output, plain, spelled, visible

NASTY = st.text(
    st.one_of(
        st.characters(), st.sampled_from("\x1b[]\\PX^_()0123456789;?mhlAKJ\x07\x9b\x9d\x9c\r\n\t\x90\u202e\u200b")
    )
)


INVISIBLE = {chr(point) for point in (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)} | {
    chr(point) for block in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000)) for point in block
}
"""Characters that are no controls, and drawn as nothing."""


def hides(char: str) -> bool:
    """Whether a terminal obeys a character, or a person does not see it."""
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")


@pytest.mark.parametrize("safe", [spelled, command_output, lambda text: visible(text, keep="\n\t")])
@given(text=NASTY)
def test_nothing_hides_in_text_that_reaches_a_terminal(safe: Callable[[str], str], text: str) -> None:
    shown = safe(text)
    assert [char for char in shown if hides(char)] == []
    shown.encode("utf-8")


@given(NASTY)
def test_nothing_is_taken_out(text: str) -> None:
    undone = re.sub(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|r)", "", spelled(text))
    kept = "".join(char for char in text.replace("\r\n", "\n") if not hides(char) and char not in INVISIBLE)
    assert undone == re.sub(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|r)", "", kept)


@given(NASTY, st.lists(st.integers(0, 200), max_size=6))
def test_it_does_not_matter_how_a_text_is_cut_into_pieces(text: str, cuts: list[int]) -> None:
    speller, places = Speller(), sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert "".join(map(speller.feed, pieces)) + speller.end() == spelled(text)


@pytest.mark.parametrize("text", ["plain\n\ttext", "日本　語", "deux\xa0points\u202f:", "é ← ✓ ∑ Ω 한국어 عربى עברית"])
def test_text_without_anything_hidden_is_left_alone(text: str) -> None:
    assert spelled(text) == command_output(text) == text


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07after", "\\x1b]0;title\\x07after"),
        ("\x9b2Jgone", "\\x9b2Jgone"),
        ("a\x08b\x00c\x7fd\x85e", "a\\x08b\\x00c\\x7fd\\x85e"),
        ("one\r\ntwo\rthree", "one\ntwo\\rthree"),
        ("q\u202ez\u200b\u2028", "q\\u202ez\\u200b\\u2028"),
        ("caf\udce9", "caf\\xe9"),
    ],
)
def test_what_hides_in_a_result_is_spelled_out(sent: str, shown: str) -> None:
    assert spelled(sent) == shown


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m \x1b[38:5:1mx\x1b[m", "red x"),
        ("\x1b[2Jx\x1b[31", "\\x1b[2Jx\\x1b[31"),
        ("\x1b[3\x1b[0m1mx", "\\x1b[31mx"),
        ("\x1b[?25mx\x1b[>4;2m", "\\x1b[?25mx\\x1b[>4;2m"),
        ("\x9b31mx", "\\x9b31mx"),
    ],
)
def test_a_commands_output_loses_whole_colours_and_nothing_else(sent: str, shown: str) -> None:
    assert command_output(sent) == shown


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("  10%\r  50%\r 100%\ndone", " 100%\ndone"),
        ("downloading\rdone\r\n", "doneloading\n"),
        ("downloading\r\x1b[Kdone", "done"),
        ("downloading\x1b[2K\rdone", "done"),
        ("left \x1b[2Kover\rX", "X    over"),
        ("bar 9%\r      \r\nnext", "\nnext"),
        ("\x1b[32m━━━\x1b[0m 3/3\r\r\n", "━━━ 3/3\n"),
        ("a\rb\x1b]0;t\x07", "b\\x1b]0;t\\x07"),
        ("\x1b[Kx", "\\x1b[Kx"),
    ],
)
def test_what_a_command_wrote_over_is_shown_as_it_stood_in_the_end(sent: str, shown: str) -> None:
    assert command_output(sent) == shown


def test_a_line_that_is_written_over_without_end_takes_no_longer_than_its_length() -> None:
    for over in ("\ra", "\x1b[2K", "\r\x1b[K"):
        assert len(command_output("x" * 200_000 + over * 200_000 + "\r")) <= 200_000


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
    assert unicodedata.category(char) == "Zs" or char not in spelled(f"a{char}b")
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
