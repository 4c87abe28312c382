"""The provider in front of a real HTTP server on loopback that plays a script. Waits are written down, not waited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from model_server import ModelServer
from pegboard.models import (
    ChatMessage,
    NotePart,
    ProviderSettings,
    ReplyPart,
    Request,
    TextPart,
    ThinkingPart,
    ToolOffer,
)
from pegboard_openai.chat import OpenAIProvider

OFFER = ToolOffer(name="look", description="Looks.", parameters={"type": "object", "properties": {}})


@dataclass
class Talk:
    """A provider and what it said."""

    provider: OpenAIProvider
    waits: list[float] = field(default_factory=list)
    parts: list[ReplyPart] = field(default_factory=list)

    async def ask(self, *messages: ChatMessage, **more: Any) -> list[ReplyPart]:
        """One reply. What came before an error is in `parts`."""
        self.parts = []
        request = Request(
            model="x/m", system="Be good.", messages=list(messages) or [user("hi")], tools=[OFFER], **more
        )
        async for part in self.provider.reply(request):
            self.parts.append(part)
        return self.parts

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, ThinkingPart))

    @property
    def notes(self) -> list[str]:
        return [part.text for part in self.parts if isinstance(part, NotePart)]

    def of(self, kind: type[Any]) -> list[Any]:
        return [part for part in self.parts if isinstance(part, kind)]


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", text=text)


@pytest.fixture
async def talk(model_server: ModelServer) -> Any:
    """Make a talk with the server; settings as in a table."""
    made: list[Talk] = []

    def make(**settings: Any) -> Talk:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        table = {"name": "x", "model": "m", "base_url": model_server.base_url, **settings}
        made.append(Talk(OpenAIProvider(ProviderSettings(**table), sleep=sleep), waits))
        return made[-1]

    yield make
    for one in made:
        await one.provider.close()


Talks = Callable[..., Talk]
