"""Themes and their palettes: text that can be read, and nothing that only a colour tells."""

from __future__ import annotations

import dataclasses

import pytest
from pegboard_tui.contrasts import contrast
from pegboard_tui.drawing.look import Palette
from pegboard_tui.signs import Encoded, fitting, unicode_fits
from pegboard_tui.themes import (
    CLEAR,
    CONTRAST,
    DARK,
    LIGHT,
    PLAIN,
    READABLE,
    THEMES,
    Colourless,
    chosen,
    colourless,
    filtered,
    palette_of,
)
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome, NoColor
from textual.theme import BUILTIN_THEMES, Theme

ROLES = [field.name for field in dataclasses.fields(Palette) if field.name not in ("pygments", "dark", "colour")]


def styles(palette: Palette) -> dict[str, Style]:
    return {role: getattr(palette, role) for role in ROLES}


def told_apart(theme: Theme) -> dict[str, float]:
    """How much each role's text stands out from what is behind it."""
    ground = Color.parse(theme.to_color_system().generate()["background"])
    found = {}
    for role, style in styles(palette_of(theme)).items():
        if style.color is not None:
            behind = Color.from_rich_color(style.bgcolor) if style.bgcolor else ground
            found[role] = contrast(Color.from_rich_color(style.color), behind)
    return found


@pytest.mark.parametrize("theme", [t for t in [*THEMES, *BUILTIN_THEMES.values()] if not t.ansi], ids=lambda t: t.name)
def test_text_of_every_role_can_be_read_on_what_is_behind_it(theme: Theme) -> None:
    least = CLEAR if theme is CONTRAST else READABLE
    ratios = told_apart(theme)
    assert {"text", "dim", "added", "removed", "problem", "warning", "good", "link", "code"} <= ratios.keys()
    assert {role: ratio for role, ratio in ratios.items() if ratio < least} == {}


def test_contrast_is_counted_as_wcag_counts_it() -> None:
    assert contrast(Color.parse("#000000"), Color.parse("#ffffff")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [DARK, LIGHT, CONTRAST], ids=lambda t: t.name)
def test_changed_words_stand_out_from_changed_lines_and_those_from_the_rest(theme: Theme) -> None:
    palette = palette_of(theme)
    ground = Color.parse(theme.to_color_system().generate()["background"])
    for line, word in ((palette.added, palette.added_word), (palette.removed, palette.removed_word)):
        behind, stronger = Color.from_rich_color(line.bgcolor), Color.from_rich_color(word.bgcolor)
        assert 1.0 < contrast(behind, ground) < contrast(stronger, ground) and word.bold


def test_the_plain_theme_has_no_colour_and_tells_roles_apart_all_the_same() -> None:
    [plain] = [theme for theme in THEMES if theme.name == PLAIN]
    palette = palette_of(plain)
    assert [role for role, style in styles(palette).items() if style.color or style.bgcolor] == []
    assert not palette.colour and palette.pygments == "bw"
    assert palette.added != palette.removed and palette.problem != palette.text and palette.focus.reverse


def test_no_colour_is_chosen_where_none_is_wanted_or_the_terminal_has_none() -> None:
    assert colourless({"NO_COLOR": "1", "TERM": "xterm-256color"})
    assert not colourless({"NO_COLOR": "", "TERM": "xterm-256color"})
    assert colourless({"TERM": "vt100"}) and colourless({"TERM": "dumb"})
    assert not colourless({"TERM": "tmux-256color"}) and not colourless({})
    assert not colourless({"TERM": "vt220", "COLORTERM": "truecolor"})


def test_an_unknown_theme_is_said_and_the_nearest_one_named() -> None:
    there = [theme.name for theme in THEMES]
    assert chosen("light", there, {}) == ("light", "")
    assert chosen("light", there, {"NO_COLOR": "1"}) == (PLAIN, "")
    name, note = chosen("contrat", there, {})
    assert name == "dark" and "no theme contrat" in note and "Did you mean contrast?" in note


def test_filters_take_colours_away_only_where_none_are_wanted() -> None:
    assert [type(one) for one in filtered([Monochrome()], PLAIN, True)] == [Colourless]
    assert [type(one) for one in filtered([Monochrome()], "dark", True)] == [NoColor]
    assert filtered([Monochrome()], "dark", False) == []


def test_without_colours_what_had_a_background_of_its_own_is_reversed() -> None:
    segments = [Segment("a", Style(color="red", bold=True)), Segment("b", Style(bgcolor="cyan")), Segment("c")]
    text, cursor, bare = Colourless().apply(segments, Color.parse("black"))
    assert text.style == Style(color="default", bgcolor="default", bold=True) and bare.style is None
    assert cursor.style == Style(color="default", bgcolor="default", reverse=True)


def test_signs_that_the_encoding_lacks_have_one_as_wide_in_their_place() -> None:
    assert fitting("╭─ ● naïve 日本 …", "ascii") == "+- * na?ve ???? ~"
    assert fitting("naïve", "latin-1") == "naïve"
    [segment] = Encoded("ascii").apply([Segment("│", Style(bold=True))], Color.parse("black"))
    assert segment.text == "|" and segment.style == Style(bold=True)
    assert unicode_fits("UTF-8") and unicode_fits(None) and not unicode_fits("ISO8859-1")


@pytest.mark.parametrize("theme", [DARK, LIGHT, CONTRAST], ids=lambda t: t.name)
def test_text_can_be_read_where_a_cursor_or_a_selection_is(theme: Theme) -> None:
    palette = palette_of(theme)
    assert palette.text.color is not None
    text = Color.from_rich_color(palette.text.color)
    for variable in ("block-cursor-background", "input-selection-background", "screen-selection-background"):
        assert contrast(text, Color.parse(theme.variables[variable])) >= READABLE, variable
    assert contrast(text, Color.from_rich_color(palette.focus.bgcolor)) >= READABLE
    for variable in ("text-disabled", "border"):
        ground = Color.parse(theme.background or "")
        assert contrast(Color.parse(theme.variables[variable]), ground) >= (
            READABLE if theme is not CONTRAST else CLEAR
        )
