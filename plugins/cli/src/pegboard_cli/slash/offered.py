"""/tools, /sets and /cost: what the model is offered, what that costs, what this session has cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegboard.blocks import AnyBlock, Note, Table, Text
from pegboard.events import Usage
from pegboard.slash import Said, Slash

from pegboard_cli.describing import facts, parameter_rows
from pegboard_cli.listing import ToolList, list_tools, only

if TYPE_CHECKING:
    from pegboard.events import AnyEvent


def _tools(said: Said) -> list[AnyBlock]:
    name = said.rest.strip()
    listed = list_tools(said.board, all=bool(name), policy=said.policy)
    if name:
        return _page(only(listed, name, said.board.registry))
    rows = [
        [
            row.name,
            row.set or "",
            f"{row.tokens}",
            row.short if row.offered else f"(not offered: {row.why_not}) {row.short}",
        ]
        for row in listed.tools
    ]
    told = f"{listed.offered} offered this turn of {listed.registered} registered"
    table = Table(columns=["tool", "set", "~tokens", ""], rows=rows)
    return [Text(title="Tools", text=told), table, Note(text="/tools NAME shows one")]


def _page(listed: ToolList) -> list[AnyBlock]:
    """One tool: what it does, what it may do, its parameters."""
    row = listed.tools[0]
    said = [f"{name}: {value}" for name, value in facts(row).items() if value]
    parameters = parameter_rows(row)
    blocks: list[AnyBlock] = [Text(title=row.name, text="\n".join([row.description.strip(), "", *said]))]
    if not parameters:
        return [*blocks, Note(text="no parameters")]
    return [*blocks, Table(columns=["parameter", "type", ""], rows=[list(one) for one in parameters])]


def _tool_names(said: Said) -> list[str]:
    return [tool.name for tool in said.board.registry.tools if not said.policy.hidden(tool)]


def _sets(said: Said) -> list[AnyBlock]:
    listed = list_tools(said.board, policy=said.policy)
    loaded = {row.name: row for row in listed.sets}
    rows = []
    for name, info in said.board.registry.sets.items():
        row = loaded.get(name)
        state = "on" if row else "off"
        cells = [f"{row.tools}", f"{row.tokens}"] if row else ["", ""]
        rows.append([name, state, *cells, f"{info.distribution} {info.version}"])
    return [Table(columns=["set", "state", "tools", "~tokens", "from"], rows=rows), Note(text="toolSets chooses them")]


def _cost(said: Said) -> list[AnyBlock]:
    listed = list_tools(said.board, policy=said.policy)
    rows = [[row.name, f"{row.tools}", f"{row.bytes:,}", f"{row.tokens:,}"] for row in listed.sets]
    total = ["all", f"{listed.offered}", f"{listed.bytes:,}", f"{listed.tokens:,}"]
    return [
        *_used(said.session.read()),
        Text(text="", title="What the tools add to every request"),
        Table(columns=["set", "tools", "bytes", "~tokens"], rows=[*rows, total]),
    ]


def _used(events: Iterable[AnyEvent]) -> list[AnyBlock]:
    """What the model's replies of a session took so far."""
    usages = [event for event in events if isinstance(event, Usage)]
    if not usages:
        return [Note(text="no request was made in this session yet")]
    costs = [usage.cost for usage in usages if usage.cost is not None]
    cost = f"${sum(costs):.4f}" if costs else "not told by the provider"
    rows = [
        ["turns", f"{len(usages)}"],
        ["tokens in", f"{sum(usage.input for usage in usages):,}"],
        ["of these cached", f"{sum(usage.cached for usage in usages):,}"],
        ["tokens out", f"{sum(usage.output for usage in usages):,}"],
        ["cost", cost + (f" ({len(costs)} of {len(usages)} turns)" if costs and len(costs) < len(usages) else "")],
    ]
    return [Table(columns=["this session", ""], rows=rows)]


tools = Slash(
    usage="/tools [NAME]",
    help="the tools that the model is offered; with NAME, what one does, and its parameters",
    run=_tools,
    complete=_tool_names,
)
sets = Slash(usage="/sets", help="the tool sets, which are on, and what each adds to a request", run=_sets)
cost = Slash(usage="/cost", help="what this session has used, and what the tools add to each request", run=_cost)
