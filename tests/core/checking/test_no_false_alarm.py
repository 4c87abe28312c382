"""`plugin check` has nothing against what Pegboard brings itself, nor against tools ported from elsewhere."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace
from pegboard.checking.child import run
from pegboard.checking.report import IDS, Report
from pegboard.checking.target import found

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = [
    *sorted(
        path.parent
        for kind in ("toolsets", "plugins", "examples")
        for path in ROOT.glob(f"{kind}/*/pyproject.toml")
        if 'entry-points."pegboard' in path.read_text("utf-8")  # the adapters hang on a board from the other side
    ),
    ROOT / "tests" / "data" / "ported",
]
NAMES = [folder.relative_to(ROOT).as_posix() for folder in FOLDERS]
MADE = [id for id in IDS if id != "tool.examples"]
"""That one is made for all of our sets in tests/acceptance/test_router_examples.py, and takes long."""

pytestmark = [pytest.mark.xdist_group("checking"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    with ExitStack() as stack:
        targets = [stack.enter_context(found(str(folder))) for folder in FOLDERS]
        ours = [
            replace(one, only=MADE) if name.startswith("toolsets") else one
            for name, one in zip(NAMES, targets, strict=True)
        ]
        return dict(zip(NAMES, run(ours), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_against_it(reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    wrong = [f"{one.id} {one.subject}: {one.text}" for one in report.checks if one.status in ("fail", "warn")]
    assert wrong == []
    assert report.passed and report.summary["pass"] >= 5


def test_the_ported_tools_are_ten_and_are_called(reports: dict[str, Report]) -> None:
    checks = reports["tests/data/ported"].checks
    assert len({one.subject for one in checks if one.id == "tool.docstring"}) == 10
    drawn = [one.subject for one in checks if one.id == "render.app" and one.status == "pass"]
    assert len(drawn) == 10
