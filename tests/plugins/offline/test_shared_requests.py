"""The shared requests: chosen right, chosen without knowing a name, and chosen without a kindred example."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pegboard_offline
import pytest
from pegboard_offline.bags import bag
from pegboard_offline.lexicon import STOP
from pegboard_offline.route import Choice, Plan, Router


def first(plan: Plan) -> Choice:
    return plan.choices[0] if plan.choices else Choice()


FEW = bag(
    """a an the of in on at to for with and or is are was be it its this that these those my me i you your do does did can
    could would please what which who where when how there any all"""
)
"""Stop-words of a stricter count: whatever else a request and an example share makes them kin."""


@pytest.fixture(params=["installed", "real", "core", "everything"])
def offers(request):
    """All sets as installed; core as installed, and as the router was built on; that with stand-ins for later sets."""
    return request.getfixturevalue(request.param)


def on_offer(requests, offers):
    names = {offer.name for offer in offers}
    return [row for row in requests if row["tool"] in names]


def test_every_shared_request_is_chosen_right(offers, shared_requests, chosen_right):
    router = Router()
    wrong = [
        (row["request"], choice)
        for row in on_offer(shared_requests, offers)
        if not chosen_right(choice := first(router.plan(row["request"], offers)), row)
    ]
    assert wrong == []


def test_what_is_not_on_offer_is_never_changed_in_another_way(core, everything, shared_requests):
    """With the core alone, a request for a later set's tool reads or asks back; it writes and runs nothing made up."""
    router = Router()
    missing = [row for row in shared_requests if row not in on_offer(shared_requests, core)]
    effects = {offer.name: offer.effect for offer in core}
    for row in missing:
        plan = router.plan(row["request"], core)
        if plan.acts:
            assert all(effects[choice.tool] == "read_only" for choice in plan.choices), row["request"]


def test_renaming_every_tool_and_parameter_changes_no_choice(everything, shared_requests, practice, renamed):
    for seed, requests in ((1, [*shared_requests, *practice]), (2, shared_requests), (3, shared_requests)):
        others, tools, parameters = renamed(everything, seed)
        one, other = Router(), Router()
        for row in requests:
            before, after = one.plan(row["request"], everything), other.plan(row["request"], others)
            assert before.acts == after.acts, row["request"]
            assert [(tools.get(c.tool), c.confidence) for c in before.choices] == [
                (c.tool, c.confidence) for c in after.choices
            ], row["request"]
            for a, b in zip(before.choices, after.choices, strict=True):
                names = parameters.get(a.tool, {})
                assert {names[k]: v for k, v in a.arguments.items()} == b.arguments, row["request"]


@pytest.mark.parametrize("stop", [STOP, FEW], ids=["own", "few"])
def test_enough_is_chosen_right_without_any_example_that_shares_a_word(
    offers, shared_requests, chosen_right, without_kin, stop
):
    """34 of the 40, pro rata for what is on offer."""
    router = Router()
    asked = on_offer(shared_requests, offers)
    right = sum(
        chosen_right(first(router.plan(row["request"], without_kin(offers, row["request"], stop))), row)
        for row in asked
    )
    assert right / len(asked) >= 34 / 40


def test_no_tool_has_more_than_twelve_examples_and_none_is_a_shared_request(everything, shared_requests):
    asked = [row["request"].rstrip("?.") for row in shared_requests]
    for offer in everything:
        assert len(offer.examples) <= 12
        for example in offer.examples:
            pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(example.rstrip("?.")))
            assert not [text for text in asked if re.fullmatch(pattern, text, re.I)], example


def test_the_router_names_no_tool(everything):
    folder = Path(inspect.getfile(pegboard_offline)).parent
    source = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    names = {offer.name for offer in everything if "_" in offer.name}
    parameters = {name for offer in everything for name in offer.parameters["properties"] if "_" in name}
    assert not [name for name in names | parameters if re.search(rf"\b{name}\b", source)]


def test_content_that_is_only_described_is_missing_not_made_up(core):
    """The choice stands (tool and path), so that it can be measured; the call waits for the text."""
    choice = Router().choose("Write a python file fib.py with a fibonacci function", core)
    assert (choice.tool, choice.arguments, choice.missing) == ("write_file", {"path": "fib.py"}, ("content",))
    assert not choice.acts
