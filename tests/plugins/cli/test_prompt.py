"""Answers at the prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard_cli.prompt import Reply, read_reply


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("y", Reply(True)),
        (" YES ", Reply(True)),
        ("a", Reply(True, always=True)),
        ("Always", Reply(True, always=True)),
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
