"""The tutorial, followed word for word: from an empty folder to a wheel installed in somebody else's environment.

`RECORD=1` writes what its commands print now into the page.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]


def test_the_tutorial_leads_from_an_empty_folder_to_a_wheel_in_another_environment(
    wheels: dict[str, Path], environment: Callable[[Path, Sequence[Path | str]], Path], tmp_path: Path
) -> None:
    uv = shutil.which(ROOT / ".tools/bin/uv") or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is missing; `make setup` brings it")
    venv = environment(tmp_path / "venv", [*wheels.values(), "pytest"])
    programs = [str(venv / "bin"), str(Path(uv).parent)]
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
        "DOC_BLOCKS_PATH": os.pathsep.join(programs),
        "VIRTUAL_ENV": str(venv),
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(next(iter(wheels.values())).parent),
        "UV_CONSTRAINT": str(ROOT / "constraints.txt"),
        "UV_BUILD_CONSTRAINT": str(ROOT / "constraints.txt"),
    }
    command = [sys.executable, ROOT / "scripts/doc_blocks.py", ROOT / "docs/tutorial.md"]
    if os.environ.get("RECORD"):
        command.append("--record")
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
