"""An app that a plugin holds up: told of on its last line, and started again without that plugin, with all that was open."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from textwrap import wrap
from typing import TYPE_CHECKING

from pegboard.restarting import Restart, start_again
from pegboard.terminal import visible
from pegboard.watchdog import Culprit, Watchdog, why_again

from pegboard_tui.app import PegboardApp

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.hosting import Hosted

    from pegboard_tui.session import SessionView

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_PLAIN = (
    "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 2048))
    + "\x1b[<u\x1b[0m\x1b[?1049l\x1b[?25h"
)
"""What an app in the terminal switched on is off again: mouse, focus, pastes, keys, the other screen."""


@contextmanager
def watched(board: Board, made: PegboardApp) -> Iterator[None]:
    """Watch the running loop while the app has the terminal."""
    before = None
    if termios is not None:
        with suppress(termios.error, OSError, ValueError):
            before = termios.tcgetattr(sys.stdin)

    def tell(text: str) -> None:
        columns, lines = shutil.get_terminal_size()
        told = wrap(visible(text), max(columns - 1, 20))[-lines:]
        drawn = (f"\x1b[{lines - up};1H\x1b[0;7m{line}\x1b[K" for up, line in enumerate(reversed(told)))
        _write(f"\x1b7{''.join(drawn)}\x1b[0m\x1b8")

    def let_go() -> None:
        _write(_PLAIN)
        if before is not None:
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, before)

    def again(culprit: Culprit) -> None:
        start_again(_now(made, [*board.switches.off, *culprit.names], why_again(culprit)))

    patience = board.config.plugins.loop_timeout
    watchdog = Watchdog(
        board.assembled.there, patience=patience, told=tell, restart=again, over=made.drawn_over, let_go=let_go
    )
    made.pressed = watchdog.press
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
        try:
            for id in others:
                await made.open_session(id, in_place=False)
            made.look_at(view)
        finally:
            view.presses.ended(turn=True)
        for one in made.views:
            if draft := before.drafts.get(one.conversation.id):
                one.composer.write(draft)

    made.at_first = rest
    return made


def _now(made: PegboardApp, off: list[str], why: str) -> Restart:
    """What is open. The thread that changes it does not run."""
    first = made.view
    others = [view for view in made.views if view is not first]
    drafts = {view.conversation.id: _draft(view) for view in (first, *others)}
    return Restart(
        sessions=[first.conversation.id, *(v.conversation.id for v in others if v.used or drafts[v.conversation.id])],
        off=off,
        why=why,
        model=made.model,
        mode=made.mode,
        drafts={id: text for id, text in drafts.items() if text},
    )


def _draft(view: SessionView) -> str:
    """What was written in a session and no turn has had: prompts that waited, then the input."""
    waiting = [*view.queued.steered, *view.queued.texts, view.composer.text]
    return "\n\n".join(text for text in waiting if text.strip())


def _write(text: str) -> None:
    stream = sys.__stderr__
    if stream is not None:
        with suppress(OSError, ValueError):
            os.write(stream.fileno(), text.encode("utf-8", "replace"))
