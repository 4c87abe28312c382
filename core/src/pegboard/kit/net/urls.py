"""Read a URL in one way only.

Programs differ about odd URLs: where the host ends, which digits make an address, what a backslash means. A guard that
reads one thing and a client that dials another is how such guards are passed. So the parts read here are the parts that
are dialled and sent, and what another program might read otherwise is refused, not repaired.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Literal
from urllib.parse import quote, urljoin

import msgspec

from pegboard.errors import ToolError

LONGEST = 8192
_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_AUTHORITY_END = re.compile(r"[/?#]")
_SCHEMES = frozenset(
    {"about", "data", "file", "ftp", "ftps", "gopher", "javascript", "mailto", "sftp", "ssh", "ws", "wss"}
)
_PORT_ONLY = re.compile(r"[0-9]{1,5}(?![^/?#])")
_PORT = re.compile(r"[0-9]{1,5}")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]")
_DEVIATE = frozenset("\u00df\u03c2\u200c\u200d")
"""Letters that the two standards for international names map differently: one URL, two hosts."""
_KEPT = "%/?:@!$&'()*+,;=~-._[]"
_SHOWN = 200


class Refused(ToolError):
    """A URL or the place behind it may not be requested; nothing was sent there.

    `reason` is one word for programs: url, scheme, credentials, host, port, address, unknown. The URL is shown encoded:
    it may be a server's, and shall neither look like another one nor read like a sentence."""

    def __init__(self, url: str, why: str, *, reason: str, hint: str = "") -> None:
        shown = quote(url[:_SHOWN], safe=_KEPT + "#\\", errors="replace") + ("..." if len(url) > _SHOWN else "")
        super().__init__(f"{shown}: {why}. Nothing was requested there." + (f" {hint}" if hint else ""))
        self.reason = reason
        self.why = why
        self.hint = hint

    def named(self, name: str) -> Refused:
        """The same of a URL that shall not be shown, by another name for it."""
        return Refused(name, self.why, reason=self.reason, hint=self.hint)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A URL that was read: what is dialled, and what is sent.

    host: ASCII in lower case, an IPv6 address without brackets. address: the host's, where it is one. path: path and
    query as they are sent. fragment: without `#`; never sent."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str
    address: IPv4Address | IPv6Address | None = None
    fragment: str = ""

    @property
    def other_port(self) -> int | None:
        """The port, None where it is the scheme's own."""
        return None if self.port == _PORTS[self.scheme] else self.port

    @property
    def authority(self) -> str:
        """The host as the Host header names it, with a port that is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.other_port is None else f"{host}:{self.other_port}"

    @property
    def origin(self) -> str:
        """`scheme://host[:port]`: whom headers with credentials were meant for."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The URL, spelled plainly, without its fragment."""
        return self.origin + self.path


def parse(url: str) -> Target:
    """Read a URL.

    Raises:
        Refused: another scheme than http and https, a user name or password, or anything that is not spelled plainly.
    """
    if len(url) > LONGEST:
        raise Refused(url, f"the URL is longer than {LONGEST} characters", reason="url")
    found = _SCHEME.match(url)
    if found is None:
        raise Refused(url, "it does not begin with http:// or https://", reason="scheme", hint="Give the whole URL.")
    scheme, rest = found[1].lower(), url[found.end() :]
    if scheme not in _PORTS:
        if _PORT_ONLY.match(rest):  # localhost:8000
            why, hint = "it does not begin with http:// or https://", "Add http:// in front of it."
            raise Refused(url, why, reason="scheme", hint=hint)
        what = scheme if scheme in _SCHEMES else "another scheme"  # whoever redirects may write anything there
        raise Refused(url, f"only http and https can be requested, not {what}", reason="scheme")
    if not rest.startswith("//"):
        raise Refused(url, f"`//` is missing after {scheme}:", reason="url")
    end = _AUTHORITY_END.search(rest, 2)
    authority, tail = (rest[2 : end.start()], rest[end.start() :]) if end else (rest[2:], "")
    host, port = _split(url, authority)
    name, address = read_host(url, host)
    path, _, fragment = tail.partition("#")
    return Target(
        scheme="https" if scheme == "https" else "http",
        host=name,
        port=_port(url, port) or _PORTS[scheme],
        path=_sent(url, path),
        address=address,
        fragment=_quoted(url, fragment),
    )


