"""Patterns that are remembered of commands: as narrow as they were shown, wherever they are kept, whatever follows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import Call, Touch
from pegboard.config.load import load
from pegboard.config.remembering import Home
from pegboard.policy import Policy, policy_of
from pegboard.policy.asked import Reading, Where
from pegboard.policy.patterns import pattern_problem, plain_pattern
from pegboard.policy.remembered import Remembered, offer_of
from pegboard.policy.rules import Rule
from pegboard.tooling import Tool, tool
from pegboard.touches import Runs

EXAMPLES = 2000 if os.environ.get("PEGBOARD_LONG") else 40


@tool
def execute(command: Annotated[str, Runs("Command")]) -> str:
    """Run something."""
    return ""


TOOL = Tool.of(execute, owner="fs", set="fs")
CALL = Call(id="c", name="execute")
ASKS = Policy([Rule(action="ask", name="all")], reading=Reading())


def allowed(policy: Policy, line: str) -> bool:
    return policy.decide(TOOL, CALL, [Touch("run", line)]).decision.action == "allow"


def kept_of(line: str, pattern: str | None = None) -> Remembered:
    """What is remembered when this line is answered with "always"."""
    remembered = Remembered()
    offer = offer_of(ASKS, TOOL, CALL, line.encode(), [Touch("run", line)])
    if offer is not None and pattern is not None:
        offer = offer.edited([pattern])
    if offer is not None:
        remembered.keep(offer)
    return remembered


def covers(remembered: Remembered, line: str) -> bool:
    return allowed(remembered.over(ASKS, TOOL, line.encode(), [Touch("run", line)]), line)


# --- what a person may make of it -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [("pytest …", "pytest"), ("  uv  run pytest * ", "uv run pytest"), ("* *", ""), ("…", ""), ("make t*", "make t*")],
)
def test_what_means_and_whatever_follows_is_not_written_down(pattern: str, plain: str) -> None:
    assert plain_pattern(pattern) == plain


@pytest.mark.parametrize(
    "pattern",
    ["uv run pytest", "uv run pytest …", "uv run pytest -x", "uv run pytest -x tests/a.py", " uv  run pytest "],
)
def test_a_pattern_may_be_the_one_that_was_offered_or_a_narrower_one(pattern: str) -> None:
    assert pattern_problem(pattern, "uv run pytest -x tests/a.py") is None


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("", "pytest"),
        ("*", "pytest"),
        ("* -x", "pytest -x"),
        ("…", "pytest"),
        ("uv", "uv run pytest"),
        ("uv run", "uv run pytest"),
        ("uv *", "uv run pytest"),
        ("uv run *", "uv run pytest"),
        ("npm run", "npm run build"),
        ("git", "git commit -m x"),
        ("python", "python tools/gen.py"),
        ("python -m", "python -m pytest"),
        ("bash", "bash -c ls"),
        ("sudo", "sudo make"),
        ("env", "env make"),
        ("make other", "make test"),
        ("make tes", "make test"),
        ("MAKE test", "make test"),
        ("make test; rm", "make test"),
        ("make test > x", "make test"),
        ("make $(x)", "make test"),
        ("A=1 make test", "make test"),
        ("'make' test", "make test"),
        ("make test #", "make test"),
        ("make \x00", "make test"),
        ("make test", "make test; make more"),
    ],
)
def test_any_other_pattern_is_not_taken(pattern: str, command: str) -> None:
    assert pattern_problem(pattern, command)


# --- what it covers ---------------------------------------------------------------------------------------------------

PLAIN = [
    "pytest",
    "pytest -x a.py",
    "make test",
    "make more",
    "npm run build",
    "npm run build -- -q",
    "uv run pytest -q",
]
OTHER = [
    "rm -rf x",
    "touch y",
    "curl u",
    "bash -c x",
    "git push",
    "./pytest",
    "make -f z all",
    "npm run other",
    "uv run x",
]
COMMANDS = st.sampled_from(PLAIN + OTHER)
JOINTS = st.sampled_from(["; ", " && ", " || ", " | ", "\n", " & "])
FREE = ["{}", "{} 2>&1", "time {}", "{} \\\n--more", "{} *"]
"""Twists that run nothing else and write nothing."""
BAD = "{} > out|{} $(touch y)|{} `touch y`|A=1 {}|env {}|eval {}|({})|! {}|{} <(touch y)|sudo {}|\\{}|xargs {}|{} $A"
TWISTS = st.sampled_from([*FREE, *FREE, *BAD.split("|")])


def begins(command: str, patterns: set[str]) -> bool:
    return any(command.split()[: len(one.split())] == one.split() for one in patterns)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(COMMANDS, min_size=1, max_size=2), st.lists(st.tuples(COMMANDS, TWISTS, JOINTS), min_size=1, max_size=4)
)
def test_what_is_kept_never_allows_a_line_with_a_command_outside_of_it(
    answered: list[str], asked: list[tuple[str, str, str]]
) -> None:
    remembered = kept_of("; ".join(answered))
    line = "".join(twist.format(command) + joint for command, twist, joint in asked[:-1])
    line += asked[-1][1].format(asked[-1][0])
    patterns = {pattern for rule in remembered.rules if rule.where for pattern in rule.where.commands}
    assert all(begins(one, patterns) for one in answered) or not patterns
    if covers(remembered, line) and line != "; ".join(answered):
        assert all(begins(command, patterns) for command, _, _ in asked)
        assert {twist for _, twist, _ in asked} <= {*FREE}
        assert " & " not in line


def test_one_answer_reaches_from_where_it_was_given_to_where_it_was_meant(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    remembered = kept_of("pytest -x tests/a.py")
    over = remembered.over(Policy(ASKS.rules, reading=Reading(root=str(tmp_path))), TOOL, b"", [])
    reads = Rule(action="allow", name="reads", layer="user", where=Where(reads=True))
    assert allowed(over.with_rules([reads]), "cd web && pytest -q tests/b.py | tail -5")
    assert not allowed(over.with_rules([reads]), "pytest; rm -rf x")


# --- what is written says the same ------------------------------------------------------------------------------------

LINES = [*PLAIN, *OTHER, "pytest | tee x", "make test && pytest", "make test > x", "A=1 pytest"]


@pytest.mark.parametrize("answered", ["pytest -x", "make test; npm run build", "uv run pytest"])
@pytest.mark.parametrize("lasting", ["project", "user"])
def test_the_rule_that_is_written_allows_the_same_lines(tmp_path: Path, answered: str, lasting: str) -> None:
    home = Home(file=tmp_path / "config.toml", root=str(tmp_path))
    home.file.write_text('# mine\n[tool_permission]\nbash_read_only = "ask"\n')
    offer = offer_of(ASKS, TOOL, CALL, b"", [Touch("run", answered)])
    assert offer is not None and offer.lasts
    source = home.keep(offer.written(), "project" if lasting == "project" else "user")
    assert home.keep(offer.written(), "project" if lasting == "project" else "user") == source, "it is written once"
    remembered = Remembered()
    remembered.keep(offer)
    for root, holds in [(tmp_path, True), (tmp_path / "elsewhere", lasting == "user")]:
        loaded = load(user_file=home.file, root=str(root), environ={}, flags={})
        written = policy_of(loaded)
        for line in LINES:
            assert allowed(written, line) == (holds and covers(remembered, line)), line
    decision = written.decide(TOOL, CALL, [Touch("run", answered)]).decision
    if lasting == "user":
        assert decision.source == source and decision.layer == "user"
