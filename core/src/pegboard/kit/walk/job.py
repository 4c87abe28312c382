"""What an engine is asked to do: one search or listing, in plain data.

Standard library alone, as all that the Python engine's process imports: it should start quickly.
"""

from __future__ import annotations

import json
from typing import Literal, NamedTuple

INVALID, SLOW = 2, 3
"""Exit codes of our own engine: rg's for an error, and for a pattern that takes too long."""


class Job(NamedTuple):
    """One search (mode content, files, count) or listing (list) below `top`.

    top: an absolute folder; before: how it is written in front of paths for rg, `./` where that runs in it.
    start: where below it, empty for itself; named: the start is a file that the caller named.
    Names are bytes as the system has them. only: a regular expression for paths (surrogates passed), empty for all;
    names: plain patterns of file names that fit no less.
    files: searched instead of what is below the start.
    hidden, ignored, links: whether those are walked. outer: ignore rules from outside of the start, as lines of a file
    at the top. git: .gitignore counts wherever it is. crlf: the pattern sees no CR.
    """

    mode: Literal["content", "files", "count", "list"]
    top: bytes
    before: bytes = b"./"
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
    files: tuple[bytes, ...] = ()

    def to_json(self) -> bytes:
        """For the Python engine's process."""
        plain = {
            name: value.decode("latin-1") if isinstance(value, bytes) else value
            for name, value in self._asdict().items()
        }
        plain["files"] = [path.decode("latin-1") for path in self.files]
        return json.dumps(plain).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Job:
        """What `to_json` made."""
        plain = json.loads(data)
        files = tuple(path.encode("latin-1") for path in plain.pop("files"))
        given = {name: value.encode("latin-1") if name in _BYTES else value for name, value in plain.items()}
        return cls(**given, files=files)


_BYTES = ("top", "before", "start", "only", "outer")
