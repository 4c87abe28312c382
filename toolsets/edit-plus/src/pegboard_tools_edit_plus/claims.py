"""Which places a patch names: each once, none below another that becomes a file, and names that are one file here."""

from __future__ import annotations

import os
import unicodedata
from functools import cached_property
from typing import NamedTuple

from pegboard import ToolError


class Claim(NamedTuple):
    """A place, and the line of the patch that names it."""

    at: str
    line: int


class Claims:
    """The places that the sections of a patch are about, by their names as this workspace compares them."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._places: dict[str, Claim] = {}
        self._made: dict[str, Claim] = {}  # those that become files
        self._above: dict[str, Claim] = {}  # the folders that those lie in, and one of them each

    def take(self, at: str, line: int) -> None:
        """Claim a place; raises ToolError where another line has it. One line may claim a place again."""
        first = self._places.setdefault(self._key(at), Claim(at, line))
        if first.line == line:
            return
        if first.at != at:
            raise ToolError(
                f"{at} and {first.at} (line {first.line}) are one file here, where the case of letters does not count. "
                "Nothing was changed. Say all of it in one section, or in two calls."
            )
        raise ToolError(
            f"{at} is in the patch twice (first on line {first.line}). Nothing was changed. Say all of it in one section "
            "(*** Update File puts other content into a file that is there), or in two calls."
        )

    def make(self, at: str, line: int) -> None:
        """Claim a place that becomes a file. Raises ToolError, too, where another is to lie in it, or it in another."""
        self.take(at, line)
        parts = at.split("/")
        above = [self._key("/".join(parts[:end])) for end in range(1, len(parts))]
        over = next((self._made[key] for key in above if key in self._made), None)
        if over is not None:
            raise _below(at, over.at, f"on line {over.line}")
        inner = self._above.get(self._key(at))
        if inner is not None:
            raise _below(f"{inner.at} (line {inner.line})", at, "here")
        self._made[self._key(at)] = Claim(at, line)
        self._above.update(dict.fromkeys(above, Claim(at, line)))

    def _key(self, name: str) -> str:
        return unicodedata.normalize("NFC", name).casefold() if self._folds else name

    @cached_property
    def _folds(self) -> bool:
        return folds_case(self._root)


def _below(inner: str, outer: str, where: str) -> ToolError:
    return ToolError(
        f"{inner} lies below {outer}, which the patch makes a file ({where}). Nothing was changed. {outer} can be a file "
        "or a folder, not both."
    )


def folds_case(root: str) -> bool:
    """Whether names that differ in the case of their letters are one in this folder, as far as its own name tells."""
    folder, name = os.path.split(root)
    try:
        return name.swapcase() != name and os.path.samefile(root, os.path.join(folder, name.swapcase()))
    except OSError:
        return False
