"""The shared adversarial cases, through the real command line: what `tests/shared/cases/run` finds short, fails here.

The runner starts `pegboard` for each call; here those starts are the warm process's (`helpers/warm.py`), save for the plain
good call of each tool with which the runner begins.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from shared_cases import runner
from warm import Warm

PEGBOARD = Path(sys.executable).with_name("pegboard")
TOOLS = "read_file,write_file,edit,glob,grep,git_status,git_diff,git_log,git_show"


@pytest.mark.parametrize("corpus", ["edits", "paths", "search", "git"])
def test_every_case_of_the_tools_on_offer_holds(
    corpus: str, warm: Warm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: Any = runner()
    control, ran = cases.control, []

    def run(command: list[str], **how: Any) -> subprocess.CompletedProcess[Any]:
        env: dict[str, str] = how.get("env", {})
        if command[0] != str(PEGBOARD) or controls or not warm.fits(env, how["cwd"]):
            return subprocess.run(command, **how)
        ran.append(command)
        return warm.run(command, cwd=how["cwd"], env=env, data=None, timeout=how["timeout"], umask=how["umask"])

    controls: list[str] = []

    def cold(tool: str, binary: str) -> Any:
        controls.append(tool)
        try:
            return control(tool, binary)
        finally:
            controls.pop()

    monkeypatch.setenv("LC_ALL", "C.UTF-8")  # as the warm process has it
    monkeypatch.setattr(cases, "subprocess", SimpleNamespace(**vars(subprocess) | {"run": run}))
    monkeypatch.setattr(cases, "control", cold)
    monkeypatch.setattr(sys, "argv", ["run", "--bin", str(PEGBOARD), corpus, "--tools", TOOLS, "--verbose"])
    code, out = cases.main(), capsys.readouterr().out
    assert code == 0, out
    held = int(out.split(" of ", 1)[0].rsplit(" ", 1)[-1])
    assert held > 20, out
    assert len(ran) >= held
