"""Ten tools as other frameworks' documentation describes them, as their authors would write them for Pegboard."""

from __future__ import annotations

import datetime
import random
import urllib.error
import urllib.request
import zoneinfo
from typing import Annotated, Literal

import msgspec
from pegboard import Context, Fetches, Lists, Reads, ToolError, hookimpl, tool


class Settings(msgspec.Struct, frozen=True):
    """The table [ported]."""

    player: str = "Anne"


@tool(pure=True, examples=["what is the weather in {city}"])
def get_weather(city: Annotated[str, "The city to get the weather for"]) -> str:
    """Get the weather for a city."""
    return f"It is always sunny in {city}."


@tool(pure=True, inline=True, examples=["multiply {a} by {b}"])
def multiply(a: Annotated[int, "First factor"], b: Annotated[int, "Second factor"]) -> int:
    """Multiply two numbers."""
    return a * b


@tool(pure=True, examples=["roll a die"])
def roll_dice() -> str:
    """Roll a six-sided die and return the result."""
    return str(random.randint(1, 6))


@tool(pure=True)
def get_player_name(ctx: Context) -> str:
    """Get the player's name."""
    return str(ctx.settings.player)


class Branch(msgspec.Struct):
    """A file or a folder of a tree."""

    name: str
    type: Literal["file", "directory"]
    children: list[Branch] | None = None

    def __str__(self) -> str:
        return msgspec.json.encode(self).decode()


@tool
def directory_tree(path: Annotated[str, Lists("Folder to start from")], ctx: Context) -> Branch:
    """Get a recursive tree view of files and directories as JSON: name, type, and children of directories."""
    children = []
    for found in ctx.workspace.scan(path):
        inner = f"{path}/{found.name}"
        children.append(directory_tree(inner, ctx) if found.kind == "dir" else Branch(name=found.name, type="file"))
    return Branch(name=path.rpartition("/")[2], type="directory", children=children)


@tool
async def search_files(
    path: Annotated[str, Lists("Folder to search")],
    pattern: Annotated[str, msgspec.Meta(description="Glob that names match", extra_json_schema={"format": "glob"})],
    ctx: Context,
) -> list[str]:
    """Recursively search for files and directories whose names match a pattern."""
    record = await ctx.run(["find", path, "-name", pattern])
    if record.exit_code != 0:
        raise ToolError(f"{path} cannot be searched; nothing was changed. Name a folder of the workspace.")
    return record.stdout.decode("utf-8", "replace").split("\n")[:500]


@tool(pure=True)
def convert_time(
    source_timezone: Annotated[str, "Source IANA timezone name, such as America/New_York"],
    time: Annotated[str, "Time to convert, in 24-hour form HH:MM"],
    target_timezone: Annotated[str, "Target IANA timezone name"],
) -> str:
    """Convert time between timezones."""
    try:
        hour, minute = (int(part) for part in time.split(":"))
        source, target = zoneinfo.ZoneInfo(source_timezone), zoneinfo.ZoneInfo(target_timezone)
        today = datetime.datetime.now(source).replace(hour=hour, minute=minute, second=0, microsecond=0)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise ToolError(
            f"that cannot be converted ({error}). Give IANA names of timezones, and a time as HH:MM."
        ) from None
    return today.astimezone(target).strftime("%H:%M")


@tool
def read_a_file_line_by_line(
    file_path: Annotated[str, Reads("File to read")],
    ctx: Context,
    start_line: Annotated[int, msgspec.Meta(ge=1, description="Line to start from")] = 1,
    line_count: Annotated[int | None, "Lines to read; left out, all of them"] = None,
) -> str:
    """Read a file's content, from a line on and as many lines as wanted."""
    lines = ctx.workspace.read_text(file_path).splitlines(keepends=True)
    if start_line > max(len(lines), 1):
        raise ToolError(f"{file_path} has {len(lines)} lines; nothing was read. Start from a line that it has.")
    end = None if line_count is None else start_line - 1 + line_count
    return "".join(lines[start_line - 1 : end])


@tool(timeout=20)
def visit_webpage(url: Annotated[str, Fetches("The url of the webpage to visit")]) -> str:
    """Visit a webpage at the given url and read its content as a string."""
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            text: str = response.read(200_000).decode("utf-8", "replace")
    except (urllib.error.URLError, ValueError, OSError) as error:
        raise ToolError(f"{url} could not be fetched ({error}); nothing was changed. Check the address.") from None
    return text


@tool(effect="side_effecting", touches=lambda arguments: [("state", "lights")])
def change_light(
    id: Annotated[int, msgspec.Meta(ge=1, description="The light's number")], is_on: bool, ctx: Context
) -> str:
    """Change the state of a light."""
    state = ctx.state("lights")
    lights = {"1": False, "2": False, "3": True, **state.get({})}
    if str(id) not in lights:
        raise ToolError(f"there is no light {id}; nothing was changed. There are: {', '.join(lights)}.")
    state.set({**lights, str(id): is_on})
    return f"light {id} is {'on' if is_on else 'off'}"


@hookimpl
def pegboard_tools(settings):
    return [
        get_weather,
        multiply,
        roll_dice,
        get_player_name,
        directory_tree,
        search_files,
        convert_time,
        read_a_file_line_by_line,
        visit_webpage,
        change_light,
    ]
