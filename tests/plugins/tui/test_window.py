"""Which lines are in view, against all lines drawn and laid below one another."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.blocks import Activity, AnyBlock, Text
from pegboard.port import Described
from pegboard_tui.drawing.items import rows
from pegboard_tui.drawing.look import Look
from pegboard_tui.drawn import DrawnItems
from pegboard_tui.items import AnyItem, Made, Shown, Told
from pegboard_tui.window import Window, spaced
from scripted import call_asked, call_finished

WIDTH, HEIGHT = 20, 7


def shown(key: str, lines: int) -> Shown:
    """An item of so many lines."""
    blocks: list[AnyBlock] = [Text(text="\n".join(f"{key} {line}" for line in range(lines)))] if lines else []
    return Shown(key=key, blocks=blocks)


def call(id: str) -> Made:
    """A call that has no result yet."""
    described = Described(tool="t", activity=Activity(glyph="$", verb="Run", subject=id), echo=True)
    return Made(key=f"c{id}", asked=call_asked(id, "Run it"), described=described)


def window(items: list[AnyItem], kept: int = 4_000) -> Window:
    made = Window(DrawnItems(Look(width=WIDTH), kept))
    made.show(items)
    made.settle(HEIGHT)
    return made


def everything(made: Window) -> list[str]:
    """All lines there are."""
    found: list[str] = []
    for at, item in enumerate(made.items):
        drawn = [strip.text.rstrip() for strip in rows(item, Look(width=WIDTH))]
        if drawn or made.reserved.get(item.key):
            gap = spaced(made.items[at - 1] if at else None, item)
            found += [*[""] * gap, *drawn, *[""] * made.reserved.get(item.key, 0)]
    return found


def seen(made: Window) -> list[str]:
    return [row.strip.text.rstrip() if row.strip else "" for row in made.rows]


def top(made: Window) -> int:
    """Which of all lines is the first in view."""
    drawn = [len(rows(item, Look(width=WIDTH))) + made.reserved.get(item.key, 0) for item in made.items]
    heights = [h + made.gap(at) if h else 0 for at, h in enumerate(drawn)]
    return sum(heights[: made._top]) + made._offset


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.integers(-15, 15)),
        st.tuples(st.just("take"), st.integers(0, 9)),
        st.tuples(st.just("grow"), st.integers(0, 30)),
        st.tuples(st.just("reserve"), st.integers(0, 30)),
        st.tuples(st.just("follow"), st.just(0)),
        st.tuples(st.just("jump"), st.integers(0, 90)),
        st.tuples(st.just("reveal"), st.integers(0, 30)),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=12), ACTIONS)
def test_what_is_in_view_is_a_part_of_all_lines_and_moves_by_exactly_what_is_asked(
    heights: list[int], actions: list[tuple[str, int]]
) -> None:
    made = window([shown(f"i{at}", height) for at, height in enumerate(heights)], kept=20)
    for count, (what, amount) in enumerate(actions):
        before, following, last = top(made), made.following, len(everything(made)) - HEIGHT
        at = amount % len(made.items) if made.items else 0
        match what:
            case "move":
                made.move(amount)
            case "take":
                made.take(shown(f"n{count}", amount))
            case "grow" if made.items:
                made.take(shown(made.items[at].key, amount % 10))
            case "reserve" if made.items:
                made.reserve(made.items[at].key, amount % 4)
            case "follow":
                made.following = True
            case "jump":
                made.jump(amount)
            case "reveal" if made.items:
                made.reveal(at, up=bool(amount % 2))
        made.settle(HEIGHT)
        lines = everything(made)
        assert seen(made) == lines[top(made) : top(made) + HEIGHT]
        assert len(made.rows) == min(HEIGHT, len(lines))
        assert made.following == (top(made) + HEIGHT >= len(lines))
        assert made.y + len(made.rows) <= made.total
        if what == "move":
            assert top(made) == max(min(before + amount, last), 0)
        elif what in ("take", "grow") and following:
            assert made.following


def test_a_growing_item_above_leaves_what_is_under_the_eye_where_it_is() -> None:
    made = window([shown(f"i{at}", 6) for at in range(50)])
    made.move(-100)
    made.settle(HEIGHT)
    before = seen(made)
    for at in range(10):
        made.take(shown(f"i{at}", 40))
    made.take(shown("new", 3))
    made.settle(HEIGHT)
    assert seen(made) == before
    assert not made.following


def test_calls_of_a_line_stand_close_until_one_of_them_shows_more() -> None:
    calls = [call(str(at)) for at in range(40)]
    made = window([*calls])
    assert len(everything(made)) == 40
    made.move(-40)
    made.settle(HEIGHT)
    made.following = True
    made.settle(HEIGHT)
    calls[20].finished = call_finished("20", "what came of it")
    calls[20].touch()
    made.take(calls[20])
    lines = everything(made)
    assert len(lines) == 43
    for up in range(len(lines) - HEIGHT + 1):
        assert seen(made) == lines[len(lines) - HEIGHT - up : len(lines) - up]
        made.move(-1)
        made.settle(HEIGHT)


def test_scrolling_through_items_nobody_saw_yet_goes_line_by_line() -> None:
    """Estimates are far off here: each of these words takes a line, or none."""
    items: list[AnyItem] = [Told(key=f"t{at}", text=" ".join(["wideword"] * (1 + at % 7 * 5))) for at in range(40)]
    made = window(items)
    lines = everything(made)
    for up in range(1, len(lines) - HEIGHT + 1):
        made.move(-1)
        made.settle(HEIGHT)
        assert seen(made) == lines[len(lines) - HEIGHT - up : len(lines) - up]
    assert made.y == 0


def test_another_width_keeps_the_item_at_the_top_and_draws_what_is_seen_alone() -> None:
    text = " ".join(f"word{at}" for at in range(40))
    items: list[AnyItem] = [Told(key=f"t{at}", text=text) for at in range(200)]
    drawn = DrawnItems(Look(width=WIDTH))
    made = Window(drawn)
    made.show(items)
    made.settle(HEIGHT)
    made.move(-1_000)
    made.settle(HEIGHT)
    at = made.rows[0].number
    drawn.look = Look(width=WIDTH * 3)
    made.forget()
    made.settle(HEIGHT)
    assert made.rows[0].number == at
    assert drawn.lines < 5 * HEIGHT


def test_showing_other_items_stays_at_the_one_that_was_at_the_top() -> None:
    items: list[AnyItem] = [shown(f"i{at}", 3) for at in range(40)]
    made = window(items)
    made.move(-50)
    made.settle(HEIGHT)
    before = seen(made)
    made.show([shown("older", 9), *items])
    made.settle(HEIGHT)
    assert seen(made) == before
    made.show([shown("else", 30)])
    made.settle(HEIGHT)
    assert seen(made)[0] == "else 0"
