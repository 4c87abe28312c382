"""An HTML page as a tree: parsed, its links absolute, its frames links. Needs lxml."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin


def parsed(html: str) -> Any:
    """The page as a tree; None where there is nothing to parse."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]

    try:
        # As bytes: lxml refuses texts that declare an encoding, and it shall not read a `meta` tag either.
        return document_fromstring(
            html.encode("utf-8", "replace"), parser=HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
        )
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def linked(tree: Any, url: str) -> None:
    """Make its frames links, and its links absolute."""
    _frames(tree)
    tree.make_links_absolute(url, handle_failures="discard")


def leads_on(tree: Any, url: str) -> str:
    """The other page that this one leads on to by itself; empty if it stays."""
    for meta in tree.iter("meta"):
        if meta.get("http-equiv", "").strip().lower() != "refresh":
            continue
        said = meta.get("content", "")
        at = said.lower().find("url")
        to = said[at + 3 :].lstrip() if at >= 0 else ""
        if not to.startswith("="):
            continue
        try:
            target: str = urljoin(url, to[1:].strip().strip("'\"").strip())
        except ValueError:
            continue
        if target.lower().startswith(("http:", "https:")) and target.split("#")[0] != url.split("#")[0]:
            return target
    return ""


def title_of(tree: Any) -> str:
    """What the page calls itself, on one line."""
    for path in ("//head//title", "//title", "//h1"):
        for found in tree.xpath(path):
            if text := " ".join(found.text_content().split()):
                return str(text)[:300]
    return ""


def depth(tree: Any, most: int) -> int:
    """Levels of elements, counted without recursion and up to one more than `most`."""
    deepest, level = 0, [tree]
    while level and deepest <= most:
        deepest, level = deepest + 1, [child for node in level for child in node]
    return deepest


def visible(tree: Any) -> int:
    """Characters of text, white space left out."""
    return sum(len(word) for text in tree.itertext() for word in text.split())


def _frames(tree: Any) -> None:
    """The pages that a page of frames shows, as links."""
    framed = [node for node in tree.iter("frame", "iframe") if node.get("src", "").strip()]
    for node in framed:
        source, name = node.get("src"), node.get("title") or node.get("name") or ""
        frame, tail = node.tag, node.tail
        if frame == "iframe" and not name:
            node.drop_tree()  # an advertisement, as a rule
            continue
        node.clear()
        node.tag, node.tail = "p", tail
        link = node.makeelement("a")
        link.set("href", source)
        link.text = f"frame: {' '.join(name.split()) or source}"
        node.append(link)
    if framed:
        for node in list(tree.iter("noframes")):
            node.drop_tree()
    for node in tree.iter("frameset"):
        node.tag = "div"
