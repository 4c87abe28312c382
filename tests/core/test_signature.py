"""A tool's signature: the schema a model is given, the parameters' types, what is injected, what is refused."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Annotated, Any, Literal

import annotated_types as at
import msgspec
import pytest
from pegboard.context import Context, SyncContext
from pegboard.signature import BadSignature, read_signature, signature_of
from pegboard.touches import Reads, Writes


class Edit(msgspec.Struct, frozen=True):
    old: Annotated[str, msgspec.Meta(description="What stands there")]
    new: str
    count: int = 1


class Tree(msgspec.Struct, frozen=True):
    below: list[Tree] = []


async def everything(
    path: Annotated[str, Reads("A file")],
    edits: Annotated[list[Edit], "What to change"],
    ctx: Context,
    limit: Annotated[int, "How many", at.Ge(1), at.Le(9)] = 5,
    word: Annotated[str, at.Len(2, 4)] = "ab",
    kind: Literal["a", "b"] = "a",
    note: str | None = None,
    title: str = "",
    tags: list[str] = [],  # noqa: B006
) -> str:
    """Do everything."""
    return path


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "A file"},
        "edits": {
            "type": "array",
            "description": "What to change",
            "items": {
                "type": "object",
                "properties": {
                    "old": {"type": "string", "description": "What stands there"},
                    "new": {"type": "string"},
                    "count": {"type": "integer", "default": 1},
                },
                "required": ["old", "new"],
            },
        },
        "limit": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 9, "default": 5},
        "word": {"type": "string", "minLength": 2, "maxLength": 4, "default": "ab"},
        "kind": {"enum": ["a", "b"], "default": "a"},
        "note": {"type": "string"},
        "title": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path", "edits"],
}


def test_the_schema_says_what_the_annotations_say_and_no_more() -> None:
    assert read_signature(everything, "everything").schema == SCHEMA


def test_the_schema_is_written_out_in_full() -> None:
    text = json.dumps(read_signature(everything, "everything").schema)
    assert "$ref" not in text and "$defs" not in text
    assert '"title": "' not in text  # a parameter may be called so; a schema's title is not wanted


@pytest.mark.row("R-019")
def test_the_context_is_injected_and_never_in_the_schema() -> None:
    def sync(ctx: SyncContext, n: int = 1) -> str:
        """A plain function."""
        return str(n)

    def noted(n: int, given: Annotated[Context, "what is given"]) -> str:
        """The context under another name, with a note."""
        return str(n)

    def without(n: int) -> str:
        """None at all."""
        return str(n)

    for function, name in ((everything, "ctx"), (sync, "ctx"), (noted, "given"), (without, None)):
        signature = read_signature(function, "x")
        assert signature.context == name
        assert name not in signature.schema["properties"]
        assert name not in signature.fields
    assert read_signature(everything, "x").is_async
    assert not read_signature(sync, "x").is_async


def test_a_mutable_default_is_made_anew_for_each_call() -> None:
    struct = read_signature(everything, "x").struct
    one, other = (msgspec.convert({"path": "a", "edits": []}, struct) for _ in range(2))
    assert one.tags == [] and one.tags is not other.tags


def test_touches_are_found_by_parameter() -> None:
    def write(files: list[Annotated[str, Writes("Files")]], plain: str) -> str:
        """Write."""
        return plain

    assert list(read_signature(write, "write").touched) == ["files"]


def star(*paths: str) -> str:
    """Many."""
    return ""


def keywords(**paths: str) -> str:
    """Many."""
    return ""


def positional(path: str, /) -> str:
    """One."""
    return path


def untyped(path) -> str:  # type: ignore[no-untyped-def]
    """One."""
    return str(path)


def unknown(path: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821
    """One."""
    return ""


def no_json(path: complex) -> str:
    """One."""
    return ""


def endless(tree: Tree) -> str:
    """A tree."""
    return ""


def odd_note(path: Annotated[str, 3]) -> str:
    """One."""
    return path


def full_default(paths: list[str] = ["a"]) -> str:  # noqa: B006
    """One."""
    return ""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (star, "*args"),
        (keywords, "**kwargs"),
        (positional, "positional-only"),
        (untyped, "'path' has no annotation"),
        (unknown, "Nowhere"),
        (no_json, "cannot be described as JSON"),
        (endless, "contains itself"),
        (odd_note, "neither text"),
        (full_default, "must be empty"),
    ],
)
def test_what_cannot_be_a_tools_signature_is_refused_in_words(function: Any, says: str) -> None:
    with pytest.raises(BadSignature) as caught:
        read_signature(function, "x")
    assert says in str(caught.value)


def test_text_on_a_field_of_a_struct_is_refused_since_it_would_be_lost() -> None:
    class Part(msgspec.Struct):
        path: Annotated[str, "A file"]

    def use(part: Part) -> str:
        """Use it."""
        return part.path

    use.__annotations__["part"] = Part
    with pytest.raises(BadSignature) as caught:
        read_signature(use, "use")
    assert "path" in str(caught.value)


def test_a_function_is_read_once_for_as_long_as_it_lives() -> None:
    def counted(a: int) -> str: ...

    read = signature_of(counted, "counted")
    assert signature_of(counted, "counted") is read
    assert signature_of(counted, "other").struct.__name__ == "other"  # msgspec names it where an argument is wrong
    gone = weakref.ref(counted)
    del counted
    gc.collect()
    assert gone() is None
