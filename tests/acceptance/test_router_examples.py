"""The examples that tools declare: few, honest, and enough for the router to find the tool they stand on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pegboard.board import Board
from pegboard.models import ToolOffer
from pegboard_offline.route import Router

SHARED = Path(__file__).parents[1] / "shared" / "offline" / "requests.jsonl"
BY_TOUCH = {"read": "notes.txt", "edit": "notes.txt", "list": "src", "run": "make lint", "net": "https://example.org/x"}
BY_FORMAT = {"glob": "*.md", "regex": "'needle'", "uri": BY_TOUCH["net"]}


@pytest.fixture(scope="module")
def offers(tmp_path_factory: pytest.TempPathFactory) -> list[ToolOffer]:
    state = tmp_path_factory.mktemp("state")
    board = Board.build(str(tmp_path_factory.mktemp("root")), user_file=state / "none.toml", environ={}, state=state)
    return board.offers()


def filled(offer: ToolOffer, example: str) -> str:
    """The example as a person would say it; every slot filled by what its parameter declares, never by its name."""
    texts = iter(["'alpha'", "'beta'"])

    def value(match: re.Match[str]) -> str:
        parameter = offer.parameters["properties"][match[1]]
        if match[1] in offer.touches:
            return BY_TOUCH[offer.touches[match[1]]]
        if "format" in parameter:
            return BY_FORMAT[parameter["format"]]
        if "enum" in parameter:
            return str(parameter["enum"][-1])
        if parameter["type"] == "boolean":
            return "everything"
        if parameter["type"] == "array" and parameter["items"].get("type") == "object":
            return "'alpha' with 'beta' and 'gamma' with 'delta'"
        return "3" if parameter["type"] == "integer" else next(texts)

    return re.sub(r"\{(\w+)\}", value, example)


def test_every_example_leads_to_the_tool_it_stands_on(offers: list[ToolOffer]) -> None:
    router = Router()
    chosen = {
        (offer.name, example): router.choose(filled(offer, example), offers).tool
        for offer in offers
        for example in offer.examples
    }
    assert {key: tool for key, tool in chosen.items() if tool != key[0]} == {}
    assert len(chosen) > 40


def test_examples_are_few_and_none_is_a_shared_request_with_its_slots_filled(offers: list[ToolOffer]) -> None:
    requests = [json.loads(line)["request"] for line in SHARED.read_text("utf-8").splitlines()]
    for offer in offers:
        assert len(offer.examples) <= 12
        for example in offer.examples:
            pattern = re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(example))
            same = [request for request in requests if re.fullmatch(pattern + r"[?.!]?", request, re.IGNORECASE)]
            assert same == [], (offer.name, example)
