"""What front ends say of events in words of their own, the same in all. Texts of others in it are not made safe here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.events import CallFinished, Usage


def refusal(event: CallFinished) -> str:
    """Who refused a call, and why, in a line; "" where nobody did."""
    decision = event.decision
    if decision is None:
        return ""
    if event.block == "guard":
        return f"refused by the guard: {decision.rule}"
    if event.block != "denied":
        return ""
    answer = decision.answer
    if answer is None:
        return f"denied by {decision.rule} ({decision.layer})" if decision.action == "deny" else ""
    if answer.by == "headless":
        return "needs consent, nobody to ask"
    if answer.granted:  # it was allowed, and the turn ended before it ran
        return ""
    who = {"person": "you", "program": "the program"}.get(answer.by, answer.by)
    return f"declined by {who}" + (f": {answer.reason}" if answer.reason else "")


def used(usage: Usage) -> str:
    """What the model's replies of a turn took: `1,234 tokens in (1,000 cached), 56 out, $0.0123`."""
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    cost = f", ${usage.cost:.4f}" if usage.cost is not None else ""
    return f"{usage.input:,} tokens in{cached}, {usage.output:,} out{cost}"
