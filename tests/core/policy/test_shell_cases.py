"""The shared cases for command lines, judged by the parse alone: what passes, and by which rule the rest does not."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from judging import against
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import read_line

CASES = Path(__file__).parents[2] / "shared" / "cases" / "commands.jsonl"


def cases() -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, CASES.read_text("utf-8").splitlines())]


def test_there_are_cases() -> None:
    assert len(cases()) > 150


@pytest.mark.parametrize("case", cases())
def test_a_shared_case_is_judged_as_it_says(case: dict[str, Any]) -> None:
    arguments, config, expected = case["call"]["args"], case["call"]["config"], case["expect"]
    text = arguments.get("command") or base64.b64decode(arguments.get("command_b64", "")).decode()
    settings = PermissionSettings(
        bash_read_only="ask",
        bash_max_chars=config["max_chars"],
        bash_max_commands=config["max_commands"],
        bash_allow_env=config["allow_env"],
    )

    rules = against(read_line(text, settings=settings), config["allow"])

    if expected["verdict"] == "allowed":
        assert not rules, expected["why"]
    else:  # R2 says that each command is judged: what it stops is a later command that is not on the list
        named = {"R1" if rule == "R2" else rule for rule in expected["rule"].split("+")}
        assert named & set(rules), expected["why"]
