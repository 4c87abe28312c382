"""Themes, and the palette that goes with each: ours, and whatever else Textual has.

Colours of text are moved away from the background until they can be read on it, so a theme that was made for large
surfaces does for small letters too: 4.5 to 1 (WCAG AA), in `contrast` 7 to 1 (AAA). `plain` has no colours at all.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

from pegboard_tui.contrasts import readable
from pegboard_tui.drawing.look import Palette

_COLOURLESS = re.compile(r"dumb|vt\d.*|.*-(?:m|mono|old)")
"""Terminals without colours, by their names in terminfo."""
PLAIN = "plain"
DEFAULT = "dark"
READABLE, CLEAR = 4.5, 7.0
"""How much lighter text is than what it stands on, or darker: of small text, and of the theme `contrast`."""

DARK = Theme(
    name="dark",
    primary="#4fb8b8",
    secondary="#7f92ab",
    accent="#4fc3c3",
    warning="#e3b341",
    error="#f27878",
    success="#7fc46b",
    foreground="#d6dae0",
    background="#14171c",
    surface="#1a1e25",
    panel="#262c36",
    dark=True,
    variables={
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#1f4347",
        "border": "#4fc3c3",
        "border-blurred": "#3a4350",
        "footer-background": "#14171c",
        "text-disabled": "#858b95",
        "input-selection-background": "#2f5d66",
        "screen-selection-background": "#2f5d66",
        "scrollbar": "#3a4350",
        "scrollbar-hover": "#4c5868",
        "scrollbar-active": "#4fc3c3",
        "scrollbar-background": "#14171c",
    },
)
LIGHT = Theme(
    name="light",
    primary="#00707a",
    secondary="#5a6878",
    accent="#00707a",
    warning="#8a5a00",
    error="#b3261e",
    success="#2b7526",
    foreground="#1f2429",
    background="#fbfbf8",
    surface="#f3f3ee",
    panel="#e4e5df",
    dark=False,
    variables={
        "block-cursor-foreground": "#101418",
        "block-cursor-background": "#cde5e6",
        "border": "#00707a",
        "border-blurred": "#c3c6c0",
        "footer-background": "#fbfbf8",
        "text-disabled": "#6b7075",
        "input-selection-background": "#b5dde0",
        "screen-selection-background": "#b5dde0",
        "scrollbar": "#c3c6c0",
        "scrollbar-hover": "#a3a8a3",
        "scrollbar-active": "#00707a",
        "scrollbar-background": "#fbfbf8",
    },
)
CONTRAST = Theme(
    name="contrast",
    primary="#5ff0f0",
    secondary="#d0d0d0",
    accent="#5ff0f0",
    warning="#ffd75f",
    error="#ff9e9e",
    success="#7dff7d",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#303030",
    dark=True,
    variables={
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#00405c",
        "border": "#5ff0f0",
        "border-blurred": "#9a9a9a",
        "footer-background": "#000000",
        "text-muted": "#d0d0d0",
        "text-disabled": "#b8b8b8",
        "foreground-muted": "#d0d0d0",
        "input-selection-background": "#00507a",
        "screen-selection-background": "#00507a",
        "scrollbar": "#9a9a9a",
        "scrollbar-hover": "#d0d0d0",
        "scrollbar-active": "#5ff0f0",
        "scrollbar-background": "#000000",
    },
)
COLOURLESS = Theme(
    name=PLAIN,
    ansi=True,
    dark=True,
    primary="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={  # what a colour tells elsewhere; colours themselves are taken away by `filtered`
        "ansi-background": "ansi_default",  # Textual's styles ask for these of every theme that leaves colours alone
        "ansi-foreground": "ansi_default",
        "surface-active": "ansi_default",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-text-style": "underline",
        "input-cursor-text-style": "reverse",
        "button-focus-text-style": "bold reverse",
    },
)
THEMES = (DARK, LIGHT, CONTRAST, COLOURLESS)
_CODE = {
    "dark": "one-dark",
    "light": "xcode",
    "contrast": "lightbulb",
    "nord": "nord",
    "gruvbox": "gruvbox-dark",
    "dracula": "dracula",
    "monokai": "monokai",
    "solarized-light": "solarized-light",
    "solarized-dark": "solarized-dark",
    "atom-one-dark": "one-dark",
}
"""Pygments styles that belong to a theme; others take that of `dark` or `light`."""


# --- which theme --------------------------------------------------------------------------------------------------------


def chosen(wanted: str, there: Iterable[str], environ: Mapping[str, str]) -> tuple[str, str]:
    """The theme to begin with, and what to say of it ("" mostly): where colours are not wanted, it is `plain`."""
    if colourless(environ):
        return PLAIN, ""
    names = list(there)
    if wanted in names:
        return wanted, ""
    near = difflib.get_close_matches(wanted, names, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return DEFAULT, f"ui.theme: there is no theme {wanted}, so it is {DEFAULT}.{meant} /theme lists them."


def colourless(environ: Mapping[str, str]) -> bool:
    """Whether colours are not wanted (NO_COLOR is set to anything), or the terminal is of a kind that has none."""
    if environ.get("NO_COLOR"):
        return True
    return not environ.get("COLORTERM") and _COLOURLESS.fullmatch(environ.get("TERM", "")) is not None


class Colourless(LineFilter):
    """Takes colours away; what had a background of its own, as a cursor or a selection has, is reversed in its place.

    It is for the theme `plain`, in which nothing has a background that does not mean something."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, without colours."""
        return [Segment(text, style and _without_colour(style), control) for text, style, control in segments]


