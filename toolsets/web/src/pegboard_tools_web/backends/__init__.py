"""Who searches. Each backend is a module here with a class `Backend`; `web.search_backend` names it.

A backend says which URL it asks (rules and guards judge that), and finds hits for several queries. What goes wrong with
one query is that query's `Failed`, so that the others are still told.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

import msgspec
from pegboard.context import Context

from pegboard_tools_web.results import Hit
from pegboard_tools_web.settings import Settings


class Failed(msgspec.Struct, frozen=True):
    """Why a query has no results: what happened, and what to do next, as sentences. What a server said stands between
    marks."""

    reason: str


class Answered(msgspec.Struct, frozen=True):
    """Hits, the best first. bad: entries of the answer that could not be read, and were left out."""

    hits: list[Hit]
    bad: int = 0


class Backend(Protocol):
    """One way to search the web."""

    @property
    def urls(self) -> list[str]:
        """What is asked: a URL for each service that a query may be sent to."""

    async def find(self, ctx: Context, queries: Sequence[str], most: int) -> list[Answered | Failed]:
        """Hits for each query, in order; about `most`, or fewer."""


def backend_of(settings: Settings) -> Backend:
    """The backend that the settings name.

    Raises:
        ToolError: it lacks a setting.
    """
    made: Backend = import_module(f"{__name__}.{settings.search_backend}").Backend(settings)
    return made
