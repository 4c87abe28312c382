"""Command lines: read as bash reads them, judged by what they would run. A line that is not sure does not pass.

Names are looked up when first used: a guard that only wants to know which names are protected starts without the parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.lazily import lazily

if TYPE_CHECKING:
    from pegboard.policy.shell.judge import read_line as read_line
    from pegboard.policy.shell.line import Command as Command
    from pegboard.policy.shell.line import Line as Line
    from pegboard.policy.shell.line import Trouble as Trouble
    from pegboard.policy.shell.line import Word as Word
    from pegboard.policy.shell.matching import matches as matches

__getattr__, __all__ = lazily(
    __name__,
    {
        "judge": ("read_line",),
        "line": ("Command", "Line", "Trouble", "Word"),
        "matching": ("matches",),
    },
)
