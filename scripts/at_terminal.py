"""Run a program on a pseudo-terminal and type answers to its questions, for `make demo` and the pages' examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

AGREED = "? [y/N] "
"""How a question ends that `pegboard plugin install` and its like ask."""
LIMIT = 120
"""Seconds that a program may run without asking or ending."""


class Plain:
    """A terminal's output as plain text, handed on as it comes: a terminal ends its lines with CR LF."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show

    def write(self, text: str) -> None:
        """Take what the program printed, and what was typed, as the terminal shows both."""
        self._show(text.replace("\r", ""))

    def flush(self) -> None:
        """Nothing is held back."""


def run(
    command: list[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    answers: Iterator[str],
    show: Callable[[str], object],
    prompts: Iterator[str] | None = None,
) -> int:
    """Run `command`, typing the next of `answers` to each question for permission or consent, and the next of `prompts` to
    each prompt of a line session, Ctrl-D when there are no more; returns its exit code.

    What a person would see goes to `show`. A terminal without colours, 100 columns wide."""
    import pexpect  # type: ignore[import-untyped]
    from pegboard_cli.chat_lines import PROMPT
    from pegboard_cli.prompt import ENDING

    child = pexpect.spawn(
        command[0],
        command[1:],
        cwd=str(cwd),
        env={**environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "100", "LINES": "50"},  # a test runner sets others
        encoding="utf-8",
        codec_errors="backslashreplace",
        timeout=LIMIT,
        dimensions=(50, 100),
    )
    child.logfile_read = Plain(show)
    try:
        questions = "|".join(re.escape(ending.rstrip()) for ending in (ENDING, AGREED))
        waits = [questions, rf"(?:\A|\n){re.escape(PROMPT.format(''))}\Z", pexpect.EOF]
        while (asked := child.expect(waits)) != len(waits) - 1:
            typed = next((prompts or iter(())) if asked else answers, None)
            if typed is None:
                child.sendeof()
            else:
                child.sendline(typed)
    except pexpect.TIMEOUT:
        show(f"\nStopped: it neither ended nor asked anything for {LIMIT} s.\n")
    child.close(force=True)
    return 1 if child.exitstatus is None else int(child.exitstatus)
