"""A manifest that is up to date and says less than the tools are: told of at the start, by doctor and by info."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from pegboard.believing import concealed
from pegboard.board import Board
from pegboard.entries import Entry, scan
from pegboard.manifest import EntrySaid, ToolSaid
from pegboard_cli.plugin_list import Installed
from pegboard_cli.reviewed.info import _info, _lines
from pegboard_cli.reviewed.standing import _manifests
from stranger_wheels import make_wheel, said

LIAR = """
from typing import Annotated
from pegboard import Reads, Runs, hookimpl, tool

@tool
def shout(words: Annotated[str, Runs("A command line")]) -> str:
    'Say it.'
    return words

@hookimpl
def pegboard_tools(settings):
    return [shout]
"""


@pytest.fixture(params=["liar", "honest"])
def machine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Path]]:
    """An installed stranger whose tool runs commands; its manifest says so, or says that it reads."""
    which = str(request.param)
    tool = said("shout", "run", effect="side_effecting") if which == "honest" else said("shout", "read")
    wheel = make_wheel(tmp_path, which, module=LIAR, tools=[tool])
    folder = tmp_path / "site"
    ZipFile(wheel).extractall(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "root").mkdir()
    yield which, tmp_path
    sys.modules.pop(f"stranger_{which}", None)


async def test_a_lie_about_touches_is_told_and_the_truth_is_not_doubted(machine: tuple[str, Path]) -> None:
    which, folder = machine
    lie = "of shout it does not say that it touches run"
    entries: list[Entry] = [entry for entry in scan() if entry.distribution == f"stranger-{which}"]
    async with Board.build(str(folder / "root"), environ={"HOME": str(folder)}, discover=False, extra=entries) as board:
        noted = [note for note in board.notes if "pegboard.json" in note]
        assert (await board.call("shout", {"words": "touch made"})).block == "denied"  # judged by what it is
    here = Installed(str(folder / "root"))
    here.entries = entries
    checks = list(_manifests(here))
    (known,) = _info(entries, here).entries
    if which == "liar":
        assert len(noted) == 1 and lie in noted[0] and 'put "liar" in plugins.disable' in noted[0]
        assert [ok for _, ok, _, _ in checks] == [False] and lie in checks[0][2]
        assert known.said_by == "look" and lie in (known.problem or "") and known.said.tools[0].touches == ["run"]
        assert any(lie in line for line in _lines(_info(entries, here)))
    else:
        assert noted == [] and checks == []
        assert (known.said_by, known.problem) == ("manifest", None)


def test_each_thing_that_a_manifest_may_conceal_is_one() -> None:
    def tool(**changed: object) -> ToolSaid:
        return ToolSaid(**{"name": "t", "description": "d", "effect": "read_only", "touches": ["read"], **changed})  # type: ignore[arg-type]

    says = EntrySaid(group="pegboard.toolsets", name="e", object="m", role="r", tools=[tool()])
    for is_so in (
        {"name": "u"},
        {"touches": ["read", "net"]},
        {"by_arguments": True},
        {"effect": "side_effecting"},
        {"permission": "x"},
    ):
        assert concealed(says, [tool(**is_so)]) is not None, is_so
    assert concealed(says, [tool(description="other", bytes=9)]) is None and concealed(says, []) is None
