"""A call's result in the forms of the front ends that are installed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from pegboard.activity import activity_of
from pegboard.checking.drawing import Form, forms

if TYPE_CHECKING:
    from pegboard.testing.called import Called


@cache
def _installed() -> dict[str, Form | str]:
    return forms()


def in_forms(one: Called, names: Sequence[str], width: int) -> dict[str, str]:
    """What each form makes of a call, by its name; see `Called.in_forms`.

    Raises:
        AssertionError: one cannot draw it, or nothing is seen of it there.
    """
    there = _installed()
    drawing = {name: form for name, form in there.items() if (name in names if names else not isinstance(form, str))}
    missing = [
        f"{name}: {there.get(name, 'there is no such form')}" for name in names if isinstance(there.get(name, ""), str)
    ]
    if missing:
        _skip("; ".join(missing))
    if not drawing:
        _skip("no form is installed; pegboard-cli brings plain, rich and json, and pegboard-tui brings app")
    tool = one.board.board.registry.get(one.requested)
    blocks = [activity_of(tool, one.requested, one.arguments), *one.drawn()]
    drawn = {}
    for name, form in drawing.items():
        assert callable(form)
        try:
            seen = form(blocks[1:], width).strip()  # the line of the call itself is always seen
            drawn[name] = form(list(blocks), width)
        except (Exception, SystemExit) as error:
            told = f"{one.requested} cannot be drawn in the form {name!r} at {width} columns"
            raise AssertionError(f"{told}: {type(error).__name__}: {error}\n  its blocks: {blocks[1:]!r}") from error
        if not seen and one.text.strip():
            told = f"nothing is seen of what {one.requested} returned in the form {name!r} at {width} columns"
            raise AssertionError(f"{told}\n  its blocks: {blocks[1:]!r}")
    return drawn


def _skip(why: str) -> NoReturn:
    import pytest  # the command checks plugins with modules of this package, and has none

    pytest.skip(why)