def join(base: Target, location: str) -> Target:
    """The URL that a Location header names, seen from the URL that answered.

    Raises:
        Refused: as `parse` does.
    """
    location = location.strip(" \t")
    if _UNSAFE.search(location.replace(" ", "")):
        raise Refused(location, "the redirect's URL has control characters in it", reason="url")
    if _SCHEME.match(location):
        target = parse(location)
    elif location.startswith("//"):
        target = parse(f"{base.scheme}:{location}")
    else:
        path, hash_, fragment = location.partition("#")
        target = parse(urljoin(base.url, _quoted(location, path)) + hash_ + fragment)
    return target if target.fragment or not base.fragment else msgspec.structs.replace(target, fragment=base.fragment)


def read_host(url: str, host: str) -> tuple[str, IPv4Address | IPv6Address | None]:
    """A host as it is looked up, and its address if it is one. `url` is for the refusal.

    Raises:
        Refused: it is not spelled plainly.
    """
    if host.startswith("["):
        return _bracketed(url, host)
    if not host or len(host) > 255:
        raise Refused(url, "the host is missing" if not host else "the host is too long", reason="host")
    if not host.isascii():
        host = _ascii(url, host)
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refused(url, "the host is not a name and not an address as they are written plainly", reason="host")
    if not _NUMBER.fullmatch(labels[-1]):
        return host, None
    try:  # resolvers read 127.1, 0177.0.0.1, 0x7f000001 and 2130706433 as addresses too
        return host, IPv4Address(host)
    except ValueError:
        raise Refused(
            url,
            "the host is a number in an unusual spelling",
            reason="host",
            hint="Write an address as four decimal numbers.",
        ) from None


def _split(url: str, authority: str) -> tuple[str, str]:
    """Host (with its brackets) and port as they are written."""
    if "@" in authority or "\\" in authority:
        what = "a user name or password" if "@" in authority else "a backslash"
        hint = "Send credentials in a header." if "@" in authority else ""
        raise Refused(url, f"{what} stands in front of the path", reason="credentials", hint=hint)
    if _UNSAFE.search(authority) or "%" in authority:
        what = "an address with a zone or an encoded character" if "%" in authority else "a blank or control character"
        raise Refused(url, f"{what} stands in the host", reason="host")
    if authority.startswith("["):
        host, closed, port = authority.partition("]")
        if not closed or (port and port[0] != ":"):
            raise Refused(url, "the address in brackets does not end where it should", reason="host")
        return host + closed, port[1:]
    host, _, port = authority.partition(":")
    if ":" in port:
        raise Refused(
            url, "the host has two colons", reason="host", hint="An IPv6 address is written in brackets: [2001:...]."
        )
    return host, port


def _port(url: str, port: str) -> int | None:
    if not port:
        return None
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise Refused(url, "the port is not a number from 1 to 65535", reason="port")
    return int(port)


def _bracketed(url: str, host: str) -> tuple[str, IPv6Address]:
    inner = host[1:-1]
    try:
        if "%" in inner or not inner.isascii():
            raise ValueError
        address = IPv6Address(inner)
    except ValueError:
        raise Refused(url, "what stands in brackets is not an IPv6 address", reason="host") from None
    return str(address), address


def _ascii(url: str, host: str) -> str:
    """An international name as it is looked up (`xn--...`), by the mapping that Python's own resolver uses."""
    try:
        if _DEVIATE & set(host):
            raise UnicodeError
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        raise Refused(
            url, "the host has letters that programs read differently", reason="host", hint="Write it as xn--..."
        ) from None


def _sent(url: str, path: str) -> str:
    """Path and query as they are sent; the rest of a URL begins with `?` where there is no path."""
    sent = _quoted(url, path)
    return sent if sent.startswith("/") else "/" + sent


def _quoted(url: str, text: str) -> str:
    """Blanks, quotes and what is not ASCII, percent-encoded; what is encoded already stays."""
    if re.search(r"[\x00-\x1f\x7f-\x9f]", text):
        raise Refused(url, "there are control characters in the URL", reason="url")
    try:
        return quote(text, safe=_KEPT)
    except UnicodeError:
        raise Refused(url, "there are characters in the URL that cannot be encoded", reason="url") from None
