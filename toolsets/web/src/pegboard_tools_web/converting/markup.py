"""Elements of a page that Markdown has none for, as ones that it has: powers, cards, tasks, buttons, films, listings."""

from __future__ import annotations

import re
from itertools import islice
from posixpath import basename
from typing import Any
from urllib.parse import unquote, urlsplit

from pegboard_tools_web.converting.plain import names

EMPTY = "\N{SQUARED SQUARE}" * 3
"""Stands on an empty line of a listing until the Markdown is tidied: libraries drop empty lines."""
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = names("address article aside blockquote div dl dd dt figcaption figure footer header hr li main nav ol p pre")
_BLOCKS |= names("section table tbody thead tfoot tr td th ul") | frozenset(_HEADINGS)
_PERMALINKS = {"\N{PILCROW SIGN}", "#", "\N{LINK SYMBOL}", ""}
_WORD = re.compile("[-+\N{MINUS SIGN}]?\\w+(?:[.]\\w+)?[-+\N{MINUS SIGN}]?")
_ORDINALS = names("st nd rd th")
_LONGEST_NAME = 100
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s]([A-Za-z0-9+#.]{1,20})(?=\s|;|$)"
)
_NO_LANGUAGE = names("none plaintext text default notranslate")


def rewritten(tree: Any, url: str) -> None:
    """Rewrite a page whose links are absolute; `url` is its own."""
    for node in reversed(list(tree.iter("sup", "sub"))):
        _raised(node)
    for node in list(tree.xpath("//*[@role='heading']")):
        level = node.get("aria-level", "")
        if node.tag in ("div", "p", "span"):
            node.tag = f"h{level}" if level in ("1", "2", "3", "4", "5", "6") else "h2"
    for code in list(tree.iter("pre")):
        for node in (*code.iter("button"), code.getprevious(), code.getnext()):
            if node is not None and node.tag == "button" and node.getparent() is not None:
                node.drop_tree()  # it copies the listing
    for node in list(tree.iter("button", "input")):
        _control(node)
    for node in list(tree.iter("video", "audio")):
        _film(node)
    for link in list(tree.iter("a")):
        _link(link, url)
    for picture in list(tree.iter("img")):
        _picture(picture)
    for link in list(tree.iter("a")):
        _card(link)
    for code in list(tree.iter("pre")):
        _listing(code)


def spelled(href: str) -> str:
    """A URL as it can stand in brackets."""
    href = re.sub(r"[\s<>\x00-\x1f\x7f]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), href)
    level = 0
    for char in href:
        level += (char == "(") - (char == ")")
        if level < 0:
            break
    return href if level == 0 else href.replace("(", "%28").replace(")", "%29")


def _raised(node: Any) -> None:
    """`10^6`, `H_2O`, `x^(n + 1)`. A note's number that is a link, an ordinal's letters and a sign stay as they are."""
    text = " ".join("".join(node.itertext()).split())
    flat = next(node.iter("a", "img"), None) is not None or (not any(map(str.isalnum, text)) and text not in ("+", "-"))
    if not flat and not (text.lower() in _ORDINALS and _before(node)[-1:].isdigit()):
        for child in list(node):
            node.remove(child)
        after = (node.tail or "")[:1]
        joined = (after.isdigit() and text[-1].isdigit()) or (after.isalpha() and text[-1].isalpha())
        shown = text if _WORD.fullmatch(text) and not joined else f"({text})"
        node.text = ("^" if node.tag == "sup" else "_") + shown
    node.tag = "span"


def _control(node: Any) -> None:
    """What a button says, and whether a task is done; other controls are dropped later."""
    kind = node.get("type", "").lower()
    if node.tag == "button":
        text = node.text_content()
    elif kind in ("submit", "button"):
        text = node.get("value", "")
    elif kind == "checkbox" and next(node.iterancestors("li", "label"), None) is not None:
        text = "[x]" if node.get("checked") is not None else "[ ]"
    else:
        return
    if text.strip():
        _become(node, "span", " ".join(text.split()))


def _film(node: Any) -> None:
    """A film or a recording is a link to it."""
    source = node.get("src") or next((at.get("src") for at in node.iter("source") if at.get("src")), "")
    if not source.lower().startswith(("http:", "https:")):
        node.drop_tree()
        return
    _become(node, "a", f"{node.tag}: {_file(source) or 'unnamed'}")
    node.set("href", source)


def _become(node: Any, tag: str, text: str) -> None:
    """An inline element with this text alone, set off from the words around it."""
    tail = node.tail or ""
    node.clear()
    node.tag, node.text = tag, text
    node.tail = f" {tail}" if tail[:1].isalnum() else tail
    before, previous, parent = _before(node), node.getprevious(), node.getparent()
    if previous is not None and not before[-1:].isspace():
        previous.tail = before + " "
    elif previous is None and before and not before[-1:].isspace():
        parent.text = before + " "


def _before(node: Any) -> str:
    """The text right before an element."""
    previous, parent = node.getprevious(), node.getparent()
    return (previous.tail if previous is not None else parent.text if parent is not None else "") or ""


def _link(link: Any, url: str) -> None:
    href = link.get("href", "")
    if not href.lower().startswith(("http:", "https:", "mailto:")):
        link.drop_tag()
    elif href.startswith(url.split("#")[0] + "#") and link.text_content().strip() in _PERMALINKS:
        link.drop_tree()
    else:
        _named(link, href)
        link.attrib.pop("title", None)
        link.set("href", spelled(href))


def _named(link: Any, href: str) -> None:
    """A link around pictures that say nothing is called by what else names it: a label, a file, the URL."""
    from lxml import etree  # type: ignore[import-untyped]

    drawn = [node for node in link.iter("img", "svg") if node.tag == "svg" or not node.get("alt", "").strip()]
    label = link.get("aria-label") or link.get("title") or ""
    if not (drawn or label) or any(image.get("alt", "").strip() for image in link.iter("img")):
        return
    said = " ".join(link.itertext("title")) or next((node.get("title") for node in drawn if node.get("title")), "")
    etree.strip_elements(link, "svg", with_tail=False)
    if _says(link):
        return
    files = (_file(node.get("src", "")) for node in drawn if node.tag == "img")
    name = " ".join(label.split()) or " ".join(said.split()) or next(filter(None, files), "") or _file(href) or href
    link.text = name[:_LONGEST_NAME].replace("[", "(").replace("]", ")")


def _file(url: str) -> str:
    """The name of the file that a URL names; empty for one that names none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return " ".join(unquote(basename(parts.path)).split()) if parts.scheme in ("http", "https") else ""


def _picture(picture: Any) -> None:
    """A picture is what it says of itself: its `alt` text, and its address where that is a page's."""
    alt, source = " ".join(picture.get("alt", "").split()), picture.get("src", "")
    picture.attrib.pop("title", None)
    if not alt:
        picture.tag = "embed"  # dropped with what is never content
    elif source.lower().startswith(("http:", "https:")):
        picture.set("alt", alt.replace("[", "(").replace("]", ")"))
        picture.set("src", spelled(source))
    else:
        picture.text = alt
        picture.tag = "span"


def _card(link: Any) -> None:
    """A link around blocks becomes blocks, the first of which is the link: their heading, if there is one."""
    blocks = [node for node in link.iter(*_BLOCKS) if node is not link]
    if not blocks:
        return
    said = [node for node in blocks if _says(node)]
    if not said:
        for node in blocks:
            node.tag = "span"
        return
    leaf = next(
        (node for node in said if next((n for n in node.iter(*_BLOCKS) if n is not node), None) is None), said[0]
    )
    first = next((node for node in said if node.tag in _HEADINGS), None)
    if first is None:
        first = link if _begins(link) else leaf
    for node in first.iter(*_BLOCKS) if first.tag in _HEADINGS else ():
        node.tag = node.tag if node is first else "span"
    inner = link.makeelement("a")
    inner.set("href", link.get("href"))
    inner.text, first.text = first.text, None
    for node in list(first):
        if node.tag in _BLOCKS:
            break
        inner.append(node)
    first.insert(0, inner)
    link.tag = "div"
    link.attrib.clear()


def _says(node: Any) -> bool:
    """Whether there is text in it."""
    return any(text.strip() for text in node.itertext())


def _begins(link: Any) -> bool:
    """Whether words stand before the first block."""
    if (link.text or "").strip():
        return True
    for node in link:
        if node.tag in _BLOCKS or next(node.iter(*_BLOCKS), None) is not None:
            return False
        if _says(node) or (node.tail or "").strip():
            return True
    return False


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
