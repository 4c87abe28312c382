"""The core set as a whole: what it offers, what it costs, and that nothing switches it off but its own name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegboard.board import Board

CORE = ["read_file", "write_file", "edit_file", "glob", "grep", "bash"]
MOST_BYTES = 5_000
"""What every request pays for the six schemas; the shared rows measured about 3,000 for a like set."""


def installed(tmp_path: Path, **flags: object) -> Board:
    return Board.build(
        str(tmp_path), flags=flags, user_file=tmp_path / "none.toml", environ={}, state=tmp_path / "state"
    )


def names(board: Board) -> list[str]:
    return [offer.name for offer in board.offers()]


@pytest.mark.row("S-015")
def test_the_core_set_is_six_tools_with_small_schemas(tmp_path: Path) -> None:
    board = installed(tmp_path)
    tools = board.registry.expand(["core"])
    assert [tool.name for tool in tools] == CORE
    assert sum(tool.wire_size() for tool in tools) <= MOST_BYTES
    for tool in tools:
        assert "$ref" not in str(tool.parameters) and "title" not in tool.parameters


@pytest.mark.row("S-019")
def test_an_empty_list_of_tool_sets_still_offers_exactly_the_core_tools(tmp_path: Path) -> None:
    assert names(installed(tmp_path, toolSets=[])) == CORE
    assert names(installed(tmp_path, toolSets=["gti"])) == CORE


def test_effects_and_overlaps_are_declared(tmp_path: Path) -> None:
    tools = {tool.name: tool for tool in installed(tmp_path).registry.expand(["core"])}
    assert {name: tool.effect for name, tool in tools.items()} == {
        "read_file": "read_only",
        "write_file": "side_effecting",
        "edit_file": "side_effecting",
        "glob": "read_only",
        "grep": "read_only",
        "bash": "side_effecting",
    }
    assert {name for name, tool in tools.items() if tool.declaration.overlap == "parallel"} == {
        "read_file",
        "glob",
        "grep",
    }


def test_of_all_sets_the_tools_that_only_read_may_overlap_and_no_other_does(tmp_path: Path) -> None:
    tools = installed(tmp_path).registry.tools
    reading = {tool.name for tool in tools if tool.effect == "read_only"}
    assert len(reading) > 15
    assert {tool.name for tool in tools if tool.declaration.overlap == "parallel"} == reading
    assert {tool.declaration.overlap for tool in tools if tool.name not in reading} == {"exclusive"}
