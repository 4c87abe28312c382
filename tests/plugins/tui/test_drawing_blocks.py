"""Blocks of every kind: within their width, safe, whole, and never a crash."""

from __future__ import annotations

import base64
import io
import sys
from typing import get_args

import pytest
from drawing import COLOURED, golden, letters, styled
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.blocks import Activity, AnyBlock, Custom, Diff, Image, Markdown, Note, Problem, Table, Text
from pegboard.terminal import spelled, visible
from pegboard_tui.drawing import images
from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.cells import cells, wrapped
from pegboard_tui.drawing.code import coloured, lexer_of, lexer_of_path
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.drawing.tables import fitted
from PIL import Image as Pictures
from rich.style import Style

PALETTES = [Palette(), COLOURED]


def samples(text: str) -> list[AnyBlock]:
    """A block of every kind, with the text at every place that takes one."""
    plain: list[AnyBlock] = [
        Activity(glyph=text, verb=text, subject=text, details=f"{text}\n{text}"),
        Diff(path=text, change="moved", added=1, removed=0, text=f"@@ -1 +1 @@{text}\n+{text}\n-{text}\n", to=text),
        Note(text=text),
        Problem(text=text),
        Markdown(text=text),
        Markdown(text=f"```{text}\n{text}\n```\n> - {text}\n\n|{text}|b|\n|-|-|\n|{text}|c|\n"),
        Text(text=text, title=text),
        Table(columns=[text], rows=[[text, text], []]),
        Image(media_type=text, data="", alt=text),
    ]
    return [*plain, Custom(kind=text, data=text, plain=plain)]


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(block) for block in samples("x")} == set(get_args(AnyBlock))


@pytest.mark.parametrize(
    "block", samples("[red]x[/nosuch] [link=http://a]b[/link]"), ids=lambda block: type(block).__name__
)
def test_rich_markup_in_a_block_is_shown_as_it_is_written(block: AnyBlock) -> None:
    assert "[red]x[/nosuch]" in letters(lines(block, Look(width=200)))


HIDDEN = "a\x1b]52;c;aGk=\x07b\u202ec\u200bd\x9b31me\u2066"


@pytest.mark.parametrize("block", samples(HIDDEN), ids=lambda block: type(block).__name__)
def test_what_hides_is_spelled_out_in_a_style_of_its_own(block: AnyBlock) -> None:
    shown = lines(block, Look(width=200, palette=COLOURED))
    assert visible(HIDDEN) in letters(shown)
    assert {"\\x1b", "\\x07", "\\u202e", "\\u200b", "\\x9b", "\\u2066"} <= set(styled(shown, COLOURED.hidden))


@settings(max_examples=40)
@given(
    st.text(max_size=60) | st.text(alphabet="日e\u0301\t \n[ab", max_size=60),
    st.integers(1, 130),
    st.sampled_from(PALETTES),
)
def test_any_text_fits_and_holds_nothing_that_a_terminal_obeys(text: str, width: int, palette: Palette) -> None:
    for block in samples(text):
        for strip in lines(block, Look(width=width, palette=palette)):
            assert strip.cell_length <= width
            assert strip.cell_length == cells(strip.text)
            assert visible(strip.text, keep="".join(c for c in strip.text if spelled(c) == c)) == strip.text
            assert "\n" not in strip.text and "\t" not in strip.text


@given(st.text(alphabet="ab 日e\u0301-", max_size=60), st.integers(2, 20))
def test_breaking_a_line_loses_nothing_but_blanks(text: str, width: int) -> None:
    style = Style()
    parts = ["".join(part for part, _ in line) for line in wrapped([(text[:7], style), (text[7:], style)], width)]
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
    assert not any(part.startswith("\u0301") for part in parts[1:])
    whole = wrapped([(text, style)], width, words=False)
    assert "".join(part for line in whole for part, _ in line) == text


def test_words_stay_whole_where_they_fit_and_wide_characters_break_anywhere() -> None:
    def broken(text: str, width: int) -> list[str]:
        return ["".join(part for part, _ in line) for line in wrapped([(text, Style())], width)]

    assert broken("one two three", 9) == ["one two", "three"]
    assert broken("  indented-beyond-measure", 10) == ["  indented", "-beyond-me", "asure"]
    assert broken("日本語の文 ok", 6) == ["日本語", "の文", "ok"]
    assert broken("é日", 1) == ["é", "?"]


