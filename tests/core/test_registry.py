"""The registry: names, qualified names, aliases, sets and globs."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.hooks import hookimpl
from pegboard.registry import Registry, matches
from pegboard.tooling import Tool, tool
from pegboard.touches import Reads


def make(name: str, owner: str = "files", **declared: Any) -> Tool:
    @tool(name=name, pure=True, **declared)
    def some(word: str = "") -> str:
        """Do something."""
        return f"{name} {word}".strip()

    return Tool.of(some, owner=owner, set=owner)


def registry(*tools: Tool) -> Registry:
    made = Registry()
    for one in tools:
        made.add(one)
    return made


def module(name: str, *functions: Any) -> ModuleType:
    """A tool set of these functions."""
    made = ModuleType(f"set_{name}")

    @hookimpl
    def pegboard_tools(settings: object) -> list[Any]:
        return list(functions)

    made.pegboard_tools = pegboard_tools  # type: ignore[attr-defined]
    return made


FILES = registry(
    make("read_file", aliases=["read", "view", ("head", {"word": "top"})]),
    make("write_file", aliases=["write"]),
    make("git_log", "git"),
    make("git_diff", "git"),
    make("git_add", "git-write"),
)


@pytest.mark.row("Z-014")
def test_a_tool_is_found_by_its_name_and_by_set_and_name() -> None:
    for name in ("read_file", "files:read_file", "files/read_file"):
        found = FILES.get(name)
        assert found is not None and found.name == "read_file"
    assert FILES.get("git:git_log").qualified == "git:git_log"  # type: ignore[union-attr]
    assert FILES.get("git:read_file") is None
    assert FILES.get("files:") is None
    assert FILES.get(":read_file") is None
    assert FILES.get("") is None


@pytest.mark.row("R-015", "Z-014")
def test_an_alias_runs_the_canonical_tool_and_is_never_advertised(pegboard_board: Any) -> None:
    @tool(aliases=["read", "view", ("head", {"lines": 1})])
    def show_file(path: Annotated[str, Reads("A file")], lines: int = 9) -> str:
        """Read a file."""
        return f"{path}:{lines}"

    board = pegboard_board(modules={"fs": module("fs", show_file)}, steps=[("view", {"path": "a"}), "ok"])
    for name in ("show_file", "read", "view", "fs:show_file"):
        record = board.call(name, path="a")
        assert (record.outcome, record.tool, record.requested, record.text) == ("ok", "show_file", name, "a:9")
    assert board.call("head", path="a").text == "a:1"
    assert board.call("head", path="a", lines=3).text == "a:3"
    board.prompt()
    sent = json.dumps([offer.wire() for offer in board.model.requests[0].tools])
    assert "show_file" in sent
    assert not [alias for alias in ("read", "view", "head") if f'"{alias}"' in sent]


def test_a_registered_name_beats_an_alias_whatever_the_order() -> None:
    claims = make("other", aliases=["read_file"])
    owner = make("read_file")
    for order in ((claims, owner), (owner, claims)):
        assert registry(*order).get("read_file") is owner


def test_an_alias_claimed_twice_works_for_nobody_and_names_both() -> None:
    made = registry(make("one", aliases=["x"]), make("two", aliases=["x"]))
    assert made.get("x") is None
    assert made.claimants("x") == ["one", "two"]


def test_the_later_tool_of_a_name_is_left_out_and_the_rest_of_its_set_stays() -> None:
    made = registry(make("a", "first"))
    said = made.add(make("a", "second"))
    assert said is not None and "'first'" in said and "'second'" in said
    assert made.add(make("b", "second")) is None
    assert [t.qualified for t in made.tools] == ["first:a", "second:b"]


@pytest.mark.row("Z-018")
@pytest.mark.parametrize(
    ("tokens", "names"),
    [
        (["git"], ["git_log", "git_diff"]),
        (["git:*"], ["git_log", "git_diff"]),
        (["git/*"], ["git_log", "git_diff"]),
        (["git_*"], ["git_log", "git_diff", "git_add"]),
        (["git-write"], ["git_add"]),
        (["git:git_log", "git", "git:*"], ["git_log", "git_diff"]),
        (["git_diff", "git"], ["git_diff", "git_log"]),
        (["*"], ["read_file", "write_file", "git_log", "git_diff", "git_add"]),
        (["*:*_file"], ["read_file", "write_file"]),
        (["view"], ["read_file"]),
        (["gi"], []),
        (["nothing:*"], []),
        ([], []),
    ],
)
def test_names_sets_and_globs_expand_in_order_without_repeats(tokens: list[str], names: list[str]) -> None:
    assert [t.name for t in FILES.expand(tokens)] == names


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["git", "git:*", "git_*", "*", "files", "read_file", "view", "[rw]*", "?it_log", "x"])))
def test_what_expands_is_what_matches(tokens: list[str]) -> None:
    names = [t.name for t in FILES.expand(tokens)]
    assert len(names) == len(set(names))
    assert set(names) == {t.name for t in FILES.tools if any(matches(token, t) for token in tokens)}


@pytest.mark.row("R-020")
def test_an_unknown_name_is_answered_with_what_there_is_and_the_nearest(pegboard_board: Any) -> None:
    @tool(pure=True)
    def find_word(word: str) -> str:
        """Find."""
        return word

    @tool(pure=True)
    def list_words() -> str:
        """List."""
        return ""

    board = pegboard_board(tools=[find_word, list_words])
    record = board.call("find_wrd", word="x")
    assert (record.outcome, record.block, record.tool, record.decision) == ("blocked", "unavailable", None, None)
    assert record.text.startswith('Error: unknown tool "find_wrd"')
    assert "Did you mean find_word?" in record.text
    assert "Nothing was run" in record.text
    assert record.text.endswith("Available tools: find_word, list_words")
    assert "Did you mean" not in board.call("zzzzzz").text


def test_an_unknown_names_answer_names_no_tool_that_policy_hides(pegboard_board: Any) -> None:
    @tool(pure=True)
    def shown() -> str:
        """Shown."""
        return ""

    @tool(pure=True)
    def hidden() -> str:
        """Hidden."""
        return ""

    board = pegboard_board(tools=[shown, hidden], settings={"tools.deny": ["hidden"]})
    assert board.call("hiden").text.splitlines()[-1] == "Available tools: shown"


def test_an_ambiguous_alias_is_answered_with_both_claimants(pegboard_board: Any) -> None:
    def named(name: str) -> Any:
        @tool(name=name, pure=True, aliases=["go"])
        def some() -> str:
            """Go."""
            return ""

        return some

    text = pegboard_board(tools=[named("walk"), named("drive")]).call("go").text
    assert "walk" in text and "drive" in text and "neither" in text


def test_nearest_follows_an_alias_to_its_tool() -> None:
    assert FILES.nearest("raed_file") == "read_file"
    assert FILES.nearest("viev") == "read_file"
    assert FILES.nearest("zzzzzz") is None
