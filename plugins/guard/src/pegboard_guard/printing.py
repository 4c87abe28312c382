"""What `echo` and the like print."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pegboard_guard.values import literal

_FORMAT = re.compile(r"%[-+ #0-9.]*[a-zA-Z]")


def printed(words: Sequence[str]) -> str | None:
    """What a command prints, as a word. None: nobody knows."""
    name = words[0].rpartition("/")[2] if words else ""
    rest = list(words[1:])
    match name:
        case "echo":
            while rest and re.fullmatch("-[neE]+", rest[0]):
                rest.pop(0)
            return " ".join(rest)
        case "printf" if rest:
            rest = [*(rest[1:] if rest[0] == "--" else rest), ""]
            form = rest[0].replace("\\n", "\n").replace("\\0", "\n")
            return " ".join(rest[1:-1]) if _FORMAT.search(form) and len(rest) > 2 else form
        case "pwd":
            return "."
        case "mktemp":
            return "/tmp/made-by/mktemp"
        case "git" if rest[:1] == ["rev-parse"]:
            if "--show-toplevel" in rest:
                return "."
            if {"--git-dir", "--absolute-git-dir", "--git-common-dir"}.intersection(rest):
                return literal(".git")
    return None
