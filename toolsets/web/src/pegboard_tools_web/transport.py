"""One connection, opened through the guard, and one request on it. Imported with the first request: it costs much."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
from pegboard.kit.net import Refused, Target, dial
from pegboard.kit.net.dial import addresses

from pegboard_tools_web.net import Net

ATTEMPT = 10.0
"""Seconds for one address of several to answer, before the next is tried."""
UNREACHABLE = (httpcore2.ConnectError, httpcore2.ConnectTimeout)


class Guarded(httpcore2.AsyncNetworkBackend):
    """Opens the connection for one URL: to a judged address of its host, or to the proxy that a person named."""

    def __init__(self, net: Net, target: Target) -> None:
        self._net = net
        self._target = target

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """The names that HTTP speaks of are not looked at: what was judged is what is dialled."""
        net = self._net
        if net.proxy is not None:
            return await self._open(net.proxy.target.host, net.proxy.target.port)
        return await dial(self._target, net.policy, self._open, look_up=net.look_up, failures=UNREACHABLE)

    async def _open(self, address: str, port: int) -> httpcore2.AsyncNetworkStream:
        if self._net.open is not None:
            stream: httpcore2.AsyncNetworkStream = await self._net.open(address, port, ATTEMPT)
            return stream
        return await httpcore2.AnyIOBackend().connect_tcp(address, port, timeout=ATTEMPT)


@asynccontextmanager
async def exchange(
    net: Net, method: str, target: Target, headers: list[tuple[bytes, bytes]], body: bytes | None
) -> AsyncIterator[httpcore2.Response]:
    """Send one request on a connection of its own; the reply's head is there, its body is still to be read.

    Raises:
        Refused: the guard said no; nothing was sent.
        httpcore2.NetworkError, ProtocolError, ProxyError, TimeoutException: as they say.
    """
    if net.proxy is not None:
        await _check_proxied(net, target)
    url = httpcore2.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.other_port,  # a proxy is told the URL as it is written
        target=target.path.encode(),
    )
    request = httpcore2.Request(method, url, headers=headers, content=body)
    async with _pool(net, target) as pool:
        response = await pool.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()


def _pool(net: Net, target: Target) -> httpcore2.AsyncConnectionPool:
    backend = Guarded(net, target)
    context = net.ssl_context if "https" in (target.scheme, net.proxy and net.proxy.target.scheme) else None
    if net.proxy is None:
        return httpcore2.AsyncConnectionPool(
            ssl_context=context, max_connections=1, max_keepalive_connections=0, network_backend=backend
        )
    return httpcore2.AsyncHTTPProxy(
        net.proxy.target.origin,
        proxy_auth=net.proxy.auth,
        ssl_context=context,
        max_connections=1,
        max_keepalive_connections=0,
        network_backend=backend,
    )


async def _check_proxied(net: Net, target: Target) -> None:
    """A proxy looks names up itself, so the connection cannot be held to what is seen here. What is seen here is judged
    all the same; a name that only the proxy knows is left to it."""
    try:
        await addresses(target, net.policy, net.look_up)
    except Refused as refused:
        if refused.reason != "unknown":
            raise
