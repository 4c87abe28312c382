"""The names that a glob of `*` and `?` stands for now, as bash would have them."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from pegboard.policy.shell.budget import PATH, Budget

_DEEPEST = 32
"""Parts of a glob; more are not looked for."""


def expanded(glob: str, folder: str, budget: Budget) -> list[str] | None:
    """The names, spelled as the glob is; None: it cannot be told, or takes too long."""
    parts = re.split("(/+)", glob)
    if len(parts) > 2 * _DEEPEST:
        return None
    found = [""]
    for at, part in enumerate(parts):
        if at % 2 or not part:
            found = [one + part for one in found]
        elif "*" not in part and "?" not in part:
            found = [
                one + part for one in found if at + 1 == len(parts) or os.path.isdir(os.path.join(folder, one + part))
            ]
            if not budget.look(PATH * len(found)):
                return None
        else:
            if fnmatchcase("..", part):
                return None  # what older shells find by `.*`
            names = _matching(part, found, folder, budget, last=at + 1 == len(parts))
            if names is None:
                return None
            found = names
    return [one for one in found if os.path.lexists(os.path.join(folder, one))] if budget.look(len(found)) else None


def _matching(part: str, prefixes: list[str], folder: str, budget: Budget, *, last: bool) -> list[str] | None:
    found: list[str] = []
    for prefix in prefixes:
        if not budget.look(PATH):
            return None
        try:
            with os.scandir(os.path.join(folder, prefix) if prefix else folder) as entries:
                for entry in entries:
                    if not budget.look():
                        return None
                    shown = part.startswith(".") or not entry.name.startswith(".")
                    if shown and fnmatchcase(entry.name, part) and (last or os.path.isdir(entry.path)):
                        found.append(prefix + entry.name)
        except OSError:
            continue
    return found
