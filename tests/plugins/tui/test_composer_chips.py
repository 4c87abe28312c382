"""What is long or hidden stands in the input as a chip, and comes back as it was."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.terminal import spelled
from pegboard_tui.composer.chips import Chips, around, drawn, is_long, spans, unified
from pegboard_tui.composer.hints import hint

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("\x1b\u202e\ufdd0\ufdd1\ufdd2\ufdd3[]<>\n\t #pasted123")))


@settings(max_examples=50)
@given(TEXTS, TEXTS, TEXTS)
def test_what_was_folded_or_spelled_out_is_sent_as_it_was(before: str, pasted: str, after: str) -> None:
    chips = Chips()
    written = chips.safe(before) + chips.fold(pasted) + chips.safe(after) + chips.fold(after)
    assert chips.expand(written) == before + pasted + after + after
    assert Chips(chips.of(written)).expand(written) == before + pasted + after + after


@settings(max_examples=50)
@given(TEXTS)
def test_nothing_that_a_terminal_obeys_is_drawn(text: str) -> None:
    chips = Chips()
    line = chips.safe(text) + chips.fold(text)
    shown = drawn(line)
    assert len(shown) == len(line)
    assert spelled(shown) == shown
    assert "\r" not in chips.safe(text)


@settings(max_examples=50)
@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_a_text_back_from_an_editor_is_sent_as_it_was_left(text: str, pasted: list[str]) -> None:
    chips = Chips()
    before = "a".join(chips.fold(one) for one in pasted)
    assert chips.expand(chips.shown(text, before)) == text
    whole = f"x{chips.expand(before)}y"
    assert chips.expand(chips.shown(whole, before)) == whole


def test_a_paste_that_an_editor_left_whole_is_folded_again() -> None:
    chips = Chips()
    log = "\n".join(map(str, range(200)))
    before = f"look: {chips.fold(log)}"
    assert (
        drawn(chips.shown(f"look closely: {log}\nand fix it", before)) == "look closely: [pasted 200 lines]\nand fix it"
    )


def test_labels_tell_how_much_it_is_and_tell_pastes_apart() -> None:
    chips = Chips()
    said = [drawn(chips.fold(text)) for text in ("a\nb", "a\nc", "a\nb", "x" * 812)]
    assert said == ["[pasted 2 lines]", "[pasted 2 lines #2]", "[pasted 2 lines]", "[pasted 812 characters]"]
    assert drawn(chips.safe("a\x1b[2Jb\x00" + "\u200b" * 30)) == r"a<\x1b>[2Jb<31 hidden characters>"
    assert drawn(chips.safe("\udc85")) == r"<\x85>" and drawn(chips.safe("\x85")) == r"<\x85 #2>"


def test_a_text_that_looks_like_a_chip_is_none() -> None:
    chips = Chips()
    chips.fold("a\nb")
    assert spans("[pasted 2 lines]") == []
    assert chips.expand("[pasted 2 lines]") == "[pasted 2 lines]"
    forged = chips.safe("\ufdd0pasted 2 lines\ufdd1")
    assert chips.expand(forged) == "\ufdd0pasted 2 lines\ufdd1"
    assert drawn(forged) == r"<\ufdd0>pasted 2 lines<\ufdd1>"


def test_a_place_inside_a_chip_is_told() -> None:
    line = f"a{Chips().fold('x' * 9)}b"
    [(start, end)] = spans(line)
    assert (start, end) == (1, len(line) - 1)
    assert around(line, start) is None and around(line, end) is None
    assert around(line, start + 1) == around(line, end - 1) == (start, end)


def test_what_is_long_is_told_by_lines_and_characters() -> None:
    assert not is_long("1\n2\n3\n4\n5") and is_long("1\n2\n3\n4\n5\n6")
    assert not is_long("x" * 500) and is_long("x" * 501)
    assert unified("a\r\nb\rc\n") == "a\nb\nc\n"


@settings(max_examples=50)
@given(TEXTS, TEXTS, st.integers(1, 20))
def test_the_head_of_a_line_is_that_of_what_it_stands_for(text: str, pasted: str, most: int) -> None:
    chips = Chips()
    for line in (chips.fold(pasted) + chips.safe(text), chips.safe(text)):
        head = chips.head(line, most)
        assert len(head) <= most
        assert chips.expand(line).startswith(head)
    assert chips.head(chips.fold("!" * 600), 200) == "!" * 200


def test_an_empty_input_says_as_much_as_there_is_room_for() -> None:
    def said(width: int, *, searching: bool = False, busy: bool = False, steer: str = "ctrl+t", sign: str = "!") -> str:
        return hint(width, searching=searching, busy=busy, send="enter", steer=steer, sign=sign)

    assert said(100).endswith("! to run one") and said(10) == "Ask"
    assert said(100, sign="%").endswith("% to run one") and said(100, sign="").endswith("@ for files")
    assert said(100, busy=True) == "Enter queues it, ctrl+t tells it to the running turn"
    assert said(40, busy=True) == "Enter queues, ctrl+t steers" and said(12, busy=True) == "Enter queues"
    assert said(100, busy=True, steer="") == "Enter queues it until the turn ends"
    assert said(100, searching=True, busy=True).startswith("words of a prompt")
