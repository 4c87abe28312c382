"""What a rule may ask of a touch beside key and tool: a path, a host, a command.

An allow must be sure, so it looks `exactly`: letter by letter, inside the workspace, plainly spelled. An ask or a deny takes
what is spelled otherwise for the same; what it cannot tell apart is a doubt, and a doubt is asked about (`rules.judge`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

if TYPE_CHECKING:
    from pegboard.kit.walk.rules import RuleSet

_WHOLE = frozenset({"*", "**", "/", "/**", "."})
"""Patterns that mean the workspace root itself, too."""
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ssh": 22, "ftp": 21, "git": 9418}
_ADDRESS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.\-]*)://)?(?:[^@/\\]*@)?(\[[0-9A-Fa-f:.]+\]|[\w.\-]+)(?::(\d{1,5}|\*))?"
)


class Host(msgspec.Struct, frozen=True, gc=False):
    """Whom a touch of kind net is sent to. port: None where neither the URL nor its scheme says one."""

    name: str
    port: int | None
    usual: bool = True


def path_fits(patterns: tuple[str, ...], at: str, *, outside: bool, folder: bool, exactly: bool) -> bool:
    """Whether patterns as in an ignore file name this path: itself, or a folder that it lies in.

    at: relative to the workspace root, absolute when it lies `outside`; exactly: there it never fits. folder: it is one for
    sure. The last pattern that says something decides; a `!` keeps an allow from everything below, too."""
    rules = _rules(patterns, not exactly)
    if rules is None or (exactly and outside):
        return False
    if at in (".", ""):
        return not _WHOLE.isdisjoint(patterns)
    covered = False
    for path, last in _prefixes(at if exactly else at.casefold()):
        said = rules.decide(path, path.rpartition(b"/")[2], not last or folder or not exactly)
        if said is not exactly and said is not None:
            return said
        covered = covered or said is True
    return covered


def _prefixes(at: str) -> Iterator[tuple[bytes, bool]]:
    """A path's folders from the top, and itself, with whether it is that."""
    parts = [part for part in os.fsencode(at).split(b"/") if part]
    for count in range(1, len(parts) + 1):
        yield b"/".join(parts[:count]), count == len(parts)


@lru_cache(maxsize=256)
def _rules(patterns: tuple[str, ...], folded: bool) -> RuleSet | None:
    from pegboard.kit.walk.rules import parse

    text = "\n".join(pattern.replace("\n", " ") for pattern in patterns)
    return parse(os.fsencode(text.casefold() if folded else text))


def host_of(what: str) -> Host | None:
    """The host that a touch of kind net names; None where two programs might read two."""
    if "\\" in what or not what.isascii() or not what.isprintable():
        return _strictly(what)
    if what.lower().startswith(("http:", "https:")):
        return _strictly(what)
    found = _ADDRESS.match(what)
    if found is None or found[3] == "*" or what[found.end() :][:1] not in ("", "/", ":", "?", "#"):
        return None
    scheme, name, port = found.groups()
    if scheme is None and "@" not in what[: found.end()] and ":" not in what:
        return None  # a word, or a path: no address
    return Host(_name(name), int(port) if port else _PORTS.get((scheme or "ssh").lower()), port is None)


def _strictly(what: str) -> Host | None:
    from pegboard.kit.net.urls import Refused, parse

    try:
        target = parse(what)
    except Refused:
        return None
    return Host(target.host, target.port, target.other_port is None)


def _name(name: str) -> str:
    name = name.strip("[]").lower().removesuffix(".")
    if name.isascii():
        return name
    try:  # as `kit.net.urls` reads the host of a URL
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def host_fits(patterns: tuple[str, ...], host: Host, *, exactly: bool) -> bool:
    """Whether a pattern names this host: `example.org`, `*.example.org` for what lies below it, `host:8080`, `host:*`.

    Without a port it means any in a deny or ask, and in an allow the scheme's own."""
    return any(_one_fits(pattern, host, exactly) for pattern in patterns)


def _one_fits(pattern: str, host: Host, exactly: bool) -> bool:
    name, port = _parted(pattern)
    below = name.startswith("*.")
    if not (name == "*" or (host.name.endswith(name[1:]) if below else host.name == name)):
        return False
    if port is None:
        return host.usual or not exactly
    return port == "*" or (str(host.port) == port if host.port is not None else not exactly)


@lru_cache(maxsize=256)
def _parted(pattern: str) -> tuple[str, str | None]:
    """A pattern's host and port. A whole URL is taken for its host and port."""
    if "://" in pattern:
        try:
            read = urlsplit(pattern)
            return _name(read.hostname or ""), str(read.port or _PORTS.get(read.scheme) or "") or None
        except ValueError:
            return pattern, None
    if pattern.count(":") > 1 and not pattern.startswith("["):  # an IPv6 address without its brackets
        return _name(pattern), None
    name, closed, rest = pattern.rpartition("]")
    head, colon, port = (name + closed, *rest.partition(":")[1:]) if closed else pattern.partition(":")
    return _name(head), port if colon else None
