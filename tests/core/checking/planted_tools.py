"""Faults of tools."""

from __future__ import annotations

from .planting import Planted, in_tool

TOOLS: dict[str, Planted] = {
    "undocumented": in_tool(
        id="tool.docstring",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    return text
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    'Say a text back.'
    return text
""",
    ),
    "fills": in_tool(
        id="tool.docstring",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    'TODO: docstring.'
    return text
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    'Count the TODO marks of a text.'
    return text
""",
    ),
    "undescribed": in_tool(
        id="tool.parameters",
        fault="""
@tool(pure=True)
def one(factor: int) -> str:
    'Say how large it is.'
    return str(factor)
""",
        near="""
@tool(pure=True)
def one(factor: Annotated[int, 'Times']) -> str:
    'Say how large it is.'
    return str(factor)
""",
    ),
    "unannotated": in_tool(
        id="tool.parameters",
        fault="""
@tool(pure=True)
def one(text) -> str:
    'Say a text back.'
    return text
""",
        near="""
@tool(pure=True)
def one(text: str = '') -> str:
    'Say a text back.'
    return text
""",
    ),
    "touchless": in_tool(
        id="tool.effect",
        fault="""
@tool
def one(text: str) -> str:
    'Say a text back.'
    return text
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    'Say a text back.'
    return text
""",
    ),
    "impure": in_tool(
        id="tool.effect",
        fault="""
@tool(pure=True)
def one(path: Annotated[str, 'A file'], ctx: Context) -> str:
    'Say how long it is.'
    return str(len(ctx.workspace.read_text(path)))
""",
        near="""
@tool
def one(path: Annotated[str, Reads('A file')], ctx: Context) -> str:
    'Say how long it is.'
    return str(len(ctx.workspace.read_text(path)))
""",
    ),
    "programs": in_tool(
        id="tool.effect",
        fault="""
import subprocess
@tool
async def one(command: Annotated[str, Runs('A word')], ctx: Context) -> str:
    'Run it.'
    return subprocess.run(['echo', command], capture_output=True, text=True).stdout
""",
        near="""
@tool
async def one(command: Annotated[str, Runs('A word')], ctx: Context) -> str:
    'Run it.'
    return (await ctx.run(['echo', command])).stdout.decode()
""",
    ),
    "nets": in_tool(
        id="tool.effect",
        fault="""
import socket
@tool(pure=True)
def one(host: Annotated[str, 'A name']) -> str:
    'Look up a host.'
    try:
        return str(socket.getaddrinfo(host, 80))
    except OSError as error:
        raise ToolError(f'{host} was not found ({error}); nothing was changed. Try another host.')
""",
        near="""
import socket
@tool
def one(host: Annotated[str, Fetches('A name')]) -> str:
    'Look up a host.'
    try:
        return str(socket.getaddrinfo(host, 80))
    except OSError as error:
        raise ToolError(f'{host} was not found ({error}); nothing was changed. Try another host.')
""",
    ),
    "large": in_tool(
        id="tool.size",
        status="warn",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    return text
one.__doc__ = 'Say a text back. ' * 150
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    return text
one.__doc__ = 'Say a text back. ' * 50
""",
    ),
    "checks": in_tool(
        id="tool.bad_arguments",
        fault="""
class Span(msgspec.Struct):
    first: int
    def __post_init__(self):
        {}[self.first]
@tool(pure=True)
def one(span: Annotated[Span, 'Lines']) -> str:
    'Say where it begins.'
    return str(span.first)
""",
        near="""
class Span(msgspec.Struct):
    first: int
    def __post_init__(self):
        if self.first < 0: raise ValueError('first is at least 0')
@tool(pure=True)
def one(span: Annotated[Span, 'Lines']) -> str:
    'Say where it begins.'
    return str(span.first)
""",
    ),
    "anything": in_tool(
        id="tool.bad_arguments",
        status="warn",
        fault="""
@tool(pure=True)
def one(value: Annotated[Any, 'What to say']) -> str:
    'Say it back.'
    return str(value)
""",
        near="""
@tool(pure=True)
def one(value: Annotated[int | str, 'What to say']) -> str:
    'Say it back.'
    return str(value)
""",
    ),
    "swallows": in_tool(
        id="tool.cancel",
        fault="""
@tool(pure=True)
async def one() -> str:
    'Wait.'
    for _ in range(35):
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError: pass
    return ''
""",
        near="""
@tool(pure=True)
async def one() -> str:
    'Wait.'
    try:
        await asyncio.sleep(0.6)
    finally:
        await asyncio.sleep(0)
    return ''
""",
    ),
    "lingers": in_tool(
        id="tool.cancel",
        fault="""
@tool(pure=True)
def one() -> str:
    'Wait.'
    time.sleep(5)
    return ''
""",
        near="""
@tool(pure=True)
def one() -> str:
    'Wait.'
    time.sleep(0.2)
    return ''
""",
    ),
    "leaves": in_tool(
        id="tool.cancel",
        fault="""
import subprocess
@tool(effect='side_effecting')
async def one(command: Annotated[str, Runs('A word')]) -> str:
    'Run it.'
    subprocess.Popen(['sleep', '20'], start_new_session=True)
    return ''
""",
        near="""
@tool
async def one(command: Annotated[str, Runs('A word')], ctx: Context) -> str:
    'Run it.'
    await ctx.run(['sleep', '0.3'])
    return ''
""",
    ),
    "endless": in_tool(
        id="tool.timeout",
        fault="""
@tool(pure=True)
async def one() -> str:
    'Wait.'
    while True: pass
""",
        near="""
@tool(pure=True)
async def one() -> str:
    'Wait.'
    await asyncio.sleep(0.05)
    return ''
""",
    ),
    "limitless": in_tool(
        id="tool.timeout",
        fault="""
@tool(pure=True, timeout=5)
def one() -> str:
    'Wait.'
    time.sleep(3)
    return ''
""",
        near="""
@tool(pure=True, timeout=5)
async def one() -> str:
    'Wait.'
    await asyncio.sleep(0.2)
    return ''
""",
    ),
    "floods": in_tool(
        id="tool.output",
        fault="""
@tool(pages=True)
def one(path: Annotated[str, Reads('A file')], ctx: Context) -> str:
    'Show it.'
    return ctx.workspace.read_text(path)
""",
        near="""
@tool(pages=True)
def one(path: Annotated[str, Reads('A file')], ctx: Context) -> str:
    'Show it.'
    return ctx.workspace.read_text(path)[:1000]
""",
    ),
    "opaque": in_tool(
        id="tool.output",
        fault="""
@tool(pure=True)
def one() -> object:
    'Give a thing.'
    return object()
""",
        near="""
@tool(pure=True)
def one() -> list[int]:
    'Give a thing.'
    return [1]
""",
    ),
    "empty": in_tool(
        id="tool.output",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    'Say a text back.'
    text.strip()
""",
        near="""
@tool(pure=True)
def one(text: str) -> None:
    'Take a text.'
    text.strip()
""",
    ),
    "caches": in_tool(
        id="tool.read_only",
        fault="""
@tool
def one(path: Annotated[str, Reads('A file')], ctx: Context) -> str:
    'Say it.'
    open(os.path.join(ctx.workspace.root, 'cache'), 'w').close()
    return ''
""",
        near="""
import tempfile
@tool
def one(path: Annotated[str, Reads('A file')], ctx: Context) -> str:
    'Say it.'
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, 'cache'), 'w').close()
    return ''
""",
    ),
    "bursts": in_tool(
        id="tool.errors",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    'Say what a text stands for.'
    return {'a': 'b'}[text]
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    'Say what a text stands for.'
    if text not in {'a': 'b'}:
        raise ToolError(f'{text} stands for nothing; nothing was changed. Known is: a.')
    return 'b'
""",
    ),
    "curt": in_tool(
        id="tool.errors",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    'Say what a text stands for.'
    raise ToolError('not found')
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    'Say what a text stands for.'
    raise ToolError('There is no such text. Nothing was changed. Try: a.')
""",
    ),
    "pretends": in_tool(
        id="tool.errors",
        status="warn",
        fault="""
@tool(pure=True)
def one(text: str) -> str:
    'Say what a text stands for.'
    return 'Error: no such text'
""",
        near="""
@tool(pure=True)
def one(text: str) -> str:
    'Say what a text stands for.'
    return 'Errors are human'
""",
    ),
    "steals": in_tool(
        id="tool.aliases",
        fault="""
@tool(pure=True, aliases=['read_file'])
def one(text: str) -> str:
    'Say a text back.'
    return text
""",
        near="""
@tool(pure=True, aliases=['say_again'])
def one(text: str) -> str:
    'Say a text back.'
    return text
""",
    ),
    "twins": Planted(
        id="tool.aliases",
        fault="""
@tool(pure=True, aliases=['echo_back'])
def one(text: str) -> str:
    'Say a text back.'
    return text
@tool(pure=True, aliases=['echo_back'])
def two(text: str) -> str:
    'Say a text twice.'
    return text
""",
        near="""
@tool(pure=True, aliases=['echo_back'])
def one(text: str) -> str:
    'Say a text back.'
    return text
@tool(pure=True, aliases=['echo_twice'])
def two(text: str) -> str:
    'Say a text twice.'
    return text
""",
        after="""
@hookimpl
def pegboard_tools(settings):
    return [one, two]
""",
    ),
    "slotless": in_tool(
        id="tool.examples",
        fault="""
@tool(pure=True, examples=['capitalize {word}'])
def one(text: str) -> str:
    'Capitalize a text.'
    return text.title()
""",
        near="""
@tool(pure=True, examples=['capitalize {text}'])
def one(text: str) -> str:
    'Capitalize a text.'
    return text.title()
""",
    ),
    "unserved": in_tool(
        id="tool.examples",
        fault="""
@tool(pure=True, examples=['hello {text}'])
def one(text: str) -> str:
    'Capitalize a text.'
    return text.title()
""",
        near="""
@tool(pure=True, examples=['capitalize the words of {text}'])
def one(text: str) -> str:
    'Capitalize a text.'
    return text.title()
""",
    ),
}
