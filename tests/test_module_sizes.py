"""A module that outgrows its idea is split: above 300 lines a warning, above 400 a failure."""

from __future__ import annotations

import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WARN, LIMIT = 300, 400

ALLOWED: dict[str, int] = {}
"""Modules that may be longer for now, each with its present length. It only shrinks."""


def sizes() -> dict[str, int]:
    """Lines of every module of ours, by path from the repository's root."""
    return {
        path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines())
        for folder in ("core", "toolsets", "plugins")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def test_no_module_outgrows_its_limit() -> None:
    found = sizes()
    assert found, "no modules were found: this test looks in the wrong place"
    too_long = {name: lines for name, lines in found.items() if lines > ALLOWED.get(name, LIMIT)}
    assert not too_long, f"over {LIMIT} lines, split them: {too_long}"
    for name, lines in found.items():
        if lines > WARN:
            warnings.warn(f"{name} has {lines} lines; over {LIMIT} fails", stacklevel=1)


def test_the_allowlist_shrinks() -> None:
    found = sizes()
    stale = {name: most for name, most in ALLOWED.items() if found.get(name, 0) < most}
    assert not stale, f"these have shrunk or gone: lower or remove their entry: {stale}"
