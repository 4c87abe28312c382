"""What an engine is asked to do: one search or listing, in plain data."""

from __future__ import annotations

from typing import Literal

import msgspec

INVALID, SLOW = 2, 3
"""Exit codes of our own engine: rg's for an error, and for a pattern that takes too long."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One search (mode content, files, count) or listing (list) below `top`.

    top: an absolute folder; start: where below it, empty for itself; named: the start is a file that the caller named.
    Names are bytes as the system has them. only: a regular expression for paths (surrogates passed), empty for all;
    names: plain patterns of file names that fit no less.
    hidden, ignored, links: whether those are walked. outer: ignore rules from outside of the start, as lines of a file
    at the top. git: .gitignore counts wherever it is. crlf: the pattern sees no CR.
    """

    mode: Literal["content", "files", "count", "list"]
    top: bytes
    start: bytes = b""
    named: bool = False
    pattern: str = ""
    regex: bool = True
    ignore_case: bool = False
    crlf: bool = True
    only: bytes = b""
    names: tuple[str, ...] = ()
    hidden: bool = False
    ignored: bool = False
    links: bool = False
    require_git: bool = False
    git: bool = True
    outer: bytes = b""
