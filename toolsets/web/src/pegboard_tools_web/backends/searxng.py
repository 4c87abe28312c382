"""Search by a SearXNG server of the person's own, over its JSON interface.

The server's host was named by the person, so it may be a loopback or private one; where it redirects to is judged as
any other URL. Its `formats` setting has to list json.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec
from pegboard.context import Context
from pegboard.errors import Interrupted, ToolError

from pegboard_tools_web.backends import Answered, Failed
from pegboard_tools_web.client import request
from pegboard_tools_web.outside import status_of, untrusted
from pegboard_tools_web.results import Hit
from pegboard_tools_web.settings import Settings


class _Entry(msgspec.Struct):
    url: str | None = None
    title: str | None = None
    content: str | None = None


class _Answer(msgspec.Struct):
    results: list[msgspec.Raw]
    unresponsive_engines: Any = None


class Backend:
    """See the module."""

    def __init__(self, settings: Settings) -> None:
        """Raises ToolError: no server is set."""
        if not settings.searxng_url:
            raise ToolError(
                "web.search_backend is searxng, and web.searxng_url does not say where that is. Nothing was requested. "
                "Tell the user to set it, as http://localhost:8888."
            )
        self._settings = settings
        self._base = settings.searxng_url.rstrip("/").removesuffix("/search")

    @property
    def urls(self) -> list[str]:
        """The server's search page."""
        return [f"{self._base}/search"]

    async def find(self, ctx: Context, queries: Sequence[str], most: int) -> list[Answered | Failed]:
        """A request for each query; the client makes one at a time."""
        return await asyncio.gather(*(self._one(query) for query in queries))

    async def _one(self, query: str) -> Answered | Failed:
        url = f"{self._base}/search?{urlencode({'q': query, 'format': 'json'})}"
        settings = self._settings
        try:
            reply = await request(
                settings, "GET", url, headers=[("Accept", "application/json")], net=settings.searxng_net
            )
        except ToolError as error:
            return Failed(str(error))
        except Interrupted:
            return Failed(f"The SearXNG server did not answer within {settings.timeout:g} s.")
        if reply.status == 403:
            return Failed(
                "The SearXNG server answered 403: it may not allow JSON. Tell the user to add json to `search.formats` "
                "in its settings."
            )
        if reply.status == 429:
            return Failed("The SearXNG server answered 429: too many requests. Wait before searching again.")
        if reply.status != 200:
            return Failed(f"The SearXNG server answered {status_of(reply.status)}.")
        try:
            answer = msgspec.json.decode(reply.body, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Failed("The SearXNG server's answer is not the JSON of a search. Is web.searxng_url right?")
        entries = [_entry(raw) for raw in answer.results]
        hits = [Hit(title=e.title or "", url=e.url, snippet=e.content or "") for e in entries if e and e.url]
        if not hits and (silent := _silent(answer.unresponsive_engines)):
            names = untrusted(silent, "the SearXNG server")
            return Failed(f"None of the SearXNG server's engines found anything; these did not answer:\n{names}")
        return Answered(hits, bad=entries.count(None))


def _entry(raw: msgspec.Raw) -> _Entry | None:
    """An entry of the answer; None for one that is not as the interface says."""
    try:
        return msgspec.json.decode(raw, type=_Entry)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _silent(rows: Any) -> str:
    """Which engines did not answer, and why, as the server says."""
    pairs = [row for row in rows if isinstance(row, list) and row] if isinstance(rows, list) else []
    return ", ".join(f"{row[0]} ({': '.join(map(str, row[1:]))})" for row in pairs)[:300]
