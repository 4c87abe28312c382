"""The whole path of a deny rule, from the file, variable or option that holds it to a call that is refused.

A deny that is read and then lost somewhere on the way would be the worst fault there is: every kind of deny is walked
from every layer that can hold one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pegboard.board import Board
from pegboard.calls import Record
from pegboard.plugins import given
from recording import RAN, Brings

LOOK, FETCH = ("look", {"path": "docs/a"}), ("fetch", {"url": "http://a.example/"})
SHELL = ("shell", {"command": "cd docs && make all"})
RULES = "permission.rules"
DENIES: dict[str, tuple[str, Any, tuple[str, dict[str, str]], str]] = {
    "tools.deny": ("tools.deny", ["look"], LOOK, "tools.deny: look"),
    "tools.deny of a set": ("tools.deny", ["fs:*"], LOOK, "tools.deny: fs:*"),
    "tools.allow": ("tools.allow", ["shell"], LOOK, "tools.allow"),
    "permission key": ("tool_permission.read", "deny", LOOK, "tool_permission.read"),
    "permission.deny": ("permission.deny", ["fs:l*"], LOOK, "permission.deny: fs:l*"),
    "default deny": ("permission.dangerous_default_deny", ["fs:*"], LOOK, "permission.dangerous_default_deny: fs:*"),
    "rule of a tool": (RULES, [{"action": "deny", "tool": "look"}], LOOK, f"{RULES}: tool look"),
    "rule of a key": (RULES, [{"action": "deny", "key": "read"}], LOOK, f"{RULES}: key read"),
    "rule of a path": (RULES, [{"action": "deny", "path": "docs/"}], LOOK, f"{RULES}: path docs/"),
    "rule of a host": (RULES, [{"action": "deny", "host": "*.example"}], FETCH, f"{RULES}: host *.example"),
    "rule of a command": (RULES, [{"action": "deny", "command": "make"}], SHELL, f"{RULES}: command make"),
    "rule of all": (RULES, [{"action": "deny"}], SHELL, f"{RULES}: every call"),
}
LAYERS = ["user", "project", "environment", "flag", "mode"]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else f'"{value}"'


async def refused(folder: Path, layer: str, key: str, value: Any, call: tuple[str, dict[str, str]]) -> Record:
    """Make the call where this layer alone says something, everything being allowed by a later one than the user's."""
    root, user = folder / "root", folder / "user.toml"
    (root / ".pegboard").mkdir(parents=True)
    allowed = "".join(
        f"tool_permission.{one} = 'allow'\n" for one in ("bash", "web") if f"tool_permission.{one}" != key
    )
    written = f"\n{key} = {toml(value)}\n"
    user.write_text(
        allowed + {"user": written, "mode": f"\nmodes.mine.{key} = {toml(value)}\n"}.get(layer, ""), "utf-8"
    )
    if layer == "project":
        (root / ".pegboard" / "config.toml").write_text(written, "utf-8")
    environ = {f"PEGBOARD_{key.replace('.', '_').upper()}": toml(value)} if layer == "environment" else {}
    flags = {"permission.allow": ["*"], **({key: value} if layer == "flag" else {})}
    board = Board.build(
        str(root),
        user_file=user,
        environ=environ,
        state=folder / "state",
        flags=flags | ({"mode": "mine"} if layer == "mode" else {}),
        extra=[given("fs", "pegboard.toolsets", Brings)],
        discover=False,
    )
    try:
        return await board.call(*call, answers="--yes")
    finally:
        await board.close()


@pytest.mark.row("U-053")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", DENIES)
def test_a_deny_of_every_layer_refuses_the_call(tmp_path: Path, layer: str, kind: str) -> None:
    key, value, call, rule = DENIES[kind]
    RAN.clear()
    record = asyncio.run(refused(tmp_path, layer, key, value, call))
    assert (record.outcome, record.block, RAN) == ("blocked", "denied", [])
    decision = record.decision
    assert decision is not None
    assert decision.rule == (f"modes.mine: {rule}" if layer == "mode" else rule)
    assert decision.layer == ("flag" if layer == "mode" else layer)
    if layer in ("user", "mode"):
        assert decision.source is not None and Path(decision.source.file).name == "user.toml"
        assert decision.source.line == 4
    elif layer == "project":
        assert decision.source is not None and decision.source.file.endswith(".pegboard/config.toml")
        assert decision.source.line == 2
    else:
        assert decision.source is None


def test_without_the_deny_the_same_calls_run(tmp_path: Path) -> None:
    RAN.clear()
    for number, call in enumerate((LOOK, FETCH, SHELL)):
        record = asyncio.run(refused(tmp_path / str(number), "none", "", [], call))
        assert record.outcome == "ok", record.text
    assert len(RAN) == 3
