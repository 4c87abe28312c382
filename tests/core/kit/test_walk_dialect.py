"""Patterns in rg's dialect: checked for both engines, translated or refused by name for ours."""

from __future__ import annotations

import re

import pytest
from pegboard.kit.walk.dialect import BadPattern, check, names_cr, plain_anchors, to_python


@pytest.mark.parametrize(
    ("pattern", "matches", "fails"),
    [
        ("[[:alpha:]]+[[:digit:]]", "ab7", "é7"),
        ("^[[:^digit:]]$", "x", "7"),
        (r"^\p{Lu}$", "É", "é"),
        (r"^\pL$", "é", "7"),
        (r"^\P{L}$", "7", "é"),
        (r"^[\p{Lu}\d]+$", "É7", "é7"),
        (r"^[^\p{Lu}]$", "é", "É"),
        (r"^\x{1F600}$", "\U0001f600", "x"),
        (r"^\u{e9}$", "é", "e"),
        ("(?<year>[0-9]{4})", "2026", "x"),
        ("(?P<year>[0-9]{4})", "2026", "x"),
        ("a(?i)b", "aB", "AB"),
        ("(a(?i)b|c)D", "CD", "Cd"),
        ("(?i)x|y", "Y", "z"),
        ("(?i:a)b", "Ab", "AB"),
        ("(?-i)a", "a", "A"),
        (r"\<foo\>", "a foo b", "afoo"),
        (r"\b{start}foo\b{end}", "foo", "foot"),
        (r"foo(?=bar)", "foobar", "foobaz"),
        (r"(?<!x)y", "y", "xy"),
        (r"(ab)\1", "abab", "abba"),
        ("[]x]", "]", "y"),
        ("[^]x]", "y", "]"),
        (r"[\]a]", "]", "b"),
        ("[a&b]", "&", "c"),
        ("interface{}", "interface{}", "interface"),
        ("(?:a|b){2,3}", "ab", "a"),
    ],
)
def test_a_pattern_means_in_python_what_it_means_in_rg(pattern: str, matches: str, fails: str) -> None:
    regex = re.compile(to_python(pattern))
    assert regex.search(matches)
    assert not regex.search(fails)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"\p{Greek}", r"\\p\{Greek\}"),
        (r"\Z", r"\\Z"),
        ("[a[bc]]", "a class inside a class"),
        ("[a-z&&[^b]]", "&&"),
        ("[[:word2:]]", "word2"),
        ("(?U)a+", r"\(\?U\)"),
        ("(?x) a", r"\(\?x\)"),
        ("(?-u)a", r"\(\?-u\)"),
        ("a++", r"\+"),
        (r"\x{110000}", "110000"),
    ],
)
def test_what_the_python_engine_lacks_is_refused_by_name(pattern: str, named: str) -> None:
    with pytest.raises(BadPattern, match=named):
        to_python(pattern)


@pytest.mark.parametrize("byte", ["\udcff", "\udce9"])
@pytest.mark.parametrize("pattern", [".", "[^x]", r"\W", r"\S", r"\D", r"\P{L}", "[[:^alpha:]]"])
def test_nothing_matches_a_byte_that_is_not_utf8(pattern: str, byte: str) -> None:
    assert not re.search(to_python(pattern), byte)


@pytest.mark.parametrize(
    ("pattern", "regex", "says"),
    [
        ("", True, "empty"),
        ("a\nb", True, "line break"),
        ("a\nb", False, "line break"),
        (r"foo\nbar", True, "line break"),
        (r"foo\x0abar", True, "line break"),
        ("a\0b", False, "NUL"),
        ("\ud800", False, "half a character"),
        ("x" * 10_001, False, "longer than"),
        ("a)|(b", True, "unopened group"),
        ("a\\", True, "lone backslash"),
    ],
)
def test_what_neither_engine_would_search_for_as_meant_is_refused(pattern: str, regex: bool, says: str) -> None:
    with pytest.raises(BadPattern, match=says):
        check(pattern, regex=regex)


@pytest.mark.parametrize(
    "pattern", [r"[^\n]*x", r"a\\nb", r"[()]", r"[^)]", r"\)", r"[]()]", "[[:alpha:](]", r"[[()]]", "(a|b)"]
)
def test_good_patterns_pass_the_check(pattern: str) -> None:
    check(pattern, regex=True)


def test_a_pattern_that_names_cr_is_recognized() -> None:
    assert [names_cr(text, regex=True) for text in (r"\r$", r"\x0d", "\r", r"\\r", "r")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert not names_cr(r"\r", regex=False)


def test_anchors_of_the_text_become_anchors_of_the_line() -> None:
    assert plain_anchors(r"\Afoo\z|\\A[\A]") == r"^foo$|\\A[\A]"
