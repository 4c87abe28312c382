from typing import Annotated

from pegboard import Context, Reads, hookimpl, tool


@tool(examples=["count the words in {path}"])
def word_count(path: Annotated[str, Reads("File, relative to the workspace root")], ctx: Context) -> str:
    """Count the words in a file."""
    return str(len(ctx.workspace.read_text(path).split()))


@hookimpl
def pegboard_tools(settings):
    return [word_count]
