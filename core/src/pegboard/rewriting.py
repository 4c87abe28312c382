"""What rewriters that the user named make of a call's arguments."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pegboard.events import Note
from pegboard.outcome import Stopped, blocked_text
from pegboard.trip import Intervened

if TYPE_CHECKING:
    from pegboard.road import Road
    from pegboard.tooling import Tool
    from pegboard.trip import Trip


async def rewrite(road: Road, trip: Trip, tool: Tool) -> None:
    """Each in its turn: validated again, recorded, told of.

    Raises:
        Stopped: one of them failed.
    """
    for owner, rewriter in road.rewriters:
        assert trip.shaped is not None
        given = replace(trip.call, arguments=trip.shaped.mapping())
        try:
            said = rewriter(given)
            arguments = await said if isinstance(said, Awaitable) else said
            if arguments is None:
                continue
            shaped = tool.read(dict(arguments))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: one that fails stops the call
            text = f"the rewriter {owner!r} failed ({type(error).__name__}: {error})"
            raise Stopped("invalid_arguments", blocked_text(text)) from None
        trip.take(tool.name, shaped)
        trip.intervened = Intervened(plugin=owner, action="rewrite", rule=owner, text="rewrote the arguments")
        if trip.logged:
            text = f"{owner} rewrote the arguments of {trip.call.id}"
            road.log(trip, Note(turn=trip.turn, level="info", text=text))
