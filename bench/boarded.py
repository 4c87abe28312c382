"""A board to measure in: our own plugins as installed, a recorded session, every question answered with yes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pegboard.board import Board
from pegboard.calls import Call, Record
from pegboard.lane import Lane


class Caller:
    """Takes calls down the road of one board and says how long each took."""

    def __init__(self, root: Path, state: Path, runner: asyncio.Runner) -> None:
        settings = state / "config.toml"  # not there: the defaults
        self.runner = runner
        self.board = Board.build(str(root), user_file=settings, environ={}, state=state)
        self.session = self.board.session()
        self.road = self.board.road(self.session, answers="--yes")
        self.lane = Lane()
        self.made = 0

    def seconds(self, tool: str, *, times: int = 1, **arguments: Any) -> float:
        """Seconds for one call, the mean over `times` calls in a row. Every one must come out well."""
        return self.sequence([(tool, arguments)] * times)

    def sequence(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> float:
        """Seconds for one of these calls, the mean over all, made one after the other."""
        self.made += len(calls)
        first = self.made
        made = [
            Call(id=f"b{first}-{number}", name=name, arguments=arguments, caller="program")
            for number, (name, arguments) in enumerate(calls)
        ]

        async def travel() -> tuple[float, list[Record]]:
            start = time.perf_counter()
            records = [await self.road.travel(call, self.lane) for call in made]
            return time.perf_counter() - start, records

        elapsed, records = self.runner.run(travel())
        for record in records:
            if record.outcome != "ok":
                raise RuntimeError(f"{record.requested}: {record.outcome}: {record.text[:300]}")
        return elapsed / len(made)


@contextmanager
def board(root: Path, state: Path) -> Iterator[Caller]:
    """A board over `root`, closed afterwards."""
    with asyncio.Runner() as runner:
        caller = Caller(root, state, runner)
        try:
            yield caller
        finally:
            caller.road.runner.close()
            caller.session.close()
            runner.run(caller.board.close())
