"""What a turn took, and the limits at which it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pegboard.config.schema import LimitSettings
from pegboard.models import EndPart


class Stop(Exception):
    """The turn stops at a limit. The text begins with its name, says what was reached and what to do next."""


@dataclass(slots=True)
class Spent:
    """Tokens that the replies of a turn took, as the provider counted. `counted` is the sum that the budget goes by: an
    estimate stands in it for each reply whose provider said nothing, and `estimated` says that there was one. last: of
    the last request with its reply, so how full the context is."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    counted: int = 0
    estimated: bool = False
    last: int = 0

    def add(self, end: EndPart | None, estimate: int) -> None:
        """Add one reply's; `estimate` in tokens counts where its provider says nothing."""
        took = _whole(end.input) + _whole(end.output) if end else 0
        self.last = took or estimate
        self.counted += self.last
        self.estimated = self.estimated or not took
        if end is None:
            return
        self.input += _whole(end.input)
        self.output += _whole(end.output)
        self.cached += _whole(end.cached)
        if isinstance(end.cost, int | float):
            self.cost = (self.cost or 0.0) + end.cost

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `turn_ended`."""
        return {"input": self.input, "output": self.output, "cached": self.cached, "cost": self.cost}


def check_budget(limits: LimitSettings, spent: Spent) -> None:
    """Before each reply.

    Raises:
        Stop: the turn took all the tokens it may take.
    """
    if limits.max_tokens is not None and spent.counted >= limits.max_tokens:
        about = "about " if spent.estimated else ""
        raise Stop(
            f"budget: the turn took {about}{spent.counted:,} tokens and may take {limits.max_tokens:,}, so the model was "
            "not asked again. What was done stands. Ask again to go on, or allow more (limits.max_tokens)."
        )


def out_of_steps(limits: LimitSettings) -> Stop:
    """The turn had all the replies it may have."""
    replies = "1 reply" if limits.max_steps == 1 else f"{limits.max_steps} replies"
    return Stop(
        f"steps: the turn was stopped after {replies} of the model. What was done stands. "
        "Ask again to go on, or allow more (limits.max_steps)."
    )


def out_of_time(limits: LimitSettings) -> Stop:
    """The turn's time is over."""
    return Stop(
        f"timeout: the turn was stopped after {limits.timeout or 0:g} s. What was done stands; a call that ran was "
        "interrupted. Ask again to go on, or allow more (limits.timeout)."
    )


def _whole(count: Any) -> int:
    return count if isinstance(count, int) and count > 0 else 0
