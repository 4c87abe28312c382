"""The shared cases of paths and edits for `read_file`, `write_file` and `edit_file`, down the road of a real board."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pegboard_guard
import pytest
from pegboard.testing.bench import TestBoard
from pegboard_guard.protected import ProtectedPaths
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import edit_file, write_file

FOLDER = Path(__file__).parents[2] / "shared" / "cases"
TOOLS = ("read_file", "write_file", "edit")


def runner() -> ModuleType:
    """`cases/run` as a module: it knows how to build a case and how to look at its facts."""
    loader = SourceFileLoader("shared_case_runner", str(FOLDER / "run"))
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
            config = self.case["call"].get("config", {})
            self.board = TestBoard(
                self.root,
                tools=[read_file, write_file, edit_file],
                guards=[ProtectedPaths(pegboard_guard.Settings(allow=config.get("allow_write", [])))],
                settings={"edit.require_read": bool(config.get("require_read"))},
                session="case",
                state=self.state,
            )
        umask = os.umask(int(str(self.setup.get("umask", "022")), 8))
        started = time.monotonic()
        try:
            record = self.board.call(tool, **args)
        finally:
            os.umask(umask)
        answer: dict[str, Any] = json.loads(json.dumps({"outcome": record.outcome, "block": record.block}))
        return answer | {
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
    def own(found: re.Match[str]) -> str:
        return ".PEGBOARD" if found[0].isupper() else ".Pegboard" if found[0][1].isupper() else ".pegboard"

    found = []
    for corpus in ("paths", "edits"):
        for line in (FOLDER / f"{corpus}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(re.sub(r"\.agent\b", own, line, flags=re.IGNORECASE))
            if case["call"]["tool"] in TOOLS and not case["setup"].get("race") and not case["setup"].get("user"):
                found.append(pytest.param(case, id=case["id"]))
    return found


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, "Stage", InProcess)
    wrong: list[str] = RUN.run_case(case, "", {})
    assert not wrong, case["expect"]["why"]


@pytest.mark.parametrize(("tool", "args"), [(name, RUN.GOOD[name]) for name in TOOLS])
def test_a_plain_good_call_is_ok(tool: str, args: dict[str, Any], pegboard_board: Callable[..., TestBoard]) -> None:
    board = pegboard_board(tools=[read_file, write_file, edit_file])
    (Path(board.board.root) / "a.txt").write_bytes(b"one\ntwo\n")
    record = board.call(tool, **args)
    assert record.outcome == "ok", record.text
