"""What an empty input says can be done in it: the longest of some texts that there is room for."""

from __future__ import annotations

_IDLE = ("Ask for something; / for commands, @ for files, ! to run one", "Ask; / commands, @ files, ! run", "Ask")
_SEARCH = ("words of a prompt that was sent before", "words")


def hint(width: int, *, searching: bool, busy: bool, send: str, steer: str) -> str:
    """send, steer: the keys for it; empty: there is none."""
    said = _SEARCH if searching else _busy(send.capitalize(), steer) if busy else _IDLE
    return next((text for text in said if len(text) <= width), said[-1])


def _busy(send: str, steer: str) -> tuple[str, ...]:
    if not steer:
        return f"{send} queues it until the turn ends", f"{send} queues"
    return (
        f"{send} queues it, {steer} tells it to the running turn",
        f"{send} queues, {steer} steers",
        f"{send} queues",
    )
