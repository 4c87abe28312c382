"""The processes of a session's widgets, one a kind: started when the first is shown, ended when none is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from pegboard.blocks import Custom

from pegboard_tui.custom import messages as told
from pegboard_tui.custom.easel import Easel
from pegboard_tui.custom.kinds import Kinds

IDLE = 30
"""Looks after which a process without widgets is ended."""


class Crew:
    """on_painted: a widget looks like this now. on_failed(kind, pane, error): one is gone, or (pane -1) all of a kind."""

    def __init__(
        self, kinds: Kinds, on_painted: Callable[[told.Painted], None], on_failed: Callable[[str, int, str], None]
    ) -> None:
        self._kinds = kinds
        self._on_painted = on_painted
        self._on_failed = on_failed
        self._easels: dict[str, Easel] = {}
        self._idle: dict[str, int] = {}
        self._numbers = count(1)

    @property
    def processes(self) -> list[int]:
        """Those that run."""
        return [easel.pid for easel in self._easels.values() if easel.pid is not None]

    def open(self, block: Custom, width: int, height: int, theme: Mapping[str, Any], background: str) -> int:
        """Have a widget made for a block; returns the number by which it is known, -1 where nobody has one."""
        claim = self._kinds.find(block.kind)
        if claim is None:
            return -1
        if block.kind not in self._easels:
            kind = block.kind
            self._easels[kind] = Easel(
                claim.value, self._on_painted, lambda pane, error: self._failed(kind, pane, error)
            )
        pane = next(self._numbers)
        self._easels[block.kind].send(
            told.Open(pane=pane, data=block.data, width=width, height=height, theme=dict(theme), background=background)
        )
        return pane

    def send(self, kind: str, message: told.AnyToChild) -> None:
        """Tell a widget something; to one that is gone it does nothing."""
        if kind in self._easels and message.pane != -1:
            self._easels[kind].send(message)

    def look(self) -> None:
        """See whether they answer, and which are not needed; to be called about once a second."""
        for kind, easel in list(self._easels.items()):
            easel.watch()
            self._idle[kind] = 0 if easel.panes else self._idle.get(kind, 0) + 1
            if self._idle[kind] > IDLE:
                easel.end()
                self._easels.pop(kind, None)

    async def end(self) -> None:
        """End them all."""
        await asyncio.gather(*(easel.gone() for easel in self._easels.values()))

    def _failed(self, kind: str, pane: int, error: str) -> None:
        if pane == -1:
            self._easels.pop(kind, None)
        self._on_failed(kind, pane, error)
