"""What a start notes of the imports that it makes, for the next one."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from pegboard.entries import Entry
from pegboard.plugins import vetting
from pegboard.plugins.vetting import Vetting


@pytest.mark.parametrize("told", [True, False])
def test_an_import_that_a_person_ended_after_being_told_of_it_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """It behaved in the child that looked at it. Ctrl-C before that may have meant anything."""
    monkeypatch.setattr(vetting, "HELD", 0.01 if told else 1e6)
    heard = threading.Event()
    said: list[str] = []

    class Hears(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())
            heard.set()

    log, hears = logging.getLogger("pegboard.plugins"), Hears()
    info = tmp_path / "slow-1.dist-info"
    info.mkdir()
    slow = Entry(
        name="slow",
        group="pegboard.toolsets",
        value="slow_tools",
        distribution="slow",
        version="1",
        own=False,
        info=str(info),
    )
    log.addHandler(hears)
    monkeypatch.setattr(log, "level", logging.INFO)
    try:
        first = Vetting(tmp_path / "state")
        with pytest.raises(KeyboardInterrupt), first.under_way(), first.noted(slow):
            assert not told or heard.wait(60)
            raise KeyboardInterrupt
    finally:
        log.removeHandler(hears)
    verdict = Vetting(tmp_path / "state").of_files(slow)
    assert (verdict is not None and not verdict.good) is told
    assert bool(said) is told and all("'slow' (slow 1) holds up this start" in text for text in said)
