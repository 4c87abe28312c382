"""The shared cases about grep and glob, each with both engines, straight at the kit."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from pegboard.errors import ToolError
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import GlobQuery, Query, glob, grep
from pegboard.kit.workspace import Workspace
from shared_cases import FOLDER, RUN

SETTINGS = ("require_git", "follow_links", "max_hits", "max_line_chars")


def cases() -> list[Any]:
    lines = [line for name in ("search", "paths") for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").split("\n")]
    found = [json.loads(line) for line in lines if line]
    return [case for case in found if case["call"]["tool"] in ("grep", "glob")]


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    """The cases' own program, which builds them and checks the facts."""
    return RUN


def answer(root: Path, case: dict[str, Any], args: dict[str, Any], engine: str) -> dict[str, Any]:
    config = case["call"].get("config", {})
    settings = SearchSettings(engine=engine, **{key: config[key] for key in SETTINGS if key in config})  # type: ignore[arg-type]
    args = {"ignore_case" if key == "ignoreCase" else key: value for key, value in args.items()}
    if args.pop("fixed", False):
        args["regex"] = False
    workspace, started = Workspace(str(root)), time.monotonic()
    try:
        search: Any = (
            grep(workspace, Query(**args), settings)
            if case["call"]["tool"] == "grep"
            else glob(workspace, GlobQuery(**args), settings)
        )
        found = asyncio.run(search)
        said = {"outcome": "ok", "text": str(found), "data": msgspec.to_builtins(found)}
    except ToolError as error:
        said = {"outcome": "error", "text": str(error)}
    json.dumps(said, ensure_ascii=False).encode()
    return said | {"seconds": time.monotonic() - started, "valid_utf8": True}


@pytest.mark.parametrize("engine", ["rg", "python"])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_shared_case(case: dict[str, Any], engine: str, runner: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        runner.Stage, "call", lambda stage, tool, args, extra=None: answer(stage.root, case, args, engine)
    )
    wrong = runner.run_case(case, "", {})
    if wrong and wrong[0].startswith("SKIP"):
        pytest.skip("another user: test_walk_grep.py has it")
    assert not wrong
