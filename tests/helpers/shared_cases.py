"""The shared cases, run by their own program on boards of this process."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pegboard_guard
import pytest
from pegboard.testing.bench import TestBoard
from pegboard_guard.protected import ProtectedPaths

FOLDER = Path(__file__).parents[1] / "shared" / "cases"


def runner() -> ModuleType:
    """`cases/run` as a module: it knows how to build a case and how to look at its facts."""
    loader = SourceFileLoader("shared_case_runner", str(FOLDER / "run"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


RUN = runner()


def cases(tools: Sequence[str], *corpora: str) -> list[Any]:
    """The cases of these tools, as parameters. Those that need a race or another user are not for one process."""

    def own(found: re.Match[str]) -> str:
        return ".PEGBOARD" if found[0].isupper() else ".Pegboard" if found[0][1].isupper() else ".pegboard"

    found = []
    for corpus in corpora:
        for line in (FOLDER / f"{corpus}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(re.sub(r"\.agent\b", own, line, flags=re.IGNORECASE))
            if case["call"]["tool"] in tools and not case["setup"].get("race") and not case["setup"].get("user"):
                found.append(pytest.param(case, id=case["id"]))
    return found


def check(case: dict[str, Any], tools: Sequence[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run one case with these tools, down the whole road, and fail where its facts do not hold."""

    class InProcess(RUN.Stage):  # type: ignore[misc, name-defined]
        """A case whose calls are made on a board of this process."""

        board: TestBoard | None = None

        def call(self, tool: str, args: dict[str, Any], extra: object = None) -> dict[str, Any]:
            if self.board is None:
                config = self.case["call"].get("config", {})
                self.board = TestBoard(
                    self.root,
                    tools=tools,
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

    monkeypatch.setattr(RUN, "Stage", InProcess)
    wrong: list[str] = RUN.run_case(case, "", {})
    assert not wrong, case["expect"]["why"]
