"""Whether a call may be looked at, and asked about, before others of its reply have run (docs/decisions/0035).

What a person is shown of it must still hold when it runs. So a call waits for the others where it looks at files that they
change, or may change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegboard.calls import Touch
from pegboard.touches import PATHS, effect_of
from pegboard.trip import Trip

_ANYWHERE = frozenset({"run", "mcp", "unknown"})
"""Touches of calls that may change any file."""


def independent(call: Trip, earlier: Sequence[Trip]) -> bool:
    """Whether what is said of a call now also holds when the earlier ones have run."""
    changing = [other for other in earlier if _changes(other)]
    if not changing or call.tool is None:
        return not changing
    declared, files = call.tool.declaration, [touch for touch in call.touches if touch.kind in PATHS]
    if call.tool.looks or declared.preview_runs:
        return False  # it looks at whatever it likes
    if declared.preview is not None and len(files) < len(call.touches):
        return False  # its preview may look at more than its touches name
    return not files or not any(_reaches(other, files) for other in changing)


def _changes(call: Trip) -> bool:
    """Whether a call may change files, or what other calls do."""
    if call.tool is not None and call.tool.effect == "delegating":
        return True
    return effect_of(call.touches) not in ("read_only", "user_mediated")


def _reaches(call: Trip, files: Iterable[Touch]) -> bool:
    """Whether it may change one of these, or what leads there."""
    if (call.tool is not None and call.tool.effect == "delegating") or not call.touches:
        return True
    if any(touch.kind in _ANYWHERE for touch in call.touches):
        return True
    edits = [touch for touch in call.touches if touch.kind == "edit"]
    return any(_same(edit, file) for edit in edits for file in files)


def _same(one: Touch, other: Touch) -> bool:
    """Whether two paths are one, or one is inside the other; in doubt they are."""
    if one.at is None or other.at is None:
        return True
    first, second = one.at.casefold(), other.at.casefold()
    return first == second or _inside(first, second) or _inside(second, first)


def _inside(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(folder.rstrip("/") + "/")
