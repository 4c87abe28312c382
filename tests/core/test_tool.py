"""@tool: a typed function becomes a tool, and stays a function."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec
import pytest
from pegboard.calls import Call
from pegboard.context import Context
from pegboard.tooling import MAX_EXAMPLES, BadTool, Declaration, Tool, callable_by, tool
from pegboard.touches import Reads, Writes


@tool(examples=["count the words in {path}"])
def word_count(path: Annotated[str, Reads("File, relative to the workspace root")], ctx: Context) -> str:
    """Count the words in a file.

    Words are what white space separates.
    """
    return str(len(ctx.workspace.read_text(path).split()))


@pytest.mark.row("R-004")
def test_a_marked_function_is_listed_advertised_and_callable(pegboard_board: Any, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("one two three")
    board = pegboard_board(tools=[word_count])
    assert [made.name for made in board.board.registry.tools] == ["word_count"]
    (offer,) = board.board.offers()
    assert offer.name == "word_count"
    assert board.call("word_count", path="a.txt").text == "3"


@pytest.mark.row("R-004")
def test_it_stays_a_function_that_gets_its_fields_by_name() -> None:
    @tool
    def join(left: str, right: str = "b") -> str:
        """Join."""
        return left + right

    assert join("a") == "ab"
    assert join(left="x", right="y") == "xy"
    assert join.__name__ == "join"


@pytest.mark.row("C-001")
def test_a_tool_has_name_group_description_schema_and_its_function() -> None:
    made = Tool.of(word_count, owner="words", set="words")
    assert (made.name, made.set, made.qualified) == ("word_count", "words", "words:word_count")
    assert made.description == "Count the words in a file.\n\nWords are what white space separates."
    assert made.parameters == {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "File, relative to the workspace root"}},
        "required": ["path"],
    }
    assert made.function is word_count
    assert made.with_owner("other", None).qualified == "other:word_count"


@pytest.mark.row("U-028", "U-036")
def test_the_strict_value_is_the_default() -> None:
    @tool
    def plain(n: int) -> str:
        """Do something."""
        return str(n)

    made = Tool.of(plain)
    assert (made.effect, made.declaration.replay, made.declaration.overlap) == ("side_effecting", "never", "exclusive")
    assert not made.declaration.pure and not made.declaration.inline
    assert Declaration() == made.declaration


@pytest.mark.row("U-001")
def test_effect_replay_and_overlap_are_three_declarations_that_do_not_touch_each_other() -> None:
    def made(**declared: Any) -> tuple[str, str, str]:
        @tool(**declared)
        def some(path: Annotated[str, Reads("x")]) -> str:
            """Do something."""
            return path

        built = Tool.of(some)
        return built.effect, built.declaration.replay, built.declaration.overlap

    assert made() == ("read_only", "never", "exclusive")
    assert made(effect="delegating") == ("delegating", "never", "exclusive")
    assert made(replay="safe") == ("read_only", "safe", "exclusive")
    assert made(overlap="parallel") == ("read_only", "never", "parallel")


@pytest.mark.row("R-014")
def test_listings_show_the_short_label_else_the_description_shortened() -> None:
    @tool(short="count words")
    def one(n: int) -> str:
        """Count the words."""
        return str(n)

    @tool
    def other(n: int) -> str:
        """Count all of the words that there are, in whatever file it may be, and then some more of them.

        More.
        """
        return str(n)

    @tool
    def brief(n: int) -> str:
        """Count.

        More."""
        return str(n)

    assert Tool.of(one).label == "count words"
    assert Tool.of(brief).label == "Count."
    label = Tool.of(other).label
    assert len(label) <= 60 and label.endswith("…")
    assert Tool.of(other).description.startswith(label[:-1])


def test_what_an_alias_presets_stands_below_what_was_sent() -> None:
    @tool(pure=True, aliases=[("whisper", {"loud": False})])
    def say(word: str, loud: bool = True) -> str:
        """Say."""
        return word

    made = Tool.of(say)
    assert made.read({"word": "a"}, {"loud": False}).value.loud is False
    assert made.read({"word": "a", "loud": True}, {"loud": False}).value.loud is True
    assert made.read('{"word": "a"}', {"loud": False}).value.loud is False


def test_callers_are_declared() -> None:
    @tool(callers=["person"])
    def own(n: int) -> str:
        """Do something."""
        return str(n)

    made = Tool.of(own)
    callers = ("model", "person", "program", "tool", "mcp")
    assert [c for c in callers if callable_by(made, Call(id="c1", name="own", caller=c))] == ["person"]  # type: ignore[arg-type]


def test_the_wire_size_is_the_compact_json_of_name_description_and_parameters() -> None:
    made = Tool.of(word_count)
    wire = {"name": made.name, "description": made.description, "parameters": made.parameters}
    assert made.wire_size() == len(msgspec.json.encode(wire))


def declare(function: Any = None, /, **declared: Any) -> Any:
    def some(path: Annotated[str, Writes("x")] = "", count: int = 1) -> str:
        """Do something."""
        return path

    return tool(**declared)(function or some)


def undocumented(n: int) -> str:
    return ""


def unmarked(n: int) -> str:
    """Do something."""
    return ""


def unread(n: int) -> str:
    """Do something."""
    return ""


async def waiting(n: int) -> str:
    """Wait."""
    return ""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (declare(name="Bad-Name"), "a name is"),
        (declare(name="a" * 65), "a name is"),
        (declare(undocumented), "no docstring"),
        (declare(permission="read"), "permission 'read' is for read_only tools"),
        (declare(permission="list"), "permission 'list' is for read_only tools"),
        *((declare(permission=key), f"permission '{key}' is allowed as shipped") for key in ("web", "ask", "state")),
        (declare(batch=True), "batch is for read_only tools"),
        (declare(unread, batch=True, pure=True), "batch is for tools that are given paths"),
        (declare(preview_runs=True), "preview_runs is for tools with a preview"),
        (declare(waiting, inline=True), "inline is for plain functions"),
        (declare(effect="read_only"), "below what it touches"),
        (declare(examples=[f"do {n}" for n in range(MAX_EXAMPLES + 1)]), "at most 12"),
        (declare(examples=["do {nothing}"]), "{nothing}, which is no parameter"),
        (declare(param_aliases={"p": "nothing"}), "no parameter"),
        (unmarked, "is not marked @tool"),
        (declare(effect="harmless"), "effect"),
        (declare(overlap="sometimes"), "overlap"),
        (declare(replay="always"), "replay"),
        (declare(aliases=["Not A Name"]), "alias"),
    ],
)
def test_what_cannot_be_meant_does_not_load(function: Any, says: str) -> None:
    with pytest.raises(BadTool, match=re.escape(says)):
        Tool.of(function)


def test_an_unknown_declaration_is_an_error_where_it_stands() -> None:
    with pytest.raises(TypeError, match="categorie"):
        declare(categorie="read")
