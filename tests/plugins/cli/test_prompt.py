"""Answers at the prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard_cli.editing import as_json, fits_a_line
from pegboard_cli.replies import SCOPES, Reply, Scope, read_choice, read_reply, read_scope


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("y", Reply(True)),
        (" YES ", Reply(True)),
        ("a", Reply(True, always=True)),
        ("Always", Reply(True, always=True)),
        ("e", Reply(False, edit=True)),
        (" Edit", Reply(False, edit=True)),
        ("", Reply(False)),
        ("  ", Reply(False)),
        ("n", Reply(False)),
        ("No", Reply(False)),
        ("n because the tests come first", Reply(False, "the tests come first")),
        ("no, use git mv", Reply(False, "use git mv")),
        ("n: wrong file", Reply(False, "wrong file")),
        ("n always", Reply(False, "always")),
    ],
)
def test_answers(typed: str, reply: Reply) -> None:
    assert read_reply(typed) == reply


@pytest.mark.parametrize(
    "typed", ["yy", "yes please", "y n", "ok", "none", "nope", "ay", "all", "always yes", "1", "what?"]
)
def test_anything_else_is_asked_again(typed: str) -> None:
    assert read_reply(typed) is None


@given(st.text())
def test_only_a_plain_yes_allows(typed: str) -> None:
    reply = read_reply(typed)
    if reply is not None and reply.granted:
        assert typed.strip().casefold() in (("a", "always") if reply.always else ("y", "yes"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("s", "session"),
        ("this", None),
        ("P", "project"),
        ("project", "project"),
        ("e", "user"),
        ("Every  project", "user"),
        ("c", "change"),
        ("", "back"),
        ("n", "back"),
        ("b", "back"),
        ("y", None),
        ("session please", None),
    ],
)
def test_how_long_always_stands(typed: str, meant: str | None) -> None:
    assert read_scope(typed, [*SCOPES]) == meant


def test_how_long_is_no_answer_where_it_is_not_offered() -> None:
    session: list[Scope] = ["session"]
    assert [read_scope(typed, session) for typed in "spe"] == ["session", None, None]


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        ("y", {1, 2, 3, 4, 5}),
        ("all", {1, 2, 3, 4, 5}),
        ("2", {2}),
        ("1 3", {1, 3}),
        ("1,3-5", {1, 3, 4, 5}),
        ("2 - 3, 5", {2, 3, 5}),
        ("1..2", {1, 2}),
        ("3 3", {3}),
        ("", set()),
        ("n", set()),
        ("none", set()),
    ],
)
def test_which_of_several_are_allowed(typed: str, chosen: set[int]) -> None:
    said = read_choice(typed, 5)
    assert isinstance(said, frozenset) and {*said} == chosen


@pytest.mark.parametrize(
    "typed", ["0", "6", "1-6", "3-1", "-1", "1-", "1-2-3", "a", "always", "1x", "x1", "1 y", "²", "99999"]
)
def test_other_numbers_are_asked_for_again(typed: str) -> None:
    assert read_choice(typed, 5) is None


@given(st.text(alphabet="0123456789 ,-.yn", max_size=12), st.integers(1, 9))
def test_some_are_never_more_than_there_are_and_none_without_being_named(typed: str, count: int) -> None:
    chosen = read_choice(typed, count)
    if isinstance(chosen, frozenset) and "y" not in typed:
        assert all(1 <= number <= count for number in chosen)
        assert bool(chosen) == any(char.isdigit() for char in typed)


@pytest.mark.parametrize("text", ["rm \u202ex", "a\x1b[2K", "two\nlines", "", "x" * 5000])
def test_a_text_in_which_something_hides_is_edited_as_json_with_escapes(text: str) -> None:
    assert not fits_a_line(text)
    assert all(char == "\n" or " " <= char <= "~" for char in as_json({"command": text}))


def test_a_text_that_hides_nothing_is_edited_as_it_is() -> None:
    assert fits_a_line("grep café notes.txt") and "café" in as_json({"command": "café"})
