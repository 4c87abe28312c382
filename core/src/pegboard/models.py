"""What a model provider is: a request in, a stream of reply parts out.

Providers are plugins (entry-point group `pegboard.providers`), chosen by the part of `model` before the slash.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import Meta

from pegboard.events import WireCall
from pegboard.touches import kinds_in

if TYPE_CHECKING:
    from pegboard.tooling import Tool


class ToolOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a model is told of it: `parameters` is a JSON Schema object, with no `$ref` and no titles.

    `examples`, `effect`, `category` and `touches` (by parameter) are declarations that a provider without a language model
    works from; a provider that speaks to a real model sends name, description and parameters alone."""

    name: str
    description: str
    parameters: dict[str, Any]
    examples: tuple[str, ...] = ()
    effect: str = "side_effecting"
    category: str | None = None
    touches: dict[str, str] = {}

    @classmethod
    def of(cls, tool: Tool) -> ToolOffer:
        """A tool as it declares itself."""
        return cls(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            examples=tool.declaration.examples,
            effect=tool.effect,
            category=tool.declaration.category,
            touches={name: kind for name, node in tool.touched for kind in kinds_in(node)},
        )

    def wire(self) -> dict[str, Any]:
        """The OpenAI function-calling form: name, description, parameters."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }


class ToolReply(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call, as history. `data` is what a tool without prose would answer from."""

    id: str
    name: str
    text: str
    outcome: str
    data: Any = None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the history a request carries.

    role user: text, and `by` whom it was said, as `events.Prompt` has it; what is by `events.LOOP` is no request.
    role assistant: text, thinking, calls, provider_data. role tool: reply."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    by: str = "person"
    thinking: str = ""
    calls: list[WireCall] = []
    reply: ToolReply | None = None
    provider_data: Any = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the loop. `system` is the prompt's fixed part."""

    model: str
    system: str
    messages: list[ChatMessage]
    tools: list[ToolOffer]
    max_tokens: int | None = None


class TextPart(msgspec.Struct, frozen=True):
    """A piece of the answer."""

    text: str


class ThinkingPart(msgspec.Struct, frozen=True):
    """A piece of the model's reasoning."""

    text: str


class CallPart(msgspec.Struct, frozen=True):
    """A whole call; a stream that breaks before it is whole yields none."""

    call: WireCall


class NotePart(msgspec.Struct, frozen=True):
    """Something to tell the person (a retry, a fallback); it is not part of the answer."""

    text: str


class EndPart(msgspec.Struct, frozen=True, kw_only=True):
    """The reply is whole. `asks_back`: the text is a question to the person. Token counts are 0 where unknown."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    asks_back: bool = False
    provider_data: Any = None


ReplyPart: TypeAlias = TextPart | ThinkingPart | CallPart | NotePart | EndPart


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[providers.NAME]`, and what a provider may know of where it runs.

    model: what stands after the slash, else the default. options: the keys of the table that are the provider's own, as its
    `ProviderKind.options`, or a plain dict where it has none."""

    name: str
    kind: Annotated[
        str | None, Meta(description="The installed provider that speaks to it; NAME itself if left out.")
    ] = None
    model: Annotated[
        str | None, Meta(description="The model where only NAME is named; else the first of `models`.")
    ] = None
    base_url: Annotated[str | None, Meta(description="Its address, up to and with `/v1`.")] = None
    api_key_env: Annotated[
        str | None,
        Meta(description="The variable that holds the key (NAME_API_KEY if left out); empty: no key is sent."),
    ] = None
    api_key_command: Annotated[
        list[str] | None, Meta(description="A command that prints the key, run once when it is needed.")
    ] = None
    models: Annotated[list[str], Meta(description="Models to list, whatever the endpoint lists.")] = []
    headers: Annotated[
        dict[str, str], Meta(description="Headers for every request; `{env:NAME}` in a value is that variable's.")
    ] = {}
    proxy: Annotated[str | None, Meta(description="The proxy's address; else HTTPS_PROXY and its kin count.")] = None
    ca: Annotated[str | None, Meta(description="A file of certificates to trust besides the system's.")] = None
    context: Annotated[
        int | dict[str, int] | None, Meta(description="Tokens that its models take: a number, or numbers by model.")
    ] = None
    timeout: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Seconds of silence after which it counts as lost.")
    ] = None
    options: Any = None
    root: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderKind:
    """What an entry of `pegboard.providers` may name instead of a plain function: the function, and what holds without it.

    key_env: the variable that holds the API key where no table says otherwise. url_env: the one that may hold another
    address. default_model: what is asked where nobody names a model. loopback: it speaks to OpenAI-compatible servers, so
    one found on this machine is given to it.
    options: a struct with the provider's own keys of `[providers.NAME]`."""

    make: Callable[[ProviderSettings], Provider]
    key_env: str | None = None
    url_env: str | None = None
    default_model: str | None = None
    loopback: bool = False
    options: type[msgspec.Struct] | None = None

    def __call__(self, settings: ProviderSettings) -> Provider:
        """Make the provider."""
        return self.make(settings)


@runtime_checkable
class Provider(Protocol):
    """A source of replies.

    `banner`: one line for the header that says what answers. `cautious`: policy asks before any of its calls that is
    not read_only, and no remembered answer stands for it. It may also have `plain = True`: its text is no Markdown."""

    banner: str
    cautious: bool

    def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """Stream one reply. Cancelling the iteration stops the request."""

    async def close(self) -> None:
        """Let go of connections."""
