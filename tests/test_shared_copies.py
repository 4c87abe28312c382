"""tests/shared holds copies of files that several projects share; where the originals are, the copies are the same.

The originals lie in `../shared`, beside the checkout, on the machines of the project's own developers and of CI.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPIES, ORIGINALS = ROOT / "tests" / "shared", ROOT.parent / "shared"
NAMES = sorted(path.relative_to(COPIES).as_posix() for path in COPIES.rglob("*") if path.is_file())


def test_there_are_copies() -> None:
    assert "spec/rows.tsv" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_its_original_byte_for_byte(name: str) -> None:
    if not ORIGINALS.is_dir():
        pytest.skip("../shared is not on this machine")
    original = ORIGINALS / name
    assert original.is_file(), f"{name} is gone from ../shared: remove the copy"
    same = (COPIES / name).read_bytes() == original.read_bytes()
    assert same, f"copy it again: cp ../shared/{name} tests/shared/{name}"
