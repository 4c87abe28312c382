"""kit.output: what reaches the model, what is kept of the rest, and what viewers see meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import re
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.kit.output import Caps, Keep, OutputSettings, Sink, Spool, Tail, cap_text, marker
from pegboard.kit.sink import count_chars

OFF = Caps(max_chars=0, max_bytes=0, max_lines=0)
MARKER = re.compile(r"\.\.\. \[truncated ([\d,]+) chars(?:; (.*))?\]")


def taken(text: str, caps: Caps, keep: Keep = "head") -> tuple[str, str, int]:
    """A capped text taken apart: what stands before the marker, what after it, and the count in it."""
    found = MARKER.search(text)
    assert found, text[-200:]
    return text[: found.start()], text[found.end() :].removeprefix("\n"), int(found[1].replace(",", ""))


# --- the caps ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("U-060")
def test_the_default_limits() -> None:
    assert Caps.of(OutputSettings()) == Caps(max_chars=30_000, max_bytes=51_200, max_lines=2_000)
    assert (OutputSettings().max_saved_bytes, OutputSettings().max_session_bytes) == (64 * 2**20, 2**30)


@pytest.mark.row("S-092")
def test_the_marker_counts_what_was_left_out() -> None:
    cut = cap_text("x" * 71_233, Caps())

    assert cut.truncated
    assert cut.text == "x" * 30_000 + "\n... [truncated 41,233 chars]"


@pytest.mark.row("R-071")
def test_a_long_text_is_cut_at_a_line_end() -> None:
    text = "".join(f"line {n:06} of the text\n" for n in range(6_000))

    cut = cap_text(text, Caps(max_lines=0)).text
    head, tail, left_out = taken(cut, Caps())

    assert text.startswith(head) and head.endswith("text\n")
    assert 30_000 - len("line 000000 of the text\n") < len(head) <= 30_000
    assert (tail, left_out) == ("", len(text) - len(head))


@pytest.mark.row("R-072")
@pytest.mark.parametrize(
    ("text", "caps"),
    [
        ("x" * 30_000, Caps()),
        ("é" * 25_600, Caps()),
        ("\n" * 2_000, Caps()),
        ("a\n" * 1_999 + "a", Caps()),
        ("é\n" * 1_000_000, OFF),
        ("", Caps()),
    ],
    ids=["chars", "bytes", "lines", "last line open", "no limit", "empty"],
)
def test_what_fits_is_unchanged(text: str, caps: Caps) -> None:
    cut = cap_text(text, caps)

    assert (cut.text, cut.truncated, cut.full_output) == (text, False, None)


@pytest.mark.row("U-061")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x" * 30_001, 30_000),
        ("€" * 20_000, 17_066),
        ("\n" * 2_001, 2_000),
        ("a\n" * 2_000 + "a", 4_000),
    ],
    ids=["chars", "bytes", "lines", "one line too many"],
)
def test_the_first_limit_hit_wins(text: str, kept: int) -> None:
    head, _, left_out = taken(cap_text(text, Caps()).text, Caps())

    assert len(head.removesuffix("\n") if "\n" not in text else head) == kept
    assert left_out == len(text) - kept


def test_a_limit_that_is_off_does_not_count() -> None:
    text = "x\n" * 3_000

    assert not cap_text(text, Caps(max_chars=0, max_bytes=0, max_lines=0)).truncated
    assert cap_text(text, Caps(max_chars=0, max_bytes=0, max_lines=10)).text.startswith("x\n" * 10 + "... [")
    assert cap_text(text, Caps(max_chars=0, max_bytes=9, max_lines=0)).text.startswith("x\n" * 4 + "... [")


def test_one_very_long_line_after_a_short_one_is_cut_inside_the_line() -> None:
    head, _, _ = taken(cap_text("short\n" + "x" * 90_000, Caps()).text, Caps())

    assert len(head) == 30_001  # with the line end before the marker


def test_ends_keeps_both_ends_and_leaves_out_the_middle() -> None:
    text = "".join(f"line {n}\n" for n in range(10_000))

    head, tail, left_out = taken(cap_text(text, Caps(), "ends").text, Caps())

    assert head.startswith("line 0\n") and head.endswith("\n")
    assert tail.startswith("line ") and tail.endswith("line 9999\n")
    assert text.startswith(head) and text.endswith(tail)
    assert left_out == len(text) - len(head) - len(tail)


texts = st.text(alphabet=st.sampled_from("a\nbé€😀\r\t \x1b\0"), max_size=300) | st.text(max_size=80)
limits = st.builds(Caps, max_chars=st.integers(0, 60), max_bytes=st.integers(0, 60), max_lines=st.integers(0, 8))


@given(texts, limits, st.sampled_from(["head", "ends"]))
def test_every_cut_keeps_to_its_limits_and_counts_rightly(text: str, caps: Caps, keep: Keep) -> None:
    cut = cap_text(text, caps, keep)
    if not cut.truncated:
        assert cut.text == text
        return
    head, tail, left_out = taken(cut.text, caps)
    kept = len(text) - left_out
    first = kept - len(tail)

    assert head.removesuffix("\n") == text[:first].removesuffix("\n")
    assert text.endswith(tail)
    whole = text[:first] + tail
    assert not caps.max_lines or whole.count("\n") <= max(caps.max_lines, 2 if keep == "ends" else 1)
    assert not caps.max_chars or len(whole) <= max(caps.max_chars, 2 if keep == "ends" else 1)
    assert not caps.max_bytes or len(whole.encode()) <= max(caps.max_bytes, 2 if keep == "ends" else 1)


@given(texts, limits, st.sampled_from(["head", "ends"]), st.lists(st.integers(0, 300), max_size=8))
def test_the_sink_says_what_the_cap_says_however_the_output_comes(
    text: str, caps: Caps, keep: Keep, cuts: list[int]
) -> None:
    data, sink = text.encode(), Sink(caps, keep=keep)

    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
        sink.feed("stdout", data[start:end])

    assert sink.close() == cap_text(text, caps, keep)
    assert sink.stream("stdout") == sink.close().text


# --- the sink ---------------------------------------------------------------------------------------------------------


def test_streams_are_kept_apart_and_in_the_order_they_came() -> None:
    sink = Sink()
    sink.feed("stdout", b"one\n")
    sink.feed("stderr", b"two\n")
    sink.feed("stdout", b"three\n")

    assert sink.close().text == "one\ntwo\nthree\n"
    assert (sink.stream("stdout"), sink.stream("stderr"), sink.stream("other")) == ("one\nthree\n", "two\n", "")


def test_a_character_that_comes_in_pieces_is_one_character() -> None:
    sink = Sink()
    for byte in "a😀é".encode():
        sink.feed("stdout", bytes([byte]))
        sink.feed("stderr", b".")

    assert sink.stream("stdout") == "a😀é"
    assert sink.close().text.replace(".", "") == "a😀é"


def test_what_is_not_utf8_is_replaced_and_still_capped() -> None:
    sink = Sink()
    sink.feed("stdout", b"ok \xff\xfe caf\xe9 \xe2\x82")

    assert sink.close().text == "ok \ufffd\ufffd caf\ufffd \ufffd"

    binary = Sink()
    binary.feed("stdout", b"\xff" * 20_000)  # 60,000 bytes once it is text

    head, _, left_out = taken(binary.close().text, Caps())
    assert len(head.encode()) <= 51_201 and left_out == 20_000 - len(head.rstrip("\n"))


def test_control_characters_are_left_in() -> None:
    sink = Sink()
    sink.feed("stdout", b"\x1b[31mred\x1b[0m\r\n\x07\0")

    assert sink.close().text == "\x1b[31mred\x1b[0m\r\n\x07\0"


def test_what_came_so_far_can_be_asked_for() -> None:
    sink = Sink()
    sink.feed("stdout", b"so far\n")

    assert sink.text() == "so far\n"
    sink.feed("stdout", b"so good\n")
    assert sink.close() == sink.close()
    sink.feed("stdout", b"too late\n")
    assert sink.text() == "so far\nso good\n"


@pytest.mark.parametrize("keep", ["head", "ends"])
@pytest.mark.parametrize(
    "piece", [b"plain text\n" * 20_000, "é€😀\n".encode() * 20_000, b"x" * 220_000], ids=["ascii", "other", "one line"]
)
def test_memory_is_bounded_whatever_is_printed(keep: Keep, piece: bytes) -> None:
    sink = Sink(Caps(max_bytes=0), keep=keep, on_tail=lambda tail: None)
    sink.feed("stdout", piece)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(100):
        sink.feed("stdout", piece)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= 4 * 1024
    assert sink.size == 101 * len(piece)


def test_chars_of_binary_data_are_counted_roughly_but_bounded() -> None:
    data = random.Random(1).randbytes(300_000)

    exact = len(data.decode("utf-8", "replace"))
    assert exact / 2 < count_chars(data) <= len(data)
    assert count_chars(b"\x80" * 300_000) >= 100_000  # or a flood of these would never reach a cap
    assert count_chars(data[:1000]) == len(data[:1000].decode("utf-8", "replace"))


# --- the spool --------------------------------------------------------------------------------------------------------


def test_the_whole_text_is_kept_and_named(tmp_path: Path) -> None:
    text = "line\n" * 30_000

    cut = cap_text(text, Caps(), spool=Spool(tmp_path, "c7"))

    assert cut.full_output == "session:out/c7.txt"
    assert re.search(r"\n\.\.\. \[truncated 14\d,\d\d\d chars; all of it: session:out/c7\.txt\]$", cut.text)
    assert (tmp_path / "out/c7.txt").read_text() == text


def test_the_sink_keeps_the_whole_of_both_streams(tmp_path: Path) -> None:
    sink = Sink(spool=Spool(tmp_path, "c7"))
    for n in range(5_000):
        sink.feed("stdout", b"out %d\n" % n)
        sink.feed("stderr", b"err %d\n" % n)
    capped = sink.close()

    kept = (tmp_path / "out/c7.txt").read_text()
    assert kept == "".join(f"out {n}\nerr {n}\n" for n in range(5_000))
    head, _, left_out = taken(capped.text, Caps())
    assert (kept[: len(head)], left_out, capped.full_output) == (head, len(kept) - len(head), "session:out/c7.txt")


def test_nothing_is_written_for_what_fits(tmp_path: Path) -> None:
    sink = Sink(spool=Spool(tmp_path, "c1"))
    sink.feed("stdout", b"short\n")

    assert sink.close().full_output is None
    cap_text("short", Caps(), spool=Spool(tmp_path, "c2"))
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_for_its_owner_only(tmp_path: Path) -> None:
    cap_text("x" * 40_000, Caps(), spool=Spool(tmp_path, "c7"))

    assert (tmp_path / "out/c7.txt").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("call", ["../../etc/x", "", ".", "..", "a/b", "x" * 300, "é", "a\0b", ".hidden", "\udce9"])
def test_an_id_of_any_kind_stays_in_the_folder(tmp_path: Path, call: str) -> None:
    cut = cap_text("x" * 40_000, Caps(), spool=Spool(tmp_path / "s", call))

    [file] = (tmp_path / "s/out").iterdir()
    assert cut.full_output == f"session:out/{file.name}"
    assert [entry.name for entry in tmp_path.iterdir()] == ["s"]


def test_an_id_that_comes_twice_overwrites_nothing(tmp_path: Path) -> None:
    first = cap_text("x" * 40_000, Caps(), spool=Spool(tmp_path, "c7"))
    second = cap_text("y" * 40_000, Caps(), spool=Spool(tmp_path, "c7"))

    assert (first.full_output, second.full_output) == ("session:out/c7.txt", "session:out/c7-2.txt")
    assert (tmp_path / "out/c7.txt").read_text() == "x" * 40_000


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/c7.txt").symlink_to(tmp_path / "victim")

    cap_text("x" * 40_000, Caps(), spool=Spool(tmp_path, "c7"))

    assert not (tmp_path / "victim").exists()


def test_the_quota_of_a_call_cuts_at_a_character_and_the_marker_says_so(tmp_path: Path) -> None:
    settings = OutputSettings(max_saved_bytes=100_000)
    sink = Sink(spool=Spool(tmp_path, "c7", settings))
    for _ in range(50):
        sink.feed("stdout", "€".encode() * 1_000)

    assert sink.close().text.endswith(
        "chars; the first 99,999 bytes of it (output.max_saved_bytes): session:out/c7.txt]"
    )
    assert (tmp_path / "out/c7.txt").read_text() == "€" * 33_333


def test_the_quota_of_a_session_counts_what_other_calls_kept(tmp_path: Path) -> None:
    settings = OutputSettings(max_session_bytes=100_000)
    cuts = [cap_text("x" * 60_000, Caps(), spool=Spool(tmp_path, f"c{n}", settings)) for n in (1, 2, 3)]

    assert [path.stat().st_size for path in sorted((tmp_path / "out").iterdir())] == [60_000, 40_000]
    assert cuts[1].text.endswith("; the first 40,000 bytes of it (output.max_session_bytes): session:out/c2.txt]")
    assert cuts[2].text.endswith("chars; not kept: output.max_session_bytes]")
    assert cuts[2].full_output is None


def test_a_quota_of_nought_is_none(tmp_path: Path) -> None:
    settings = OutputSettings(max_saved_bytes=0, max_session_bytes=0)

    cap_text("x" * 20_000_000, Caps(), spool=Spool(tmp_path, "c7", settings))

    assert (tmp_path / "out/c7.txt").stat().st_size == 20_000_000


def test_a_quota_beyond_one_step_is_met_exactly(tmp_path: Path) -> None:
    settings = OutputSettings(max_saved_bytes=0, max_session_bytes=9_000_001)

    cap_text("x" * 20_000_000, Caps(), spool=Spool(tmp_path, "c7", settings))

    assert (tmp_path / "out/c7.txt").stat().st_size == 9_000_001


def test_an_output_that_cannot_be_kept_does_not_fail_the_call(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file in the way")

    cut = cap_text("x" * 40_000, Caps(), spool=Spool(tmp_path, "c7"))

    assert cut.text.endswith("chars; not kept: File exists]") or cut.text.endswith("chars; not kept: Not a directory]")


def test_spools_are_closed(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for n in range(20):
        sink = Sink(spool=Spool(tmp_path, f"c{n}"))
        sink.feed("stdout", b"x" * 60_000)
        sink.close()

    assert len(os.listdir("/proc/self/fd")) == before


# --- viewers ----------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.row("S-059")
def test_the_first_output_is_shown_at_once_and_the_last_at_the_end() -> None:
    seen: list[Tail] = []
    sink = Sink(on_tail=seen.append, clock=Clock())

    sink.feed("stdout", b"first\n")
    assert seen == [Tail(stream="stdout", text="first\n", size=6)]
    sink.feed("stderr", b"second\n")
    sink.feed("stdout", b"third\n")
    sink.close()

    assert seen[1:] == [Tail(stream="stdout", text="first\nsecond\nthird\n", size=19)]


def test_viewers_get_at_most_twenty_snapshots_a_second() -> None:
    seen: list[Tail] = []
    clock = Clock()
    sink = Sink(on_tail=seen.append, clock=clock)

    for n in range(10_000):
        clock.now = 100 + n / 10_000
        sink.feed("stdout", b"x\n")

    assert 15 <= len(seen) <= 21


async def test_a_burst_that_nothing_follows_is_shown_soon() -> None:
    seen: list[Tail] = []
    sink = Sink(on_tail=seen.append)
    sink.feed("stdout", b"first\n")
    sink.feed("stdout", b"second\n")

    for _ in range(100):
        await asyncio.sleep(0.01)
        if len(seen) > 1:
            break

    assert [tail.text for tail in seen] == ["first\n", "first\nsecond\n"]
    sink.close()
    assert len(seen) == 2


def test_a_snapshot_is_the_last_of_the_output_in_whole_characters() -> None:
    seen: list[Tail] = []
    clock = Clock()
    sink = Sink(on_tail=seen.append, clock=clock)
    for _ in range(40):
        clock.now += 1
        sink.feed("stdout", "é€😀".encode() * 1_111)

    assert seen[-1].size == 40 * 9 * 1_111
    assert 2_000 <= len(seen[-1].text) <= 8_192
    assert set(seen[-1].text) == set("é€😀")


def test_the_marker() -> None:
    assert marker(41_233, "all of it: session:out/c7.txt") == (
        "... [truncated 41,233 chars; all of it: session:out/c7.txt]"
    )
