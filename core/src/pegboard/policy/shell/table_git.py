"""What git would show beyond what its operands say: files of the index that are secrets, and signatures, by a program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegboard.policy.shell.repository import folder_of, tracked, work_tree
from pegboard.policy.shell.table_places import Place, is_secret

if TYPE_CHECKING:
    from pegboard.policy.shell.line import Word
    from pegboard.policy.shell.table_options import Parsed

_ALWAYS = frozenset(
    [
        *("git diff", "git show", "git diff-tree", "git diff-index", "git diff-files", "git stash show"),
        *("git whatchanged", "git range-diff", "git grep"),
    ]
)
"""Commands that show what is in files, whatever their options."""
_SHOWS = (
    *("-p", "-u", "--patch", "-U", "--unified", "-L", "-c", "-m", "--cc", "-W", "--function-context", "--binary"),
    *("--word-diff", "--word-diff-regex", "--color-words", "--patch-with-stat", "--submodule"),
)
"""Options with which others do. `git status` has one of its own."""
_NAMES = (
    *("--stat", "--shortstat", "--numstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw"),
    *("--compact-summary", "-s", "--no-patch", "--quiet", "-q"),
)
"""Options with which a comparison shows names only, if none of the others is there."""


def shows_more(key: str, words: Sequence[Word], parsed: Parsed, place: Place) -> bool:
    """Whether git may show secrets that no operand names, or run a program to check a signature.

    What history alone holds is not known here."""
    if any("%G" in word.text or "%(signature" in word.text or "%(*signature" in word.text for word in words):
        return True
    if not all(place.readable(value.rpartition(":")[2]) for value in parsed.values(["-L"])):
        return True
    if not _shows_contents(key, parsed):
        return False
    if place.root is None or folder_of(place.cwd) == "":
        return key == "git diff"  # which compares any two folders then
    if key == "git grep" and not all(os.path.lexists(os.path.join(place.cwd, word.text)) for word in _before(parsed)):
        return True  # a whole tree of another time
    index = tracked(place.cwd)
    if index is None:
        return True
    secret = [path for path in index.files if is_secret(path)]
    chosen = _chosen(parsed, place) if secret else None
    return any(chosen is None or any(f"{path}/".startswith(one) for one in chosen) for path in secret)


def _shows_contents(key: str, parsed: Parsed) -> bool:
    if key == "git status":
        return parsed.has(["-v", "--verbose"])
    if key == "git cat-file":
        return parsed.has(["-p"])
    if parsed.has(_SHOWS):
        return True
    return key in _ALWAYS and (key == "git grep" or not parsed.has(_NAMES))


def _before(parsed: Parsed) -> Sequence[Word]:
    return parsed.operands[: len(parsed.operands) - parsed.after]


def _chosen(parsed: Parsed, place: Place) -> list[str] | None:
    """The files and folders that come after `--`, relative to the work tree; None: any."""
    words = parsed.operands[len(parsed.operands) - parsed.after :]
    if not words or any(set(word.text) & set(":*?[\\") for word in words):
        return None
    tree = work_tree(place.cwd)
    paths = [os.path.relpath(os.path.realpath(os.path.join(place.cwd, word.text)), tree) for word in words]
    return ["" if path == "." else f"{path}/" for path in paths]
