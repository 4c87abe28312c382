"""What searches found: results, and the ids under which a session keeps their URLs for web_fetch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import msgspec
from pegboard.context import Context
from pegboard.errors import ToolError

from pegboard_tools_web.outside import origin_of

_ID = re.compile(r"r([1-9]\d{0,6})", re.IGNORECASE)
_COUNT = "results"
"""State: how many results the session has. The URL of each stands under its id."""
_LONGEST = {"title": 200, "snippet": 400, "url": 2000}


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A result as a backend gives it."""

    title: str
    url: str
    snippet: str


class Found(Hit, frozen=True, kw_only=True):
    """A result as it is told. `id`: what web_fetch takes for its URL."""

    id: str


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one query. `error`: why there are none; null where the search went well."""

    query: str
    results: list[Found]
    error: str | None


def cleaned(hits: Iterable[Hit], most: int) -> list[Hit]:
    """The first `most` hits that are web pages, each once, their texts on one line."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        url = hit.url.strip()
        if len(kept) == most:
            break
        if url in kept or len(url) > _LONGEST["url"] or not _is_page(url):
            continue
        title, snippet = _line(hit.title, "title"), _line(hit.snippet, "snippet")
        kept[url] = Hit(title=title or url, url=url, snippet=snippet)
    return list(kept.values())


def kept(ctx: Context, found: Sequence[Sequence[Hit]]) -> list[list[Found]]:
    """The hits of several queries with their ids; a page that two queries found has one id."""
    number = int(ctx.state(_COUNT).get(0))
    ids: dict[str, str] = {}
    for hit in (hit for hits in found for hit in hits):
        if hit.url not in ids:
            number += 1
            ids[hit.url] = f"r{number}"
            ctx.state(ids[hit.url]).set(hit.url)
    if ids:
        ctx.state(_COUNT).set(number)
    return [[Found(id=ids[h.url], title=h.title, url=h.url, snippet=h.snippet) for h in hits] for hits in found]


def address(ctx: Context, said: str) -> str:
    """The URL that a call means: the one it names, or that of an earlier result.

    Raises:
        ToolError: there is no such result.
    """
    said = said.strip()
    match = _ID.fullmatch(said)
    if match is None:
        return said
    url = ctx.state(f"r{match[1]}").get()
    if isinstance(url, str):
        return url
    last = int(ctx.state(_COUNT).get(0))
    there = (
        "there were no web_search results yet"
        if not last
        else f"results are r1 to r{last}"
        if last > 1
        else "the only result is r1"
    )
    raise ToolError(
        f"{said} is no result of a web_search in this session: {there}. Nothing was fetched. Search first, or give a URL."
    )


def name_of(said: str, url: str) -> str:
    """What is said outside of the marks of a result's URL, which is a server's text: its id and the host. Empty for a URL
    that the caller wrote."""
    return f"{said.strip().lower()} ({origin_of(url)})" if _ID.fullmatch(said.strip()) else ""


def _is_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"[\x00-\x20\x7f]", url)
    except ValueError:
        return False


def _line(text: str, what: str) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    most = _LONGEST[what]
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
