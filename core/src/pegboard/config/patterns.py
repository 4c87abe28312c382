"""Patterns that a person writes in the configuration: accepted only where matching them cannot run away.

`re` has no time limit. A pattern with a repeat inside a repeat (`(a+)+`) or alternatives inside one (`(a|aa)*`) may try
exponentially many ways. So these are refused when the configuration is read, and what is left is given short pieces of text.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

PIECE = 2_000
"""Characters of one line that a pattern is given at a time."""
_MOST_CHARS = 500
_MOST_REPEATS = 2
_LONG = 64
"""A repeat that takes at most so many is not counted among the open-ended ones."""


def bounded(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that takes quadratic time in `PIECE` at the worst.

    Raises:
        ValueError: it is no pattern, matches nothing at all, or could take too long; says what to write instead.
    """
    if len(pattern) > _MOST_CHARS:
        raise ValueError(f"a pattern may have {_MOST_CHARS} characters, and this one has {len(pattern)}")
    try:
        compiled = re.compile(pattern)
        tree: Any = importlib.import_module("re._parser").parse(pattern)  # the only parse tree there is
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    if compiled.search("") is not None:
        raise ValueError(f"{pattern!r} matches an empty text, so it would match everywhere")
    if _open_ended(tree, pattern, inside=False) > _MOST_REPEATS:
        raise ValueError(
            f"{pattern!r} has more than {_MOST_REPEATS} open-ended repeats; give them limits, as in {{1,40}}"
        )
    return compiled


def _open_ended(tree: Any, pattern: str, *, inside: bool) -> int:
    """How many open-ended repeats there are. `inside`: of a repeat."""
    count = 0
    for operation, operand in tree:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = operand
            varies = least != most
            if inside and varies:
                raise ValueError(f"{pattern!r} has a repeat inside a repeat, which can take for ever; write it without")
            count += varies and int(most) > _LONG
            count += _open_ended(body, pattern, inside=inside or int(most) > 1)
        elif name == "BRANCH":
            if inside:
                raise ValueError(
                    f"{pattern!r} has alternatives inside a repeat, which can take for ever; write it without"
                )
            count += max(_open_ended(branch, pattern, inside=inside) for branch in operand[1])
        elif name == "SUBPATTERN":
            count += _open_ended(operand[-1], pattern, inside=inside)
        elif name == "ATOMIC_GROUP":
            count += _open_ended(operand, pattern, inside=inside)
        elif name in ("ASSERT", "ASSERT_NOT"):
            count += _open_ended(operand[1], pattern, inside=inside)
        elif name in ("GROUPREF", "GROUPREF_IGNORE", "GROUPREF_EXISTS"):
            raise ValueError(f"{pattern!r} refers back to a group, which can take for ever; write it without")
    return count
