"""A tree as Markdown, by markdownify, with what it leaves open: fences that a listing cannot close, bars in cells."""

from __future__ import annotations

import re
from typing import Any

from lxml.html import tostring  # type: ignore[import-untyped]
from markdownify import MarkdownConverter

_FENCE = re.compile(r"`{3,}")
_PLAIN: Any = MarkdownConverter
_BAR = re.compile(r"(?<!\\)\|")
_ESCAPED = r"\|"
_CELLS = frozenset({"td", "th"})


class _Writer(MarkdownConverter):
    """Text is left as it is written: a reader of names (`snake_case`) is served better than one of strict Markdown."""

    class Options:
        heading_style = "ATX"
        bullets = "-"
        autolinks = False
        escape_asterisks = False
        escape_underscores = False
        table_infer_header = True

    def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:
        if not text.strip():
            return ""
        if "_inline" in parent_tags:
            return f"`{text.strip()}`"
        language = " ".join(el.get("class") or ()).removeprefix("language-")
        fence = "`" * max(3, 1 + max((len(run) for run in _FENCE.findall(text)), default=0))
        return f"\n\n{fence}{language}\n{text.strip(chr(10))}\n{fence}\n\n"

    def convert_table(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """The first row is the head; it and the line below are as wide as the widest row."""
        lines = [line for line in text.strip().split("\n") if line.strip(" |")]
        widths = [len(_BAR.findall(line)) - 1 for line in lines]
        if not lines:
            return ""
        lines[0] += " |" * (max(widths) - widths[0])
        lines.insert(1, "| " + " | ".join(["---"] * max(widths)) + " |")
        return "\n\n" + "\n".join(lines) + "\n\n"

    def convert_tr(self, el: Any, text: str, parent_tags: set[str]) -> str:
        return f"|{text}\n"

    def convert_td(self, el: Any, text: str, parent_tags: set[str]) -> str:
        return f" {' '.join(text.split()).replace('|', _ESCAPED)}" + " |" * int(el.get("colspan", "1"))

    def convert_th(self, el: Any, text: str, parent_tags: set[str]) -> str:
        return self.convert_td(el, text, parent_tags)

    def convert_li(self, el: Any, text: str, parent_tags: set[str]) -> str:
        if not parent_tags & _CELLS:
            return str(_PLAIN.convert_li(self, el, text, parent_tags))
        line = " ".join(text.split())
        return line + (", " if "li" in parent_tags else "; ") if line else ""

    def convert_list(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """In a cell, on one line: `one (inner, other); two`."""
        if not parent_tags & _CELLS:
            return str(_PLAIN.convert_list(self, el, text, parent_tags))
        line = text.strip()
        return f" ({line.removesuffix(',')})" if "li" in parent_tags else f" {line.removesuffix(';')} "

    convert_ul = convert_list
    convert_ol = convert_list


def written(tree: Any) -> str:
    """Markdown of a part of a page."""
    html = tostring(tree, encoding="unicode", with_tail=False)
    return str(_Writer(bs4_options="lxml").convert(html))
