"""HTML as Markdown: the part that a page calls its content, by markdownify; of a long page that calls nothing so, what
trafilatura takes for it, if that keeps its headings, lists, links and listings.

Runs in the child alone (`converting.__main__`): both libraries, and lxml below them, can take minutes or raise for pages
made to that end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pegboard_tools_web.converting.content import content, stripped
from pegboard_tools_web.converting.markup import EMPTY, rewritten, spelled
from pegboard_tools_web.converting.plain import headed, titled_text
from pegboard_tools_web.converting.tables import tabled, unnumbered
from pegboard_tools_web.converting.tree import depth, leads_on, linked, parsed, title_of, visible

MOST_DEPTH = 150
"""Levels of elements below which a page is not given to libraries that recurse."""
TOO_DEEP = "plain text without links: the page is nested too deep to be converted to Markdown"
SMALL = 20_000
"""Characters of text up to which a page is wanted whole: what stands around its content costs little."""
LARGE = 300_000
"""Characters of text above which nothing is looked for: it would take longer than the conversion of the whole."""


def markdown(html: str, url: str) -> tuple[str, str, str]:
    """Title, Markdown with absolute links, and a note. Raises RecursionError, and what lxml raises, for pages made to that
    end."""
    tree = parsed(html)
    if tree is None:
        return *titled_text(html), ""
    if depth(tree, MOST_DEPTH) > MOST_DEPTH:
        return *titled_text(html), TOO_DEEP
    title = title_of(tree)
    linked(tree, url)
    unnumbered(tree)
    rewritten(tree, url)
    tree = stripped(tree)
    further = leads_on(tree, url)
    text = headed(title, _main(tree, url)).strip()
    return title, f"This page leads on to {spelled(further)}\n\n{text}".strip() if further else text, ""


def _main(tree: Any, url: str) -> str:
    tabled(tree)
    part, called = content(tree)
    if not called and SMALL < visible(part) <= LARGE and (found := _extracted(part, url)):
        return found
    from pegboard_tools_web.converting.writing import written

    return _tidy(written(part))


def _extracted(body: Any, url: str) -> str | None:
    """What trafilatura takes for the content of a long page; None where it loses what makes the page readable."""
    from lxml.html import tostring  # type: ignore[import-untyped]
    from trafilatura import extract

    found = extract(
        tostring(body, encoding="unicode"),
        url=url,
        output_format="markdown",
        include_links=True,
        include_formatting=True,
        include_tables=True,
        favor_recall=True,
    )
    if not found:
        return None
    kept = dict(_marks(found))
    there = {
        "headings": _count(body, "h1 h2 h3 h4 h5 h6"),
        "items": sum(1 for item in body.iter("li") if 2 * sum(map(visible, item.iter("a"))) < visible(item)),
        "links": sum(1 for link in body.iter("a") if link.get("href") and any(True for _ in link.iterancestors("p"))),
        "listings": _count(body, "pre"),
        "text": visible(body),
    }
    # Menus, lists of links and remarks are rightly left out; half of what text is made of is not.
    least = {"headings": 0.6, "items": 0.5, "links": 0.6, "listings": 0.8, "text": 0.3}
    lost = any(kept[what] < least[what] * count for what, count in there.items())
    return None if lost else _tidy(found)


def _marks(text: str) -> Iterator[tuple[str, int]]:
    yield "headings", len(re.findall(r"(?m)^#{1,6} ", text))
    yield "items", len(re.findall(r"(?m)^\s*(?:[-*+]|\d+\.) ", text))
    yield "links", text.count("](")
    yield "listings", len(re.findall(r"(?m)^\s*```", text)) // 2
    yield "text", sum(map(len, re.sub(r"\]\([^)\s]*\)", "", text).split()))


def _count(tree: Any, tags: str) -> int:
    return sum(1 for node in tree.iter(*tags.split()) if visible(node))


def _tidy(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(rf"[ \t]*{EMPTY}", "", re.sub(r"\n{3,}", "\n\n", lines)).strip()
