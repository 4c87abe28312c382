"""A kill-switch for the network: sockets of this process reach loopback alone, and a test that tried another fails.

The fixture `pegboard_no_network` holds it for a test; `pegboard_no_network = true` in pytest's settings for the whole run,
collecting included. It is an audit hook: it sees every socket that Python opens, whichever library did, and cannot be
patched away. It does not see what a program does that a test starts, nor a library in C with sockets of its own.
"""

from __future__ import annotations

import ipaddress
import socket
import sys


class NetworkBlocked(RuntimeError):
    """A test reached for the network. Not an OSError, so that code which expects those does not swallow it."""


_attempts: list[str] = []
_held = 0
_hooked = False


def hold() -> None:
    """Refuse the network from now on, until as many `let_go`."""
    global _held, _hooked  # an audit hook is the process's, and stays
    if not _hooked:
        sys.addaudithook(_guard)
        _hooked = True
    _held += 1


def let_go() -> None:
    """Take back one `hold`."""
    global _held
    _held -= 1


def attempts() -> list[str]:
    """What was tried since this was last asked."""
    tried = _attempts.copy()
    _attempts.clear()
    return tried


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    if not _held or not event.startswith("socket."):
        return
    match event:
        case "socket.connect" | "socket.sendto" | "socket.sendmsg":
            link, address = arguments
            inet = getattr(link, "family", None) in (socket.AF_INET, socket.AF_INET6)
            allowed = not inet or address is None or is_local(address[0] if isinstance(address, tuple) else address)
        case "socket.getaddrinfo" | "socket.gethostbyname" | "socket.gethostbyaddr":
            address = arguments[0]
            allowed = is_local(address) or is_number(address)
        case _:
            return
    if not allowed:
        _attempts.append(f"{event} {address!r}")
        raise NetworkBlocked(f"{event} {address!r}: tests may talk to loopback only. Nothing was sent.")


def is_local(host: object) -> bool:
    """Whether talking to `host` stays on this machine. Numbers need no look-up; of names only localhost is known."""
    if isinstance(host, bytes):
        host = host.decode("utf-8", "replace")
    if host is None or host in ("", "localhost", socket.gethostname()) or str(host).endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def is_number(host: object) -> bool:
    """Whether looking `host` up asks nobody: an address, in any spelling that the platform takes for a number."""
    text = host.decode("utf-8", "replace") if isinstance(host, bytes) else str(host)
    try:
        socket.inet_aton(text)
    except (OSError, ValueError):
        return ":" in text
    return True
