"""The HTTP client under every tool of this set: one guarded road to the network.

    reply = await request(settings, "GET", "https://docs.example/")

Every URL, also that of a redirect, is judged by `pegboard.kit.net`, and the connection goes to an address that was
checked. Nothing is kept between requests: no cookie, no connection, no credential.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pegboard_tools_web.net import Net
    from pegboard_tools_web.settings import Settings

Header = tuple[str, str]
OnData = Callable[[bytes], bool | None]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request may take: bytes of its body, seconds, redirects (None: they are shown, not followed)."""

    max_bytes: int
    seconds: float
    redirects: int | None
    user_agent: str


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered, the body unpacked.

    url: where it came from, after redirects. hops: the URLs before that one, in order. truncated: the body is longer
    than the limit (or `on_data` stopped it); the rest was not downloaded. note: what else there is to say in one
    sentence, as a redirect that was not followed."""

    url: str
    status: int
    reason: str
    headers: list[Header]
    body: bytes
    truncated: bool = False
    hops: list[str] = []
    note: str | None = None

    def header(self, name: str) -> str | None:
        """The first header of this name, in whatever case; None if there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


async def request(
    settings: Settings,
    method: str,
    url: str,
    *,
    headers: Iterable[Header] = (),
    body: bytes | None = None,
    max_bytes: int | None = None,
    timeout: float | None = None,
    allow_redirects: bool = True,
    on_data: OnData | None = None,
    net: Net | None = None,
    name: str | None = None,
) -> Reply:
    """Make one request and read its reply. Left out, limits are those of `settings`; `timeout` (seconds) is for all of
    it, without the wait for the host's turn. `name` is what errors call the URL, where it is not the caller's own words.
    `on_data` sees each unpacked piece; returning True ends the download.

    Any status is a reply, 404 and 500 too.

    Raises:
        ToolError: refused by the guard, not reachable, or broken off; the text says which.
        Interrupted: "timeout".
    """
    from pegboard.kit.net import Refused, parse

    from pegboard_tools_web.asking import Asked, checked

    try:
        target = parse(url)
    except Refused as refused:
        raise refused.named(name) if name else refused from None
    asked = Asked(method=method, target=target, headers=checked(headers), body=body)
    limits = Limits(
        max_bytes=settings.max_bytes if max_bytes is None else max_bytes,
        seconds=settings.timeout if timeout is None else timeout,
        redirects=settings.max_redirects if allow_redirects else None,
        user_agent=settings.user_agent,
    )
    if "pegboard_tools_web.hops" not in sys.modules:  # it imports the HTTP client: a fifth of a second, once
        await asyncio.to_thread(import_module, "pegboard_tools_web.hops")
    from pegboard_tools_web.hops import Hops

    return await Hops(net or settings.net, limits, on_data, name or target.url).follow(asked)
