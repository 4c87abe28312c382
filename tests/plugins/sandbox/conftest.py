"""Where tests of the sandbox take place: outside of /tmp, for what begins empty in there would hide it anyway."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pegboard_sandbox import Sandbox, Settings
from sandboxed import CHECKOUT, Place


@pytest.fixture
def works() -> None:
    """Skip where the sandbox does not work, saying why."""
    why = Sandbox(Settings()).missing()
    if why is not None:
        pytest.skip(f"the sandbox does not work here: {why}")


@pytest.fixture
def place(works: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Folders outside of /tmp."""
    parents = [path for path in (CHECKOUT, Path.home(), Path("/opt"), Path("/srv")) if _may_hold(path)]
    if not parents:
        pytest.skip("there is no folder to write outside of /tmp")
    base = Path(tempfile.mkdtemp(prefix=".sandbox-test-", dir=parents[0]))
    made = Place(base)
    monkeypatch.setenv("HOME", str(made.home))
    yield made
    shutil.rmtree(base)


def _may_hold(path: Path) -> bool:
    emptied = ("/tmp", "/var/tmp", "/run", "/dev")
    return os.access(path, os.W_OK) and not any(path.is_relative_to(one) for one in emptied)
