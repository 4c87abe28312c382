"""Sets of words, written as text."""

from __future__ import annotations


def bag(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())
