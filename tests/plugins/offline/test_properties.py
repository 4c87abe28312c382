"""What holds for any text: it never raises, it is the same each time, and what it calls is valid."""

from __future__ import annotations

import time
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import Lists, Reads, Runs, Writes, tool
from pegboard.models import ToolOffer
from pegboard.tooling import Tool
from pegboard_offline.route import Router

WORDS = """read show open list find search for run execute write create file called that says change replace with from to
in of all every delete remove append the a it and then not don't if src a.py b.txt src/x.py docs/ *.py .ts
python files TODO send_email 'foo bar' "baz" `make lint` npm install git status commit a1b2c3d HEAD
https://example.com/x -> 5 lines tests ; , . ? ! ``` ( ) [ { \\ $ é 漢 \t how many where is used defined please""".split()  # noqa: SIM905
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
TEXTS = st.one_of(SENTENCES, st.text(max_size=200), st.text(alphabet="'\"`.*/-> \n", max_size=60))


def read_part(path: Annotated[str, Reads("A file")], limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 20) -> str:
    """Read a part of a file."""
    return path


def put(path: Annotated[str, Writes("A file")], content: Annotated[str, msgspec.Meta(min_length=1)]) -> str:
    """Write a file."""
    return path


def seek(
    pattern: Annotated[str, msgspec.Meta(max_length=20, extra_json_schema={"format": "regex"})],
    path: Annotated[str, Lists("A folder")] = ".",
) -> str:
    """Search."""
    return pattern


def match(pattern: Annotated[str, msgspec.Meta(extra_json_schema={"format": "glob"})]) -> str:
    """Match file names."""
    return pattern


def start(command: Annotated[str, Runs("A command")]) -> str:
    """Run."""
    return command


def swap(path: Annotated[str, Writes("A file")], old: str, new: str, everywhere: bool = False) -> str:
    """Replace."""
    return path


def together(files: Annotated[list[Annotated[str, Reads("A file")]], msgspec.Meta(max_length=3)]) -> str:
    """Read several."""
    return ""


TOOLS = {
    made.name: made
    for made in (
        Tool.of(tool(examples=["the first {limit} lines of {path}"])(read_part)),
        *(Tool.of(tool(function)) for function in (put, seek, match, start, swap, together)),
    )
}


def offered(made: Tool) -> ToolOffer:
    kinds: dict[str, Any] = {name: node.kind or (node.items and node.items.kind) for name, node in made.touched}
    return ToolOffer(
        name=made.name,
        description=made.description,
        parameters=made.parameters,
        examples=made.declaration.examples,
        effect=made.effect,
        touches=kinds,
    )


OFFERS = [offered(made) for made in TOOLS.values()]
ROUTER = Router()


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_text_gives_the_same_plan_twice_and_only_valid_calls(text: str) -> None:
    plan = ROUTER.plan(text, OFFERS)
    assert plan == Router().plan(text, OFFERS)
    for choice in plan.choices:
        if choice.acts:
            assert choice.tool is not None
            TOOLS[choice.tool].read(choice.arguments)  # raises InvalidArguments where they do not fit


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_any_text_is_read_with_every_tool_on_offer(text: str, everything: list[ToolOffer]) -> None:
    plan = ROUTER.plan(text, everything)
    names = {offer.name: offer for offer in everything}
    for choice in plan.choices:
        if choice.acts:
            assert choice.tool is not None
            required = names[choice.tool].parameters.get("required", [])
            assert set(required) <= choice.arguments.keys() <= names[choice.tool].parameters["properties"].keys()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from([word for word in WORDS if word[0].isalnum() and word not in ("then", "and")]), max_size=12
    ),
    st.sampled_from(["don't", "do not", "never", "if it rains,", "what happens if i"]),
)
def test_what_is_negated_or_supposed_never_acts(words: list[str], before: str) -> None:
    assert not ROUTER.plan(" ".join([before, *words]), OFFERS).acts


@pytest.mark.parametrize(
    "piece", ["add a ", "a.b/", "'", '"x" ', "-> ", "in ", "read a.txt and ", "\\", "``` ", "a " * 9, "*", "to "]
)
def test_long_and_repetitive_texts_are_read_in_bounded_time(piece: str) -> None:
    """Nothing here is exponential or worse; the bound is loose because the machine is shared."""
    text = piece * (1_990 // len(piece))
    began = time.process_time()
    ROUTER.plan(text, OFFERS)
    ROUTER.plan(f"create a.txt that says {text}"[:2_000], OFFERS)
    assert time.process_time() - began < 20


def test_values_that_the_schema_forbids_are_left_out_or_missing() -> None:
    fine = ROUTER.choose("the first 30 lines of a.py", OFFERS)
    assert (fine.tool, fine.arguments) == ("read_part", {"path": "a.py", "limit": 30})
    assert ROUTER.choose("the first 3000 lines of a.py", OFFERS).arguments == {"path": "a.py"}
    assert ROUTER.choose("create an empty file a.txt", OFFERS).missing == ("content",)
    assert not ROUTER.choose("search for 'a text that is longer than twenty'", OFFERS).acts
