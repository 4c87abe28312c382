"""An HTML page as a tree: its links absolute, its listings plain, and which part of it is its content. Needs lxml."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from pegboard_tools_web.converting.plain import names

EMPTY = "\N{SQUARED SQUARE}" * 3
"""Stands on an empty line of a listing until the Markdown is tidied: libraries drop empty lines."""
_NEVER = names(
    "title meta link base script style noscript template svg math object embed button input select textarea datalist"
)
_AROUND = names("nav footer header aside")
_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_PARTS = names("tr td th tbody thead tfoot caption")
_BLOCKS = names("table pre blockquote dl") | _HEADINGS
_PERMALINKS = {"\N{PILCROW SIGN}", "#", "\N{LINK SYMBOL}", ""}
_LEAST = 0.25
"""The part of a page's text that what is called its content has to hold."""
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s]([A-Za-z0-9+#.]{1,20})(?=\s|;|$)"
)
_NO_LANGUAGE = names("none plaintext text default notranslate")


def cleaned(html: str, url: str) -> Any:
    """The page parsed, its links absolute and those that are code gone; None where there is nothing to parse."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]

    try:
        # As bytes: lxml refuses texts that declare an encoding, and it shall not read a `meta` tag either.
        tree = document_fromstring(
            html.encode("utf-8", "replace"), parser=HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
        )
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    _frames(tree)
    tree.make_links_absolute(url, handle_failures="discard")
    for link in list(tree.iter("a")):
        _link(link, url)
    for picture in list(tree.iter("img")):
        _picture(picture)
    for code in list(tree.iter("pre")):
        _listing(code)
    return tree


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


def stripped(tree: Any) -> Any:
    """The page without what is never content, its tables plain. What stands around the content goes too, unless it is
    most of the page."""
    for node in list(tree.iter(*_NEVER)):
        if node.getparent() is not None:
            node.drop_tree()
    for head in list(tree.iter("head")):
        head.drop_tag()  # where a page writes no <body>, its content may have come to lie there
    for table in reversed(list(tree.iter("table"))):
        _table(table)
    whole = visible(tree)
    around = [node for node in tree.iter(*_AROUND) if not _holds_content(node)]
    outer = [node for node in around if not any(parent in around for parent in node.iterancestors(*_AROUND))]
    if whole - sum(map(visible, outer)) > _LEAST * whole:
        for node in outer:
            node.drop_tree()
    return tree


def content(body: Any) -> Any:
    """The part that the page itself calls its content; the whole where it says nothing, or that is hardly anything."""
    parts = body.xpath("//main | //*[@role='main']") or body.xpath("//article[not(ancestor::article)]")
    if len(parts) == 1 and visible(parts[0]) > _LEAST * visible(body):
        return parts[0]
    return body


def _holds_content(node: Any) -> bool:
    """Whether the content stands in it, or it is the heading of the content, or a remark inside it."""
    if any(True for _ in node.iter("main", "article")):
        return True
    if node.tag == "header":
        return any(True for _ in node.iter("h1"))
    inside = any(True for _ in node.iterancestors("main", "article"))
    return inside and node.tag in ("aside", "footer") and 2 * sum(map(visible, node.iter("a"))) < visible(node)


def _link(link: Any, url: str) -> None:
    href = link.get("href", "")
    if not href.lower().startswith(("http:", "https:", "mailto:")):
        link.drop_tag()
    elif href.startswith(url.split("#")[0] + "#") and link.text_content().strip() in _PERMALINKS:
        link.drop_tree()
    else:
        link.attrib.pop("title", None)
        link.set("href", _written(href))


def _written(href: str) -> str:
    """A URL as it can stand in brackets."""
    href = re.sub(r"[\s<>\x00-\x1f\x7f]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), href)
    level = 0
    for char in href:
        level += (char == "(") - (char == ")")
        if level < 0:
            break
    return href if level == 0 else href.replace("(", "%28").replace(")", "%29")


def _picture(picture: Any) -> None:
    """A picture is what it says of itself: its `alt` text, and its address where that is a page's."""
    alt, source = " ".join(picture.get("alt", "").split()), picture.get("src", "")
    picture.attrib.pop("title", None)
    if not alt:
        picture.drop_tree()
    elif source.lower().startswith(("http:", "https:")):
        picture.set("alt", alt.replace("[", "(").replace("]", ")"))
        picture.set("src", _written(source))
    else:
        picture.text = alt
        picture.tag = "span"


def _listing(code: Any) -> None:
    """A listing without the elements that colour it, its language said, its empty lines marked."""
    language = _language(code)
    for broken in list(code.iter("br")):
        broken.tail = "\n" + (broken.tail or "")
    text = code.text_content().strip("\n")
    tail = code.tail
    code.clear()
    code.tail = tail
    inner = code.makeelement("code")
    inner.text = re.sub(r"(?<=\n)[ \t]*(?=\n)", EMPTY, text)
    if language:
        code.set("class", f"language-{language}")
    code.append(inner)


def _language(code: Any) -> str:
    near = [code, *code.iter("code"), *islice(code.iterancestors("div", "figure"), 2)]
    for node in near:
        found = _LANGUAGE.search(node.get("class", ""))
        if found and found[1].lower() not in _NO_LANGUAGE:
            return str(found[1].lower())
    return ""


def _table(table: Any) -> None:
    """A table that only places things (others, headings, listings) becomes blocks; others keep their rows."""
    placed = any(node is not table for node in table.iter(*_BLOCKS)) or table.get("role") == "presentation"
    own = [node for node in table.iter(*_PARTS) if next(node.iterancestors("table"), None) is table]
    widest = max((len(row.findall("td")) + len(row.findall("th")) for row in own if row.tag == "tr"), default=0)
    if placed or widest < 2:
        for node in [table, *own]:
            node.tag = "div"
            node.attrib.clear()


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
