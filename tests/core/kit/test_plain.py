"""Values as JSON can hold them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.kit.plain import plain


class Box(msgspec.Struct):
    inside: Any


DEEP: list[Any] = []
for _ in range(3000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("caf\udce9", "caf\\xe9"),
        ("\ud800", "\\ud800"),
        ({"a\udcff": ["\udce9", 1, None, 1.5, True]}, {"a\\xff": ["\\xe9", 1, None, 1.5, True]}),
        ({"a": object(), "b": (1, "x")}, {"a": "(object)", "b": [1, "x"]}),
        (Box(inside={"\udce9": Box(inside=object)}), {"inside": {"\\xe9": {"inside": "(type)"}}}),
    ],
)
def test_what_json_cannot_hold_is_written_another_way(value: Any, becomes: Any) -> None:
    assert plain(value) == becomes
    msgspec.json.encode(plain(value))


def test_what_is_nested_too_deep_is_cut() -> None:
    assert b"..." in msgspec.json.encode(plain(DEEP))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    )
)
def test_anything_can_be_written_and_what_could_be_is_the_same_object(value: Any) -> None:
    made = plain(value)
    json.loads(msgspec.json.encode(made))
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        pass
    else:
        assert made is value
