"""Arguments: what a caller sent, as what a tool declared; every wrong field is named."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pegboard.arguments import InvalidArguments, edit_distance, snake_case
from pegboard.tooling import Tool, tool
from pegboard.touches import Reads, Writes


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    path: Annotated[str, Reads("A file")]
    first_line: int = 1
    note: str | None = None


@tool(
    pure=True,
    effect="read_only",
    param_aliases={
        "query": "pattern",
        "cursor": "offset",
        "fixed": ("regex", lambda value: not value),
        "begin": "first_line",
    },
)
def look(
    pattern: str,
    offset: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0,
    regex: bool = True,
    mode: Literal["content", "files"] = "content",
    weight: float = 1.0,
    names: list[str] = [],  # noqa: B006 - as authors write it; the default is copied
    parts: list[Part | str] = [],  # noqa: B006
    extra: Part | None = None,
    free: dict[str, Any] = {},  # noqa: B006
) -> str:
    """Look for something."""
    return pattern


@tool
def put(path: Annotated[str, Writes("A file")], overwrite: bool = True, comment: str | None = "none") -> str:
    """Write a file."""
    return path


LOOK, PUT = Tool.of(look), Tool.of(put)


def read(sent: Any, made: Tool = LOOK) -> dict[str, Any]:
    """The arguments that reach the tool, without defaults."""
    values: dict[str, Any] = json.loads(made.read(sent).body)
    return values


def problems(sent: Any, made: Tool = LOOK) -> list[str]:
    with pytest.raises(InvalidArguments) as caught:
        made.read(sent)
    return caught.value.problems


def test_what_fits_passes_as_it_is() -> None:
    shaped = LOOK.read({"pattern": "x", "offset": 3, "mode": "files", "names": ["a"], "free": {"a": [None, 1]}})
    assert (shaped.value.pattern, shaped.value.offset, shaped.value.mode) == ("x", 3, "files")
    assert shaped.value.names == ["a"]
    assert shaped.value.free == {"a": [None, 1]}
    assert shaped.dropped == ()


@pytest.mark.row("R-016")
@pytest.mark.parametrize(
    ("sent", "reaches"),
    [
        ({"query": "x"}, {"pattern": "x"}),
        ({"pattern": "x", "cursor": 5}, {"pattern": "x", "offset": 5}),
        ({"pattern": "x", "fixed": True}, {"pattern": "x", "regex": False}),
        ({"pattern": "x", "parts": [{"path": "a", "firstLine": 4}]}, {"path": "a", "first_line": 4}),
        ({"pattern": "x", "parts": [{"path": "a", "begin": 4}]}, {"path": "a", "first_line": 4}),
    ],
)
def test_synonyms_reach_the_tool_under_the_declared_name(sent: dict[str, Any], reaches: dict[str, Any]) -> None:
    got = read(sent)
    assert (got["parts"][0] if "parts" in got else got) == reaches
    advertised = json.dumps(LOOK.parameters)
    assert not [name for name in ("query", "cursor", "fixed", "firstLine", "begin") if f'"{name}"' in advertised]


def test_camel_case_is_absorbed_and_the_declared_spelling_wins() -> None:
    @tool(pure=True, effect="read_only")
    def replace(old_string: str, replace_all: bool = False) -> str:
        """Replace."""
        return old_string

    made = Tool.of(replace)
    assert read({"oldString": "a", "replaceAll": True}, made) == {"old_string": "a", "replace_all": True}
    shaped = made.read({"oldString": "loses", "old_string": "wins"})
    assert (shaped.value.old_string, shaped.dropped) == ("wins", ("oldString",))


@pytest.mark.row("R-017")
def test_undeclared_arguments_are_dropped_and_named() -> None:
    shaped = LOOK.read({"pattern": "x", "recursive": True, "parts": [{"path": "a", "zzz": 1}]})
    assert sorted(shaped.dropped) == ["parts[0].zzz", "recursive"]
    assert json.loads(shaped.body) == {"pattern": "x", "parts": [{"path": "a"}]}


@pytest.mark.row("R-018")
def test_null_means_left_out_save_where_the_type_has_none() -> None:
    shaped = LOOK.read({"pattern": "x", "offset": None, "mode": None})
    assert (shaped.value.offset, shaped.value.mode) == (0, "content")
    assert sorted(shaped.dropped) == ["mode", "offset"]
    kept = PUT.read({"path": "a", "comment": None})
    assert kept.value.comment is None
    assert kept.dropped == ()
    assert json.loads(kept.body) == {"path": "a", "comment": None}


@pytest.mark.parametrize(
    ("sent", "reaches"),
    [
        ({"pattern": "x", "offset": "7"}, {"offset": 7}),
        ({"pattern": "x", "weight": "0.5"}, {"weight": 0.5}),
        ({"pattern": "x", "regex": "false"}, {"regex": False}),
        ({"pattern": "x", "names": '["a", "b"]'}, {"names": ["a", "b"]}),
        ({"pattern": "x", "extra": '{"path": "a"}'}, {"extra": {"path": "a"}}),
        ({"pattern": "[1]"}, {"pattern": "[1]"}),
        ('{"pattern": "x", "offset": 2}', {"offset": 2}),
        (b'{"pattern": "x"}', {"pattern": "x"}),
    ],
)
def test_text_is_taken_for_what_the_schema_wants(sent: Any, reaches: dict[str, Any]) -> None:
    got = read(sent)
    assert got == {"pattern": "x"} | reaches


@pytest.mark.row("U-055")
def test_every_wrong_field_is_named_with_what_was_expected_and_what_came() -> None:
    said = problems({"offset": -1, "mode": "lines", "regex": [1], "parts": [{"path": 3}]})
    text = "\n".join(said)
    assert [line.split(":")[0].split("[")[0] for line in said] == ["pattern", "offset", "regex", "mode", "parts"]
    assert "pattern: missing; expected string" in text
    assert "at least 0" in text and "got -1" in text
    assert 'one of "content", "files"' in text and 'got "lines"' in text
    assert "true or false" in text and "got [1]" in text


@pytest.mark.parametrize("sent", ["{", "[1]", "3", '"text"', 3, [], "null trailing", b"\xff\xfe", {1: 2}])
def test_what_is_no_object_is_refused(sent: Any) -> None:
    assert len(problems(sent)) == 1


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), "nan", "-inf", "1e999"])
def test_a_number_that_json_has_no_word_for_is_refused(weight: Any) -> None:
    (said,) = problems({"pattern": "x", "weight": weight})
    assert "weight" in said


@pytest.mark.parametrize("sent", [None, "", "  ", {}, "{}", "null"])
def test_nothing_sent_is_an_empty_object(sent: Any) -> None:
    assert problems(sent) == ["pattern: missing; expected string"]


def test_a_near_miss_is_an_error_where_a_dropped_argument_could_do_harm() -> None:
    (said,) = problems({"path": "a", "overwite": False}, PUT)
    assert said == "overwite: there is no such parameter; did you mean overwrite?"
    assert PUT.read({"path": "a", "recursive": True}).dropped == ("recursive",)
    assert LOOK.read({"pattern": "x", "offst": 3}).dropped == ("offst",)  # a tool that only reads does no harm


@pytest.mark.row("C-003")
def test_a_call_that_breaks_the_schema_never_reaches_the_tool(pegboard_board: Any) -> None:
    ran: list[str] = []

    @tool
    def count(n: Annotated[int, msgspec.Meta(ge=1)], word: Literal["a", "b"] = "a") -> str:
        """Count."""
        ran.append(word)
        return word * n

    board = pegboard_board(tools=[count])
    for sent in ({}, {"n": 0}, {"n": "many"}, {"n": 1, "word": "c"}, {"n": 1, "wrd": "b"}):
        record = board.call("count", **sent)
        assert (record.outcome, record.block) == ("blocked", "invalid_arguments")
    assert ran == []
    assert board.call("count", n=2).text == "aa"


# --- properties -------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = [*LOOK.shape.names, "query", "cursor", "fixed", "begin", "firstLine", "path", "first_line", "offst", "zzz"]
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=3))
FITTING = st.fixed_dictionaries(
    {"pattern": st.text(max_size=8)},
    optional={
        "offset": st.integers(0, 10_000) | st.integers(0, 99).map(str) | st.none(),
        "regex": st.booleans() | st.sampled_from(["true", "false", "1", "0"]),
        "fixed": st.booleans(),
        "mode": st.sampled_from(["content", "files"]),
        "weight": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
        "names": st.lists(st.text(max_size=4), max_size=3),
        "parts": st.lists(st.text(max_size=4) | st.fixed_dictionaries({"path": st.text(max_size=4)}), max_size=3),
        "free": st.dictionaries(st.text(max_size=4), JSON, max_size=3),
        "zzz": JSON,
    },
)


@settings(max_examples=100, deadline=None)
@given(sent=JSON | ARGUMENTS | FITTING | st.text(max_size=20) | st.binary(max_size=12))
@example(sent={"pattern": "\ud800"})
@example(sent={"pattern": "x", "offset": 10**400})
@example(sent={"pattern": "x", "weight": float("nan")})
@example(sent={"pattern": "x", "free": {"a": float("inf")}})
@example(sent="[" * 5000)
@example(sent={"pattern": "x", "names": "[" * 5000})
def test_any_input_is_read_or_refused_and_nothing_else(sent: Any) -> None:
    for made in (LOOK, PUT):
        try:
            shaped = made.read(sent)
        except InvalidArguments as error:
            assert error.problems
        else:
            json.loads(shaped.body)  # canonical bytes are JSON, whatever came


@settings(max_examples=100, deadline=None)
@given(sent=FITTING)
def test_accepted_arguments_read_again_from_their_bytes_are_the_same(sent: dict[str, Any]) -> None:
    try:
        shaped = LOOK.read(sent)
    except InvalidArguments:
        return
    for again in (LOOK.read(json.loads(shaped.body)), LOOK.read(shaped.body), LOOK.read(shaped.body.decode())):
        assert again.body == shaped.body
        assert again.value == shaped.value
        assert again.dropped == ()


@given(st.text("abcd", max_size=6), st.text("abcd", max_size=6))
def test_edit_distance_agrees_with_its_definition(one: str, other: str) -> None:
    def plain(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        if a[0] == b[0]:
            return plain(a[1:], b[1:])
        return 1 + min(plain(a[1:], b), plain(a, b[1:]), plain(a[1:], b[1:]))

    assert min(edit_distance(one, other, 2), 3) == min(plain(one, other), 3)


def test_snake_case() -> None:
    assert [snake_case(name) for name in ("oldString", "old_string", "ignore-case", "ignoreCase2")] == [
        "old_string",
        "old_string",
        "ignore_case",
        "ignore_case2",
    ]
