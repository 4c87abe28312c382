"""Offers to route over: the six core tools and stand-ins for later sets, with honest examples (`offers.json`)."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pegboard.board import Board
from pegboard.models import ToolOffer
from pegboard_offline.lexicon import STOP, lemma
from pegboard_offline.route import Choice

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared/offline/requests.jsonl"

Row = dict[str, Any]
Offers = list[ToolOffer]


def rows(path: Path) -> list[Row]:
    """The JSON objects of a file, a line each."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@pytest.fixture(scope="session")
def core() -> Offers:
    """The six core tools, as declared when the router was built."""
    return msgspec.convert(json.loads((HERE / "offers.json").read_text("utf-8"))["core"], Offers)


@pytest.fixture(scope="session")
def everything(core: Offers) -> Offers:
    """The core and stand-ins for what later sets bring."""
    return core + msgspec.convert(json.loads((HERE / "offers.json").read_text("utf-8"))["more"], Offers)


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Offers:
    """The offers of the core tool set as it is installed."""
    state = tmp_path_factory.mktemp("state")
    root, none = str(tmp_path_factory.mktemp("root")), state / "none.toml"
    return Board.build(root, flags={"toolSets": []}, user_file=none, environ={}, state=state).offers()


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Offers:
    """The offers of every set of ours, as they are installed."""
    state = tmp_path_factory.mktemp("state")
    root, none = str(tmp_path_factory.mktemp("root")), state / "none.toml"
    return Board.build(root, user_file=none, environ={}, state=state).offers()


@pytest.fixture(scope="session")
def shared_requests() -> list[Row]:
    """The forty shared requests."""
    return rows(SHARED)


@pytest.fixture(scope="session")
def practice() -> list[Row]:
    """Requests the router was built on: right ones must stay right."""
    return rows(HERE / "practice.jsonl")


@pytest.fixture(scope="session")
def held_out() -> list[Row]:
    """Requests written after the router was finished and never tuned on."""
    return rows(HERE / "heldout.jsonl")


@pytest.fixture(scope="session")
def newcomer() -> list[Row]:
    """What somebody would type who has just installed every set. `arguments`: all of them, where they were thought of."""
    return rows(HERE / "newcomer.jsonl")


@pytest.fixture(scope="session")
def chosen_right() -> Callable[[Choice, Row], bool]:
    """Whether a choice is the shared row's."""

    def right(choice: Choice, row: Row) -> bool:
        if choice.tool != row["tool"]:
            return False
        if row["arg"] is None:
            return True
        value = choice.arguments.get(row["arg"])
        return sorted(value) == sorted(row["accept"]) if isinstance(value, list) else value in row["accept"]

    return right


@pytest.fixture(scope="session")
def without_kin() -> Callable[..., Offers]:
    """Offers without every example that shares a word with a request, stop-words aside. Inflections count as the word."""

    def words(text: str, stop: frozenset[str]) -> set[str]:
        plain = re.findall(r"[a-z][\w'-]*", re.sub(r"\{\w+\}", " ", text.lower()))
        return {form for word in plain if word not in stop for form in (word, lemma(word))}

    def leave_out(offers: Offers, request: str, stop: frozenset[str] = STOP) -> Offers:
        said = words(request, stop)
        return [
            msgspec.structs.replace(offer, examples=tuple(e for e in offer.examples if not words(e, stop) & said))
            for offer in offers
        ]

    return leave_out


@pytest.fixture(scope="session")
def renamed() -> Callable[[Offers, int], tuple[Offers, dict[str, str], dict[str, dict[str, str]]]]:
    """The same offers with every tool, parameter and description renamed at random; the new names by the old."""

    def rename(offers: Offers, seed: int) -> tuple[Offers, dict[str, str], dict[str, dict[str, str]]]:
        fresh = _fresh(random.Random(seed))
        tools: dict[str, str] = {}
        parameters: dict[str, dict[str, str]] = {}
        made: Offers = []
        for offer in offers:
            properties = offer.parameters["properties"]
            names = {old: next(fresh) for old in properties}
            tools[offer.name], parameters[offer.name] = next(fresh), names
            schema = {
                "type": "object",
                "properties": {names[old]: _described(part, fresh) for old, part in properties.items()},
                "required": [names[old] for old in offer.parameters.get("required", [])],
            }
            made.append(
                msgspec.structs.replace(
                    offer,
                    name=tools[offer.name],
                    description=next(fresh),
                    parameters=schema,
                    touches={names[old]: kind for old, kind in offer.touches.items()},
                    examples=tuple(
                        re.sub(r"\{(\w+)\}", lambda m, n=names: f"{{{n[m[1]]}}}", e) for e in offer.examples
                    ),
                )
            )
        return made, tools, parameters

    return rename


def _fresh(chance: random.Random) -> Iterator[str]:
    while True:
        yield "".join(chance.choices(string.ascii_lowercase, k=9))


def _described(part: Any, fresh: Iterator[str]) -> Any:
    return {**part, "description": next(fresh)} if "description" in part else part
