"""What a plugin has called when the program ends (`atexit`): whoever waits there keeps every program that loads it from
ending, and the child process that checks it, which ends without asking, would never know."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

from pegboard.checking.loading import Hanging
from pegboard.checking.report import Findings, Said

ID = "load.side_effects"
SOON = 2.0
"""Seconds in which all of it has come back."""
_FIX = "Register with atexit only what comes back at once; what lasts belongs to a call, which has a time limit."


class Endings:
    """While it is entered, what is registered by code that is not Python's own is kept."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, Callable[[], Any]]] = []

    def __enter__(self) -> Endings:
        self._register = atexit.register
        atexit.register = self._keep
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        atexit.register = self._register

    def _keep(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Callable[..., Any]:
        by = str(sys._getframe(1).f_globals.get("__name__", ""))
        if by.partition(".")[0] not in sys.stdlib_module_names:
            self._kept.append((by, partial(function, *given, **named)))
        return self._register(function, *given, **named)

    def check(self, found: Sequence[Hanging], findings: Findings) -> None:
        """Call all of it, the last one first as Python does; a finding where that does not come back."""
        if not (self._kept and found and findings.wants(ID)):
            return
        subject, deadline = found[0].subject, time.monotonic() + SOON
        findings.begin(ID, subject)
        for by, function in reversed(self._kept):
            thread = threading.Thread(target=_call, args=(function,), daemon=True)
            thread.start()
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                named = getattr(function.func, "__qualname__", repr(function.func))
                text = f"what {by} registers with atexit ({named}) does not come back: no program that loads it ends"
                before = findings.found.get((ID, subject))
                if before is None or before.status != "fail":
                    findings.replace(ID, subject, Said("fail", text, _FIX))
                elif text not in before.text:
                    findings.replace(ID, subject, Said("fail", f"{before.text}; {text}", before.fix))
                return


def _call(function: Callable[[], Any]) -> None:
    with suppress(BaseException):  # isolates plugins: what is raised at the end of a program ends nothing
        function()
