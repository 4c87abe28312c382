"""What a program brings to a board of its own, without installing it: functions as a tool set, guards, a provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from types import ModuleType
from typing import Any, TypeAlias

from pegboard.entries import Entry
from pegboard.hooks import Guard, hookimpl
from pegboard.models import Provider, ReplyPart, Request
from pegboard.plugins import given
from pegboard.selection import PROGRAM

Replies: TypeAlias = Callable[[Request], AsyncIterator[ReplyPart]]
"""The one function that a provider needs: an async generator of the parts of a reply."""


def entries_of(tools: Iterable[Callable[..., Any]], guards: Iterable[Guard]) -> list[Entry]:
    """Entries for a program's own functions: the tool set `program`, and the guard `program-guard`."""
    brought = [
        (PROGRAM, "toolsets", "pegboard_tools", list(tools)),
        (f"{PROGRAM}-guard", "guards", "pegboard_guards", list(guards)),
    ]
    return [_entry(name, group, hook, contributed) for name, group, hook, contributed in brought if contributed]


def _entry(name: str, group: str, hook: str, contributed: list[Any]) -> Entry:
    module = ModuleType(f"pegboard_{group}_of_the_{PROGRAM}")

    def impl() -> list[Any]:
        return contributed

    impl.__name__ = hook
    setattr(module, hook, hookimpl(impl))
    return given(name, f"pegboard.{group}", module, own=True)


class Replying:
    """A provider made of the function that gives its replies."""

    banner = "a function of this program"
    cautious = False

    def __init__(self, reply: Replies) -> None:
        self.reply = reply

    async def close(self) -> None:
        """Nothing is held."""


def provider_of(brought: Provider | Replies) -> Provider:
    """The provider, or one made of a function.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(brought, type):
        raise TypeError(f"{brought.__name__} is a class: pass a provider made of it")
    if isinstance(brought, Provider):
        return brought
    if not callable(brought):
        wanted = [name for name in ("banner", "cautious", "reply", "close") if not hasattr(brought, name)]
        raise TypeError(f"{type(brought).__name__} is no provider: it has no {', '.join(wanted)}")
    return Replying(brought)
