"""Panels that running tools show beside the conversation (`ctx.panel`): events, a bounded part of them in the log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from pegboard.blocks import AnyBlock, Note
from pegboard.errors import SessionError
from pegboard.events import PanelChanged
from pegboard.rendering import from_json, to_json
from pegboard.wire import clean

if TYPE_CHECKING:
    from pegboard.session import Session

MOST_BYTES = 64 * 1024
"""What the blocks of one panel may come to, as JSON."""
MOST_TITLE = 80
MOST_LOGGED = 1024 * 1024
"""What the panels of one call may come to in the log. Beyond it they are shown as they come; the last of each is kept."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")


def panel_name(id: str) -> str:
    """The name that a tool gives to a panel.

    Raises:
        ValueError: it is none.
    """
    if not _NAME.fullmatch(id):
        raise ValueError(f"a panel's id is [a-z][a-z0-9-]*, at most 64 letters, not {id!r}")
    return id


class Panels:
    """The panels of one call. They belong to the loop."""

    def __init__(self, session: Session, turn: int | None) -> None:
        self._session = session
        self._turn = turn
        self._shown: dict[str, tuple[str, bytes]] = {}
        self._logged = 0
        self._owed: dict[str, PanelChanged] = {}

    def show(self, id: str, title: str, blocks: Sequence[AnyBlock]) -> None:
        """Let a panel look like this. One that looks so already is left as it is.

        Raises:
            TypeError: something else than blocks was given; nothing is shown.
        """
        title, body = clean(title).strip()[:MOST_TITLE], to_json(blocks)
        if self._shown.get(id) == (title, body):
            return
        try:
            made = from_json(body)  # ours, and nobody else's
        except msgspec.ValidationError as error:
            raise TypeError(f"a panel is made of blocks ({error})") from None
        if len(body) > MOST_BYTES:
            text = f"This panel is too large to be shown: {len(body):,} bytes, and {MOST_BYTES:,} are the most."
            made = [Note(text=text)]
        self._shown[id] = (title, body)
        event = PanelChanged(turn=self._turn, id=id, title=title, blocks=made)
        self._logged += min(len(body), MOST_BYTES)
        if self._logged > MOST_LOGGED:
            self._owed[id] = event
            self._session.emit(event)
        else:
            self._session.append(event)

    def settle(self) -> None:
        """The call is over: what was only shown is written down."""
        owed, self._owed = self._owed, {}
        if owed:
            # As events of their own: viewers may still hold the ones without a number.
            again = [msgspec.structs.replace(event) for event in owed.values()]
            with suppress(SessionError):  # what became of the call is still to be written, and tells of it
                self._session.append(*again)
