"""Arguments as words of a command line."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.typed import BadWord
from pegboard_cli.arguments import as_lists, read_arguments


@given(st.text())
def test_a_value_is_text_whatever_is_in_it(value: str) -> None:
    if not value.startswith("@"):
        assert read_arguments([f"key={value}"]) == {"key": value}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_values_arrive_as_they_are(value: object) -> None:
    assert read_arguments([f"key:={msgspec.json.encode(value).decode()}"]) == {"key": value}


def test_a_repeated_key_makes_a_list() -> None:
    assert read_arguments(["a=1", "b=x", "a=2", "a:=3"]) == {"a": ["1", "2", 3], "b": "x"}


def test_a_value_may_hold_the_signs() -> None:
    assert read_arguments(["a=b=c", "d=:=", "e=x@y", "f=", "g==h"]) == {
        "a": "b=c",
        "d": ":=",
        "e": "x@y",
        "f": "",
        "g": "=h",
    }


def test_a_file_is_read_with_its_line_ends(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("é\r\nb".encode())
    assert read_arguments([f"a=@{tmp_path}/text"]) == {"a": "é\r\nb"}


def test_whole_arguments_and_single_words() -> None:
    assert read_arguments(["a=2"], '{"a": 1, "b": [true]}') == {"a": "2", "b": [True]}


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"a": "b"}')))
    assert read_arguments([], "-") == {"a": "b"}


@pytest.mark.parametrize(
    "word",
    [
        "",
        "novalue",
        "=x",
        "1a=x",
        "a b=c",
        "a:={",
        "a:=NaN",
        'a:="\\ud800"',
        "a=@/no/such/file",
        "a=@/",
        "a=@\x00",
        "--x",
    ],
)
def test_what_cannot_be_meant_is_told(word: str) -> None:
    with pytest.raises(BadWord):
        read_arguments([word])


@pytest.mark.parametrize("whole", ["", "[1]", "{", "1", '{"a": 1} x', "\udce9"])
def test_whole_arguments_must_be_one_object(whole: str) -> None:
    with pytest.raises(BadWord, match="--args"):
        read_arguments([], whole)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"caf\xe9")
    with pytest.raises(BadWord, match="UTF-8"):
        read_arguments([f"a=@{tmp_path}/x"])


def test_one_text_where_a_list_is_wanted_is_a_list_of_one() -> None:
    schema = {"properties": {"paths": {"type": "array"}, "path": {"type": "string"}}}
    given = {"paths": "a.py", "path": "b", "other": "c"}
    assert as_lists(given, schema) == {"paths": ["a.py"], "path": "b", "other": "c"}
    assert as_lists({"paths": '["a"]'}, schema) == {"paths": '["a"]'}, "JSON is left to the tool's schema"
