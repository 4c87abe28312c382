"""Markdown set for a terminal: read by markdown-it, laid out here.

Nothing in it conceals: HTML and its comments, definitions of links and entities are not read but shown as they are written;
of a link the address is shown, of a fence what stands behind it. Reading is by blocks at the top, which nothing that comes
later changes, so a text that grows (`Growing`) is set block by block, each once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing.cells import PLAIN, expanded, indented, room, strips, width_of, wrapped
from pegboard_tui.drawing.code import coloured, lexer_of
from pegboard_tui.drawing.inline import inline
from pegboard_tui.drawing.look import Look
from pegboard_tui.drawing.spelling import BEGIN, END, Line, marked, marked_line, settled
from pegboard_tui.drawing.tables import table
from pegboard_tui.drawing.texts import text_rows

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from pegboard_tui.drawing.look import Palette

MOST = 50_000
"""Characters of one text that are set; what follows is shown as it is written."""
SIGNS = 2_000
"""Signs of Markdown in one line from which nothing of a text is set: reading them takes time that grows faster than they."""
CHUNK = 40
"""Lines of code that are set once and for all while the end of their fence has not come."""
_BULLETS = "•◦▪"
_ITALIC = Style(italic=True)
_UNDER = Style(underline=True)
_TASK = re.compile(r"\[([ xX])\] ")
_BEGUN = re.compile(r"(?:^|\n)[ \t]*(?:[-=*+#>`~]{1,3}|\d{1,3}[.)]?)[ \t]*\Z")
"""The beginning of a line which may yet become anything: `-` is not a heading's underline before the line has ended."""


def markdown(text: str, look: Look) -> list[Strip]:
    """A whole text, set."""
    return Growing().draw(text, look)


class Growing:
    """A text that grows, and what of it is set already: all blocks but the last, for one width and palette.

    A fence that is not closed yet is set some lines at a time. What spans two of those parts (a string of many lines) may
    be coloured amiss until the text is whole, when such a text is set anew."""

    def __init__(self) -> None:
        self._forget(None)

    def _forget(self, key: object) -> None:
        self._key = key
        self._text = ""
        self._source = ""
        self._set: list[Strip] = []
        self._fence = ""  # how the fence begins of which the first lines are set
        self._parted = False

    def draw(self, text: str, look: Look, *, done: bool = True) -> list[Strip]:
        """The text as it is now. done: nothing more comes; before that, what a last line only begins is held back."""
        more, text = text[MOST:], text[:MOST]
        if _is_dense(text):
            self._forget(None)
            return text_rows(text + more, look.palette.text, look)
        key = (look.width, look.palette)
        if key != self._key or not text.startswith(self._text) or (done and self._parted):
            self._forget(key)
        self._text = text
        rest = self._fence + text[len(self._source) :]
        shown = marked(rest if done else _certain(rest))
        blocks = _blocks(shown)
        sure = len(blocks) - 1
        if sure > 0 and not done and not shown.endswith("\n") and blocks[sure][1] == shown.count("\n"):
            sure -= 1  # a line that has not ended may yet go on what stands before it
        setter = _Setter(look.palette)
        found: list[Line] = []
        for number, (tokens, line) in enumerate(blocks):
            begun = bool(self._fence) and not number
            if number < sure:
                self._set += [*strips(setter.block(tokens, look.width, begun=begun)), _BLANK]
                continue
            if number == sure:
                if not done and _is_open(tokens[0]):
                    begun = self._part(setter, tokens[0], rest, line, look.width, begun) or begun
                elif line:
                    self._keep(rest, line)
            found += [[]] if number > sure else []
            found += setter.block(tokens, look.width, begun=begun)
        drawn = [*self._set, *strips(found)]
        return [*drawn, _BLANK, *text_rows(more, look.palette.text, look)] if more else drawn

    def _part(self, setter: _Setter, token: Token, rest: str, line: int, width: int, begun: bool) -> bool:
        """Set what there is of an open fence but for its last lines, which stay in the token; returns whether it did."""
        rows = token.content.split("\n")
        whole = (len(rows) - 1) // CHUNK * CHUNK
        if not whole:
            if line:
                self._keep(rest, line)
            return False
        token.content = "\n".join(rows[:whole]) + "\n"
        self._set += strips(setter.block([token], width, begun=begun))
        token.content = "\n".join(rows[whole:])
        fence = self._fence or rest[_lines_long(rest, line) : _lines_long(rest, line + 1)]
        self._keep(rest, line + 1 + whole, fence)
        self._parted = True
        return True

    def _keep(self, rest: str, lines: int, fence: str = "") -> None:
        """The first lines of the rest are set."""
        self._source += rest[len(self._fence) : _lines_long(rest, lines)]
        self._fence = fence


_BLANK = Strip.blank(0)


def _is_dense(text: str) -> bool:
    """Whether a line has more signs than `SIGNS`."""
    return any(len(line) > SIGNS and sum(map(line.count, "[*_|`>~")) > SIGNS for line in text.split("\n"))


def _certain(text: str) -> str:
    """Without the beginning of a line which may yet become anything."""
    end = text[-80:].removesuffix("\r")
    begun = _BEGUN.search(end)
    return text[: len(text) - len(text[-80:]) + (begun.start() if begun else len(end))]


def _lines_long(text: str, lines: int) -> int:
    """How many characters the first lines of a text have."""
    at = 0
    for _ in range(lines):
        at = text.index("\n", at) + 1
    return at


