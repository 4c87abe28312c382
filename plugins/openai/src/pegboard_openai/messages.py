"""A request as the chat completions API takes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from pegboard.events import WireCall
from pegboard.models import ChatMessage, Request

OURS = "pegboard_openai"
"""Under this name our part of `provider_data` is kept."""

_ID_LENGTH = 9
_NAME_LENGTH = 64
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def body(request: Request, model: str) -> dict[str, Any]:
    """The fields that every endpoint knows."""
    wired: dict[str, Any] = {"model": model, "messages": messages(request), "stream": True}
    if request.tools:
        wired["tools"] = [offer.wire() for offer in request.tools]
    return wired


def messages(request: Request) -> list[dict[str, Any]]:
    """The history. Thinking goes back only within the turn that it belongs to, as endpoints that think between calls ask."""
    last = max((at for at, message in enumerate(request.messages) if message.role == "user"), default=0)
    system = [{"role": "system", "content": request.system}] if request.system else []
    return [*system, *(_message(one, thinks=at > last) for at, one in enumerate(request.messages))]


def _message(message: ChatMessage, *, thinks: bool) -> dict[str, Any]:
    if message.role == "user":
        return {"role": "user", "content": message.text}
    if message.reply is not None:
        return {"role": "tool", "tool_call_id": _id(message.reply.id), "content": message.reply.text or "(no output)"}
    kept = message.provider_data.get(OURS) if isinstance(message.provider_data, dict) else None
    kept = kept if isinstance(kept, dict) else {}
    wired: dict[str, Any] = {"role": "assistant", "content": message.text or (None if message.calls else "")}
    if message.calls:
        wired["tool_calls"] = _calls(message.calls, kept.get("extra"))
    if thinks and message.calls:
        if message.thinking and kept.get("field") in ("reasoning_content", "reasoning"):
            wired[kept["field"]] = message.thinking
        if kept.get("details"):
            wired["reasoning_details"] = kept["details"]
    return wired


def _calls(calls: Sequence[WireCall], extra: Any) -> list[dict[str, Any]]:
    """The calls, each with what the endpoint had attached to it (Gemini wants its signatures back)."""
    attached = extra if isinstance(extra, dict) else {}
    return [
        {
            "id": _id(call.id),
            "type": "function",
            "function": {"name": _name(call.name), "arguments": _arguments(call.arguments)},
            **({"extra_content": attached[str(at)]} if str(at) in attached else {}),
        }
        for at, call in enumerate(calls)
    ]


def _name(name: str) -> str:
    """A name as every endpoint takes it. Models call what does not exist, by any name, and the history has to go out."""
    return _NOT_IN_NAMES.sub("_", name[:_NAME_LENGTH]) or "_"


def _arguments(given: Any) -> str:
    """Always a JSON object: servers that read it for their templates fail on anything else."""
    value = given if isinstance(given, dict) else {"not_an_object": given}
    return msgspec.json.encode(value).decode()


def _id(id: str) -> str:
    """Nine characters: Mistral's templates take no other length, and everyone else takes any."""
    return id.rjust(_ID_LENGTH, "0")
