"""A provider: a request in, a stream of parts out. This one is a model that does as it is told.

`TOOL key=value` makes that call and says what came of it; anything else is answered with a greeting
and the tools there are. A real one sends the request to its endpoint in `reply`, and yields what
comes back as it comes; import what is heavy there, not here.
"""

from __future__ import annotations

import asyncio
import shlex
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

import msgspec
from msgspec import Meta
from pegboard.events import WireCall
from pegboard.models import (
    CallPart,
    EndPart,
    ProviderKind,
    ProviderSettings,
    ReplyPart,
    Request,
    TextPart,
)


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys of [providers.sample-plugin] beside those of all providers."""

    greeting: Annotated[str, Meta(description="What it says where there is nothing to do.")] = (
        "Hello. Name a tool, and its arguments as key=value."
    )
    pause: Annotated[float, Meta(ge=0, description="Seconds between two words.")] = 0.0


class Obedient:
    """The provider. One for a session, and a reply at a time."""

    cautious = True  # each call that does more than read is asked about
    plain = True  # its text is no Markdown

    def __init__(self, settings: ProviderSettings) -> None:
        # A test, and a table without keys of its own, may give no options.
        self.options = settings.options if isinstance(settings.options, Options) else Options()
        self.banner = f"sample-plugin: does as it is told ({settings.model})"

    async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """One reply. It is cancelled where it waits, when the person interrupts."""
        last = request.messages[-1]
        call = _call(last.text, request) if last.role == "user" else None
        if call is not None:
            yield CallPart(call)
        else:
            for word in _words(last.reply.text if last.reply else self._greeting(request)):
                await asyncio.sleep(self.options.pause)
                yield TextPart(word)
        yield EndPart()

    async def models(self) -> list[str]:
        """The models there are, for `pegboard models --probe`."""
        return ["plain"]

    async def close(self) -> None:
        """Let go of connections; there are none."""

    def _greeting(self, request: Request) -> str:
        names = ", ".join(offer.name for offer in request.tools) or "none"
        return f"{self.options.greeting} Tools: {names}."


def _call(text: str, request: Request) -> WireCall | None:
    """The call that a text asks for, if it names a tool that is on offer."""
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError:  # a quotation mark is left open
        return None
    if name not in {offer.name for offer in request.tools}:
        return None
    arguments = dict(word.partition("=")[::2] for word in words)
    return WireCall(id=uuid.uuid4().hex[:12], name=name, arguments=arguments)


def _words(text: str) -> Iterator[str]:
    """A text in pieces, which together are the text."""
    for line in text.splitlines(keepends=True):
        first, *rest = line.split(" ")
        yield first
        yield from (f" {word}" for word in rest)


provider = ProviderKind(make=Obedient, default_model="plain", options=Options)
"""What the entry point names. See `ProviderKind` for keys, addresses and servers found here."""
