"""What a `find` reaches: where it starts, and whether a test narrows what it does something to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pegboard_guard.values import plain

_NARROWING = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|i?lname|size|[acm]time|[acm]min|newer\w*|[ac]newer|empty|user|group|uid|gid|perm|"
    r"links|inum|samefile|used|nouser|nogroup|fstype|false)"
)
_ALL = re.compile(r"[.*?/]*[*][.*?/]*|\.\+")
"""Of a name or path, a pattern that leaves nothing out, or next to nothing."""
_ALL_NUMBERS = re.compile(r"\+0*[a-zA-Z]?|-[0-9]{4,}[a-zA-Z]?")
REMOVERS = frozenset(["rm", "grm", "srm", "rmdir", "unlink", "shred", "rimraf"])
_STARTERS = frozenset(["sh", "bash", "dash", "zsh", "env", "sudo", "xargs", "nice", "command", "busybox"])
_ACTION = re.compile(r"-delete|-(?:exec|ok)(?:dir)?")


class Find:
    """Read from the words of a find. deletes: it has `-delete`."""

    def __init__(self, words: Sequence[str]) -> None:
        texts = [plain(word) for word in words]
        begins = 1
        while begins < len(texts) and (
            texts[begins][:1] not in ("-", "(", "!") or re.fullmatch(r"-[HLP]|-O\d", texts[begins])
        ):
            begins += 1
        self.starts = [word for word in words[1:begins] if not word.startswith("-")] or ["."]
        self.deletes = "-delete" in texts[begins:]
        self.runs = {
            following.rpartition("/")[2]
            for text, following in pairwise(texts)
            if re.fullmatch("-(exec|ok)(dir)?", text)
        }
        self.narrowed = all(map(_narrowed, _acting(texts[begins:])))


def _acting(tests: Sequence[str]) -> list[list[str]]:
    """The alternatives (`-o`) that do something; where none does, all that print."""
    parts: list[list[str]] = [[]]
    depth = 0
    for text in tests:
        depth += {"(": 1, ")": -1}.get(text, 0)
        if not depth and text in ("-o", "-or", ","):
            parts.append([])
        else:
            parts[-1].append(text)
    acting = [part for part in parts if any(_ACTION.fullmatch(text) for text in part)]
    return acting or parts


def _narrowed(tests: Sequence[str]) -> bool:
    for at, text in enumerate(tests):
        if _ACTION.fullmatch(text):
            # What follows no longer narrows this one; but a program that removes nothing itself is a test of what follows.
            program = tests[at + 1].rpartition("/")[2] if at + 1 < len(tests) else ""
            tested = text != "-delete" and program not in REMOVERS and program not in _STARTERS
            return tested and any(_ACTION.fullmatch(later) for later in tests[at + 1 :])
        if _NARROWING.fullmatch(text) and (at == 0 or tests[at - 1] not in ("!", "-not")):
            value = tests[at + 1] if at + 1 < len(tests) else ""
            named = not re.fullmatch("-(?:size|[acm]time|[acm]min|links|used|uid|gid|inum)", text)
            if not (_ALL if named else _ALL_NUMBERS).fullmatch(value):
                return True
    return False
