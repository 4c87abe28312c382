"""An app that a plugin holds up: told of on its last line, and started again without that plugin, with all that was open."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pegboard.terminal import visible
from pegboard.watchdog import Culprit, Restart, Watchdog, start_again, why_again

from pegboard_tui.app import PegboardApp

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.hosting import Hosted

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_PLAIN = (
    "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 2048))
    + "\x1b[<u\x1b[0m\x1b[?1049l\x1b[?25h"
)
"""What an app in the terminal switched on is off again: mouse, focus, pastes, keys, the other screen."""
MOST_DRAFT = 64 * 1024
"""Characters of what is written and not sent that go with it: an environment holds no more."""


@contextmanager
def watched(board: Board, made: PegboardApp) -> Iterator[None]:
    """Watch the running loop while the app has the terminal."""
    before = None
    if termios is not None:
        with suppress(termios.error, OSError, ValueError):
            before = termios.tcgetattr(sys.stdin)

    def tell(text: str) -> None:
        columns, lines = shutil.get_terminal_size()
        _write(f"\x1b7\x1b[{lines};1H\x1b[0;7m{visible(text)[: columns - 1]}\x1b[K\x1b[0m\x1b8")

    def again(culprit: Culprit) -> None:
        restart = _now(made, [*board.switches.off, *culprit.names], why_again(culprit))
        _write(_PLAIN)
        if before is not None:
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
        start_again(restart)

    patience = board.config.plugins.loop_timeout
    watchdog = Watchdog(board.assembled.there, patience=patience, told=tell, restart=again, over=made.drawn_over)
    with watchdog.watching():
        yield


def gone_on(board: Board, host: Hosted, before: Restart) -> PegboardApp:
    """The app with what was open in a process before.

    Raises:
        PegboardError: the session cannot be opened.
    """
    board.notes.append(before.why)
    first, *others = before.sessions
    made = PegboardApp(
        host, host.open(first, model=before.model, mode=before.mode), model=before.model, mode=before.mode
    )

    async def rest() -> None:
        view = made.view
        for id in others:
            await made.open_session(id)
        made.look_at(view)
        if before.draft:
            view.composer.write(before.draft)

    made.at_first = rest
    return made


def _now(made: PegboardApp, off: list[str], why: str) -> Restart:
    """What is open. The thread that changes it does not run."""
    first = made.view
    waiting = [*first.queued.steered, *first.queued.texts, first.composer.text]
    return Restart(
        sessions=[first.conversation.id, *(one.conversation.id for one in made.views if one is not first and one.used)],
        off=off,
        why=why,
        model=made.model,
        mode=made.mode,
        draft="\n\n".join(text for text in waiting if text.strip())[:MOST_DRAFT],
    )


def _write(text: str) -> None:
    stream = sys.__stderr__
    if stream is not None:
        with suppress(OSError, ValueError):
            os.write(stream.fileno(), text.encode("utf-8", "replace"))
