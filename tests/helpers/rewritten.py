"""Test modules with their assertions rewritten, by each worker of a run for all of them.

Rewriting is most of what collecting takes, and each worker collects everything. Where nothing of it is kept from earlier
runs (a fresh clone, or a Python that is told to write no bytecode), each rewrites its share first and takes the others' as
they come. One that is not there yet is rewritten where it is needed, so nobody waits.
"""

from __future__ import annotations

import marshal
import os
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from _pytest.assertion import rewrite

Rewritten = tuple[os.stat_result, CodeType]


def share(config: pytest.Config, folder: Path, tests: Path, worker: int, workers: int) -> None:
    """Let this worker, one of so many, put what it rewrites into `folder`, and take from there what others did."""
    ours = rewrite._rewrite_test
    modules = sorted(tests.rglob("*.py"))

    def rewritten(module: Path, config: Any) -> Rewritten:
        kept = folder / str(module.relative_to(tests)).replace(os.sep, "+") if module.is_relative_to(tests) else None
        if kept is None:
            return ours(module, config)
        try:
            return module.stat(), marshal.loads(kept.read_bytes())
        except FileNotFoundError:
            stat, code = ours(module, config)
        part = kept.with_name(f"{kept.name}.{worker}")
        part.write_bytes(marshal.dumps(code))
        part.replace(kept)
        return stat, code

    if not any(tests.rglob("*-pytest-*.pyc")):
        rewrite._rewrite_test = rewritten
        folder.mkdir(exist_ok=True)
        for module in modules[worker::workers]:
            if module.name.startswith("test_") or module.name == "conftest.py":
                rewritten(module, config)
