"""What a path pattern of a call means: which paths below the root it names, and where a walk for them may begin."""

from __future__ import annotations

import re
from functools import cached_property

from pegboard.errors import ToolError
from pegboard.kit.refusals import escape_error
from pegboard.kit.walk.globs import expand, literal, path_regex, quoted

_NOT_PLAIN = re.compile(r"(\[[A-Za-z]{2}\])|\\.|\[.*\]|[^A-Za-z0-9._*-]", re.DOTALL)
"""What a plain pattern does without; a choice of two letters (group 1) it may have."""


class PathGlob:
    """A pattern taken from a folder below the root; it matches paths relative to the root.

    anywhere: a pattern without a slash names files at any depth (include patterns), and a leading `!` means "all but".
    hidden: wildcards stand for names with a leading dot too; else only what the pattern itself begins with a dot.
    """

    def __init__(self, pattern: str, *, below: str = "", hidden: bool = False, anywhere: bool = False) -> None:
        self.pattern = pattern
        self.hidden = hidden
        self.negated = anywhere and pattern.startswith("!") and len(pattern) > 1
        start = [quoted(part) for part in below.split("/") if part]
        alternatives = expand(pattern[1:] if self.negated else pattern)
        self.alternatives = [self._components(text, start, anywhere) for text in alternatives]

    def _components(self, text: str, start: list[str], anywhere: bool) -> list[str]:
        """An alternative as components below the root, `..` resolved. Raises when it leaves the root."""
        if "/" not in text and anywhere:
            return [*start, "**", text]
        components = list(start)
        for part in text.split("/"):
            if part == "..":
                if not components:
                    raise escape_error(self.pattern)
                if literal(components.pop()) is None:
                    raise ToolError(f"A pattern cannot go up with .. after a wildcard: {self.pattern}. Write it out.")
            elif part not in ("", "."):
                components.append(part)
        return [*components, "**"] if text.endswith("/") or components == start else components

    @cached_property
    def names_hidden(self) -> bool:
        """Whether the pattern itself names something with a leading dot beyond the folder a walk begins in."""
        skip = len(self.start)
        return any(part.startswith(".") for parts in self.alternatives for part in parts[skip:])

    @cached_property
    def start(self) -> list[str]:
        """The folders, by name, that all alternatives begin with: a walk need not begin above them."""
        if self.negated:
            return []
        common: list[str] = []
        for column in zip(*(parts[:-1] for parts in self.alternatives), strict=False):
            names = {literal(part) for part in column}
            if len(names) > 1 or None in names:
                break
            common.append(str(names.pop()))
        return common

    @cached_property
    def file_names(self) -> list[str]:
        """Plain patterns of file names that fit whatever this fits, and maybe more. Empty: all may fit."""
        if self.negated:
            return []
        names = []
        for parts in self.alternatives:
            name = _NOT_PLAIN.sub(lambda found: found[1] or "*", parts[-1])
            name = re.sub(r"\*+", "*", name)
            if name == "*":
                return []
            names.append(name)
        return sorted(set(names))

    @cached_property
    def regex(self) -> str:
        """A regular expression for whole paths, for `re.match` with DOTALL."""
        found = (path_regex(parts, hidden=self.hidden) for parts in self.alternatives)
        either = "|".join(regex for regex in found if regex)
        return f"(?!{either})" if self.negated else f"(?:{either})"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.regex, re.DOTALL)

    def match(self, path: str) -> bool:
        """Whether the path, relative to the root and with `/`, is one of those named."""
        return self._compiled.match(path) is not None
