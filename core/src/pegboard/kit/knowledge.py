"""How what a session had seen of a file becomes what it has seen of it after a change of its own.

Each function gives a `Learn`: asked when the changes are written down, with what the session had seen of each file then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from pegboard.kit.hunks import difference
from pegboard.kit.seen import Seen, holds_in, seen_edited, seen_kept, seen_written

if TYPE_CHECKING:
    from pegboard.kit.handles import Stamp
    from pegboard.kit.plan import Plan

Known: TypeAlias = Callable[[str], Seen | None]
"""What was seen of a file, by real path."""
Learn: TypeAlias = Callable[[Known], Seen | None]
"""What is seen of a file from now on; None: what was seen stays."""


def written(at: str, stamp: Stamp, data: bytes) -> Learn:
    """A whole file was written: all of it is known."""
    return lambda known: seen_written(at, stamp, data)


def restored(at: str, stamp: Stamp, data: bytes) -> Learn:
    """A deleted file is there again: what was known of it is known still."""
    return lambda known: seen_kept(at, stamp, data, known(at))


def spliced(plan: Plan, at: str, before: Stamp, stamp: Stamp) -> Learn:
    """Parts of a file were replaced: what was seen of it moves along. A file that was never seen stays unseen."""

    def learn(known: Known) -> Seen | None:
        seen = known(at)
        if seen is None:
            return None
        held = seen if seen.stamp == before or holds_in(plan.before, seen) else None
        return seen_edited(at, stamp, plan.after, plan.hunks, held, exact=plan.exact)

    return learn


def moved(source: str, at: str, stamp: Stamp, old: bytes, new: bytes) -> Learn:
    """A file has another name: what was seen goes along, and what was put into it counts where it had been seen."""

    def learn(known: Known) -> Seen | None:
        seen = known(source)
        if seen is None or not holds_in(old, seen):
            return None
        return seen_edited(at, stamp, new, difference(old, new), seen, exact=False)

    return learn
