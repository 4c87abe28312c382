"""A set with settings: where a ticket is found, by the table [tickets] of whoever uses it."""

from typing import Annotated

import msgspec
from msgspec import Meta
from pegboard import Context, ToolError, hookimpl, tool


class Settings(msgspec.Struct, frozen=True):
    """The table [tickets]."""

    tracker: str
    prefix: Annotated[str, Meta(pattern="^[A-Z]{2,5}$", description="What a ticket's number begins with.")] = "PB"
    most: Annotated[int, Meta(ge=1)] = 9999


@tool(pure=True)
def ticket(number: int, ctx: Context) -> str:
    """Say where a ticket is."""
    settings = ctx.settings
    if not 1 <= number <= settings.most:
        raise ToolError(f"there is no ticket {number}; nothing was looked up. They go from 1 to {settings.most}.")
    return f"{settings.prefix}-{number}: {settings.tracker}/{settings.prefix}-{number}"


@hookimpl
def pegboard_tools(settings):
    return [ticket]
