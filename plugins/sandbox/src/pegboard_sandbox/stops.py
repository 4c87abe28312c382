"""Why a program failed in the sandbox, by what it printed: a guess, in words for a person and a model."""

from __future__ import annotations

import re

_MOST = 64 * 1024
_BWRAP = re.compile(rb"^bwrap: (.{1,300})$", re.MULTILINE)
_SIGNS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (
            rb"could ?n[o']t resolve|could not resolve|temporary failure in name resolution|name or service not known"
            rb"|nodename nor servname|network is (?:unreachable|down)|no route to host|getaddrinfo|ENOTFOUND|EAI_AGAIN"
            rb"|ENETUNREACH|no such host|dns error|failed to lookup address|server misbehaving",
            "it has no network",
        ),
        (
            rb"connection refused|ECONNREFUSED|failed to connect|couldn.t connect",
            "it does not reach servers outside of it, on this machine or elsewhere",
        ),
        (rb"read-only file system|EROFS", "it may write in the workspace and its own /tmp alone"),
        (
            rb"device or resource busy|EBUSY",
            "what git and others would run (.git/hooks, .git/config, .envrc, .pegboard) is not to be changed or moved",
        ),
        (rb"permission denied|EACCES", "secrets and what is not the workspace's are kept from it"),
        (rb"operation not permitted|EPERM", "it has no privileges, and sees no process outside of it"),
    )
)


def reason(output: bytes) -> str | None:
    """What the sandbox kept a failed program from; None where nothing printed looks like that."""
    seen = output if len(output) <= 2 * _MOST else output[:_MOST] + output[-_MOST:]
    own = _BWRAP.search(seen)
    if own is not None:
        return f"it could not be set up ({own[1].decode('utf-8', 'replace')})"
    return next((said for pattern, said in _SIGNS if pattern.search(seen)), None)
