"""How things are drawn: the width there is, and a style for each role that text has."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.style import Style


@dataclass(frozen=True, kw_only=True)
class Palette:
    """A style for each role. `plain` ones are of the theme without colours: bold, dim, underlined and reversed alone.

    code: the Pygments style for code. dark: the background is. colour: False where none may be used."""

    text: Style = field(default_factory=Style)
    dim: Style = field(default_factory=lambda: Style(dim=True))
    strong: Style = field(default_factory=lambda: Style(bold=True))
    accent: Style = field(default_factory=lambda: Style(bold=True))
    prompt: Style = field(default_factory=lambda: Style(bold=True))
    heading: Style = field(default_factory=lambda: Style(bold=True, underline=True))
    code: Style = field(default_factory=Style)
    link: Style = field(default_factory=lambda: Style(underline=True))
    place: Style = field(default_factory=lambda: Style(dim=True))
    added: Style = field(default_factory=Style)
    removed: Style = field(default_factory=Style)
    added_word: Style = field(default_factory=lambda: Style(bold=True))
    removed_word: Style = field(default_factory=lambda: Style(bold=True))
    note: Style = field(default_factory=lambda: Style(dim=True))
    warning: Style = field(default_factory=lambda: Style(bold=True))
    problem: Style = field(default_factory=lambda: Style(bold=True))
    good: Style = field(default_factory=Style)
    hidden: Style = field(default_factory=lambda: Style(reverse=True))
    focus: Style = field(default_factory=lambda: Style(reverse=True))
    pygments: str = "ansi_dark"
    dark: bool = True
    colour: bool = False


@dataclass(frozen=True, kw_only=True)
class Look:
    """width: columns there are. images: whether pictures may be drawn."""

    width: int
    palette: Palette = field(default_factory=Palette)
    images: bool = True

    def __post_init__(self) -> None:
        """There is always a column."""
        if self.width < 1:
            object.__setattr__(self, "width", 1)
