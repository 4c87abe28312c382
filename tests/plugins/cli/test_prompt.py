"""Answers at the prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard_cli.prompt import read_reply


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("y", (True, None)),
        (" YES ", (True, None)),
        ("", (False, None)),
        ("  ", (False, None)),
        ("n", (False, None)),
        ("No", (False, None)),
        ("n because the tests come first", (False, "the tests come first")),
        ("no, use git mv", (False, "use git mv")),
        ("n: wrong file", (False, "wrong file")),
    ],
)
def test_answers(typed: str, reply: tuple[bool, str | None]) -> None:
    assert read_reply(typed) == reply


@pytest.mark.parametrize("typed", ["yy", "yes please", "y n", "ok", "none", "nope", "a", "1", "what?"])
def test_anything_else_is_asked_again(typed: str) -> None:
    assert read_reply(typed) is None


@given(st.text())
def test_only_a_plain_yes_allows(typed: str) -> None:
    reply = read_reply(typed)
    if reply is not None and reply[0]:
        assert typed.strip().casefold() in ("y", "yes")
