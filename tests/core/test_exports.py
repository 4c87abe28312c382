"""What `import pegboard` gives, and that it costs nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pegboard
import pytest

NAMES = "Answer Ask Board Call Context Deny Fetches Fragment Lists PegboardError Reads Record Result Runs SyncContext"
PUBLIC = [*NAMES.split(), "Tool", "ToolError", "Touch", "Writes", "__version__", "hookimpl", "tool"]


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_public_names_are_these() -> None:
    assert sorted(pegboard.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_is_there(name: str) -> None:
    assert getattr(pegboard, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    name = "Nothing"
    with pytest.raises(AttributeError, match="Nothing"):
        getattr(pegboard, name)


def test_a_public_name_is_the_object_whatever_was_imported_before() -> None:
    code = "import pegboard.board, pegboard.testing.bench; from pegboard import *; print(tool.__name__, Board.__name__)"
    assert python(code) == "tool Board"
    assert python("from pegboard import Board, tool; print(Board.build.__name__, callable(tool))") == "build True"


def test_importing_pegboard_imports_nothing_else() -> None:
    code = "import sys, typing; before = set(sys.modules); import pegboard; print(*sorted(set(sys.modules) - before))"
    assert set(python(code).split()) <= {"pegboard", "pegboard.lazily", "__future__"}


def test_finding_plugins_and_places_imports_nothing_heavy() -> None:
    loaded = set(python("import sys, pegboard.entries; pegboard.entries.scan(); print(*sys.modules)").split())
    assert not loaded & {"msgspec", "pluggy", "asyncio", "importlib.metadata", "configparser", "email"}


def test_building_a_board_imports_no_network_and_no_model(tmp_path: Any) -> None:
    code = f"""
import sys
from pathlib import Path
from pegboard import Board
Board.build({str(tmp_path)!r}, user_file=Path({str(tmp_path / "c.toml")!r}), environ={{}}, discover=False)
print(*sys.modules)
"""
    loaded = set(python(code).split())
    assert not loaded & {"http.client", "urllib.request", "socketserver", "textual", "rich", "typer"}


def test_a_board_of_all_that_is_installed_reads_no_command_and_searches_nothing_yet(tmp_path: Any) -> None:
    code = f"""
import sys
from pathlib import Path
from pegboard import Board
Board.build({str(tmp_path)!r}, user_file=Path({str(tmp_path / "c.toml")!r}), environ={{}}, state=Path({str(tmp_path)!r}))
print(*sys.modules)
"""
    loaded = set(python(code).split())
    assert "pegboard_guard.protected" in loaded and "pegboard_tools_core.search" in loaded
    assert not loaded & {"pegboard.policy.shell.judge", "pegboard.kit.walk.search"}


def test_the_testing_plugin_imports_nothing_until_it_is_used() -> None:
    loaded = set(python("import sys, pegboard.testing.fixtures; print(*sys.modules)").split())
    assert not loaded & {"msgspec", "pegboard.board", "pegboard.testing.bench"}
