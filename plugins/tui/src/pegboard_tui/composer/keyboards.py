"""What terminals send for keys that are not told apart by the oldest of their protocols."""

from __future__ import annotations

from enum import Enum
from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS


class _Key(Enum):
    ALT_ENTER = "alt+enter"


def tell_alt_enter_apart() -> None:
    """Have Textual read Alt and Enter as `alt+enter` in every terminal. By itself it does so only in those that speak the
    newer protocol; tmux does not, and there Enter would send what was to get a line more."""
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    table.setdefault("\x1b\r", (_Key.ALT_ENTER,))
