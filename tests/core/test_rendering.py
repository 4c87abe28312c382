"""Plugins' renderers: chosen by type, pulled under a time limit, isolated from everything but their own picture."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from pegboard import Board, Result, hookimpl, tool
from pegboard.blocks import AnyBlock, Diff, Note, Table, Text
from pegboard.hooks import Renderer
from pegboard.plugins import Entry, given
from pegboard.rendering import Renderers, returned_types
from pegboard.tooling import Tool


class Count(msgspec.Struct):
    words: list[str]

    def __str__(self) -> str:
        return f"{len(self.words)} words"


class Finer(Count):
    """Derives from what a renderer draws."""


class Other(msgspec.Struct, tag="other"):
    reason: str


class Tagged(msgspec.Struct, tag="tagged"):
    number: int


@tool(pure=True)
def count(text: str) -> Count:
    """Count words."""
    return Count(words=text.split())


def returning(hint: Any, owner: str = "words") -> Tool:
    def some() -> Any:
        """Return something."""

    some.__annotations__["return"] = hint
    return Tool.of(tool(pure=True)(some), owner=owner, set=owner)


def table(found: Count) -> list[AnyBlock]:
    return [Table(columns=["word"], rows=[[word] for word in found.words])]


def entry(name: str, group: str = "pegboard.renderers") -> Entry:
    return given(name, group, ModuleType(name))


def renderers(draw: Any, kind: Any = Count, *, name: str = "charts", limit: float = 5) -> Renderers:
    return Renderers([(entry(name), {kind: draw})], limit=limit)


DATA = {"words": ["a", "b"]}
COUNT = returning(Count)


async def test_a_renderer_is_given_the_data_as_the_type_that_the_tool_declares() -> None:
    given: list[Any] = []
    drawn = await renderers(lambda found: given.append(found) or table(found)).blocks(COUNT, DATA)
    assert drawn == [Table(columns=["word"], rows=[["a"], ["b"]])]
    assert given == [Count(words=["a", "b"])]


@pytest.mark.parametrize(
    ("hint", "drawn"),
    [
        (Count, True),
        (Finer, True),
        (Annotated[Count, "what was counted"], True),
        (Count | None, True),
        (Annotated[Result, Count], True),
        (Result, False),
        (str, False),
        (None, False),
        (list[Count], False),
        (Other, False),
        (Any, False),
    ],
)
async def test_the_declared_type_chooses_the_renderer(hint: Any, drawn: bool) -> None:
    assert (await renderers(table).blocks(returning(hint), DATA) is not None) == drawn


async def test_a_type_that_is_written_with_brackets_may_be_drawn() -> None:
    mine = renderers(lambda found: [Note(text=found[0].words[0])], list[Count])
    assert await mine.blocks(returning(list[Count]), [DATA]) == [Note(text="a")]


async def test_the_member_of_a_union_that_fits_is_drawn() -> None:
    mine = Renderers(
        [(entry("charts"), {Tagged: lambda t: [Note(text=f"{t.number}")], Other: lambda o: [Note(text="no")]})]
    )
    both = returning(Tagged | Other)
    assert await mine.blocks(both, {"type": "tagged", "number": 3}) == [Note(text="3")]
    assert await mine.blocks(both, {"type": "other", "reason": "x"}) == [Note(text="no")]
    assert returned_types(Tagged | Other | None) == [Tagged, Other]


async def test_a_sets_renderers_draw_for_its_own_tools_alone_and_come_first_there() -> None:
    def says(text: str) -> Renderer:
        return lambda found: [Note(text=text)]

    mine = Renderers(
        [
            (entry("anybody"), {Count: says("for any tool")}),
            (entry("words", "pegboard.toolsets"), {Count: says("of its own")}),
        ]
    )
    assert await mine.blocks(returning(Count, "words"), DATA) == [Note(text="of its own")]
    assert await mine.blocks(returning(Count, "strange"), DATA) == [Note(text="for any tool")]


async def test_nothing_to_draw_is_no_failure() -> None:
    mine = renderers(lambda found: None if not found.words else [])
    assert await mine.blocks(COUNT, {"words": []}) is None
    assert await mine.blocks(COUNT, DATA) is None
    assert await mine.blocks(COUNT, None) is None
    assert await mine.blocks(None, DATA) is None
    assert mine.told() == []


async def test_an_async_renderer_is_awaited_off_the_loop() -> None:
    where: list[threading.Thread] = []

    async def draw(found: Count) -> list[AnyBlock]:
        where.append(threading.current_thread())
        await asyncio.sleep(0)
        return [Note(text="later")]

    assert await renderers(draw).blocks(COUNT, DATA) == [Note(text="later")]
    assert where[0] is not threading.main_thread()


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raises(error: BaseException) -> Callable[[Any], Any]:
    def draw(found: Any) -> Any:
        raise error

    return draw


BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "raises": (raises(ValueError("no colours\nleft")), "raised ValueError: no colours"),
    "exits": (raises(SystemExit(3)), "raised SystemExit: 3"),
    "interrupts": (raises(KeyboardInterrupt()), "raised KeyboardInterrupt"),
    "stops": (raises(StopIteration()), "raised StopIteration"),
    "cancels": (raises(asyncio.CancelledError()), "raised CancelledError"),
    "cannot be said": (raises(Unspeakable()), "raised Unspeakable"),
    "recurs": (lambda found: BAD["recurs"][0](found), "raised RecursionError"),
    "a text": (lambda found: "drawn", "returned str where a list of blocks was expected"),
    "no blocks": (lambda found: [Note(text="a"), object()], "returned what are no blocks"),
    "wrong fields": (lambda found: [Table(columns=["a"], rows=[[1]])], "returned what are no blocks"),  # type: ignore[list-item]
    "too much": (lambda found: [Text(text="x" * 5_000_000)], "more than 4 MiB"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", BAD)
async def test_a_renderer_that_fails_costs_its_picture_and_is_named_once(how: str) -> None:
    draw, told = BAD[how]
    mine = renderers(draw)
    for _ in range(2):
        assert await mine.blocks(COUNT, DATA) is None
    notes = mine.told()
    assert len(notes) == 1 and told in notes[0]
    assert "'charts'" in notes[0] and "plugins.disable" in notes[0] and "\n" not in notes[0]
    assert mine.told() == []


async def test_one_that_failed_is_asked_again_for_the_next_result() -> None:
    mine = renderers(lambda found: [Note(text=found.words[0])])
    assert await mine.blocks(COUNT, {"words": []}) is None
    assert await mine.blocks(COUNT, DATA) == [Note(text="a")]


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("how", ["waits", "loops"])
async def test_one_that_hangs_holds_up_nobody_and_is_not_asked_until_it_has_ended(
    released: threading.Event, how: str
) -> None:
    asked: list[int] = []

    def draw(found: Count) -> list[AnyBlock]:
        asked.append(1)
        while not released.wait(60) if how == "waits" else not released.is_set():
            pass
        return [Note(text="late")]

    mine = renderers(draw, limit=0.05)
    ticks: list[int] = []

    async def others() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0.005)

    beside = asyncio.create_task(others())
    assert await mine.blocks(COUNT, DATA) is None
    beside.cancel()
    assert len(ticks) > 1, "the loop went on"
    assert await mine.blocks(COUNT, DATA) is None
    assert len(asked) == 1
    assert "took longer than 50 ms" in mine.told()[0]
    released.set()
    while await mine.blocks(COUNT, DATA) is None:
        await asyncio.sleep(0.01)
    assert len(asked) > 1  # more than once, where the machine is too busy for its 50 ms


def test_one_that_never_ends_does_not_keep_the_program_from_leaving(tmp_path: Path) -> None:
    import subprocess

    code = """
