"""A line session that a plugin holds up: told of, and started again without that plugin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec
from pegboard.restarting import Restart, start_again
from pegboard.terminal import visible
from pegboard.watchdog import Culprit, Watchdog, why_again

from pegboard_cli.screen import Screen
from pegboard_cli.styles import is_terminal

if TYPE_CHECKING:
    from pegboard.board import Board

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]


@contextmanager
def watched(board: Board, screen: Screen, now: Callable[[], Restart]) -> Iterator[None]:
    """Watch the running loop. now: what a start in the place of this process would go on with. Where prompts come from a
    pipe it is only told of: those that were read and not answered would be lost."""
    attended = is_terminal(sys.stdin)
    before = termios.tcgetattr(sys.stdin) if attended and termios is not None else None

    def tell(text: str) -> None:
        screen.say(screen.styles.warn(visible(f"! {text}")))

    def let_go() -> None:
        if before is not None:
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, before)

    def again(culprit: Culprit) -> None:
        why = why_again(culprit)
        restart = msgspec.structs.replace(now(), off=[*board.switches.off, *culprit.names], why=why)
        tell("starting again ...")
        start_again(restart)
        tell("that could not be done; end this process and start it again with --session")

    patience, restart = board.config.plugins.loop_timeout, again if attended else None
    with Watchdog(board.assembled.there, patience=patience, told=tell, restart=restart, let_go=let_go).watching():
        yield
