"""/plugins: what is installed, and what became of it."""

from __future__ import annotations

import asyncio

from pegboard.blocks import AnyBlock, Note, Problem, Table
from pegboard.slash import Said, Slash


async def _plugins(said: Said) -> list[AnyBlock]:
    from pegboard_cli.plugin_lines import for_people, has, state
    from pegboard_cli.plugin_list import Installed

    listed = await asyncio.to_thread(lambda: Installed(said.board.root, said.board.environ).rows())
    shown, slashes = for_people(listed)
    rows = [[row.name, row.kind, state(row), f"{row.distribution} {row.version}", has(row)] for row in shown]
    blocks: list[AnyBlock] = [Table(columns=["plugin", "kind", "state", "from", ""], rows=rows)]
    for row in shown:
        if row.problem:
            blocks.append(Problem(text=f"{row.name}: {row.problem.error}\nto mend it: {row.problem.fix}"))
        blocks += [Note(text=f"{row.name}: it {remark}") for remark in row.remarks]
    return [*blocks, *([Note(text=slashes)] if slashes else [])]


plugins = Slash(usage="/plugins", help="the installed plugins, and what became of each", run=_plugins)
