"""A slash command as a plugin brings it."""

from pegboard import port
from pegboard.blocks import Note
from pegboard.slash import Slash


async def _hail(said):
    if said.rest == "nobody":
        import asyncio
        from pathlib import Path

        Path("hailing").touch()
        await asyncio.sleep(60)
    await said.port.send(port.Prompt(text=f"hail {said.rest}", by="plugin:hail"))
    return [Note(text=f"hailing {said.rest}")]


hail = Slash(usage="/hail WHOM", help="hail somebody", run=_hail, complete=lambda said: ["everybody", "nobody"])
