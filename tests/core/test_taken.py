"""What a project that nobody trusts takes away is said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from pegboard.board import Board
from pegboard.testing.plugged import module_entry
from pegboard.tooling import tool
from pegboard.touches import Reads


@tool
def look(path: Annotated[str, Reads("f")]) -> str:
    """Look."""
    return path


@tool
def peek(path: Annotated[str, Reads("f")]) -> str:
    """Peek."""
    return path


def notes(folder: Path, project: str, own: str = "") -> str:
    root = folder / "work"
    (root / ".pegboard").mkdir(parents=True)
    (root / ".pegboard" / "config.toml").write_text(project)
    (folder / "user.toml").write_text(own)
    board = Board.build(
        str(root),
        user_file=folder / "user.toml",
        environ={},
        state=folder / "state",
        extra=[
            module_entry("first", "pegboard.toolsets", "pegboard_tools", [look], own=True),
            module_entry("second", "pegboard.toolsets", "pegboard_tools", [peek], own=True),
        ],
        discover=False,
    )
    return "\n".join(note for note in board.notes if "takes away" in note)


@pytest.mark.parametrize(
    ("project", "says"),
    [
        ('toolSets = ["first"]\n', "the set second (toolSets, line 1)"),
        ('[permission]\ndeny = ["*"]\n', "the tools look, peek (permission.deny: *, line 2)"),
        ('[permission]\ndeny = ["l*"]\n', "the tool look (permission.deny: l*, line 2)"),
        ('[tools]\ndeny = ["peek"]\n', "the tool peek (tools.deny: peek, line 2)"),
        ("[tools]\npeek = false\n", "the tool peek ([tools])"),
    ],
)
def test_sets_and_tools_that_are_gone_are_named_with_the_reason(tmp_path: Path, project: str, says: str) -> None:
    told = notes(tmp_path, project)

    assert ".pegboard/config.toml came with the project and takes away" in told and says in told, told


@pytest.mark.parametrize(
    ("project", "own"),
    [
        ("", ""),
        ('[permission]\nask = ["*"]\n', ""),
        ('[permission]\ndeny = ["look"]\n', '[permission]\ndeny = ["look"]\n'),
        ('toolSets = ["first"]\n', 'toolSets = ["first"]\n'),
        ("", '[permission]\ndeny = ["*"]\n'),
    ],
)
def test_nothing_is_said_where_it_takes_nothing_away(tmp_path: Path, project: str, own: str) -> None:
    assert notes(tmp_path, project, own) == ""