@lru_cache(1024)
def _without_colour(style: Style) -> Style:
    marked = style.bgcolor is not None and not style.bgcolor.is_default
    return style + Style(color="default", bgcolor="default", reverse=True if marked else None)


def filtered(filters: Sequence[LineFilter], theme: str, no_color: bool) -> list[LineFilter]:
    """The filters of an app: where no colour is wanted the last one takes away what a widget still has. Textual's own answer
    to NO_COLOR is greys on a black of its own, whatever the terminal has."""
    kept = [one for one in filters if not isinstance(one, Monochrome | NoColor)]
    if theme == PLAIN:
        return [*kept, Colourless()]
    return [*kept, NoColor()] if no_color else kept


# --- the palette --------------------------------------------------------------------------------------------------------


def palette_of(theme: Theme) -> Palette:
    """The styles of text under a theme."""
    if theme.name == PLAIN:
        return _plain()
    return _ansi(theme.dark) if theme.ansi else _coloured(theme)


def _plain() -> Palette:
    return Palette(
        problem=Style(bold=True, underline=True),
        added=Style(bold=True),
        removed=Style(dim=True),
        added_word=Style(bold=True, underline=True),
        removed_word=Style(dim=True, underline=True),
        pygments="bw",
    )


def _ansi(dark: bool) -> Palette:
    """For themes that leave the colours to the terminal: its own sixteen, and its own background."""
    return Palette(
        dim=Style(dim=True),
        accent=Style(color="cyan", bold=True),
        prompt=Style(color="cyan", bold=True),
        heading=Style(color="cyan", bold=True),
        code=Style(color="yellow" if dark else "magenta"),
        link=Style(color="blue", underline=True),
        added=Style(color="green"),
        removed=Style(color="red"),
        added_word=Style(color="green", bold=True, reverse=True),
        removed_word=Style(color="red", bold=True, reverse=True),
        warning=Style(color="yellow" if dark else "magenta", bold=True),
        problem=Style(color="red", bold=True),
        good=Style(color="green"),
        pygments="ansi_dark" if dark else "ansi_light",
        dark=dark,
        colour=True,
    )


def _coloured(theme: Theme) -> Palette:
    least = CLEAR if theme.name == CONTRAST.name else READABLE
    system = theme.to_color_system().generate()
    ground = Color.parse(system["background"])
    full = Color.parse(system["foreground"])

    def ink(color: str, *, bold: bool = False, underline: bool = False, on: Color | None = None) -> Style:
        drawn = readable(Color.parse(color), on or ground, least)
        return Style(
            color=drawn.rich_color,
            bgcolor=on.rich_color if on else None,
            bold=bold or None,
            underline=underline or None,
        )

    def over(color: str, much: float) -> Color:
        """A colour laid thinly over the background."""
        return ground.blend(Color.parse(color), much)

    accent, good, bad = system["accent"], system["success"], system["error"]
    soft = ground.blend(full, 0.62 if least == READABLE else 0.8).hex
    strong = ground.blend(full, 1.0).hex
    return Palette(
        text=ink(full.hex),
        dim=ink(soft),
        strong=ink(strong, bold=True),
        accent=ink(accent, bold=True),
        prompt=ink(accent, bold=True),
        heading=ink(accent, bold=True),
        code=ink(ground.blend(Color.parse(system["warning"]), 0.85).hex),
        link=ink(system["primary"], underline=True),
        place=ink(soft),
        added=ink(full.hex, on=over(good, 0.14)),
        removed=ink(full.hex, on=over(bad, 0.14)),
        added_word=ink(full.hex, on=over(good, 0.34), bold=True),
        removed_word=ink(full.hex, on=over(bad, 0.34), bold=True),
        note=ink(soft),
        warning=ink(system["warning"], bold=True),
        problem=ink(bad, bold=True),
        good=ink(good),
        hidden=ink(system["warning"], on=over(system["warning"], 0.2)),
        focus=Style(bgcolor=ground.blend(Color.parse(accent), 0.16).rich_color),
        pygments=_CODE.get(theme.name, _CODE["dark" if theme.dark else "light"]),
        dark=theme.dark,
        colour=True,
    )
