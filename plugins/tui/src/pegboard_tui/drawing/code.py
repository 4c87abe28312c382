"""Code in colours: Pygments, imported when the first code is drawn. Its lexers are found by what Pygments itself brings;
plugins of it are not looked for, which would read every installed package for each unknown name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from rich.color import Color, ColorParseError
from rich.style import Style

from pegboard_tui.drawing.cells import text_of
from pegboard_tui.drawing.spelling import Line

if TYPE_CHECKING:
    from pegboard_tui.drawing.look import Palette

MOST = 20_000
"""Characters that are lexed at once; longer code is drawn plain, for lexers may be slow on what they were not made for."""
LONGEST = 2_000
"""Characters of a line in code that is lexed."""
_CHOSEN = {
    "*.py": "python",
    "*.pyi": "python",
    "*.h": "c",
    "*.md": "markdown",
    "*.sql": "sql",
    "*.m": "objective-c",
    "*.pl": "perl",
    "*.r": "splus",
    "*.s": "gas",
    "*.v": "verilog",
    "*.t": "perl",
    "*.cl": "common-lisp",
    "*.html": "html",
    "*.htm": "html",
    "*.xml": "xml",
    "*.js": "javascript",
    "*.mjs": "javascript",
    "*.jsx": "jsx",
    "*.ts": "typescript",
    "*.tsx": "tsx",
    "*.css": "css",
    "*.yml": "yaml",
    "*.yaml": "yaml",
    "*.cfg": "ini",
    "*.conf": "ini",
    "*.inc": "php",
    "*.mod": "modula2",
    "*.txt": "text",
    "*.asm": "nasm",
    "*.tex": "tex",
    "go.mod": "text",
}
"""Lexers of file names that several of them claim."""
_ANSI: Mapping[str, tuple[str, str]] = {
    "Comment": ("bright_black", "bright_black"),
    "Keyword": ("blue", "blue"),
    "Keyword.Constant": ("cyan", "cyan"),
    "Name.Builtin": ("cyan", "cyan"),
    "Name.Class": ("yellow", "magenta"),
    "Name.Decorator": ("magenta", "magenta"),
    "Name.Exception": ("yellow", "magenta"),
    "Name.Function": ("yellow", "magenta"),
    "Name.Tag": ("blue", "blue"),
    "Number": ("cyan", "cyan"),
    "Operator.Word": ("blue", "blue"),
    "String": ("green", "green"),
    "Generic.Deleted": ("red", "red"),
    "Generic.Inserted": ("green", "green"),
    "Generic.Heading": ("blue", "blue"),
}
"""On dark and on light ground, in the terminal's own sixteen colours."""


def coloured(code: str, lexer: str, palette: Palette, base: Style) -> list[Line]:
    """Code as one line of pieces for each of its lines. lexer: by `lexer_of`; "" is none."""
    rows = code.split("\n")
    if not lexer or not palette.colour or len(code) > MOST or any(len(row) > LONGEST for row in rows):
        return [[(row, base)] for row in rows]
    styles = _Styles.of(palette)
    try:
        lines = _lexed(code, lexer, styles, base)
    except Exception:  # noqa: BLE001 - isolates lexers: what one of Pygments' six hundred cannot read is drawn plain
        lines = []
    if [text_of(line) for line in lines] != rows:  # it failed, or left something out
        return [[(row, base)] for row in rows]
    return lines


def lexer_of(language: str) -> str:
    """The name of Pygments' lexer for a language as a fence names it; "": there is none."""
    return _by_alias().get(language.lower(), "") if language else ""


@lru_cache(512)
def lexer_of_path(path: str) -> str:
    """The name of Pygments' lexer for a file of this name; "": there is none."""
    name = PurePosixPath(path).name
    patterns = _by_pattern()
    ending = f"*.{name.rpartition('.')[2]}" if "." in name else ""
    found = patterns.get(name) or patterns.get(ending) or patterns.get(ending.lower(), "")
    return "" if found == "text" else found


def _lexed(code: str, lexer: str, styles: _Styles, base: Style) -> list[Line]:
    line: Line = []
    lines = [line]
    mixed: dict[Any, Style] = {}
    for _, kind, value in _lexer(lexer).get_tokens_unprocessed(code):
        style = mixed.get(kind)
        if style is None:
            own = styles[kind]
            style = mixed[kind] = base if own is None else base + own
        first, *others = value.split("\n")
        if first:
            line.append((first, style))
        for other in others:
            line = [(other, style)] if other else []
            lines.append(line)
    return lines


@lru_cache(64)
def _lexer(name: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]

    return get_lexer_by_name(name)


@lru_cache(1)
def _by_alias() -> Mapping[str, str]:
    from pygments.lexers import get_all_lexers

    found: dict[str, str] = {}
    for _, aliases, _, _ in get_all_lexers(plugins=False):
        for alias in aliases:
            found.setdefault(alias.lower(), aliases[0])
    return found


@lru_cache(1)
def _by_pattern() -> Mapping[str, str]:
    from pygments.lexers import get_all_lexers

    found: dict[str, str] = dict(_CHOSEN)
    for _, aliases, patterns, _ in get_all_lexers(plugins=False):
        for pattern in patterns if aliases else ():
            found.setdefault(pattern, aliases[0])
    return found


class _Styles(dict[Any, "Style | None"]):
    """Styles of Pygments' tokens; fills itself. None: nothing of its own."""

    def __init__(self, name: str, dark: bool) -> None:
        super().__init__()
        self._dark = dark
        self._style = None if name.startswith("ansi") else _pygments_style(name)

    @classmethod
    def of(cls, palette: Palette) -> _Styles:
        """Those of a palette."""
        return _styles(palette.pygments, palette.dark)

    def __missing__(self, kind: Any) -> Style | None:
        found = self._sixteen(kind) if self._style is None else self._from(self._style, kind)
        self[kind] = found
        return found

    def _sixteen(self, kind: Any) -> Style | None:
        for one in reversed(kind.split()):
            pair = _ANSI.get(str(one).removeprefix("Token.").replace("Literal.", ""))
            if pair is not None:
                return Style(color=pair[0 if self._dark else 1])
        return None

    @staticmethod
    def _from(style: Any, kind: Any) -> Style | None:
        try:
            told = style.style_for_token(kind)
        except KeyError:
            return None
        name = told["color"]
        try:
            color = Color.parse(f"#{name}") if name else None
        except ColorParseError:
            color = None
        bold, italic = told["bold"] or None, told["italic"] or None
        return Style.from_color(color) + Style(bold=bold, italic=italic) if color or bold or italic else None


@lru_cache(16)
def _styles(name: str, dark: bool) -> _Styles:
    return _Styles(name, dark)


def _pygments_style(name: str) -> Any:
    from pygments.styles import get_style_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_style_by_name(name)
    except ClassNotFound:
        return None
