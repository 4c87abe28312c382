"""The text of HTML, by the standard library's tokenizer alone: in one pass, however the page is nested.

For pages that the libraries choke on, and for the beginning of an error page.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser


def names(text: str) -> frozenset[str]:
    """The names of elements in a text."""
    return frozenset(text.split())


_SILENT = names("script style noscript template svg math iframe object head")
_BREAKS = names(
    "address article aside blockquote body br dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hr li main nav ol p pre section summary table td th tr ul"
)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self._silent = ""
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":  # whatever stood open before it: text follows
            self._silent = ""
        if tag == "title":
            self._in_title = True
        elif tag in _SILENT and not self._silent:
            self._silent = tag
        elif tag in _BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == self._silent:
            self._silent = ""
        elif tag in _BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._silent:
            self.parts.append(data)


def plain_text(html: str) -> tuple[str, str]:
    """Title and text: a line for each block, white space collapsed."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return " ".join("".join(reader.title).split()), re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def titled_text(html: str) -> tuple[str, str]:
    """The same, with the title above the text."""
    title, text = plain_text(html)
    return title, headed(title, text)


def headed(title: str, text: str) -> str:
    """The text with the title above it, unless it begins with a heading that says the same."""
    first = text.lstrip().split("\n", 1)[0].lstrip("# ").strip()
    if not title or (first and (first in title or title in first)):
        return text
    return f"# {title}\n\n{text}"
