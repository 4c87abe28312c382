"""How much is done for one command line, so that none keeps a session waiting, however it is put together.

Work is counted, not timed: what a line is said to be must not depend on the machine."""

from __future__ import annotations

TOKENS = 4000
"""Words and operators of one line."""

WORK = 40_000
"""Characters and words that are read in the search for commands inside others, those in several counted again."""

COMMANDS = 300
"""Commands that are found inside others."""

NAMES = 30_000
"""Names of files and folders that are looked at."""

PATH = 10
"""How many names the way to one path counts for."""


class Budget:
    """What is left for one line. `spent`: it was not enough to find all commands of the line. That it was not enough to look
    at all files only keeps commands from counting as reading."""

    def __init__(self) -> None:
        self.tokens, self.work, self.commands, self.names = TOKENS, WORK, COMMANDS, NAMES
        self.spent = False

    def token(self) -> bool:
        """Whether one more token may be read."""
        self.tokens -= 1
        self.spent = self.spent or self.tokens < 0
        return self.tokens >= 0

    def read(self, size: int) -> bool:
        """Whether this many more characters or words may be searched."""
        self.work -= size
        self.spent = self.spent or self.work < 0
        return self.work >= 0

    def command(self) -> bool:
        """Whether one more command may be kept."""
        self.commands -= 1
        self.spent = self.spent or self.commands < 0
        return self.commands >= 0

    def look(self, count: int = 1) -> bool:
        """Whether this many more names may be looked at."""
        self.names -= count
        return self.names >= 0
