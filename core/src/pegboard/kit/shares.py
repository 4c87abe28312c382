"""Several texts under one set of limits: each gets what it needs as far as that leaves the same for the others."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.kit.caps import Caps, lines_of


def shares(texts: Sequence[str], caps: Caps) -> dict[int, Caps]:
    """The limits for those texts, by their place, that have to become shorter so that all fit; empty where all do.

    What short texts leave over goes to the long ones, in equal parts. Of each text and its share, one line end and one
    blank line stand between it and the next.
    """
    if len(texts) < 2:
        return {}
    chars = [len(text) + 2 for text in texts]
    size = [len(text.encode("utf-8", "surrogatepass")) + 2 for text in texts]
    lines = [lines_of(text) + 1 for text in texts]
    if not caps.exceeded(chars=sum(chars), size=sum(size), lines=sum(lines)):
        return {}
    measures = ((chars, caps.max_chars), (size, caps.max_bytes), (lines, caps.max_lines))
    most_chars, most_bytes, most_lines = (level(needs, limit) for needs, limit in measures)
    share = Caps(max_chars=most_chars, max_bytes=most_bytes, max_lines=most_lines)
    return {
        number: share
        for number in range(len(texts))
        if share.exceeded(chars=chars[number], size=size[number], lines=lines[number])
    }


def level(needs: Sequence[int], total: int) -> int:
    """The most that each may have, so that together they take no more than `total` (0: no limit, and the answer is 0).

    It is at least 1: nothing can be given less than a little.
    """
    if not total:
        return 0
    left = total
    for taken, need in enumerate(sorted(needs)):
        equal = left // (len(needs) - taken)
        if need > equal:
            return max(equal, 1)
        left -= need
    return max(max(needs, default=total), 1)
