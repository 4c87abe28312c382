"""Importing the command line, and sitting at its prompt, costs no app, no provider and no HTTP client."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pegboard_cli

HEAVY = {
    "textual",
    "openai",
    "httpx",
    "httpx2",
    "anthropic",
    "pydantic",
    "rich",
    "tomlkit",
    "tree_sitter",
    "trafilatura",
}
"""Packages that cost a start; each is needed by one command, or by one provider, at most."""
NOT_MODULES = ("pegboard_cli.richly", "pegboard_cli.__main__")
"""`richly` draws with Rich, and is imported where that is wanted; `__main__` is run."""
MODULES = sorted(found.name for found in pkgutil.walk_packages(pegboard_cli.__path__, "pegboard_cli."))


def imported_by(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has imported after this code."""
    ask = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", ask], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_no_module_of_the_command_line_imports_an_app_a_provider_or_an_http_client() -> None:
    assert {"pegboard_cli.chat", "pegboard_cli.commands.run"} <= set(MODULES)
    found = imported_by("\n".join(f"import {name}" for name in MODULES if name not in NOT_MODULES))
    assert "msgspec" in found
    assert not found & HEAVY and not {name for name in found if name.startswith("pegboard_")} - {"pegboard_cli"}


def test_a_line_session_imports_the_provider_that_answers_and_no_other(home: Path, tmp_path: Path) -> None:
    arguments = ["chat", "--model", "offline", "--path", str(tmp_path)]
    found = imported_by(f"from pegboard_cli.app import run\nassert run({arguments!r}) == 0")
    assert "pegboard_offline" in found and "asyncio" in found
    assert not found & HEAVY and "pegboard_openai" not in found
