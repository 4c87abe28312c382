"""The door to the network under one board's settings: its rules, its proxy, and whose turn it is at a host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pegboard.errors import ToolError
from pegboard.kit.net import Policy, Resolve, Target, parse, resolve

if TYPE_CHECKING:
    import ssl

    from pegboard_tools_web.settings import Settings

Open = Callable[[str, int, float | None], Awaitable[Any]]
"""(address, port, seconds) -> an `httpcore2.AsyncNetworkStream`; the address is a literal one."""


class Proxy:
    """An HTTP proxy that a person named. Its address is not judged: it may well be a private one."""

    def __init__(self, url: str) -> None:
        """Raises ValueError: it is not the URL of an HTTP proxy."""
        credentials, at, rest = url.partition("://")[2].rpartition("@")
        scheme = url.partition("://")[0]
        try:
            self.target: Target = parse(f"{scheme}://{rest}")
        except ToolError:
            raise ValueError("proxy is not the URL of an HTTP proxy, as http://proxy.home:3128") from None
        user, _, password = credentials.partition(":")
        self.auth: tuple[str, str] | None = (user, password) if at else None


class Net:
    """One for the life of a board: `settings.net`. Tests put another `look_up` and `open` in."""

    def __init__(
        self,
        policy: Policy,
        *,
        proxy: Proxy | None = None,
        per_host: int = 1,
        look_up: Resolve = resolve,
        open: Open | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`open`: how a connection is opened; None: for real. `ssl_context`: None: the system's certificates."""
        self.policy = policy
        self.proxy = proxy
        self.look_up = look_up
        self.open = open
        self._per_host = per_host
        self._given_context = ssl_context
        self._turns: dict[str, tuple[asyncio.Semaphore, list[None]]] = {}

    @classmethod
    def of(cls, settings: Settings) -> Net:
        """The door that settings describe.

        Raises:
            ValueError: a host, a block or the proxy cannot be read.
        """
        policy = Policy.of(
            ports=settings.ports,
            hosts=settings.allow_hosts,
            networks=settings.allow_cidrs,
            setting="web.allow_hosts",
        )
        return cls(policy, proxy=Proxy(settings.proxy) if settings.proxy else None, per_host=settings.per_host)

    @cached_property
    def ssl_context(self) -> ssl.SSLContext:
        """Checks certificates against the system's own; read once, for it takes milliseconds."""
        if self._given_context is not None:
            return self._given_context
        import httpcore2

        return httpcore2.default_ssl_context()

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until a request to this host may be made, and hold the place meanwhile."""
        gate, users = self._turns.setdefault(host, (asyncio.Semaphore(self._per_host), []))
        users.append(None)
        try:
            async with gate:
                yield
        finally:
            users.pop()
            if not users:
                self._turns.pop(host, None)
