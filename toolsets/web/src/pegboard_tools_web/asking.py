"""A request as a caller gives it: which headers it may have, and what becomes of it when a server redirects it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from pegboard.errors import ToolError
from pegboard.kit.net import Target, join

from pegboard_tools_web.client import Header
from pegboard_tools_web.unpacking import ACCEPTED

READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing at the server, if it keeps to the standard."""
_OVERRIDE = re.compile(r"(?:x-)?(?:http-)?method(?:-override)?", re.IGNORECASE)
"""Headers by which many servers take a request for one of another method. Gateways read `_` in a name as `-`."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"}
)
"""Headers that say how bytes lie on the connection, and whom it is with: they follow from the URL and the body."""
_HARMLESS = frozenset({"accept", "accept-language", "range", "user-agent"})
"""What another origin may be told too. Every other header may be a credential, whatever its name, or speak of a page that
is not there."""
_BODY = frozenset({"content-type", "content-encoding", "content-language", "content-location", "content-md5", "digest"})
_MOST_HEADERS = 100
_LONGEST_VALUE = 16 * 1024


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request: to one URL, with headers that were checked."""

    method: str
    target: Target
    headers: tuple[Header, ...] = ()
    body: bytes | None = None

    @property
    def reads(self) -> bool:
        """Whether it changes nothing at the server, if that keeps to the standard."""
        return reads(self.method, self.headers, self.body)

    def sent(self, user_agent: str) -> list[tuple[bytes, bytes]]:
        """The headers as they are sent, ours first."""
        given = {name.lower() for name, _ in self.headers}
        packed = "identity" if "range" in given else ACCEPTED  # a part of packed bytes cannot be unpacked
        ours = [("Host", self.target.authority), ("Connection", "close")]
        usual = [("User-Agent", user_agent), ("Accept", "*/*"), ("Accept-Encoding", packed)]
        ours += [(name, value) for name, value in usual if name.lower() not in given]
        if self.body is not None or self.method not in READING | {"DELETE"}:
            ours.append(("Content-Length", str(len(self.body or b""))))
        return [(name.encode(), value.encode()) for name, value in (*ours, *self.headers)]


def reads(method: str, headers: Iterable[Header], body: object) -> bool:
    """Whether a request changes and sends nothing: by its method, by one that a header puts in its place, by its body."""
    declared = [method, *(value.strip().upper() for name, value in headers if is_override(name))]
    return not body and READING.issuperset(declared)


def is_override(name: str) -> bool:
    """Whether a header of this name puts another method in place of the request's own."""
    return _OVERRIDE.fullmatch(name.strip().replace("_", "-")) is not None


def checked(headers: Iterable[Header]) -> tuple[Header, ...]:
    """Headers that may be sent as they are given.

    Raises:
        ToolError: one is no header, or is not for the caller to say; nothing was requested.
    """
    passed = tuple((name, value.strip(" \t")) for name, value in headers)
    for name, value in passed:
        if not _NAME.fullmatch(name):
            raise ToolError(f"{name[:80]!r} is not the name of a header. Nothing was requested.")
        if name.lower() in _OURS or name.lower().startswith("proxy-"):
            raise ToolError(
                f"The header {name} follows from the URL and the body and cannot be given. Nothing was requested. "
                "Leave it out."
            )
        if _CONTROL.search(value) or len(value) > _LONGEST_VALUE or not _encodes(value):
            raise ToolError(
                f"The value of the header {name} has line breaks or control characters in it, or is too long. Nothing "
                "was requested."
            )
    if len(passed) > _MOST_HEADERS:
        raise ToolError(
            f"{len(passed)} headers are more than the {_MOST_HEADERS} that can be sent. Nothing was requested."
        )
    return passed


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeError:
        return False
    return True


class Stay(Exception):
    """A redirect that is not followed; the text is a note for the reply."""


def redirected(asked: Asked, status: int, location: str | None) -> Asked | None:
    """The request that follows this reply; None if it is no redirect.

    303, and 301 and 302 after POST, are followed by GET without a body; otherwise method and body stay. What goes to another
    origin has lost every header that could be a credential, and is never a request that changes something: that one a
    person allowed for this origin alone.

    Raises:
        Refused: the new URL cannot be read or is none of http and https.
        Stay: the reply itself is to be shown.
    """
    if status not in (301, 302, 303, 307, 308) or not location:
        return None
    target = join(asked.target, location)
    method, body, headers = asked.method, asked.body, asked.headers
    becomes_get = (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST")
    if becomes_get and method != "GET":
        method, body = "GET", None
        headers = tuple(pair for pair in headers if not is_override(pair[0]))
    if body is None:
        headers = tuple(pair for pair in headers if pair[0].lower() not in _BODY)
    if asked.target.scheme == "https" and target.scheme == "http":
        raise Stay(f"It redirects from https to {target.origin}, which is not encrypted; that was not followed.")
    if target.origin != asked.target.origin:
        if not reads(method, headers, body):
            raise Stay(
                f"It redirects to {target.origin}; what changes or sends something is not repeated at another host."
            )
        headers = tuple(pair for pair in headers if pair[0].lower() in _HARMLESS)
    return Asked(method=method, target=target, headers=headers, body=body)
