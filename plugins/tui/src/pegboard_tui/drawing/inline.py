"""What stands within a line of Markdown: emphasis, code, links. Addresses are shown; none is a terminal's hyperlink."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.style import Style

from pegboard_tui.drawing.cells import expanded
from pegboard_tui.drawing.spelling import Line, marked_line, settled, unmarked

if TYPE_CHECKING:
    from markdown_it.token import Token

    from pegboard_tui.drawing.look import Palette

_ITALIC = Style(italic=True)
_STRIKE = Style(strike=True)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]")


def inline(tokens: list[Token], base: Style, palette: Palette) -> list[Line]:
    """The text of a paragraph, safe, as lines: more than one where it says so."""
    line: Line = []
    lines = [line]
    styles = [base]
    links: list[tuple[str, str, str, int]] = []
    for token in tokens:
        style = styles[-1]
        match token.type:
            case "text" | "text_special":
                line += _text(token.content, style, palette)
            case "softbreak":
                line.append((" ", style))
            case "hardbreak":
                line = []
                lines.append(line)
            case "code_inline":
                shown = token.content if palette.colour else f"`{token.content}`"
                line.append((shown.replace("\n", " "), style + palette.code))
            case "strong_open":
                styles.append(style + palette.strong)
            case "em_open":
                styles.append(style + _ITALIC)
            case "s_open":
                styles.append(style + _STRIKE)
            case "link_open":
                said = "".join(part for part, _ in line)
                links.append((_attr(token, "href"), _attr(token, "title"), said, len(lines)))
                styles.append(style + palette.link)
            case "link_close":
                styles.pop()
                href, title, before, at = links.pop()
                own = "".join(part for part, _ in line)[len(before) :] if at == len(lines) else ""
                line += _behind(unmarked(own), href, title, palette)
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
            case "image":
                name = token.content.strip() or "no name"
                line.append((f"[picture: {name}]", style + palette.dim))
                line += _behind("", _attr(token, "src"), _attr(token, "title"), palette)
            case _:  # nothing else is switched on; if it were, it is shown as it is written
                line.append((token.content.replace("\n", " "), style))
    return [expanded(settled(one, palette), 4) for one in lines]


def _text(text: str, style: Style, palette: Palette) -> Line:
    text = text.replace("\n", " ")
    if "://" not in text:
        return [(text, style)]
    pieces: Line = []
    last = 0
    for found in _ADDRESS.finditer(text):
        pieces += [(text[last : found.start()], style), (found[0], style + palette.link)]
        last = found.end()
    return [*pieces, (text[last:], style)]


def _behind(text: str, href: str, title: str, palette: Palette) -> Line:
    """The address and the title of a link, unless its text is the address."""
    if not title and href in (text, f"mailto:{text}", f"http://{text}"):
        return []
    told = f' ({href} "{title}")' if title else f" ({href})"
    return [(marked_line(told), palette.place)]


def _attr(token: Token, name: str) -> str:
    """What was marked within an address came back encoded: the marks are taken out, and the rest stays as it is."""
    value = unmarked(str(token.attrGet(name) or ""))
    return value.replace("%EE%80%80", "").replace("%EE%80%81", "")
