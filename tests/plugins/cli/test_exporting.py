"""The exported page: what models, tools and files said stays in its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard import events
from pegboard.session import SessionInfo
from pegboard_cli.exporting import fenced, page, plain, span
from pegboard_cli.pruning import age, bytes_of, seconds_of, size

NASTY = st.text(st.sampled_from("`~# >a\n\t<-!\\\x1b\u202e*_[]|"), max_size=60)


def info(title: str = "t") -> SessionInfo:
    return SessionInfo(id="s", root=None, started=0, changed=0, events=1, turns=1, title=title, status="done", size=1)


@given(NASTY)
def test_nothing_in_a_fence_closes_it(text: str) -> None:
    first, *inside, last = fenced(text, "diff")
    ticks = first.removesuffix("diff")
    assert last == ticks and set(ticks) == {"`"} and len(ticks) >= 3
    assert not any(re.match(rf" {{0,3}}`{{{len(ticks)},}}\s*$", line) for line in inside)


@given(NASTY)
def test_nothing_in_a_code_span_closes_it(text: str) -> None:
    made = span(text)
    ticks = re.match(r"`+", made)[0]  # type: ignore[index]
    assert made.endswith(ticks) and "\n" not in made
    assert ticks not in re.findall(r"`+", made[len(ticks) : -len(ticks)])


@given(title=NASTY, said=NASTY)
def test_headings_are_the_pages_own_whatever_was_said(title: str, said: str) -> None:
    log = [events.Prompt(text=said), events.Message(text=f"{said}x"), events.Note(level="info", text=said)]
    made = page(info(title), log)
    assert [line for line in made.split("\n") if line.startswith("#")] == [f"# {plain(title) or 's'}"]
    assert "\x1b" not in made and "\u202e" not in made
    outside = [line for line in made.split("\n") if not line.startswith((">", "#", "- ", "*Note", "**"))]
    assert set(outside) <= {""}


@pytest.mark.parametrize(("given", "seconds"), [("90m", 5400), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600)])
def test_ages(given: str, seconds: float) -> None:
    assert seconds_of(age(given)) == seconds


@pytest.mark.parametrize(("given", "count"), [("1000", 1000), ("10k", 10_240), ("500M", 500 << 20), ("2GiB", 2 << 30)])
def test_sizes(given: str, count: int) -> None:
    assert bytes_of(size(given)) == count
