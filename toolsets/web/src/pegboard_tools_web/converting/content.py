"""Which part of a page is its content: what it calls so, and no menus."""

from __future__ import annotations

from typing import Any

from pegboard_tools_web.converting.plain import names
from pegboard_tools_web.converting.tree import visible

_NEVER = names(
    "title link base script style template svg math object embed button input select textarea datalist noembed"
)
_MEANINGLESS = names("span font label small time abbr cite wbr sup sub u ins picture bdi bdo data nobr")
"""Elements that Markdown has none for, whose text stays: thousands of them in a paragraph take long to convert."""
_AROUND = names("nav footer header aside")
_ROLES = {"main": "main", "navigation": "nav", "banner": "header", "contentinfo": "footer", "complementary": "aside"}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BARE = 200
"""Characters of text below which a page says what it says to readers without scripts."""
_MOST = 0.6
"""The part of the text that an article has to hold to be the page."""
_LEAST = 0.25
"""The same, for an article that holds the heading of the page."""


def stripped(tree: Any) -> Any:
    """The page without what is never content; what it says to readers without scripts stays where it says hardly anything
    else. Roles become the elements that mean the same."""
    from lxml import etree  # type: ignore[import-untyped]

    etree.strip_elements(tree, *_NEVER, with_tail=False)
    silent = list(tree.iter("noscript"))
    if silent and visible(tree) - sum(map(visible, silent)) >= _BARE:
        etree.strip_elements(tree, "noscript", with_tail=False)
    else:
        for node in silent:
            node.tag = "div"
    etree.strip_tags(tree, *_MEANINGLESS)
    for node in tree.iter("div", "section"):
        node.tag = _ROLES.get(node.get("role", ""), node.tag)
    return tree


def content(tree: Any) -> tuple[Any, bool]:
    """The part of a stripped page that is its content, and whether the page calls it so. What stands around it is left
    out, unless nothing else remains."""
    from lxml import etree

    etree.strip_elements(tree, "meta", with_tail=False)
    for head in list(tree.iter("head")):
        head.drop_tag()  # where a page writes no <body>, its content may have come to lie there
    mains = [node for node in tree.iter("main") if next(node.iterancestors("main"), None) is None and visible(node)]
    if mains:
        return _pruned(_together(mains)), True
    body = _pruned(tree)
    articles = [node for node in body.iter("article") if next(node.iterancestors("article"), None) is None]
    if len(articles) == 1 and _is_page(articles[0], body):
        return articles[0], True
    return body, False


def _together(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    whole = parts[0].makeelement("div")
    for part in parts:
        part.tail = None
        whole.append(part)
    return whole


def _is_page(article: Any, body: Any) -> bool:
    """Whether an article is the page: it holds its heading, or by far most of its text. A review or a banner is not, and
    none is beside which a heading stands. The name of a site in its header is no heading of the page."""
    titles = [node for node in body.iter("h1") if visible(node)]
    inside = [node for node in titles if next(node.iterancestors("article"), None) is not None]
    if any(next(node.iterancestors("header"), None) is None for node in set(titles) - set(inside)):
        return False
    return visible(article) >= (_LEAST if inside else _MOST) * visible(body)


def _pruned(part: Any) -> Any:
    from lxml import etree

    around = [node for node in part.iter(*_AROUND) if node is not part and not _holds_content(node)]
    known = set(around)
    outer = [node for node in around if known.isdisjoint(node.iterancestors(*_AROUND))]
    if visible(part) > sum(map(visible, outer)):
        for node in outer:
            node.tag = "dropped"  # all at once: one by one, the text around each would be copied each time
        etree.strip_elements(part, "dropped", with_tail=False)
    return part


def _holds_content(node: Any) -> bool:
    """Whether the content stands in it, or it is the heading of the content, or a remark inside it."""
    if next(node.iter("main"), None) is not None:
        return True
    inside = next(node.iterancestors("main", "article"), None) is not None
    if node.tag == "header":
        return next(node.iter("article", *(_HEADINGS if inside else ["h1"])), None) is not None
    return inside and node.tag != "nav" and 2 * sum(map(visible, node.iter("a"))) < visible(node)
