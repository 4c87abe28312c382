"""Tables of a page: those that only place things become blocks, and those of lines of code lose their numbers."""

from __future__ import annotations

import re
from typing import Any

from pegboard_tools_web.converting.plain import names

_PARTS = ("tr", "td", "th", "tbody", "thead", "tfoot", "caption")
_BLOCKS = names("table pre blockquote dl h1 h2 h3 h4 h5 h6")
_NUMBERS = names("lineno linenos linenodiv linenumber line-number gutter rouge-gutter ln lnt hljs-ln-numbers")
_MOST_COLUMNS = 100
"""Columns that one cell may span."""


def unnumbered(tree: Any) -> None:
    """Drop the numbers of lines that stand beside or in a listing: a class that says so, and nothing but digits."""
    for node in list(tree.iter("td", "th", "span", "div", "pre", "a")):
        named = node.get("class")
        if named and not _NUMBERS.isdisjoint(named.split()) and re.fullmatch(r"[\d\s]+", node.text_content()):
            node.drop_tree()


def tabled(tree: Any) -> None:
    """Settle the tables of a page, inner ones first."""
    for table in reversed(list(tree.iter("table"))):
        _table(table)


def _table(table: Any) -> None:
    own = [node for node in table.iter(*_PARTS) if next(node.iterancestors("table"), None) is table]
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in own if row.tag == "tr"]
    widest = max(map(len, rows), default=0)
    placed = any(node is not table for node in table.iter(*_BLOCKS)) or table.get("role") == "presentation"
    if placed or widest < 2:
        for node in [table, *own]:
            node.tag = "div"
            node.attrib.clear()
        return
    for row in rows:
        for cell in row:
            span = min(_span(cell), max(1, widest - len(row) + 1))
            cell.set("colspan", str(span))
    above = [node for node in own if node.tag == "caption"]
    if len(rows[0]) == 1 and _span(rows[0][0]) > 1:
        above.append(rows[0][0])  # one cell over all columns is the table's title
        rows[0][0].getparent().tag = "title"
    for node in above:
        node.tag, node.tail = "div", None
        node.attrib.clear()
        table.addprevious(node)
    for empty in list(table.iter("title")):
        empty.drop_tree()


def _span(cell: Any) -> int:
    said = cell.get("colspan", "")
    return max(1, min(int(said), _MOST_COLUMNS)) if re.fullmatch(r"[0-9]{1,9}", said) else 1