import asyncio, time, msgspec
from types import ModuleType
from pegboard import tool
from pegboard.plugins import given
from pegboard.rendering import Renderers
from pegboard.tooling import Tool
class Count(msgspec.Struct):
    n: int
@tool(pure=True)
def count() -> Count:
    "Count."
mine = Renderers([(given("charts", "pegboard.renderers", ModuleType("m")), {Count: lambda c: time.sleep(3600)})], limit=0.05)
print(asyncio.run(mine.blocks(Tool.of(count), {"n": 1})), mine.told() != [])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("None True\n", "", 0)


async def test_a_renderer_changes_its_own_copy_alone() -> None:
    kept: list[Any] = []

    def draw(found: Count) -> list[AnyBlock]:
        found.words.clear()
        kept.append([Text(text="drawn")])
        return kept[0]  # type: ignore[no-any-return]

    data = {"words": ["a", "b"]}
    mine = renderers(draw)
    drawn = await mine.blocks(COUNT, data)
    kept[0].clear()
    assert data == {"words": ["a", "b"]} and drawn == [Text(text="drawn")]
    assert drawn is not kept[0]


async def test_what_is_drawn_is_valid_unicode() -> None:
    drawn = await renderers(lambda found: [Note(text="caf\udce9 \ud800")]).blocks(COUNT, DATA)
    assert drawn == [Note(text="caf\\xe9 \\ud800")]


