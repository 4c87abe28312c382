"""This program started again in the place of its process, with the sessions that were open, and Ctrl-C meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import sys
import tempfile

import msgspec

from pegboard.kit.tree import kill_all
from pegboard.plugins.loaded import log_failure

VARIABLE = "PEGBOARD_RESTARTED"
"""Names the open file that says what the next process is told: an environment would hold no long draft."""


class Restart(msgspec.Struct, frozen=True, kw_only=True):
    """What the next process is told. `sessions`: those that are open, the one that is looked at first. `off`: plugins that
    it is without. `why`: what a person is told. `drafts`: what was written and not sent, by session."""

    sessions: list[str]
    off: list[str]
    why: str
    model: str | None = None
    mode: str | None = None
    drafts: dict[str, str] = {}


def start_again(restart: Restart) -> None:
    """Run this program anew in the place of this process, with the same command line. Returns where that cannot be.

    Files that this process holds are closed by it, and so its locks are free; the log has what was shown. Programs that its
    calls run are killed. A person who presses Ctrl-C more than once means this session, not the next: until that hears
    keys (`hears_again`), presses come to nothing."""
    kill_all()
    held = _hold_back(signal.SIG_BLOCK)
    try:
        with tempfile.TemporaryFile() as file:  # nameless, and gone with whoever has it open
            file.write(msgspec.json.encode(restart))
            file.flush()
            os.set_inheritable(file.fileno(), True)
            os.environ[VARIABLE] = str(file.fileno())
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    except OSError as error:
        os.environ.pop(VARIABLE, None)
        if held:
            _hold_back(signal.SIG_UNBLOCK)
        log_failure("the program could not be started again", error)


def restarted() -> Restart | None:
    """What the process before said, once; None: there was none. Called in the main thread, before threads are started; what
    was pressed until now, and until `hears_again`, was meant for the process before."""
    try:
        file = int(os.environ.pop(VARIABLE, ""))
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        with os.fdopen(file, "rb") as told:
            told.seek(0)
            restart = msgspec.json.decode(told.read(), type=Restart)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what waits is dropped
        _hold_back(signal.SIG_UNBLOCK)  # no thread, and no program of one, is to have it blocked
        return restart
    except (ValueError, OSError, msgspec.MsgspecError):
        return None


def hears_again() -> None:
    """Ctrl-C counts from here on. For who was `restarted`, just before it takes that signal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _hold_back(how: int) -> bool:
    """Block Ctrl-C in this thread, which the next program inherits, or no more; False: there is no such thing here."""
    if not hasattr(signal, "pthread_sigmask"):
        return False
    signal.pthread_sigmask(how, {signal.SIGINT})
    return True
