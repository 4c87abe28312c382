"""Answers that stand for later calls: what a person's "always" keeps, as narrowly as its touches allow.

Kept in the process that asked, for its session, and nowhere else: never read from a log, so a resumed session asks again.
What is remembered is derived from what a call touches and never from a tool's name:

- commands, touches that nobody knows, and calls that touch nothing or delegate: this very call, argument for argument,
  and while it touches the same (a tool may take that from files or settings, which change);
- requests: this tool, at these hosts, and sending something only where the answer was about that;
- what stays inside the workspace, and an MCP server's tools: this tool, for the kinds of touches that were asked about;
- what leads out of the workspace: nothing.

Nothing here overrides anything: the road asks only where the rules asked, and where nothing else would ask again.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from pegboard.calls import Touch
from pegboard.tooling import Tool

_EXACT = frozenset({"run", "unknown"})
_WHOLE = frozenset({"bash", "web", "delegate", "unknown"})
"""Permission keys of a tool's own that stand for more than a place in the workspace."""
_PLACES = frozenset({"read", "list", "edit"})
_PORTS = {"http": 80, "https": 443}


class Scope(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Calls that one answer covers. `text` is how a person is told of it, before it is kept.

    tool: qualified. kinds: of touches. hosts: `scheme://host:port`, and whether something is sent there. body: where it is
    this very call alone, its canonical arguments; `exactly` is then what it touches, as (kind, what, sends)."""

    tool: str
    kinds: frozenset[str]
    hosts: frozenset[tuple[str, bool]] = frozenset()
    body: bytes | None = None
    exactly: tuple[tuple[str, str, bool], ...] = ()
    text: str = ""

    def covers(self, other: Scope) -> bool:
        """Whether a call of that scope is among these."""
        return (
            self.tool == other.tool
            and self.body == other.body
            and self.exactly == other.exactly
            and other.kinds <= self.kinds
            and other.hosts <= self.hosts
        )


def scope_of(tool: Tool, body: bytes, touches: Sequence[Touch]) -> Scope | None:
    """What "always" would keep after this call; None where it is not offered."""
    if any(touch.outside for touch in touches):
        return None
    kinds = frozenset(touch.kind for touch in touches)
    hosts = [(host_of(touch.what), touch.sends) for touch in touches if touch.kind == "net"]
    known = frozenset((host, sends) for host, sends in hosts if host is not None)
    own = tool.declaration.permission
    exact = (
        not touches
        or not kinds.isdisjoint(_EXACT)
        or tool.effect == "delegating"
        or any(host is None for host, _ in hosts)
        or (own in _WHOLE and not (own == "web" and hosts))
    )
    if exact:
        same = tuple((touch.kind, touch.what, touch.sends) for touch in touches)
        text = f"exactly this {'command' if 'run' in kinds else 'call'} of {tool.name}"
        return Scope(tool=tool.qualified, kinds=kinds, hosts=known, body=body, exactly=same, text=text)
    where = [f"to {host}" + (" (sending data)" if sends else "") for host, sends in sorted(known)]
    if kinds & _PLACES:
        where.append("in the workspace")
    text = f"{tool.name} {' and '.join(where)}" if where else f"{tool.name}, whatever its arguments"
    return Scope(tool=tool.qualified, kinds=kinds, hosts=known, text=text)


def host_of(url: str) -> str | None:
    """`scheme://host:port` of a URL; None for one that two programs might read in two ways."""
    if not url.isascii() or any(not "!" <= char <= "~" or char in "\\@" for char in url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or port is None:
        return None
    return f"{parts.scheme}://{parts.hostname}" + ("" if port == _PORTS[parts.scheme] else f":{port}")


class Remembered:
    """The answers of one session, in one process."""

    def __init__(self) -> None:
        self._scopes: dict[str, list[Scope]] = {}

    def __bool__(self) -> bool:
        return bool(self._scopes)

    def keep(self, scope: Scope) -> None:
        """From now on calls of this scope are not asked about."""
        kept = self._scopes.setdefault(scope.tool, [])
        if scope not in kept:
            kept.append(scope)

    def find(self, tool: Tool, body: bytes, touches: Sequence[Touch]) -> Scope | None:
        """The kept answer that covers a call."""
        kept = self._scopes.get(tool.qualified)
        asked = scope_of(tool, body, touches) if kept else None
        return next((scope for scope in kept or () if asked is not None and scope.covers(asked)), None)
