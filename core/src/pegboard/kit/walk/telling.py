"""What a search found so far, for whoever watches the call."""

from __future__ import annotations

from pegboard.kit.sink import Sink


class Telling:
    """Puts lines into a call's output as they come, for as long as a result's limits let them.

    The result says it all again, so what is too much here is left out without a word."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lines = 0

    def __call__(self, line: str) -> None:
        data = line.encode()
        size = self._sink.size + len(data)
        if self._sink.caps.exceeded(chars=size, size=size, lines=self._lines + 1):
            return
        self._lines += 1
        self._sink.feed("stdout", data)
