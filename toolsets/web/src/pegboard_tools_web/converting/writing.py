"""A tree as Markdown, by markdownify, with what it leaves open: fences that a listing cannot close, bars in cells."""

from __future__ import annotations

import re
from typing import Any

from lxml.html import tostring  # type: ignore[import-untyped]
from markdownify import MarkdownConverter

_FENCE = re.compile(r"`{3,}")
_MOST_COLUMNS = 1000
"""Columns of one cell, as markdownify counts them."""


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

    def convert_td(self, el: Any, text: str, parent_tags: set[str]) -> str:
        return _cell(el, text)

    def convert_th(self, el: Any, text: str, parent_tags: set[str]) -> str:
        return _cell(el, text)


def _cell(el: Any, text: str) -> str:
    span = str(el.get("colspan", ""))
    columns = max(1, min(int(span), _MOST_COLUMNS)) if re.fullmatch(r"[0-9]{1,9}", span) else 1
    line = " ".join(text.split()).replace("|", "\\|")
    return f" {line}" + " |" * columns


def written(tree: Any) -> str:
    """Markdown of a part of a page."""
    html = tostring(tree, encoding="unicode", with_tail=False)
    return str(_Writer(bs4_options="lxml").convert(html))
