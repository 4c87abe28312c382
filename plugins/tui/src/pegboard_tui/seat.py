"""A session's conversation that stays the same for those who hold it, while another model takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pegboard.errors import PegboardError
from pegboard.port import Conversation, Host


class Seat:
    """Whoever answers in one session now. All that a `Conversation` has, it has: `held` is this seat as one."""

    def __init__(self, host: Host, conversation: Conversation) -> None:
        self._host = host
        self._now = conversation

    if not TYPE_CHECKING:  # `held` is what has the types

        def __getattr__(self, name: str) -> Any:
            return getattr(self._now, name)

    @property
    def held(self) -> Conversation:
        """This seat, as a conversation."""
        return cast("Conversation", self)

    async def change(self, model: str) -> None:
        """Let another model answer, from here on. Programs that run in the background end.

        Raises:
            PegboardError: it cannot be had, and the one before answers again; or that is gone, too, and the text says so.
        """
        old = self._now
        id, before, mode = old.id, old.model, old.mode
        await old.close()  # two agents on one session at once would be one too many
        try:
            self._now = self._host.open(id, model=model, mode=mode or "")
        except PegboardError:
            self._now = self._host.open(id, model=before, mode=mode or "")
            raise