def test_a_table_is_aligned_and_keeps_every_cell_where_it_does_not_fit() -> None:
    block = Table(columns=["name", "size", "what"], rows=[["alpha", "1,200", "日本"], ["b", "3"], ["", "", "", "more"]])
    assert letters(lines(block, Look(width=40))) == golden(
        """
        name    size  what
        ─────  ─────  ────  ────
        alpha  1,200  日本
        b          3
                            more
        """
    )
    assert letters(lines(block, Look(width=12))) == golden(
        """
        name: alpha
        size: 1,200
        what: 日本

        name: b
        size: 3

        more
        """
    )
    many = Table(columns=["n"], rows=[[str(n)] for n in range(5_000)])
    assert lines(many, Look(width=40))[-1].text == "… 4,000 more rows"


def test_columns_share_the_room_that_there_is() -> None:
    assert fitted([20, 100, 13], 80) == [20, 43, 13]
    assert fitted([5, 5], 12) == [5, 5]
    assert fitted([100, 100], 25) is None


def test_a_problem_and_a_title_are_told_by_signs_and_styles() -> None:
    shown = lines(Problem(text="it broke\nnothing was changed"), Look(width=40))
    assert letters(shown) == "! it broke\n  nothing was changed"
    shown = lines(Text(text="a\n  b\n", title="T"), Look(width=40))
    assert letters(shown) == "T\na\n  b" and styled(shown, Style(bold=True)) == ["T"]


def test_an_activity_keeps_all_of_what_it_says() -> None:
    block = Activity(glyph="$", verb="Run", subject="echo one two three", details="[timeout=5]\nsecond\n\tthird")
    assert letters(lines(block, Look(width=24))) == golden(
        """
        $ Run echo one two
          three [timeout=5]
          second
              third
        """
    )
    long = letters(lines(Activity(glyph="$", verb="Run", subject="x" * 5_000_000), Look(width=80)))
    assert len(long) < 10_000 and "… 4,996,000 more characters" in long.replace("\n  ", "")


# --- pictures -------------------------------------------------------------------------------------------------------------


