"""What a terminal sends is read as a person means it, and a long paste at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard_tui.composer.keyboards import Reader, read_pastes_whole, tell_alt_enter_apart
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.events import Key, Paste

KEYS = ["a", "\r", "\t", "\x1b[A", "\x1b[24~", "\x1b[1;5C", "\x03", "0", "~", "["]
PASTES = st.text(st.sampled_from("ab\r\n\x00[]~201\x1b"), max_size=12)


def test_alt_enter_is_told_apart_in_a_terminal_of_the_old_protocol() -> None:
    tell_alt_enter_apart()
    told = [event.key for event in XTermParser().feed("\x1b\r\r\n") if isinstance(event, Key)]
    assert told == ["alt+enter", "enter", "ctrl+j"]


def read(parser: XTermParser, pieces: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for piece in pieces:
        for event in parser.feed(piece):
            if isinstance(event, Paste):
                found.append(("paste", event.text))
            elif isinstance(event, Key):
                found.append(("key", event.key))
    return found


@settings(max_examples=60)
@given(st.lists(st.one_of(st.sampled_from(KEYS), st.tuples(PASTES)), max_size=6), st.data())
def test_pastes_and_keys_come_in_their_order_however_they_are_cut(
    sent: list[str | tuple[str]], data: st.DataObject
) -> None:
    text, meant = "", []
    for one in sent:
        if isinstance(one, tuple):
            [pasted] = one
            if "\x1b[201~" in pasted or pasted.endswith("\x1b"):
                continue
            text += f"\x1b[200~{pasted}\x1b[201~"
            meant.append(("paste", pasted.replace("\x00", "")))
        else:
            text += one
            meant += read(XTermParser(), [one])
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=4).map(sorted))
    cuts = [at for at in cuts if not text[:at].endswith(("\x1b", "\x1b["))]  # there Esc, or Alt+[, is a key of its own
    pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True) if begin < end]
    assert read(Reader(), pieces) == meant


def test_escape_codes_in_a_paste_are_no_keys() -> None:
    assert read(Reader(), ["\x1b[200~a\x1b[A\x1b\r\x1bOP\x1b[201~"]) == [("paste", "a\x1b[A\x1b\r\x1bOP")]


def test_a_paste_of_megabytes_is_taken_in_pieces() -> None:
    text = "a line of a log\r" * 320_000
    sent = f"x\x1b[200~{text}\x1b[201~y"
    pieces = [sent[at : at + 4096] for at in range(0, len(sent), 4096)]
    assert read(Reader(), pieces) == [("key", "x"), ("paste", text), ("key", "y")]


def test_textuals_driver_reads_with_it() -> None:
    read_pastes_whole()
    assert linux_driver.XTermParser is Reader  # type: ignore[attr-defined]
