"""With `--json`, stdout is the document's alone: what plugins and tools print, at whatever level, goes to stderr."""

from __future__ import annotations

import io
import os
import sys
from typing import BinaryIO, cast


class DocumentOnly(io.TextIOWrapper):
    """Stands for `sys.stdout`: documents are written to its `buffer`; text that somebody prints is shown on stderr."""

    def write(self, text: str, /) -> int:
        """Text that is no document."""
        return sys.stderr.write(text)


class Nowhere(io.FileIO):
    """Stands for an output that was closed before the start. `lost`: something was written that nobody can read."""

    lost = False

    def __init__(self) -> None:
        super().__init__(os.devnull, "wb")

    def write(self, data: object, /) -> int:
        """What is lost."""
        self.lost = True
        return super().write(data)  # type: ignore[arg-type]


def went_nowhere() -> bool:
    """Whether something was written to a stdout that was closed before the start."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, Nowhere) and raw.lost


def keep_stdout(json: bool) -> bool:
    """Take stdout from everybody else, if a document was asked for. Returns what it was given (a callback of Typer's)."""
    if json and isinstance(getattr(sys.stdout.buffer, "raw", None), Nowhere):
        return json  # nobody reads it
    if json and not isinstance(sys.stdout, DocumentOnly):
        try:
            sys.stdout.flush()
            real = os.dup(1)
            os.dup2(2, 1)
        except (OSError, ValueError):  # closed streams: there is nothing to keep
            return json
        # Not closed at the end of the process by being collected: what is in it is flushed by `app.flush`.
        sys.stdout = DocumentOnly(cast("BinaryIO", os.fdopen(real, "wb")), encoding="utf-8", errors="backslashreplace")
    return json
