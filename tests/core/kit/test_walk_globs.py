"""Glob patterns: what they match, that braces and brackets are read right, and that none can run away."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.errors import DoorError, ToolError
from pegboard.kit.walk.globs import expand, literal, path_regex, quoted
from pegboard.kit.walk.paths import PathGlob


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.ts", "a.ts", True),
        ("*.ts", "d/a.ts", False),  # a star does not cross folders
        ("**/*.ts", "a.ts", True),
        ("**/*.ts", "d/e/a.ts", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**/test/*.py", "src/test/a.py", True),
        ("src/**/test/*.py", "src/x/y/test/a.py", True),
        ("src/**/test/*.py", "src/x/y/test/z/a.py", False),
        ("a/**/b/**/c", "a/b/x/b/c", True),
        ("**/a/**/a", "a/x", False),
        ("?.py", "é.py", True),
        ("[a-c].py", "b.py", True),
        ("[!a-c].py", "b.py", False),
        ("[^a-c].py", "d.py", True),
        ("[]x]", "]", True),
        ("[[:digit:]].py", "7.py", True),
        ("a\\[1\\].txt", "a[1].txt", True),
        ("a\\[1\\].txt", "a1.txt", False),
        ("[", "[", True),  # an open bracket stands for itself
        ("{a,b}/*.{js,jsx}", "b/x.jsx", True),
        ("{a,b{c,d}}.x", "bd.x", True),
        ("{a,b{c,d}}.x", "b.x", False),
        ("x{,.y}", "x", True),
        ("x.{ts}", "x.ts", True),
        ("{a", "{a", True),
        ("{}", "{}", True),
        ("a,b", "a,b", True),
        ("[{,}].x", "{.x", True),
        ("./a/../b.py", "b.py", True),
        ("src/", "src/a/b", True),
        ("*", "two\nlines", True),
        ("*.txt", ".x.txt", False),  # a hidden name must be named
        (".*", ".env", True),
        ("**/.github/*", ".github/x", True),
        ("**/x", ".github/x", False),
        ("{.a,b}/x", ".a/x", True),
        ("[.]x", ".x", False),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, path: str, matches: bool) -> None:
    assert PathGlob(pattern).match(path) is matches


def test_hidden_names_match_wildcards_when_they_are_wanted() -> None:
    assert PathGlob("**/*.txt", hidden=True).match(".d/.x.txt")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "src/deep/a.py", True),  # no slash: at any depth
        ("tests/*.py", "src/tests/a.py", True),  # a slash: from the search's path on
        ("tests/*.py", "tests/a.py", False),
        ("!*.min.js", "src/a.min.js", False),
        ("!*.min.js", "src/a.js", True),
    ],
)
def test_an_include_pattern_is_taken_from_the_search_path(pattern: str, path: str, matches: bool) -> None:
    assert PathGlob(pattern, below="src", anywhere=True).match(path) is matches


@pytest.mark.parametrize(
    "pattern", ["../**", "../outside/*", "{..,x}/outside/*", "sub/../../outside/*", "a/{b,../..}/../x"]
)
def test_a_pattern_cannot_climb_out_of_the_root(pattern: str) -> None:
    with pytest.raises(DoorError, match=r"Path escapes workspace: ") as raised:
        PathGlob(pattern)
    assert raised.value.reason == "escapes"


def test_a_pattern_may_go_up_within_the_root_but_not_after_a_wildcard() -> None:
    assert PathGlob("../b/*.py", below="a").match("b/x.py")
    with pytest.raises(ToolError, match="after a wildcard"):
        PathGlob("*/../b")


def test_braces_that_stand_for_too_much_are_refused_at_once() -> None:
    with pytest.raises(ToolError, match="more than 512"):
        expand("{a,b}" * 40)


def test_a_walk_begins_where_all_alternatives_agree() -> None:
    assert PathGlob("src/core/*.{py,pyi}").start == ["src", "core"]
    assert PathGlob("{src,src/core}/x").start == ["src"]
    assert PathGlob("src/*/x").start == ["src"]
    assert PathGlob("a\\[1\\]/x").start == ["a[1]"]
    assert PathGlob("!src/x", anywhere=True).start == []


names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6)
paths = st.lists(names.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4)


@given(paths)
def test_a_quoted_path_matches_itself_alone(parts: list[str]) -> None:
    glob = PathGlob("/".join(map(quoted, parts)))
    assert glob.match("/".join(parts))
    assert not glob.match("/".join(parts) + "x")
    assert [literal(quoted(part)) for part in parts] == parts


@given(paths, st.data())
def test_file_names_fit_no_less_than_the_pattern(parts: list[str], data: st.DataObject) -> None:
    pieces = st.sampled_from(["*", "?", "[a-z]", "{a,b}", "a", "-", "\\*", "é"])
    pattern = "**/" + "".join(data.draw(st.lists(pieces, min_size=1, max_size=5)))
    glob = PathGlob(pattern, hidden=True)
    if glob.match("/".join(parts)) and glob.file_names:
        plain = [
            "(?s)" + "".join(".*" if char == "*" else re.escape(char) for char in name) for name in glob.file_names
        ]
        assert any(re.fullmatch(name, parts[-1]) for name in plain)


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        (["*a" * 30 + "b"], "a" * 250),
        (["**", "a"] * 12 + ["b"], "a/" * 200 + "a"),
        (["**", *["*a*a*a*a*"] * 6, "b"], "/".join(["a" * 60] * 40)),
    ],
)
def test_no_pattern_runs_away(segments: list[str], path: str) -> None:
    regex = re.compile(path_regex(segments, hidden=True) or "", re.DOTALL)
    started = time.process_time()
    assert not regex.match(path)
    assert time.process_time() - started < 2  # seconds; backtracking would take years
