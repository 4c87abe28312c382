"""How many protected files lie in the range of a search: by their names, from a listing that runs beside it.

What the search itself says of them must not be used: "2 were left out" for one pattern and "1" for another would tell
which of them holds the pattern, and so, question by question, a whole secret.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from pegboard.kit.walk.engine import Command, Run
from pegboard.kit.walk.gate import Gate
from pegboard.kit.walk.running import Answer

MOST_NAMES = 20_000
"""A search that was stopped at its limit waits for a listing of up to so many names: about a tenth of a second."""
_FINE = (0, 1, 2)
"""Exit codes of a listing: 2 also when some folders could not be read."""


class Census:
    """Counts while a search runs. `number`: of the names that a listing prints, those that are protected.

    It is 0, too, when that was not found out: the listing broke down, or it was longer than MOST_NAMES and the search
    was stopped at its limit. Neither depends on what is in a protected file.
    """

    def __init__(self, gate: Gate, before: bytes) -> None:
        """`before`: what stands in front of the paths that are listed."""
        self.number = 0
        self._gate = gate
        self._before = before
        self._names = 0
        self._rest = b""
        self._hurried = False

    @property
    def _too_long(self) -> bool:
        return self._hurried and self._names > MOST_NAMES

    def _take(self, stream: str, data: bytes) -> bool:
        if stream == "stdout" and not self._too_long:
            *names, self._rest = (self._rest + data).split(b"\0")
            self._names += len(names)
            self._gate.count([name.removeprefix(self._before) for name in names])
        return self._too_long

    async def _list(self, command: Command, run: Run, cwd: str) -> bool:
        """Whether all names were taken."""
        done = await run(command.argv, cwd=cwd, stdin=command.stdin, each=self._take)
        return done.exit_code in _FINE and not self._too_long

    async def beside(self, search: Coroutine[Any, Any, Answer], listing: Command, run: Run, cwd: str) -> Answer:
        """What the search says, while the listing runs. The listing ends with it when it fails or is cancelled."""
        counting = asyncio.ensure_future(self._list(listing, run, cwd))
        try:
            answer = await search
            self._hurried = answer.more
            if not (answer.failed or self._too_long) and await counting:
                self.number = len(self._gate.protected)
        finally:
            counting.cancel()
            await asyncio.gather(counting, return_exceptions=True)
        return answer