def picture(width: int, height: int, kind: str = "PNG") -> str:
    made = Pictures.new("RGB", (width, height), (255, 0, 0))
    made.paste((0, 0, 255), (0, height // 2, width, height))
    body = io.BytesIO()
    made.save(body, kind)
    return base64.b64encode(body.getvalue()).decode()


def image(data: str, look: Look) -> str:
    return letters(lines(Image(media_type="image/png", data=data, alt="a cat"), look))


def test_a_picture_is_drawn_in_half_blocks_within_its_bounds() -> None:
    look = Look(width=20, palette=COLOURED)
    shown = lines(Image(media_type="image/png", data=picture(40, 8), alt="a cat"), look)
    assert letters(shown) == "▀" * 20 + "\n" + "▀" * 20 + "\na cat"
    first, last = (next(iter(strip)).style for strip in shown[:2])
    assert first == Style(color="#ff0000", bgcolor="#ff0000") and last == Style(color="#0000ff", bgcolor="#0000ff")
    big = lines(Image(media_type="image/png", data=picture(300, 3_000), alt=""), Look(width=400, palette=COLOURED))
    assert len(big) == images.TALLEST and big[0].cell_length <= images.WIDEST


@pytest.mark.parametrize("data", ["", "not base64!", base64.b64encode(b"GIF89a nothing").decode(), picture(9, 9)[:60]])
def test_what_is_no_picture_is_shown_by_its_name(data: str) -> None:
    assert image(data, Look(width=80, palette=COLOURED)) == "[picture, image/png: a cat]"


def test_a_picture_that_would_unpack_to_gigabytes_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    name, look = "[picture, image/png: a cat]", Look(width=80, palette=COLOURED)
    assert image(picture(9, 8), look).startswith("▀")
    monkeypatch.setattr(images, "MOST_PIXELS", 70)
    images._cells.cache_clear()
    assert image(picture(9, 8), look) == name
    monkeypatch.undo()
    monkeypatch.setattr(Pictures, "MAX_IMAGE_PIXELS", 50)  # Pillow's own limit warns, which is not to be printed
    images._cells.cache_clear()
    assert image(picture(9, 8), look) == name
    monkeypatch.undo()
    monkeypatch.setattr(images, "MOST_BYTES", 20)
    images._cells.cache_clear()
    assert image(picture(9, 8), look) == name


def test_no_picture_without_pillow_without_colours_or_when_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    data = picture(2, 2)
    assert image(data, Look(width=80)) == "[picture, image/png: a cat]"
    assert image(data, Look(width=80, palette=COLOURED, images=False)) == "[picture, image/png: a cat]"
    assert image(data, Look(width=80, palette=COLOURED)).startswith("▀")
    images._cells.cache_clear()
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert image(data, Look(width=80, palette=COLOURED)) == "[picture, image/png: a cat]"


# --- code -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "code", "style"),
    [
        (
            "python",
            "def f(x):  # why\n    return '''a\nb''' + 1",
            {"def": "Keyword", "f": "Name.Function", "# why": "Comment"},
        ),
        ("ts", "const a = `x\ny` // z", {"const": "Keyword.Declaration", "// z": "Comment.Single", "x": "String"}),
        ("rust", "fn main<'a>() { let c = 'x'; }", {"fn": "Keyword", "main": "Name.Function", "'x'": "String"}),
        ("sh", 'if [ $x ]; then echo "a # b"; fi # c\n', {"if": "Keyword", "$x": "Name.Variable", "# c": "Comment"}),
        ("json", '{"a": "b", "c": true}', {'"a"': "Name.Tag", '"b"': "String", "true": "Keyword.Constant"}),
        ("yaml", "a: 1 # no\n- b: c", {"a": "Name.Tag", "# no": "Comment", "b": "Name.Tag"}),
        ("haskell", "module Main where", {"module": "Keyword"}),
    ],
)
def test_code_is_read_by_language(language: str, code: str, style: dict[str, str]) -> None:
    from pygments.styles import get_style_by_name
    from pygments.token import string_to_tokentype

    shown = coloured(code, lexer_of(language), COLOURED, Style())
    assert "\n".join("".join(part for part, _ in line) for line in shown) == code
    parts = {part: own.color.name.lstrip("#") for line in shown for part, own in line if own.color}
    wanted = {
        part: get_style_by_name("monokai").style_for_token(string_to_tokentype(k))["color"] for part, k in style.items()
    }
    assert {part: parts.get(part) for part in style} == wanted


@given(
    st.text(alphabet="ab1_ \n\"'`#/*\\{}$@:=-é", max_size=50),
    st.sampled_from(["python", "js", "rust", "go", "c", "sh", "json", "yaml", "toml", "sql"]),
)
def test_reading_code_changes_none_of_it(code: str, language: str) -> None:
    shown = coloured(code, lexer_of(language), COLOURED, Style())
    assert ["".join(part for part, _ in line) for line in shown] == code.split("\n")


def test_a_lexer_that_fails_or_drops_something_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    from pygments.lexers import get_lexer_by_name

    lexer = type(get_lexer_by_name("haskell"))
    plain = [[("module a", Style())], [("b", Style())]]
    monkeypatch.setattr(lexer, "get_tokens_unprocessed", lambda self, text: iter([(0, None, "module")]))
    assert coloured("module a\nb", "haskell", COLOURED, Style()) == plain
    monkeypatch.setattr(lexer, "get_tokens_unprocessed", lambda self, text: 1 / 0)
    assert coloured("module a\nb", "haskell", COLOURED, Style()) == plain


def test_a_file_is_known_by_its_name() -> None:
    names = {
        "a/b.py": "python",
        "X.JSON": "json",
        "Makefile": "make",
        "Dockerfile": "docker",
        "a.h": "c",
        "a.nosuch": "",
        "": "",
    }
    assert {name: lexer_of_path(name) for name in names} == names
