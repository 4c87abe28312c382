"""One request and the redirects after it, each under the guard and in its host's turn. Imports the HTTP client."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from contextlib import aclosing

import httpcore2
from msgspec.structs import replace
from pegboard.errors import Interrupted, ToolError
from pegboard.kit.net import Refused
from pegboard.kit.text import line_text

from pegboard_tools_web.asking import Asked, Stay, redirected
from pegboard_tools_web.client import Limits, OnData, Reply
from pegboard_tools_web.net import Net
from pegboard_tools_web.outside import status_of
from pegboard_tools_web.transport import exchange
from pegboard_tools_web.unpacking import BadPacking, unpacker

_BODILESS = frozenset({204, 205, 304})
_SLACK = 64 * 1024
_HTTP = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.TimeoutException)


class Hops:
    """The life of one call of `client.request`."""

    def __init__(self, net: Net, limits: Limits, on_data: OnData | None, name: str) -> None:
        """`name`: what errors call the URL that was asked for first."""
        self._name = name
        self._net = net
        self._limits = limits
        self._on_data = on_data
        self._left = limits.seconds
        self._before: list[str] = []

    async def follow(self, asked: Asked) -> Reply:
        """Ask, and ask again where a redirect says so, until there is a reply to show."""
        while True:
            try:
                found = await self._hop(asked)
            except Refused as refused:
                if not self._before:
                    raise refused.named(self._name) from None
                raise self._astray(refused, f" ({asked.target.origin})") from None
            if isinstance(found, Reply):
                return found
            self._before.append(asked.target.url)
            if len(self._before) > (self._limits.redirects or 0):
                raise ToolError(
                    f"{self._name} redirects more than {self._limits.redirects} times, last to {found.target.origin}. "
                    "That was not followed; nothing was read."
                )
            asked = found

    async def _hop(self, asked: Asked) -> Reply | Asked:
        """One request in its host's turn, within what is left of the time."""
        async with self._net.turn(asked.target.host):
            began = time.monotonic()
            try:
                async with asyncio.timeout(self._left):
                    return await self._exchange(asked)
            except TimeoutError:
                raise Interrupted("timeout", self._late(asked), limit=self._limits.seconds) from None
            except _HTTP as error:
                raise ToolError(_broken(asked, error, proxied=self._net.proxy is not None)) from None
            finally:
                self._left = max(self._left - (time.monotonic() - began), 0.001)

    async def _exchange(self, asked: Asked) -> Reply | Asked:
        headers = asked.sent(self._limits.user_agent)
        async with exchange(self._net, asked.method, asked.target, headers, asked.body) as response:
            told = [(line_text(name), line_text(value)) for name, value in response.headers]
            reply = Reply(
                url=asked.target.url,
                status=response.status,
                reason=line_text(response.extensions.get("reason_phrase", b"")),
                headers=told,
                body=b"",
                hops=list(self._before),
            )
            try:
                if self._limits.redirects is not None:
                    after = redirected(asked, reply.status, reply.header("location"))
                    if after is not None:
                        return after
                note = None
            except Stay as stay:
                note = str(stay)
            except Refused as refused:
                raise self._astray(refused, "") from None
            body, cut = b"", False
            if asked.method != "HEAD" and reply.status not in _BODILESS:
                body, cut = await self._body(asked, response, reply)
        return replace(reply, body=body, truncated=cut, note=note)

    async def _body(self, asked: Asked, response: httpcore2.Response, reply: Reply) -> tuple[bytes, bool]:
        """The body, unpacked, up to the limit; and whether there is more of it."""
        most = self._limits.max_bytes
        pieces: list[bytes] = []
        size = received = 0
        try:
            packed = unpacker(reply.header("content-encoding"))
            async with aclosing(response.aiter_stream()) as stream:
                async for chunk in stream:
                    received += len(chunk)
                    for piece in packed.pieces(chunk):
                        pieces.append(piece[: most - size])
                        size += len(pieces[-1])
                        stopped = self._on_data is not None and self._on_data(pieces[-1]) is True
                        if stopped or len(pieces[-1]) < len(piece):
                            return b"".join(pieces), True
                    if received > most + _SLACK:
                        return b"".join(pieces), True  # packed bytes without end that unpack to nothing
            packed.finish()
        except BadPacking as error:
            raise ToolError(f"The body of {self._where(asked)} cannot be read: {error}.{_sent(asked)}") from None
        return b"".join(pieces), False

    def _where(self, asked: Asked) -> str:
        """What errors call a URL. Of one that a server chose they tell the host alone: the rest is the server's text."""
        return f"{self._name} (redirected to {asked.target.origin})" if self._before else self._name

    def _astray(self, refused: Refused, where: str) -> ToolError:
        hint = f" {refused.hint}" if refused.hint else ""
        return ToolError(
            f"{self._name} redirects to a place that may not be requested{where}: {refused.why}. Nothing was requested "
            f"there.{hint}"
        )

    def _late(self, asked: Asked) -> str:
        return f"{self._where(asked)} had not answered in full after {self._limits.seconds:g} s.{_sent(asked)}"


def _sent(asked: Asked) -> str:
    """What to know before it is tried again."""
    if asked.reads:
        return ""
    return f" The {asked.method} may have been carried out: look before you repeat it."


def _broken(asked: Asked, error: Exception, *, proxied: bool) -> str:
    """What a failure of the connection comes to, in words."""
    where = asked.target.authority
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"The certificate of {where} was not accepted ({cause.verify_message}). Nothing was sent."
    if isinstance(error, httpcore2.ProxyError):
        code = re.match(r"\d{3}\b", str(error))
        said = status_of(int(code[0])) if code else "it did not say why"
        return f"The proxy did not pass the request to {where} on ({said})."
    if isinstance(error, httpcore2.ConnectError | httpcore2.ConnectTimeout):
        through = " through the proxy" if proxied else ""
        said = "no answer in time" if isinstance(error, httpcore2.ConnectTimeout) else str(error) or "no answer"
        return f"{where} cannot be reached{through} ({said}). Nothing was sent."
    if isinstance(error, httpcore2.LocalProtocolError):
        return f"The request to {where} cannot be sent as it is ({error})."
    lost = isinstance(error, httpcore2.NetworkError) or "disconnected" in str(error) or "closed" in str(error)
    what = "broke off" if lost else "did not answer as HTTP does"  # the error itself may quote the server
    return f"{where} {what}.{_sent(asked)}"
