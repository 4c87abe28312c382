"""Markdown as it is set: what it looks like, what it cannot hide, and that a growing text is set like a whole one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from drawing import COLOURED, golden, letters, styled
from hypothesis import given
from hypothesis import strategies as st
from pegboard.blocks import Markdown
from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.look import Look
from pegboard_tui.drawing.markdown import CHUNK, MOST, Growing, markdown
from rich.style import Style


def drawn(text: str, width: int = 40) -> str:
    return letters(lines(Markdown(text=text), Look(width=width)))


TEXT = """\
# Title
Some *text* with **bold**, `code` and a [link](http://a.example/b).

- one
- two is longer than a line of forty columns
  1. nested
  2. more
     ```python
     def f():
     \treturn 1
     ```
- [ ] open
- [x] closed

9. nine

10. ten

> said by
> others
> > and others

| a | b | number |
|---|:-:|-------:|
| x | y | 12 |
| longer | z | 3 |

---
hard\\
break
"""


def test_each_kind_of_block_is_set() -> None:
    assert drawn(TEXT) == golden(
        """
        Title

        Some text with bold, `code` and a link
        (http://a.example/b).

        • one
        • two is longer than a line of forty
          columns
          1. nested
          2. more
             ┌ python
             │ def f():
             │     return 1
        • [ ] open
        • [x] closed

         9. nine

        10. ten

        ▎ said by others
        ▎
        ▎ ▎ and others

        a       b  number
        ──────  ─  ──────
        x       y      12
        longer  z       3

        ────────────────────────────────────────

        hard
        break
        """
    )


def test_emphasis_is_a_style_and_code_needs_no_signs_where_there_are_colours() -> None:
    shown = markdown("*em* **strong** ~~gone~~ `code` [text](http://a.example)", Look(width=80, palette=COLOURED))
    assert letters(shown) == "em strong gone code text (http://a.example)"
    assert styled(shown, Style(italic=True)) == ["em"]
    assert styled(shown, Style(bold=True)) == ["strong"]
    assert styled(shown, Style(strike=True)) == ["gone"]
    assert styled(shown, COLOURED.code) == ["code"]
    assert styled(shown, COLOURED.link) == ["text"]


def test_a_table_that_is_too_wide_folds_within_its_cells_and_then_to_a_paragraph_a_row() -> None:
    table = "| name | what it does |\n|---|---|\n| alpha | the first of all the letters there are |\n| beta | second |"
    assert drawn(table, 32) == golden(
        """
        name   what it does
        ─────  ─────────────────────────
        alpha  the first of all the
               letters there are

        beta   second
        """
    )
    assert drawn(table, 16) == golden(
        """
        name: alpha
        what it does:
          the first of
          all the
          letters there
          are

        name: beta
        what it does:
          second
        """
    )


@pytest.mark.parametrize(
    "text",
    [
        "before <!-- unseen --> after",
        "<script>unseen</script>",
        "<div hidden>\nunseen\n</div>",
        "&#8238;unseen&#x202e;",
        "![unseen](http://example.com/b.png)",
        "![a](http://example.com/unseen.png)",
        "[unseen]: http://example.com/a",
        "[text](http://example.com/unseen)",
        '[text](http://example.com/ "unseen")',
        "```python unseen\n```",
        "``` &#27;unseen\nx\n```",
        "[red]unseen[/nosuch]",
        "<http://example.com/%E2%80%AEunseen>",
    ],
)
def test_nothing_is_concealed_or_obeyed(text: str) -> None:
    shown = drawn(text, 200)
    assert "unseen" in shown and not {"\u202e", "\x1b"}.intersection(shown)
    assert "example.com" not in text or "example.com" in shown
    assert all(
        segment.style is None or segment.style.link is None for s in markdown(text, Look(width=9)) for segment in s
    )


def test_entities_stay_as_they_are_written() -> None:
    assert drawn("a &amp; b &#65; `&lt;`") == "a &amp; b &#65; `&lt;`"


def test_an_address_that_is_its_own_text_stands_once() -> None:
    assert drawn("<http://a.example/x> and http://b.example.", 80) == "http://a.example/x and http://b.example."


def test_what_is_spelled_out_has_a_style_of_its_own() -> None:
    shown = markdown("say \u202ehello\x1b[2J `\\u202e`\n\n```py\nx = '\u200b'\n```", Look(width=80, palette=COLOURED))
    assert styled(shown, COLOURED.hidden) == ["\\u202e", "\\x1b", "\\u200b"]


def test_code_is_coloured_by_its_language_and_an_unknown_one_is_plain() -> None:
    for language, coloured in (("python", True), ("haskell", True), ("nosuch", False)):
        shown = markdown(f"```{language}\nimport x\n```", Look(width=80, palette=COLOURED))
        assert letters(shown) == f"┌ {language}\n│ import x"
        assert (len({segment.style for segment in list(shown[1])[1:]}) > 1) is coloured


def test_a_fence_that_is_not_closed_is_code_from_its_first_line() -> None:
    growing, look = Growing(), Look(width=40)
    assert letters(growing.draw("See:\n\n```python\n", look, done=False)) == "See:\n\n┌ python\n│"
    assert letters(growing.draw("See:\n\n```python\n# *x*", look, done=False)) == "See:\n\n┌ python\n│ # *x*"


def test_a_line_that_is_only_begun_does_not_turn_the_one_above_into_a_heading() -> None:
    growing, look = Growing(), Look(width=40)
    before = growing.draw("These:\n", look, done=False)
    assert growing.draw("These:\n-", look, done=False) == before
    assert letters(growing.draw("These:\n- a", look, done=False)) == "These:\n\n• a"
    assert letters(growing.draw("These:\n-", look)) == "These:"  # it has ended, and is one


LONG = TEXT + "\r\n~~~py\n" + "x = '''\n" * (CHUNK * 3) + "~~~\nafter\r\n\r\n```\n" + "y\n" * (CHUNK + 3)


@pytest.mark.parametrize(("begin", "step"), [(0, 3), (len(TEXT), 61)])
def test_a_growing_text_is_drawn_like_a_whole_one(begin: int, step: int) -> None:
    growing, look = Growing(), Look(width=60)
    for at in range(begin, len(LONG) if begin else len(TEXT), step):
        fresh = Growing().draw(LONG[:at], look, done=False)
        assert letters(growing.draw(LONG[:at], look, done=False)) == letters(fresh), LONG[:at][-40:]
    coloured = Look(width=60, palette=COLOURED)
    growing.draw(LONG[:-9], coloured, done=False)
    assert growing.draw(LONG, coloured) == markdown(LONG, coloured)
    assert growing.draw("another", look) == markdown("another", look)


def test_a_string_of_many_lines_has_its_colour_when_the_code_is_whole() -> None:
    code = '```py\nx = """\n' + "in the string\n" * (2 * CHUNK) + '"""\n'
    growing, look = Growing(), Look(width=60, palette=COLOURED)
    growing.draw(code, look, done=False)
    assert growing.draw(code + "```\n", look) == markdown(code + "```\n", look)


@pytest.mark.parametrize("text", ["para\n****bold****", "para\n```not``` a fence", "para\n- - - x", "a\n2. b"])
def test_a_line_that_has_not_ended_may_go_on_what_stands_before_it(text: str) -> None:
    growing, look = Growing(), Look(width=60)
    for at in range(len(text)):
        growing.draw(text[:at], look, done=False)
    assert growing.draw(text, look) == markdown(text, look)


def test_what_is_finished_is_not_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from pegboard_tui.drawing import markdown as module

    made: list[int] = []
    real = module._Setter.block

    def counted(self: module._Setter, tokens: list[module.Token], *args: int, **kw: bool) -> list[module.Line]:
        lines = real(self, tokens, *args, **kw)
        made.append(len(lines))
        return lines

    monkeypatch.setattr(module._Setter, "block", counted)
    growing, look = Growing(), Look(width=60)
    for count in range(1, 101):
        growing.draw("A paragraph.\n\n" * count, look, done=False)
    assert sum(made) < 250
    made.clear()
    code = "```py\n" + "x = 1\n" * (CHUNK * 10)
    for count in range(1, CHUNK * 10 + 1):
        drawn = growing.draw(code[: 6 + 6 * count], look, done=False)
    assert len(drawn) == CHUNK * 10 + 1
    assert sum(made) < CHUNK * 10 * CHUNK  # and not half the square of the lines


def test_of_a_text_without_end_the_rest_is_shown_as_it_is_written() -> None:
    shown = markdown("a" * MOST + "*b*\n", Look(width=60))
    assert letters(shown[-2:]).strip() == "*b*"


@given(st.text(alphabet=" \n*_`#->|[]()!1.~x\t\\:é\u200b", max_size=60), st.integers(1, 30))
def test_any_markdown_is_set_within_its_width(text: str, width: int) -> None:
    look = Look(width=width)
    assert all(strip.cell_length <= width for strip in markdown(text, look))
    growing = Growing()
    for at in range(0, len(text), 5):
        growing.draw(text[:at], look, done=False)
    assert growing.draw(text, look) == markdown(text, look)


def test_markdown_and_pygments_are_imported_when_something_is_drawn() -> None:
    code = (
        "import sys, pegboard_tui.drawing.items; sys.exit(bool({'markdown_it', 'pygments', 'PIL'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("line", ["[" * 20_000, "*a_ " * 10_000, "|".join("a" * 3_000), "> " * 3_000 + "deep"])
def test_a_line_of_nothing_but_signs_is_shown_as_it_is_written(line: str) -> None:
    shown = "".join(letters(markdown(f"# T\n\n{line}\n", Look(width=80))))
    assert "# T" in shown and line[-3:].strip() in shown
