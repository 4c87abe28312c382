"""The table of docs/security.md, line by line: these rules, this call, this verdict."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pegboard.board import Board
from pegboard.calls import Call
from pegboard.lane import Lane
from pegboard.policy import Policy
from pegboard.policy.remembered import offer_of
from pegboard.policy.rules import Rule
from pegboard.road import Road
from pegboard.trip import placed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
HEADER = "| rules | call | gets | by |"
FILLED = {"edit_file": {"old_string": "x", "new_string": "y"}, "write_file": {"content": "x"}}
"""Arguments beside the key one, for tools that want more."""


class Line(NamedTuple):
    """One line of the table."""

    rules: list[tuple[str, str]]
    call: str
    action: str
    rule: str
    layer: str


def lines() -> Iterator[Line]:
    text = PAGE.read_text("utf-8").partition(HEADER)[2]
    for row in text.split("\n")[2:]:
        if not row.startswith("|"):
            return
        rules, call, action, by = (cell.strip() for cell in row.strip("|").split("|"))
        said = re.fullmatch(r"`([^`]+)` \((\w+)\)", by)
        assert said is not None, by
        each = [re.fullmatch(r"(\w+): `([^`]+)`", rule) for rule in rules.split("; ") if rule]
        assert all(each), rules
        yield Line([(rule[1], rule[2]) for rule in each if rule], call.strip("`"), action, said[1], said[2])


LINES = list(lines())


def test_the_table_is_there() -> None:
    assert len(LINES) >= 20
    assert {action for line in LINES for action in [line.action]} == {"allow", "ask", "deny"}
    assert {layer for line in LINES for layer, _ in line.rules} == {"user", "project", "environment", "flag", "always"}


def values(line: Line, layer: str) -> dict[str, Any]:
    """What a layer says, by dotted key."""
    out: dict[str, Any] = {}
    for where, text in line.rules:
        if where == layer:
            key, _, value = text.partition(" = ")
            out[key] = tomllib.loads(f"v = {value}")["v"]
    return out


def written(line: Line, layer: str) -> str:
    return "".join(f"{text}\n" for where, text in line.rules if where == layer)


def call_of(road: Road, text: str) -> Call:
    name, _, rest = text.partition(" ")
    tool = road.registry.get(name)
    assert tool is not None and tool.key is not None
    return Call(id="c1", name=name, arguments={tool.key: rest} | FILLED.get(name, {}))


def remember(road: Road, text: str) -> None:
    """As if a person had answered this call with "always", when nothing but a question stood in its way."""
    call = call_of(road, text)
    tool = road.registry.get(call.name)
    assert tool is not None
    shaped = tool.read(call.arguments)
    touches = placed(tool.touches(shaped.value), road.workspace)
    offer = offer_of(Policy([Rule(action="ask", name="then")]), tool, call, shaped.body, touches)
    assert offer is not None
    road.desk.remembered.keep(offer)


@pytest.mark.parametrize("line", LINES, ids=[f"{n}-{line.call}" for n, line in enumerate(LINES, 1)])
def test_each_line_of_the_table_holds(line: Line, tmp_path: Path) -> None:
    root, user = tmp_path / "root", tmp_path / "user.toml"
    (root / ".pegboard").mkdir(parents=True)
    user.write_text(written(line, "user"))
    if project := written(line, "project"):
        (root / ".pegboard" / "config.toml").write_text(project)
    environ = {
        f"PEGBOARD_{key.replace('.', '_').upper()}": str(value) for key, value in values(line, "environment").items()
    }
    board = Board.build(
        str(root), user_file=user, environ=environ, flags=values(line, "flag"), state=tmp_path / "state"
    )
    try:
        road = board.road(board.session(in_memory=True))
        for layer, text in line.rules:
            if layer == "always":
                remember(road, text)
        record = asyncio.run(road.travel(call_of(road, line.call), Lane(), until="decide"))
    finally:
        asyncio.run(board.close())
    decision = record.decision
    assert decision is not None, record.text
    assert (decision.action, decision.rule, decision.layer) == (line.action, line.rule, line.layer)
    assert (decision.source is None) == (line.layer not in ("user", "project"))
