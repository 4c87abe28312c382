"""Each planted fault is found by the check that is there for it, and the plugin that comes near it passes that check."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pegboard.checking.child import run
from pegboard.checking.report import Finding
from pegboard.checking.target import Hung, Target

from .planted_loading import LOADING
from .planted_roles import ROLES
from .planted_tools import TOOLS
from .planting import HEAD, Planted

PLANTED = {**LOADING, **TOOLS, **ROLES}

pytestmark = [pytest.mark.xdist_group("checking"), pytest.mark.timeout(300)]

Found = dict[str, list[Finding]]


def target(folder: Path, name: str, planted: Planted, code: str) -> Target:
    """A distribution of one module with one entry."""
    word = name.replace("-", "_")
    module = f"planted_{word}"
    text = f"{HEAD}\n{code}\n{planted.after}".replace("{word}", word if planted.group != "pegboard.slash" else name)
    (folder / f"{module}.py").write_text(text, "utf-8")
    value = f"{module}:{planted.value}" if planted.value else module
    entries = [Hung(name=name, group=planted.group, value=value)]
    return Target(target=name, distribution=name, version="1", entries=entries, paths=[str(folder)], only=[planted.id])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What is found of all of them, in one child; those that end it or hold it up go on in another."""
    folder = tmp_path_factory.mktemp("planted")
    targets = [
        target(folder, f"{name}-{kind}", planted, code)
        for name, planted in PLANTED.items()
        for kind, code in (("fault", planted.fault), ("near", planted.near))
    ]
    return {report.target: report.checks for report in run(targets, step=8)}


def spelled(checks: list[Finding]) -> list[str]:
    return [f"{one.status} {one.id} {one.subject}: {one.text}" for one in checks]


def test_there_are_thirty_faults_and_more() -> None:
    assert len(PLANTED) >= 30


@pytest.mark.parametrize("name", PLANTED)
def test_the_fault_is_found_and_what_to_do_is_said(found: Found, name: str) -> None:
    planted = PLANTED[name]
    told = [one for one in found[f"{name}-fault"] if one.id == planted.id and one.status == planted.status]
    assert told, spelled(found[f"{name}-fault"])
    assert told[0].fix


@pytest.mark.parametrize("name", PLANTED)
def test_what_comes_near_it_passes(found: Found, name: str) -> None:
    checks = [one for one in found[f"{name}-near"] if one.id == PLANTED[name].id]
    assert checks and {one.status for one in checks} == {"pass"}, spelled(found[f"{name}-near"])


def test_a_slow_help_is_told_what_imports_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    import typer
    from pegboard.checking import objects
    from pegboard.entries import Entry

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(help="Say hello.")(lambda: None)
    entry = Entry(name="hello", group="pegboard.commands", value="x:app", distribution="acme", version="1", own=False)
    hanging = objects.Hanging(entry=entry, subject="hello (command)", made=app)
    monkeypatch.setattr(objects, "LIMIT_MS", -1)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert "rich_markup_mode=None" in objects._command(hanging).fix
    monkeypatch.delitem(sys.modules, "rich")
    assert "rich" not in objects._command(hanging).fix
