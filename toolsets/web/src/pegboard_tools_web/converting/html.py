"""HTML as Markdown: what trafilatura takes for the content of a page, or the whole page by markdownify.

Runs in the child alone (`converting.__main__`): both libraries, and lxml below them, can take minutes or raise for pages
made to that end.
"""

from __future__ import annotations

import re
from typing import Any

from pegboard_tools_web.converting.plain import headed, names, plain_text, titled_text

MOST_DEPTH = 200
"""Levels of elements below which a page is not given to libraries that recurse."""
_BOILERPLATE = names("script style noscript template svg math iframe object embed form button select input textarea")
_AROUND = names("nav footer header aside")
_EMPTY = "\N{SQUARED SQUARE}" * 3
"""Stands on an empty line of a listing while trafilatura works."""
_PERMALINKS = {"\N{PILCROW SIGN}", "#", "\N{LINK SYMBOL}", ""}


def markdown(html: str, url: str) -> tuple[str, str]:
    """Title and Markdown, links made absolute. Raises RecursionError, and what lxml raises, for pages made to that end."""
    tree = _tree(html, url)
    if tree is None:
        return titled_text(html)
    title = _title(tree)
    return title, headed(title, _main(html, tree, url))


def _main(html: str, tree: Any, url: str) -> str:
    if _depth(tree) > MOST_DEPTH:
        return plain_text(html)[1]
    from lxml.html import tostring  # type: ignore[import-untyped]
    from trafilatura import extract

    whole = tostring(tree, encoding="unicode")
    found = extract(
        whole, url=url, output_format="markdown", include_links=True, include_formatting=True, favor_recall=True
    )
    _strip(tree)
    if found and not _is_index(tree) and not _too_little(found, _visible(tree)):
        return _tidy(found)
    from markdownify import markdownify

    return _tidy(markdownify(tostring(tree, encoding="unicode"), heading_style="ATX", bullets="-"))


def _tree(html: str, url: str) -> Any:
    """The page parsed, its links absolute and those that are code gone; None where there is nothing to parse."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml.html import HTMLParser, document_fromstring

    try:
        # As bytes: lxml refuses texts that declare an encoding, and it shall not read a `meta` tag either.
        tree = document_fromstring(
            html.encode("utf-8", "replace"), parser=HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
        )
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    tree.make_links_absolute(url, handle_failures="discard")
    for link in list(tree.iter("a")):
        if not link.get("href", "").lower().startswith(("http:", "https:", "mailto:")) and link.getparent() is not None:
            link.drop_tag()
        elif link.get("href", "").startswith(url.split("#")[0] + "#") and link.text_content().strip() in _PERMALINKS:
            link.drop_tree()
    for code in list(tree.iter("pre")):
        _plain_code(code)
    return tree


def _plain_code(code: Any) -> None:
    """A listing without the elements that colour it, its empty lines marked: trafilatura would drop them."""
    text = code.text_content().strip("\n")
    tail, attributes = code.tail, dict(code.attrib)
    code.clear()
    code.attrib.update(attributes)
    code.tail = tail
    inner = code.makeelement("code")
    inner.text = re.sub(r"(?<=\n)[ \t]*(?=\n)", _EMPTY, text)
    code.append(inner)


def _title(tree: Any) -> str:
    for path in ("//head//title", "//title", "//h1"):
        for found in tree.xpath(path):
            if text := " ".join(found.text_content().split()):
                return str(text)[:300]
    return ""


def _depth(tree: Any) -> int:
    """Levels of elements, counted without recursion."""
    deepest, level = 0, [tree]
    while level and deepest <= MOST_DEPTH:
        deepest, level = deepest + 1, [child for node in level for child in node]
    return deepest


def _strip(tree: Any) -> None:
    """Take away what is never content, and what stands around it if the page says where its content is."""
    around = _AROUND if tree.find(".//main") is not None or tree.find(".//article") is not None else ()
    for node in list(tree.iter("head", *_BOILERPLATE, *around)):
        if node.getparent() is not None and (node.tag != "header" or node.find(".//h1") is None):
            node.drop_tree()


def _visible(tree: Any) -> int:
    """Characters of text that a reader sees, white space and what stands around the content left out."""
    return sum(len(word) for text in tree.itertext() for word in text.split())


def _is_index(tree: Any) -> bool:
    """Whether most of the text is links: then the links are the content, and trafilatura leaves them out."""
    return 2 * sum(_visible(link) for link in tree.iter("a")) > _visible(tree)


def _too_little(found: str, visible: int) -> bool:
    """Whether an extraction lost the content. A short page is wanted whole; of a long one a quarter may be all there is:
    menus, lists of links and remarks are rightly left out."""
    kept = sum(map(len, re.sub(r"\]\([^)\s]*\)", "", found).split()))
    return kept < (0.7 if visible < 2000 else 0.25) * visible


def _tidy(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).replace(_EMPTY, "").strip()
