"""Plugins with widgets, installed for one test: entry points on disk, and a module that the widgets' process can import."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App
from textual.css.query import NoMatches
from textual.pilot import Pilot

CHECKOUT = Path(__file__).resolve().parents[2]
BAR_CHART = CHECKOUT / "examples" / "bar-chart"


def installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, distribution: str, entries: dict[str, str], *more: Path
) -> None:
    """Let a distribution be installed in a folder, with these widgets by kind. more: further folders on the path."""
    info = folder / f"{distribution.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.1\n", "utf-8")
    lines = "".join(f"{kind} = {value}\n" for kind, value in entries.items())
    (info / "entry_points.txt").write_text(f"[pegboard_tui.widgets]\n{lines}", "utf-8")
    for path in (folder, *more):
        monkeypatch.syspath_prepend(path)


def screen(app: App[object]) -> list[str]:
    """The lines that are on the screen, without the blanks at their ends."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


async def until(pilot: Pilot[object], what: Callable[[], object], seconds: float = 60) -> None:
    """Wait for something to hold; of what is looked for on a screen that is not there yet it does not."""

    def holds() -> bool:
        try:
            return bool(what())
        except NoMatches:
            return False

    async with asyncio.timeout(seconds):
        while not holds():
            await pilot.pause(0.02)
