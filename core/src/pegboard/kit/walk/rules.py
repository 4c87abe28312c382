r"""The lines of an ignore file, by git's rules.

Names are bytes, as git and rg have them. Most lines are plain names or `*.ext`: those are looked up; the rest become
regular expressions (`globs`), which match in linear time, since an ignore file comes with a clone. That, and that rules
must be written out again for rg, is why no library does it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from functools import cached_property, lru_cache

from pegboard.kit.walk.globs import path_regex, quoted

MAX_FILE_BYTES = 1024 * 1024
"""More of an ignore file is not read."""

_WILD = re.compile(r"[*?\[\\]")


class Rule:
    """One line. body: the pattern without `!` and slashes at its ends; anchored: it names a path, not a name."""

    __slots__ = ("__dict__", "anchored", "body", "dir_only", "negated", "plain", "tail")

    def __init__(self, body: str, *, anchored: bool, negated: bool, dir_only: bool) -> None:
        self.body = body
        self.anchored = anchored
        self.negated = negated
        self.dir_only = dir_only
        self.plain = None if _WILD.search(body) else body.encode("latin-1")
        simple = not anchored and len(body) > 1 and body[0] == "*" and not _WILD.search(body, 1)
        self.tail = body[1:].encode("latin-1") if simple else None

    @cached_property
    def source(self) -> str | None:
        return path_regex(self.body.split("/"), hidden=True, strict=True)

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        return re.compile((self.source or "(?!)").encode("latin-1"), re.DOTALL)

    def matches(self, path: bytes, name: bytes) -> bool:
        if self.plain is not None:
            return self.plain == (path if self.anchored else name)
        if self.tail is not None:
            return name.endswith(self.tail)
        return self.regex.match(path if self.anchored else name) is not None

    def line(self, body: str) -> bytes:
        """This rule with another body, as a line of an ignore file."""
        return f"{'!' if self.negated else ''}{body}{'/' if self.dir_only else ''}\n".encode("latin-1")

    def moved_down(self, folder: Sequence[bytes]) -> list[bytes]:
        """Lines that say, in a file at the root, what this says in `folder` below the root."""
        if not folder:
            return [self.line(("/" if self.anchored else "") + _kept(self.body, self.anchored))]
        parts = [_component(part) for part in folder]
        return [self.line("/".join(["", *parts, *([] if self.anchored else ["**"]), self.body]))]

    def moved_up(self, folders: Sequence[bytes]) -> list[bytes]:
        """Lines that say, in a file at the root, what this says in a file that many folders above it."""
        if not self.anchored:
            return [self.line(_kept(self.body, False))]
        rests = [self.body.split("/")]
        for folder in folders:
            rests = [rest for parts in rests for rest in _after(parts, folder)]
        return [self.line("/" + "/".join(rest)) for rest in rests if rest]


def _component(name: bytes) -> str:
    """A folder's name in a rule; a star for what a line of an ignore file cannot hold: no other folder is searched."""
    fits = name.isascii() and name.decode("latin-1").isprintable()
    return quoted(name.decode("latin-1")) if fits else "*"


def _kept(body: str, anchored: bool) -> str:
    """A body that begins a line keeps its backslash in front of `#` and `!` (it has it still)."""
    return body if anchored or body[:1] not in ("#", "!") else "\\" + body


def _after(parts: list[str], folder: bytes) -> list[list[str]]:
    """What is left of a pattern's components once it has gone through `folder`."""
    if not parts:
        return []
    if parts[0] == "**":
        return [parts, *_after(parts[1:], folder)]
    regex = path_regex(parts[:1], hidden=True, strict=True)
    fits = regex and re.match(regex.encode("latin-1"), folder, re.DOTALL)
    return [parts[1:]] if fits else []


def _rule(line: str) -> Rule | None:
    """Raises nothing: what is no rule (comments, blank lines, what git cannot match) is None."""
    if line.startswith("#"):
        return None
    body = line.rstrip(" ")
    if len(body) < len(line) and (len(body) - len(body.rstrip("\\"))) % 2:
        body += " "  # the first of the trailing blanks was escaped
    negated = body.startswith("!")
    body = body[negated:]
    dir_only = body.endswith("/")
    body = body[: len(body) - dir_only]
    anchored = "/" in body
    body = body.removeprefix("/")
    if not body or "" in body.split("/"):
        return None
    return Rule(body, anchored=anchored, negated=negated, dir_only=dir_only)


class RuleSet:
    """The rules of one file, in order: the last that matches decides."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.negates = any(rule.negated for rule in rules)
        self._last_first = tuple(reversed(rules))
        self._names = frozenset(rule.plain for rule in rules if rule.plain and not rule.anchored)
        self._paths = frozenset(rule.plain for rule in rules if rule.plain and rule.anchored)
        self._tails = tuple(rule.tail for rule in rules if rule.tail)

    def decide(self, path: bytes, name: bytes, folder: bool) -> bool | None:
        """True: ignored; False: a negation takes it back; None: no rule says anything of it.

        `path` is relative to the file's own folder, `name` its last component.
        """
        if (
            name not in self._names
            and path not in self._paths
            and not name.endswith(self._tails)
            and not (self._other_names and self._other_names.match(name))
            and not (self._other_paths and self._other_paths.match(path))
        ):
            return None
        for rule in self._last_first:
            if (folder or not rule.dir_only) and rule.matches(path, name):
                return not rule.negated
        return None

    @cached_property
    def _other_names(self) -> re.Pattern[bytes] | None:
        return self._union(anchored=False)

    @cached_property
    def _other_paths(self) -> re.Pattern[bytes] | None:
        return self._union(anchored=True)

    def _union(self, *, anchored: bool) -> re.Pattern[bytes] | None:
        rest = [rule for rule in self.rules if rule.anchored == anchored and rule.plain is None and rule.tail is None]
        sources = [rule.source for rule in rest if rule.source]
        return re.compile("|".join(sources).encode("latin-1"), re.DOTALL) if sources else None


@lru_cache(maxsize=512)
def parse(data: bytes) -> RuleSet | None:
    """The rules in an ignore file's bytes; None when it has none."""
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")
    rules = [rule for line in lines if (rule := _rule(line.removesuffix("\r")))]
    return RuleSet(rules) if rules else None


def read(folder: bytes, name: bytes) -> RuleSet | None:
    """The rules in a file of this name. Links are not followed, as in git, and only a regular file is read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        fd = os.open(os.path.join(folder, name), flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = os.read(fd, MAX_FILE_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)
    return parse(data) if data else None
