"""/plugins: what is installed, what became of it, and switching one of them off or on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pegboard.blocks import AnyBlock, Note, Problem, Table
from pegboard.errors import PegboardError
from pegboard.slash import Said, Slash

if TYPE_CHECKING:
    from pegboard_cli.plugin_list import PluginRow

_USAGE = "/plugins [off|on NAME [keep]]"


async def _plugins(said: Said) -> list[AnyBlock]:
    if said.rest.strip():
        return _switch(said)
    from pegboard_cli.plugin_lines import for_people, has
    from pegboard_cli.plugin_list import Installed

    listed = await asyncio.to_thread(lambda: Installed(said.board.root, said.board.environ).rows())
    shown, slashes = for_people(listed)
    rows = [[row.name, row.kind, _state(said, row), f"{row.distribution} {row.version}", has(row)] for row in shown]
    blocks: list[AnyBlock] = [Table(columns=["plugin", "kind", "state", "from", ""], rows=rows)]
    for row in shown:
        if row.problem:
            blocks.append(Problem(text=f"{row.name}: {row.problem.error}\nto mend it: {row.problem.fix}"))
        blocks += [Note(text=f"{row.name}: it {remark}") for remark in row.remarks]
    return [*blocks, *([Note(text=slashes)] if slashes else [])]


def _state(said: Said, row: PluginRow) -> str:
    from pegboard_cli.plugin_lines import state

    spared = row.kind in ("guard", "approver", "rewriter", "provider", "command")
    return "off in this run" if row.name in said.board.switches.off and not spared else state(row)


def _switch(said: Said) -> list[AnyBlock]:
    words = said.rest.split()
    if words[0] not in ("off", "on") or len(words) not in (2, 3) or words[2:] not in ([], ["keep"]):
        raise PegboardError(f"it is written {_USAGE}. Nothing was changed.")
    told = said.board.switches.switch(words[1], on=words[0] == "on", keep=words[2:] == ["keep"])
    return [Note(text=line) for line in told]


def _complete(said: Said) -> list[str]:
    match said.rest.split(" "):
        case [_]:
            return ["off", "on"]
        case ["off" | "on" as word, _]:
            return said.board.switches.names(on=word == "on")
        case ["off" | "on", _, _]:
            return ["keep"]
        case _:
            return []


plugins = Slash(
    usage=_USAGE,
    help="the installed plugins, and what became of each; or switch one off in this run, or on; keep: in later ones too",
    run=_plugins,
    complete=_complete,
)
