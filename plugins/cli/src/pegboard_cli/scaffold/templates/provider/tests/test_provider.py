"""What it streams, and whole turns with it on a board."""

import asyncio
from typing import Annotated

import pytest
from pegboard import Context, Reads, tool
from pegboard.models import (
    CallPart,
    ChatMessage,
    EndPart,
    ProviderSettings,
    Request,
    TextPart,
    ToolOffer,
)
from pegboard.tooling import Tool

from pegboard_sample_plugin import Options, provider

NAME = "sample-plugin"


@tool
def size(path: Annotated[str, Reads("File")], ctx: Context) -> str:
    """How many bytes a file has."""
    return f"{len(ctx.workspace.read_bytes(path))} bytes"


def made(**options):
    return provider(ProviderSettings(name=NAME, options=Options(**options)))


def parts(text, **options):
    offers = [ToolOffer.of(Tool.of(size))]
    messages = [ChatMessage(role="user", text=text)]
    request = Request(model="plain", system="", messages=messages, tools=offers)

    async def collected():
        return [part async for part in made(**options).reply(request)]

    return asyncio.run(collected())


def test_a_text_comes_in_pieces_and_then_the_end():
    *pieces, end = parts("good morning", greeting="Well met.\nTruly.")
    assert len(pieces) > 2 and all(isinstance(piece, TextPart) for piece in pieces)
    assert "".join(piece.text for piece in pieces) == "Well met.\nTruly. Tools: size."
    assert isinstance(end, EndPart)


def test_a_call_comes_whole():
    part, _ = parts("size path='my notes.txt'")
    assert isinstance(part, CallPart)
    assert (part.call.name, part.call.arguments) == ("size", {"path": "my notes.txt"})


@pytest.mark.parametrize("text", ["nosuch path=a", "", "size path='open"])
def test_what_is_no_call_is_answered(text):
    assert isinstance(parts(text)[0], TextPart)


@pytest.fixture
def board(pegboard_board):
    """Turns on it are this provider's, and its calls take the whole road."""
    return pegboard_board(
        tools=[size],
        providers={NAME: provider},
        files={"notes.txt": "12345"},
    )


def test_a_turn_makes_the_call_and_says_what_came_of_it(board):
    ended = board.prompt("size path=notes.txt")
    assert (ended.status, ended.text) == ("done", "5 bytes")
    [call] = board.calls
    call.expect("ok", touches=["read notes.txt"])


def test_a_refusal_is_said_and_the_turn_ends(board):
    ended = board.prompt("size path=../secret.txt")
    assert ended.status == "done" and "not allowed" in ended.text
