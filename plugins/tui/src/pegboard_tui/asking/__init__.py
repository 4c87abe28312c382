"""Asking the person in place: for permission, and what a tool wants to know."""

from __future__ import annotations

from pegboard_tui.asking.panel import Asking as Asking
