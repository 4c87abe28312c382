"""What an empty input says can be done in it: the longest of some texts that there is room for."""

from __future__ import annotations

_SEARCH = ("words of a prompt that was sent before", "words")


def hint(width: int, *, searching: bool, busy: bool, send: str, steer: str, sign: str = "") -> str:
    """send, steer: the keys for it; empty: there is none. sign: with it a line begins that is run; empty: none is."""
    said = _SEARCH if searching else _busy(send.capitalize(), steer) if busy else _idle(sign)
    return next((text for text in said if len(text) <= width), said[-1])


def _idle(sign: str) -> tuple[str, ...]:
    long, short = (f", {sign} to run one", f", {sign} run") if sign else ("", "")
    return f"Ask for something; / for commands, @ for files{long}", f"Ask; / commands, @ files{short}", "Ask"


def _busy(send: str, steer: str) -> tuple[str, ...]:
    if not steer:
        return f"{send} queues it until the turn ends", f"{send} queues"
    return (
        f"{send} queues it, {steer} tells it to the running turn",
        f"{send} queues, {steer} steers",
        f"{send} queues",
    )
