"""The shared cases of edits for `multi_edit` and `apply_patch`, down the road of a real board."""

from __future__ import annotations

import importlib.util
import json
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pegboard_guard
import pytest
from pegboard.testing.bench import TestBoard
from pegboard_guard.protected import ProtectedPaths
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import edit_file
from pegboard_tools_edit_plus.editing import multi_edit
from pegboard_tools_edit_plus.patching import apply_patch

FOLDER = Path(__file__).parents[2] / "shared" / "cases"
TOOLS = ("multi_edit", "apply_patch")


def runner() -> ModuleType:
    """`cases/run` as a module: it knows how to build a case and how to look at its facts."""
    loader = SourceFileLoader("shared_edit_case_runner", str(FOLDER / "run"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


RUN = runner()


class InProcess(RUN.Stage):  # type: ignore[misc, name-defined]
    """A case whose calls are made on a board of this process."""

    board: TestBoard | None = None

    def call(self, tool: str, args: dict[str, Any], extra: object = None) -> dict[str, Any]:
        if self.board is None:
            self.board = TestBoard(
                self.root,
                tools=[multi_edit, apply_patch, edit_file, read_file],
                guards=[ProtectedPaths(pegboard_guard.Settings())],
                settings={"edit.require_read": bool(self.case["call"].get("config", {}).get("require_read"))},
                session="case",
                state=self.state,
            )
        started = time.monotonic()
        record = self.board.call(tool, **args)
        return {
            "outcome": record.outcome,
            "block": record.block,
            "text": record.text,
            "data": record.data,
            "truncated": record.truncated,
            "seconds": time.monotonic() - started,
            "valid_utf8": record.text.encode().decode() == record.text,
        }

    def close(self) -> None:
        if self.board is not None:
            self.board.close()
        super().close()


def cases() -> list[Any]:
    found = (json.loads(line) for line in (FOLDER / "edits.jsonl").read_text("utf-8").splitlines())
    return [pytest.param(case, id=case["id"]) for case in found if case["call"]["tool"] in TOOLS]


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, "Stage", InProcess)
    wrong: list[str] = RUN.run_case(case, "", {})
    assert not wrong, case["expect"]["why"]