def _blocks(text: str) -> list[tuple[list[Token], int]]:
    """The blocks at the top, each with the number of the line it begins in."""
    found: list[tuple[list[Token], int]] = []
    for token in _parser().parse(text):
        if token.level == 0 and token.nesting >= 0:
            found.append(([], token.map[0] if token.map else 0))
        found[-1][0].append(token)
    return found


@lru_cache(1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["strikethrough", "table"])
    return parser.disable(["html_block", "html_inline", "reference", "entity"])


class _Setter:
    """Sets blocks. Each of its methods returns lines that are no wider than the width they were given."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette

    def block(self, tokens: list[Token], width: int, depth: int = 0, *, begun: bool = False) -> list[Line]:
        """One block, with all that is in it. begun: of a fence, whose first lines stand above."""
        palette, head = self._palette, tokens[0]
        match head.type:
            case "heading_open":
                level = int(head.tag[1:])
                style = (
                    palette.heading + (_UNDER if level == 1 else PLAIN)
                    if level < 3
                    else palette.strong + (PLAIN if level < 4 else _ITALIC)
                )
                return self._paragraph(tokens[1], palette.text + style, width)
            case "paragraph_open":
                return self._paragraph(tokens[1], palette.text, width)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(tokens, width, depth)
            case "blockquote_open":
                bar: Line = [("▎ ", palette.dim)]
                inner = room(width, 2)
                lines = self._inside(tokens[1:-1], inner or width, depth)
                return indented(lines, bar, bar) if inner else lines
            case "fence" | "code_block":
                return self._code(head, width, headed=not begun)
            case "table_open":
                return self._table(tokens, width)
            case "hr":
                return [[("─" * width, palette.dim)]]
            case "inline":
                return self._paragraph(head, palette.text, width)
            case _:  # nothing else is switched on
                rows = (head.content or "").split("\n")
                return [line for row in rows for line in wrapped(settled([(row, palette.text)], palette), width)]

    def _inside(self, tokens: list[Token], width: int, depth: int, tight: bool = False) -> list[Line]:
        """Blocks below one another, a blank line between them."""
        lines: list[Line] = []
        for block in _split(tokens):
            if lines and not tight:
                lines.append([])
            lines += self.block(block, width, depth)
        return lines

    def _paragraph(self, token: Token, style: Style, width: int) -> list[Line]:
        return [part for line in inline(token.children or [], style, self._palette) for part in wrapped(line, width)]

    def _list(self, tokens: list[Token], width: int, depth: int) -> list[Line]:
        palette, ordered = self._palette, tokens[0].type == "ordered_list_open"
        items = _split(tokens[1:-1])
        tight = any(token.type == "paragraph_open" and token.hidden for token in tokens)
        first = int(tokens[0].attrGet("start") or 1) if ordered else 0
        size = len(str(first + len(items) - 1)) + 1 if ordered else 1
        lines: list[Line] = []
        for number, item in enumerate(items):
            sign = f"{first + number}{item[0].markup}".rjust(size) if ordered else _BULLETS[depth % len(_BULLETS)]
            lead: Line = [(f"{sign} ", palette.accent if ordered else palette.dim), *self._task(item)]
            inner = room(width, width_of(lead))
            made = self._inside(item[1:-1], inner or width, depth + 1, tight) or [[]]
            if number and not tight:
                lines.append([])
            lines += indented(made, lead) if inner else [*wrapped(lead, width), *made]
        return lines

    def _task(self, item: list[Token]) -> Line:
        """The box of a task, taken from its text."""
        inner = item[2] if len(item) > 2 and item[1].type == "paragraph_open" else None
        first = inner.children[0] if inner is not None and inner.children else None
        found = _TASK.match(first.content) if first is not None and first.type == "text" else None
        if first is None or found is None:
            return []
        first.content = first.content[found.end() :]
        ticked = found[1] != " "
        return [("[x] " if ticked else "[ ] ", self._palette.good if ticked else self._palette.dim)]

    def _code(self, token: Token, width: int, *, headed: bool) -> list[Line]:
        palette = self._palette
        info = token.info.strip()
        language = info.split(maxsplit=1)[0] if info else ""
        inner = room(width, 2)
        bar: Line = [("│ ", palette.dim)] if inner else []
        if not headed and not token.content:
            return []
        code = token.content.removesuffix("\n")
        lines: list[Line] = []
        if info and headed:
            head = settled([(marked_line(info, keep=BEGIN + END), palette.dim)], palette)
            lines += indented(wrapped(head, inner or width), [("┌ ", palette.dim)] if inner else [], bar)
        for row in coloured(code, lexer_of(language), palette, palette.text):
            made = wrapped(expanded(settled(row, palette), 4), inner or width, words=False)
            lines += indented(made, bar, bar)
        return lines

    def _table(self, tokens: list[Token], width: int) -> list[Line]:
        palette = self._palette
        rows: list[list[Line]] = []
        sides: list[str] = []
        for at, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                head = token.type == "th_open"
                if head:
                    sides.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
                style = palette.text + palette.strong if head else palette.text
                cell = inline(tokens[at + 1].children or [], style, palette)
                rows[-1].append([piece for line in cell for piece in line])
        return table(rows[0], rows[1:], width, palette, sides)


def _is_open(token: Token) -> bool:
    """Whether it is a fence at the top whose end has not come."""
    if token.type != "fence" or token.map is None:
        return False
    return token.content.count("\n") > token.map[1] - token.map[0] - 2


def _split(tokens: list[Token]) -> list[list[Token]]:
    """The blocks among tokens, each with all that is in it."""
    found: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            found.append([])
        found[-1].append(token)
        depth += token.nesting
    return found
