"""Tools that note when they run, for tests of what may overlap."""

from __future__ import annotations

import asyncio
from typing import Any

from pegboard import tool


class Overlapping:
    """Two parallel tools and an exclusive one. `log`: `+name` where a call began, `-name` where it ended. A call of `beside`
    ends when `together` of them run, so that a loop which makes them one after another would stand still."""

    def __init__(self, together: int = 2) -> None:
        self.log: list[str] = []
        self.running = 0
        all_there = asyncio.Event()

        @tool(pure=True, overlap="parallel")
        async def beside(name: str) -> str:
            """Run beside others."""
            self.log.append(f"+{name}")
            self.running += 1
            if self.running >= together:
                all_there.set()
            await all_there.wait()
            self.log.append(f"-{name}")
            return name

        @tool(pure=True, overlap="exclusive")
        async def alone(name: str) -> str:
            """Run alone."""
            self.log.append(f"+{name}")
            await asyncio.sleep(0)
            self.log.append(f"-{name}")
            return name

        @tool(pure=True)
        async def forever(name: str) -> str:
            """Never end."""
            self.log.append(f"+{name}")
            await asyncio.Event().wait()
            return name

        self.tools: list[Any] = [beside, alone, forever]
