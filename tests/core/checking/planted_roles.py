"""Faults of renderers, guards, and whatever else is no tool."""

from __future__ import annotations

from .planting import RENDERS, Planted, in_renderer

ROLES: dict[str, Planted] = {
    "cannotdraw": in_renderer(
        id="render.plain",
        fault="""
def draw(sums):
    from pegboard.blocks import Note
    return [Note(text=sums.names[5])]
""",
        near="""
def draw(sums):
    from pegboard.blocks import Note
    return [Note(text=', '.join(sums.names) or 'none')]
""",
    ),
    "drawsnothing": in_renderer(
        id="render.app",
        fault="""
def draw(sums):
    from pegboard.blocks import Custom
    return [Custom(kind='sums', data=[sums.total])]
""",
        near="""
def draw(sums):
    from pegboard.blocks import Custom, Note
    return [Custom(kind='sums', data=[sums.total], plain=[Note(text=str(sums.total))])]
""",
    ),
    "drawsslowly": in_renderer(
        id="render.json",
        fault="""
def draw(sums):
    time.sleep(1)
    return []
""",
        near="""
def draw(sums):
    time.sleep(0.01)
    return None
""",
    ),
    "nonblocks": in_renderer(
        id="render.rich",
        fault="""
def draw(sums):
    return ['text']
""",
        near="""
def draw(sums):
    return []
""",
    ),
    "saysnothing": Planted(
        id="render.rich",
        fault="""
class Sums(msgspec.Struct): total: int
@tool(pure=True)
def one(total: int) -> Sums:
    'Keep a number.'
    return Sums(total)
def draw(sums):
    return [sums.total]
""",
        near="""
class Sums(msgspec.Struct): total: int
@tool(pure=True)
def one(text: str) -> str:
    'Say a text back, also one that is empty.'
    return text
def draw(sums):
    return []
""",
        after=RENDERS,
    ),
    "badguard": Planted(
        id="guard.answers",
        group="pegboard.guards",
        fault="""
def guard(call, touches):
    return None if call.arguments['path'] else None
""",
        near="""
def guard(call, touches):
    return None if call.arguments.get('path') else None
""",
        after="""
@hookimpl
def pegboard_guards(settings):
    return [guard]
""",
    ),
    "nonsenseguard": Planted(
        id="guard.answers",
        group="pegboard.guards",
        fault="""
def guard(call, touches):
    return not touches
""",
        near="""
from pegboard import Deny
def guard(call, touches):
    return Deny('sample', 'no touch') if not touches else None
""",
        after="""
@hookimpl
def pegboard_guards(settings):
    return [guard]
""",
    ),
    "slowguard": Planted(
        id="guard.answers",
        group="pegboard.guards",
        fault="""
def guard(call, touches):
    time.sleep(2)
""",
        near="""
def guard(call, touches):
    time.sleep(0.01)
""",
        after="""
@hookimpl
def pegboard_guards(settings):
    return [guard]
""",
    ),
    "badapprover": Planted(
        id="approver.answers",
        group="pegboard.approvers",
        fault="""
async def approve(asked):
    return True
""",
        near="""
from pegboard import Answer
async def approve(asked):
    return Answer(granted=True, by='')
""",
        after="""
@hookimpl
def pegboard_approvers(settings):
    return [approve]
""",
    ),
    "badrewriter": Planted(
        id="rewriter.answers",
        group="pegboard.rewriters",
        fault="""
def rewrite(call):
    return {**call.arguments, 'path': call.arguments['path'].strip()}
""",
        near="""
def rewrite(call):
    path = call.arguments.get('path')
    return {**call.arguments, 'path': path.strip()} if isinstance(path, str) else None
""",
        after="""
@hookimpl
def pegboard_rewriters(settings):
    return [rewrite]
""",
    ),
    "badobserver": Planted(
        id="observer.events",
        group="pegboard.observers",
        fault="""
def observe(event):
    event.text.upper()
    event.id.upper()
""",
        near="""
def observe(event):
    getattr(event, 'text', '').upper()
""",
        after="""
@hookimpl
def pegboard_observers(settings):
    return [observe]
""",
    ),
    "badprovider": Planted(
        id="provider.shape",
        group="pegboard.providers",
        value="make",
        fault="""
class Made:
    banner = 'sample'
    cautious = False
    async def reply(self, request):
        yield 'text'
    async def close(self): pass
""",
        near="""
from pegboard.models import EndPart, TextPart
class Made:
    banner = 'sample'
    cautious = False
    async def reply(self, request):
        yield TextPart('text')
        yield EndPart()
    async def close(self): pass
""",
        after="""
def make(settings):
    return Made()
""",
    ),
    "badlauncher": Planted(
        id="launcher.shape",
        group="pegboard.launchers",
        value="make",
        fault="""
def make(settings):
    return lambda launch: launch
""",
        near="""
def make(settings):
    return lambda launch: msgspec.structs.replace(launch, argv=('env', *launch.argv))
""",
        after="",
    ),
    "badcommand": Planted(
        id="command.help",
        group="pegboard.commands",
        value="app",
        fault="""
import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False)
@app.callback()
def main(): raise SystemExit
app.info.help = None
def app(): pass
""",
        near="""
import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False)
@app.command()
def main():
    'Say hello.'
    import no_such_module_anywhere
""",
        after="",
    ),
    "badslash": Planted(
        id="slash.shape",
        group="pegboard.slash",
        value="made",
        fault="""
from pegboard.slash import Slash
made = Slash(usage='/other', help='say', run=lambda said: [])
""",
        near="""
from pegboard.slash import Slash
made = Slash(usage='/{word}', help='say', run=lambda said: [])
""",
        after="",
    ),
}
