"""The files of a workspace that a person may mean by name: `@src/app.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice

from pegboard.kit.names import shown
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk.ignore import top_scope
from pegboard.kit.walk.walker import Rules, walk


def mentionable(root: str, settings: SearchSettings, refused: Callable[[str], bool], most: int) -> list[str]:
    """Files that ignore rules leave, by their path from the root, as the workspace's door takes it: at most so many, hidden
    ones last, for they are seldom meant. `refused`: a file that nobody may read is not offered.

    It walks the whole tree, so call it in a thread."""
    plain = _walked(root, settings, hidden=False)
    hidden = (name for name in _walked(root, settings, hidden=True) if "/." in f"/{name}")
    found = list(islice((name for name in plain if not refused(name)), most))
    return [*found, *islice((name for name in hidden if not refused(name)), most - len(found))]


def _walked(root: str, settings: SearchSettings, *, hidden: bool) -> Iterator[str]:
    scope = top_scope(root, require_git=settings.require_git)
    rules = Rules(hidden=hidden, links=settings.follow_links)
    for path in walk(os.fsencode(root), b"", scope, rules, lambda _path, _error: None):
        yield shown(os.fsdecode(path))
