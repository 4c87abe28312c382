"""Reading a window: LF alone ends a line, counts are of the whole file, memory does not grow with it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.kit import readlines
from pegboard.kit.caps import Caps
from pegboard.kit.readlines import Window, read_window
from pegboard.kit.text import BinaryFile, Utf8, decode, is_utf8
from pegboard.kit.workspace import Workspace

Read = Callable[..., Window]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(data: bytes, offset: int = 1, limit: int | None = None, caps: Caps | None = None) -> Window:
        (tmp_path / "f").write_bytes(data)
        with Workspace(str(tmp_path)).open("f") as opened:
            return read_window(opened, offset, limit, caps)

    return read


class TestLines:
    @pytest.mark.parametrize(
        ("data", "lines"),
        [
            (b"", []),
            (b"\n", [""]),
            (b"a", ["a"]),
            (b"a\n", ["a"]),
            (b"a\n\nb", ["a", "", "b"]),
            (b"a\r\nb\r\n", ["a", "b"]),
            (b"1\r2\r\n3\n", ["1\r2", "3"]),
            (b"a\x0cb\n\x0bc\n", ["a\x0cb", "\x0bc"]),
            ("a\u2028b\u0085c\n".encode(), ["a\u2028b\u0085c"]),
            (b"\xef\xbb\xbfa\n", ["a"]),
        ],
    )
    def test_only_lf_ends_one(self, read: Read, data: bytes, lines: list[str]) -> None:
        window = read(data)
        assert window.lines == lines
        assert (window.first, window.last, window.total_lines) == (1, len(lines), len(lines))
        assert window.shown == (0, len(data)) and window.whole

    def test_windows_follow_each_other_without_gap_or_overlap(self, read: Read) -> None:
        data = b"".join(b"%d\n" % n for n in range(1, 501))
        one, two, three = read(data, 1, 200), read(data, 201, 200), read(data, 401, 200)
        assert one.lines + two.lines + three.lines == [str(n) for n in range(1, 501)]
        assert (one.more, two.more, three.more) == (True, True, False)
        assert one.shown[1] == two.shown[0] and two.shown[1] == three.shown[0] and three.shown[1] == len(data)

    def test_limit_0_and_an_offset_past_the_end(self, read: Read) -> None:
        probe = read(b"a\nb\n", 1, 0)
        assert (probe.lines, probe.total_lines, probe.total_chars, probe.more) == ([], 2, 4, True)
        past = read(b"a\nb\n", 5, 10)
        assert (past.lines, past.first, past.last, past.more) == ([], 5, 4, False)

    @pytest.mark.parametrize(
        ("data", "ends"), [(b"a", "none"), (b"a\nb\r", "lf"), (b"a\r\nb\r\n", "crlf"), (b"a\r\nb\n", "mixed")]
    )
    def test_line_ends_are_told(self, read: Read, data: bytes, ends: str) -> None:
        assert read(data).line_ends == ends


class TestEncodings:
    @pytest.mark.parametrize(
        ("data", "encoding", "text"),
        [
            (b"plain\n", "utf-8", "plain"),
            ("déjà 漢字\n".encode(), "utf-8", "déjà 漢字"),
            (b"\xef\xbb\xbf" + "é\n".encode(), "utf-8-sig", "é"),
            (b"d\xe9j\xe0\n", "latin-1", "déjà"),
            (b"cut \xc3", "latin-1", "cut Ã"),
            (b"\xff\xfe" + "é😀\n".encode("utf-16-le"), "utf-16-le", "é😀"),
            (b"\xfe\xff" + "é😀\n".encode("utf-16-be"), "utf-16-be", "é😀"),
        ],
    )
    def test_are_found_and_counted_in_characters(self, read: Read, data: bytes, encoding: str, text: str) -> None:
        window = read(data)
        assert (window.encoding, window.lines) == (encoding, [text])
        assert window.total_chars == len(decode(data)[0])

    def test_a_byte_that_is_not_utf8_at_the_end_decides_for_the_whole(
        self, read: Read, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(readlines, "BLOCK", 7)
        window = read("é\n".encode() * 20 + b"\xe9\n", 2, 1)
        assert (window.encoding, window.lines, window.total_chars) == ("latin-1", ["Ã©"], 62)

    @pytest.mark.row("S-027", "Z-049")
    def test_a_nul_in_the_first_8_kib_is_binary_and_a_later_one_is_not(self, read: Read) -> None:
        with pytest.raises(BinaryFile, match=r"f is binary \(unknown type, 8,192 bytes\)"):
            read(b"x" * 8191 + b"\0")
        assert read(b"x" * 8192 + b"\0\n").lines == ["x" * 8192 + "\0"]
        with pytest.raises(BinaryFile, match="PNG image"):
            read(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        with pytest.raises(BinaryFile, match="UTF-32"):
            read(b"\xff\xfe\0\0" + "a".encode("utf-32-le"))

    @given(st.binary(max_size=50), st.integers(1, 9))
    def test_utf8_is_judged_block_by_block_as_at_once(self, data: bytes, size: int) -> None:
        counted = Utf8()
        for at in range(0, len(data), size):
            counted.feed(data[at : at + size])
        try:
            text: str | None = data.decode()
        except UnicodeDecodeError:
            text = None
        assert counted.finish() == (text is not None) == is_utf8(data)
        assert text is None or counted.chars == len(text)


class TestBlocks:
    @given(
        st.text(st.sampled_from("ab\n\r é漢😀"), max_size=40),
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1"]),
        st.integers(1, 9),
        st.integers(1, 12),
        st.integers(0, 12),
    )
    @settings(max_examples=300, deadline=None)
    def test_any_block_size_gives_the_same_window_and_its_bytes(
        self, tmp_path_factory: pytest.TempPathFactory, text: str, codec: str, block: int, offset: int, limit: int
    ) -> None:
        mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(codec, b"")
        data = mark + text.encode(codec, "ignore")
        text = decode(data)[0]
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        folder = tmp_path_factory.getbasetemp()
        (folder / "f").write_bytes(data)
        before, readlines.BLOCK = readlines.BLOCK, block
        try:
            with Workspace(str(folder)).open("f") as opened:
                window = read_window(opened, offset, limit)
        finally:
            readlines.BLOCK = before
        part = lines[offset - 1 : offset - 1 + limit]
        assert window.lines == [line.removesuffix("\r") for line in part]
        assert (window.total_lines, window.total_chars) == (len(lines), len(text))
        if part:
            start, end = window.shown
            shown = data[start:end]
            own = decode(data)[1]
            raw = shown.removeprefix(mark if start == 0 else b"").decode("utf-8-sig" if own == "utf-8-sig" else own)
            assert raw in ("\n".join(part), "\n".join(part) + "\n")


class TestCaps:
    def test_lines_stop_where_numbered_text_would_not_fit(self, read: Read) -> None:
        data = b"".join(b"line %d\n" % n for n in range(1, 1001))
        window = read(data, 1, None, Caps(max_chars=1400, max_bytes=0, max_lines=0))
        text = "".join(f"{n}: {line}\n" for n, line in enumerate(window.lines, 1))
        assert 980 < len(text) <= 1000
        assert window.more and window.shown == (0, len("".join(line + "\n" for line in window.lines)))
        assert read(data, 1, None, Caps(max_lines=7)).last == 7

    def test_bytes_count_too(self, read: Read) -> None:
        window = read("漢字\n".encode() * 1000, 1, None, Caps(max_chars=0, max_bytes=1400, max_lines=0))
        text = "".join(f"{n}: {line}\n" for n, line in enumerate(window.lines, 1))
        assert 980 < len(text.encode()) <= 1000

    @pytest.mark.parametrize("mark", [b"", "é".encode(), b"\xe9"])
    def test_one_line_that_is_too_long_is_cut(self, read: Read, mark: bytes) -> None:
        window = read(mark + b"x" * 3_000_000 + b"\nnext\n", 1, 10, Caps())
        assert window.cut and window.last == 1 and window.more and not window.whole
        assert 20_000 < len(window.lines[0]) < 30_000
        assert window.shown[0] == 0 and window.shown[1] < 60_000

    @pytest.mark.row("C-016")
    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "big"
        path.write_bytes((b"x" * 59 + b"\n") * 500_000 + b"y" * 5_000_000)
        tracemalloc.start()
        try:
            with Workspace(str(tmp_path)).open("big") as opened:
                window = read_window(opened, 499_000, 2000, Caps())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert window.total_lines == 500_001 and window.first == 499_000 and window.lines[0] == "x" * 59
        assert peak < 3_000_000
