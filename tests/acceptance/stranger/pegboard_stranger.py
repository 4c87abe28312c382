"""A tool set as a stranger would write it: one tool for each way in which a call can look at the command line."""

from typing import Annotated

from pegboard import Context, Reads, Result, Runs, ToolError, Writes, hookimpl, tool
from pegboard.blocks import Diff, Text


@tool(category="read", inline=True)
def peek(path: Annotated[str, Reads("File")], offset: int = 1, limit: int = 10) -> str:
    """Look at a file."""
    return f"{path} from {offset}, {limit} lines"


def _what_would_change(arguments, ctx):
    lines = arguments.text.split("\n")
    body = "\n".join(["@@ -1,2 +1,3 @@", " before", "-old", *(f"+{line}" for line in lines)])
    return [Diff(path=arguments.path, change="changed", added=len(lines), removed=1, text=body)]


@tool(category="write", preview=_what_would_change)
async def poke(path: Annotated[str, Writes("File")], text: str, ctx: Context) -> Result:
    """Write a file."""
    async with ctx.commit() as files:
        files.write(path, text.encode())
    return Result(text=f"wrote {path}", blocks=[Diff(path=path, change="created", added=1, removed=0, text=f"+{text}")])


@tool(category="exec", echo=True)
async def execute(command: Annotated[str, Runs("Command line")], ctx: Context) -> str:
    """Run a command."""
    finished = await ctx.run(["sh", "-c", command])
    out = finished.stdout
    return out if isinstance(out, str) else bytes(out).decode("utf-8", "replace")


@tool(pure=True, inline=True, summary=lambda given: f"{given.get('text', '')}\nlong {len(given.get('text', ''))}")
def plainly(text: str, times: int = 1) -> str:
    """Say something, without a category."""
    return text * times


@tool(pure=True, inline=True, glyph="↓", verb="Draw", key_arg="what")
def draw(where: str, what: str) -> str:
    """Draw something."""
    return f"drew {what}"


@tool(pure=True, inline=True, short="say it")
def say(text: str) -> str:
    """Say something back, whatever it is, and however long the text of this description may become in the end."""
    return text


@tool(category="search", inline=True, pure=True)
def seek(pattern: str) -> str:
    """Find nothing."""
    return f'(no matches for "{pattern}")'


@tool(category="read", inline=True, pure=True)
def stumble(what: str = "") -> str:
    """Fail."""
    raise ToolError("it stumbled; nothing was changed.\nTry something else.")


@tool(pure=True, timeout=0.2)
async def dawdle(ctx: Context) -> str:
    """Take too long."""
    import asyncio

    await asyncio.sleep(30)
    return "done"


@tool(category="ask", pure=True)
async def wonder(
    question: str,
    ctx: Context,
    options: list[str] = [],  # noqa: B006 - it is the schema's default
    details: list[str] = [],  # noqa: B006
    free: bool = True,
) -> str:
    """Ask the person."""
    return f"they said {await ctx.ask(question, options, details=details, free=free)}"


@tool(pure=True, inline=True, permission="stranger")
def gated(text: str, files: list[str] = [], deep: dict[str, list[str]] = {}) -> str:  # noqa: B006
    """Ask for leave first."""
    return f"done: {text}"


def _shows_more(arguments, ctx):
    return [Text(title="What would happen", text=arguments.text)]


@tool(pure=True, inline=True, permission="stranger", preview=_shows_more)
def shown(text: str) -> str:
    """Ask for leave first, with a preview."""
    return "done"


@hookimpl
def pegboard_tools(settings):
    return [peek, poke, execute, plainly, draw, say, seek, stumble, dawdle, wonder, gated, shown]
