"""Touches from annotations: found at any depth, and the effect that follows from them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from pegboard.calls import Effect, Touch, TouchKind
from pegboard.context import Context
from pegboard.events import CallStarted
from pegboard.testing.bench import TestBoard
from pegboard.tooling import BadTool, Tool, tool
from pegboard.touches import Fetches, Lists, Reads, Runs, Writes, effect_of, exceeds, strictest


class Change(msgspec.Struct, frozen=True):
    path: Annotated[str, Writes("The file")]
    based_on: Annotated[str | None, Reads("What it is based on")] = None
    text: str = ""


@tool
def many(
    source: Annotated[str, Reads("A file")],
    changes: list[Change | Annotated[str, Writes("A file")]],
    folder: Annotated[str, Lists("A folder")] = ".",
    command: Annotated[str | None, Runs("A command")] = None,
    urls: Annotated[list[str], Fetches("Pages")] = [],  # noqa: B006
    only: Change | None = None,
    pair: tuple[Annotated[str, Reads("A file")], ...] = (),
    plain: str = "not a path",
) -> str:
    """Touch many things."""
    return source


def touched(**arguments: Any) -> list[tuple[str, str]]:
    made = Tool.of(many)
    return [(t.kind, t.what) for t in made.touches(made.read(arguments).value)]


def test_touches_lie_at_any_depth() -> None:
    found = touched(
        source="a",
        changes=["b", {"path": "c", "based_on": "d"}],
        command="ls",
        urls=["http://x", "http://y"],
        only={"path": "e"},
        pair=["f", "g"],
    )
    assert found == [
        ("read", "a"),
        ("edit", "b"),
        ("edit", "c"),
        ("read", "d"),
        ("list", "."),
        ("run", "ls"),
        ("net", "http://x"),
        ("net", "http://y"),
        ("edit", "e"),
        ("read", "f"),
        ("read", "g"),
    ]


def test_an_omitted_arguments_default_is_touched_too_and_null_is_not() -> None:
    assert touched(source="a", changes=[]) == [("read", "a"), ("list", ".")]


def test_a_tool_that_says_nothing_touches_something_unknown_unless_it_is_pure() -> None:
    @tool
    def silent(n: int) -> str:
        """Say nothing."""
        return str(n)

    @tool(pure=True)
    def pure(n: int) -> str:
        """Touch nothing."""
        return str(n)

    for function, kinds in ((silent, ["unknown"]), (pure, [])):
        made = Tool.of(function)
        assert [t.kind for t in made.touches(made.read({"n": 1}).value)] == kinds


def test_a_function_gives_the_touches_that_no_annotation_can_say() -> None:
    @tool(touches=lambda arguments: [("edit", p) for p in arguments.patch.split()] + [Touch("net", "x", sends=True)])
    def apply(patch: str) -> str:
        """Apply."""
        return patch

    made = Tool.of(apply)
    assert made.touches(made.read({"patch": "a b"}).value) == [
        Touch("edit", "a"),
        Touch("edit", "b"),
        Touch("net", "x", sends=True),
    ]


def test_a_function_that_looks_at_files_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    threads: list[int] = []

    def look(arguments: Any, ctx: Context) -> list[Touch]:
        threads.append(threading.get_ident())
        return [Touch("read", name) for name in sorted(entry.name for entry in ctx.workspace.scan("."))]

    @tool(effect="read_only", touches=look)
    async def all_files() -> str:
        """Read all."""
        threads.append(threading.get_ident())
        return "read"

    (tmp_path / "a").touch()
    board = TestBoard(tmp_path, tools=[all_files])
    assert board.call("all_files").text == "read"
    (started,) = [event for event in board.events if isinstance(event, CallStarted)]
    assert [(touch.kind, touch.at) for touch in started.touches] == [("read", "a")]
    assert len(set(threads)) == 2
    board.close()


@pytest.mark.row("U-027")
@pytest.mark.parametrize(
    ("touches", "effect"),
    [
        ([], "read_only"),
        ([Touch("read", "a"), Touch("list", ".")], "read_only"),
        ([Touch("net", "http://x")], "read_only"),
        ([Touch("net", "http://x", sends=True)], "side_effecting"),
        ([Touch("ask", "which")], "user_mediated"),
        ([Touch("read", "a"), Touch("edit", "b")], "side_effecting"),
        ([Touch("run", "ls")], "side_effecting"),
        ([Touch("mcp", "s")], "side_effecting"),
        ([Touch("state", "k")], "side_effecting"),
        ([Touch("unknown", "t")], "side_effecting"),
    ],
)
def test_a_calls_effect_follows_from_its_touches(touches: list[Touch], effect: Effect) -> None:
    assert effect_of(touches) == effect


@pytest.mark.row("U-027", "U-028")
@pytest.mark.parametrize(
    ("annotation", "declared", "effect"),
    [
        (Reads("x"), None, "read_only"),
        (Lists("x"), None, "read_only"),
        (Fetches("x"), None, "read_only"),
        (Writes("x"), None, "side_effecting"),
        (Runs("x"), None, "side_effecting"),
        (None, None, "side_effecting"),
        (Reads("x"), "user_mediated", "user_mediated"),
        (Reads("x"), "delegating", "delegating"),
        (None, "delegating", "delegating"),
        (None, "read_only", None),  # it says that it only reads, and not what: it does not load as such
    ],
)
def test_a_tools_effect_is_the_bound_of_its_declarations(
    annotation: Any, declared: Effect | None, effect: Effect | None
) -> None:
    @tool(effect=declared)
    def some(what: str) -> str:
        """Do something."""
        return what

    some.__annotations__["what"] = Annotated[str, annotation] if annotation else str
    if effect is None:
        with pytest.raises(BadTool):
            Tool.of(some)
    else:
        assert Tool.of(some).effect == effect


def test_effects_are_ordered() -> None:
    order: list[Effect] = ["read_only", "user_mediated", "delegating", "side_effecting"]
    for low, effect in enumerate(order):
        assert strictest(order[: low + 1]) == effect
        assert [exceeds(effect, bound) for bound in order] == [low > high for high in range(4)]
    assert strictest([]) == "read_only"


@pytest.mark.parametrize(
    ("make", "kind"), [(Reads, "read"), (Writes, "edit"), (Lists, "list"), (Runs, "run"), (Fetches, "net")]
)
def test_each_annotation_declares_its_kind(make: Any, kind: TouchKind) -> None:
    @tool
    def one(what: str) -> str:
        """Do something."""
        return what

    one.__annotations__["what"] = Annotated[str, make("What")]
    made = Tool.of(one)
    assert made.touches(made.read({"what": "x"}).value) == [Touch(kind, "x")]
    assert made.parameters["properties"]["what"] == {"type": "string", "description": "What"}


def test_a_touches_function_may_look_at_the_workspace(tmp_path: Path) -> None:
    """What a call runs may stand in a file of the project: then that is what is judged."""

    def found(arguments: object, ctx: Context) -> Iterator[tuple[TouchKind, str]]:
        yield "run", ctx.workspace.read_text("command.txt").strip()

    @tool(touches=found)
    async def go() -> str:
        """Run what the project names."""
        return "ran"

    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "command.txt").write_text("make it\n", "utf-8")
    board = TestBoard(tmp_path / "w", tools=[go])
    try:
        record = board.call("go")
        started = next(event for event in board.events if isinstance(event, CallStarted))
    finally:
        board.close()
    assert record.decision is not None and record.decision.rule == "tool_permission.bash"
    assert started.touches == [Touch("run", "make it")]