async def test_data_that_is_not_of_the_declared_type_is_told() -> None:
    mine = renderers(table)
    assert await mine.blocks(COUNT, {"words": 3}) is None
    assert "data that is no Count" in mine.told()[0]


# --- on a board -------------------------------------------------------------------------------------------------------


def module(name: str, **hooks: Callable[[], Any]) -> ModuleType:
    made = ModuleType(name)
    for hook, impl in hooks.items():
        impl.__name__ = hook
        setattr(made, hook, hookimpl(impl))
    return made


async def on_board(tmp_path: Path, draw: Any, **flags: Any) -> tuple[Any, Any, list[str]]:
    """(record, blocks, notes) of a call whose data a plugin of the group `pegboard.renderers` draws."""
    board = Board.build(
        str(tmp_path),
        user_file=tmp_path / "none.toml",
        environ={},
        state=tmp_path / "state",
        discover=False,
        flags=flags,
        extra=[
            given("words", "pegboard.toolsets", module("m_words", pegboard_tools=lambda: [count])),
            given("charts", "pegboard.renderers", module("m_charts", pegboard_renderers=lambda: {Count: draw})),
        ],
    )
    try:
        record = await board.call("count", {"text": "one two"})
        return record, await board.renderers.blocks(board.registry.get("count"), record.data), board.renderers.told()
    finally:
        await board.close()


async def test_a_plugins_renderers_are_on_the_board(tmp_path: Path) -> None:
    record, drawn, notes = await on_board(tmp_path, table)
    assert drawn == [Table(columns=["word"], rows=[["one"], ["two"]])] and notes == []
    assert record.text == "2 words" and record.blocks == []


async def test_a_renderer_is_never_on_the_road(tmp_path: Path) -> None:
    """The record is the same whatever the renderer would do, and it is asked by nobody but a front end."""
    asked: list[Any] = []
    with_one, drawn, _ = await on_board(tmp_path, lambda found: asked.append(found) or time.sleep(0) or 1 / 0)
    without, nothing, _ = await on_board(tmp_path, table, **{"plugins.disable": ["charts"]})
    assert drawn is None and nothing is None and len(asked) == 1
    assert (with_one.text, with_one.data, with_one.blocks) == (without.text, without.data, without.blocks)


async def test_a_tool_whose_result_nobody_draws_costs_no_thread() -> None:
    before = threading.active_count()
    assert await Renderers().blocks(COUNT, DATA) is None
    assert await renderers(table, Other).blocks(COUNT, DATA) is None
    assert threading.active_count() == before


def test_the_blocks_of_a_diff_are_of_the_closed_union() -> None:
    """What a renderer may return is what the log can hold."""
    diff = Diff(path="a", change="changed", added=1, removed=0, text="+x")
    assert msgspec.json.decode(msgspec.json.encode([diff]), type=list[AnyBlock]) == [diff]
