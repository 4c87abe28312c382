"""A tool that delegates: it has a loop and a model of its own, whose calls go down the road like anybody's."""

from typing import Annotated

import msgspec
from pegboard import Context, ToolError, hookimpl, tool
from pegboard.events import WireCall
from pegboard.models import CallPart, ChatMessage, EndPart, ReplyPart, Request, TextPart, ToolReply


class Settings(msgspec.Struct, frozen=True):
    """The table [scout]."""

    may_use: tuple[str, ...] = ("grep", "read_file", "write_file")
    most_calls: int = 4


async def think(request: Request):
    """The scout's own model: it looks for the word, then into the first file that has it. It would also tidy up."""
    replies = [message.reply for message in request.messages if message.reply is not None]
    word = request.messages[0].text.split()[-1]
    match replies:
        case []:
            yield CallPart(WireCall(id="s1", name="grep", arguments={"pattern": word}))
        case [found] if found.data and found.data["hits"]:
            yield CallPart(WireCall(id="s2", name="read_file", arguments={"path": found.data["hits"][0]["path"]}))
        case [_, _] if "tidy" in request.messages[0].text:
            yield CallPart(
                WireCall(id="s3", name="write_file", arguments={"path": "vendor/scout.txt", "content": word})
            )
        case [*_, last]:
            yield TextPart(f"{word}: {last.text.strip() if last.outcome == 'ok' else f'{last.outcome}: {last.text}'}")
    yield EndPart()


@tool(effect="delegating", timeout=60)
async def scout(task: Annotated[str, "What to find out; its last word is looked for"], ctx: Context) -> str:
    """Have somebody else look for something, and tell what was found."""
    if not task.strip():
        raise ToolError("there is nothing to look for; nothing was done. Say what, and the word to look for.")
    messages = [ChatMessage(role="user", text=task)]
    for _ in range(ctx.settings.most_calls + 1):
        request = Request(model="scout", system="You look.", messages=messages, tools=[])
        parts: list[ReplyPart] = [part async for part in think(request)]
        calls = [part.call for part in parts if isinstance(part, CallPart)]
        if not calls:
            return "".join(part.text for part in parts if isinstance(part, TextPart))
        messages.append(ChatMessage(role="assistant", calls=calls))
        for call in calls:
            messages.append(ChatMessage(role="tool", reply=await answer(call, ctx)))
    raise ToolError(f"the scout made {ctx.settings.most_calls} calls and came to no end. Give it a smaller task.")


async def answer(call: WireCall, ctx: Context) -> ToolReply:
    if call.name not in ctx.settings.may_use:
        return ToolReply(id=call.id, name=call.name, text="a scout may not use this", outcome="blocked")
    record = await ctx.call(call.name, **call.arguments)
    return ToolReply(id=call.id, name=call.name, text=record.text, outcome=record.outcome, data=record.data)


@hookimpl
def pegboard_tools(settings):
    return [scout]
