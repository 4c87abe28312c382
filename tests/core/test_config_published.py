"""What is told of the settings: every key, its meaning, and a schema; and that the page says the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pegboard.config.load import load
from pegboard.config.published import keys, schema, tables
from pegboard.config.schema import DEFAULT_PERMISSION, RESERVED, Config, known_keys

ROOT = Path(__file__).resolve().parents[2]


def test_every_key_is_told_of_with_what_it_takes_and_what_it_does() -> None:
    told = keys()
    assert set(known_keys()) <= set(told)
    assert [key.name for key in told.values() if not key.description or not key.wanted] == []
    assert all(about for table, about, _ in tables() if table)


def test_defaults_are_those_that_hold(tmp_path: Path) -> None:
    config = load(user_file=tmp_path / "none", root=str(tmp_path), environ={}, flags={}).config
    for name in known_keys():
        table, _, inner = name.partition(".")
        held: Any = getattr(config, table)
        if table == "tool_permission" and inner in DEFAULT_PERMISSION:
            assert keys()[name].default == DEFAULT_PERMISSION[inner]
        else:
            assert keys()[name].default == (getattr(held, inner) if inner else held), name


def test_what_a_project_may_set_is_marked_and_nothing_that_could_widen_is() -> None:
    marked = {name for name, key in keys().items() if key.project}
    assert marked == {
        *(f"tool_permission.{key}" for key in (*DEFAULT_PERMISSION, "NAME")),
        *(f"tool_permission.bash_{key}" for key in ("read_only", "multiline", "max_chars", "max_commands")),
        *(f"tools.{key}" for key in ("allow", "deny", "NAME")),
        *(f"limits.{key}" for key in ("max_steps", "max_tokens", "timeout")),
        *(f"edit.{key}" for key in ("require_read", "staleness", "tolerance", "max_bytes")),
        *(f"permission.{key}" for key in ("ask", "deny", "dangerous_default_deny", "rules")),
        *(f"concurrency.{key}" for key in ("tool_calls", "delegations", "mcp_connections", "lsp_requests")),
        *("toolSets", "mode", "local_models", "paths.outside", "approval.strict", "sessions.redact"),
    }


def test_the_page_has_the_tables_that_the_settings_give() -> None:
    script = ROOT / "scripts" / "config_reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_not_what_the_settings_say_is_found(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "docs").mkdir()
    script = tmp_path / "scripts" / "config_reference.py"
    for name in (script.name, "reference_pages.py"):
        (tmp_path / "scripts" / name).write_text((ROOT / "scripts" / name).read_text("utf-8"), "utf-8")
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    page = tmp_path / "docs" / "configuration.md"
    page.write_text(text.replace("| `max_hits` |", "| `max_hit` |"), "utf-8")
    run = [sys.executable, script]
    assert subprocess.run([*run, "--check"], capture_output=True, timeout=60).returncode == 1
    assert subprocess.run(run, capture_output=True, timeout=60).returncode == 0
    assert page.read_text("utf-8") == text


# --- the schema -------------------------------------------------------------------------------------------------------


def accepts(value: Any, part: dict[str, Any], whole: dict[str, Any]) -> bool:
    """A validator for the words that the schema uses; it fails on any other."""
    if "$ref" in part:
        return accepts(value, whole["$defs"][part["$ref"].rsplit("/", 1)[-1]], whole)
    known = {"type", "properties", "additionalProperties", "items", "enum", "anyOf", "minimum", "exclusiveMinimum"}
    known |= {"maximum", "minItems", "required"}
    assert set(part) <= known | {"$schema", "$defs", "title", "description", "default", "examples"}, part
    if "anyOf" in part:
        return any(accepts(value, one, whole) for one in part["anyOf"])
    if "enum" in part:
        return value in part["enum"]
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match part.get("type"):
        case "integer":
            right = number and isinstance(value, int)
        case "number":
            right = number
        case None:
            right = True
        case kind:
            right = isinstance(value, kinds[kind])
    if not right:
        return False
    if number and (value < part.get("minimum", value) or value <= part.get("exclusiveMinimum", value - 1)):
        return False
    if number and value > part.get("maximum", value):
        return False
    if isinstance(value, list) and len(value) < part.get("minItems", 0):
        return False
    if isinstance(value, dict) and not set(part.get("required", ())) <= set(value):
        return False
    if isinstance(value, list):
        return all(accepts(one, part.get("items", {}), whole) for one in value)
    if isinstance(value, dict):
        more = part.get("additionalProperties", True)
        for key, one in value.items():
            if key in part.get("properties", {}):
                if not accepts(one, part["properties"][key], whole):
                    return False
            elif more is False or (isinstance(more, dict) and not accepts(one, more, whole)):
                return False
    return True


@pytest.mark.parametrize(
    ("values", "good"),
    [
        ({}, True),
        ({"toolSets": ["git"], "model": "a/b", "hooks": [{"event": "pre_tool", "command": ["x"]}]}, True),
        ({"hooks": [{"event": "pre_tool"}]}, False),
        ({"hooks": [{"event": "pre_tool", "command": []}]}, False),
        (
            {"permission": {"rules": [{"action": "deny", "path": ["a", "b"]}, {"action": "allow", "command": "x"}]}},
            True,
        ),
        ({"permission": {"rules": [{"action": "never"}]}}, False),
        ({"permission": {"rules": [{"tool": "x"}]}}, False),
        ({"permission": {"rules": [{"action": "deny", "pth": "x"}]}}, False),
        ({"permission": {"dney": ["x"]}}, False),
        ({"modes": {"m": {"tool_permission": {"edit": "allow"}, "tools": {"deny": ["x"]}}}}, True),
        ({"modes": {"m": {"tool_permissions": {}}}}, False),
        ({"concurrency": {"tool_calls": 64}}, True),
        ({"concurrency": {"tool_calls": 65}}, False),
        ({"tools": {"deny": ["a"], "bash": False}}, True),
        ({"tools": {"bash": "no"}}, False),
        ({"tools": {"deny": "a"}}, False),
        ({"tool_permission": {"edit": "deny", "own": "ask", "bash_allow": ["x"]}}, True),
        ({"tool_permission": {"own": "perhaps"}}, False),
        ({"search": {"max_hits": 0}}, False),
        ({"search": {"max_hit": 3}}, False),
        ({"providers": {"x": {"base_url": "u", "headers": {"a": "b"}, "own": 1}}}, True),
        ({"providers": {"x": {"base_url": 3}}}, False),
        ({"guard": {"protected": ["x"]}}, True),
        ({"guard": 3}, False),
    ],
)
def test_the_schema_accepts_what_loads_and_nothing_else(values: dict[str, Any], good: bool) -> None:
    whole = schema()
    assert accepts(values, whole, whole) is good


def test_the_schema_knows_every_table_and_every_default() -> None:
    whole = schema()
    assert set(whole["properties"]) == {name for name in Config.__struct_fields__ if name != "tables"}
    assert set(whole["properties"]) >= RESERVED
    shipped = msgspec.to_builtins(Config())
    del shipped["tables"], shipped["tools"]["switches"], shipped["tool_permission"]["actions"]
    assert accepts(shipped, whole, whole)
