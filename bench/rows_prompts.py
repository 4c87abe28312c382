"""Rows of authority: prompts per 100 ordinary calls. Figures of a count, not of time: they come out the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import prompts
from harness import Pair, Row


def asked(settings: dict[str, Any], *, confined: bool = False) -> Callable[[Path], AbstractContextManager[Pair]]:
    """A row of one way to be set up; the yardstick is asking about every edit and every command."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        with prompts.project() as root:

            def ours() -> float:
                found = prompts.replay(root, settings, confined=confined)
                if found.unsafe:
                    raise RuntimeError(f"would have run unasked: {found.unsafe}")
                return found.asked

            every = {"tool_permission": {"bash_read_only": "ask"}}
            yield Pair(ours=ours, yardstick=lambda: prompts.replay(root, every).asked)

    return set_up


def row(name: str, target: float, settings: dict[str, Any], *, confined: bool = False) -> Row:
    return Row(
        name=f"prompts per 100 calls, {name}",
        target=target,
        against="every edit and command asked about",
        best_peer="-",
        set_up=asked(settings, confined=confined),
        unit="prompts",
        pairs=1,
    )


ROWS = [
    row("defaults", 39, {}),
    row("twenty remembered answers", 21, prompts.remembered()),
    row("mode auto in the sandbox", 2, {"mode": "auto"}, confined=True),
]
