"""Who answers where a call asks: a function of the program, the framework's own approval, or nobody."""

from __future__ import annotations

from pegboard.calls import Answer
from pegboard.desk import Answers, Approve

APPROVED = Answer(granted=True, by="program", reason="approved in the framework")
"""The answer that comes with a call which the framework let its own person approve."""


def answers_of(approve: Approve | None, defer: bool) -> Answers:
    """Who answers in the session. Where the framework does, nobody else: a call that it did not ask about gets a no.

    Raises:
        ValueError: both are wanted.
    """
    if approve is not None and defer:
        raise ValueError("approve answers at once, and defer leaves it to the framework: give one of them")
    return approve if approve is not None else "headless"


def missing(error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError:
    """What is said where the framework, or a part of it, is not installed."""
    return ModuleNotFoundError(
        f"{error}; the framework comes with an extra of Pegboard: pip install 'pegboard[{extra}]'", name=error.name
    )
