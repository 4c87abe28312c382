"""Rows for `pegboard tools`. Library code: it returns values and lines, and prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.board import EMBEDDED
from pegboard.errors import ConfigError

from pegboard_cli.render import table_lines
from pegboard_cli.styles import Styles

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.policy import Policy
    from pegboard.registry import Registry
    from pegboard.tooling import Tool


class ToolRow(msgspec.Struct, frozen=True, kw_only=True):
    """A registered tool, as the contract's `tools --cost --json` has it. `short` is for lists."""

    name: str
    set: str | None
    qualified: str
    offered: bool
    why_not: str | None
    effect: str
    replay: str
    overlap: str
    permission: str | None
    category: str | None
    aliases: list[str]
    bytes: int
    tokens: int
    description: str
    parameters: dict[str, Any]
    short: str


class SetRow(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded set, and what those of its tools cost that are offered."""

    name: str
    distribution: str
    version: str
    tools: int
    bytes: int
    tokens: int


class ToolList(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is offered, what that costs on every request, and what else is registered."""

    model: str
    offered: int
    registered: int
    bytes: int
    tokens: int
    sets: list[SetRow]
    tools: list[ToolRow]


def tokens_of(size: int) -> int:
    """Tokens that this many bytes take, about (decision 62)."""
    return -(-size // 4)


def list_tools(board: Board, *, all: bool = False, policy: Policy | None = None) -> ToolList:
    """Every registered tool in its order; those that policy denies and those that are told of to nobody only if `all`.
    policy: of the mode that is on, if it is not the board's own."""
    rows = [_row(board, tool, policy or board.policy) for tool in board.registry.tools]
    quiet = {tool.name for tool in board.registry.tools if not tool.declaration.advertised}
    offered = [row for row in rows if row.offered]
    size = sum(row.bytes for row in offered)
    return ToolList(
        model=board.config.model or EMBEDDED,
        offered=len(offered),
        registered=len(rows),
        bytes=size,
        tokens=tokens_of(size),
        sets=[
            _set_row(info, [row for row in offered if row.set == name])
            for name, info in board.registry.sets.items()
            if info.loaded
        ],
        tools=[row for row in rows if all or (row.why_not != "denied" and row.name not in quiet)],
    )


def only(listed: ToolList, name: str, registry: Registry) -> ToolList:
    """The same list with one tool in it: its name, SET:NAME, or an alias.

    Raises:
        ConfigError: there is none; as for all usage errors, exit 2.
    """
    tool = registry.get(name)
    if tool is None:
        near = registry.nearest(name)
        hint = f" Did you mean {near!r}?" if near else ""
        raise ConfigError(f"there is no tool {name!r}.{hint} `pegboard tools` lists those there are.")
    return msgspec.structs.replace(listed, tools=[row for row in listed.tools if row.name == tool.name])


def _row(board: Board, tool: Tool, policy: Policy) -> ToolRow:
    declared, size = tool.declaration, tool.wire_size()
    why_not = board.why_not(tool, policy=policy)
    return ToolRow(
        name=tool.name,
        set=tool.set,
        qualified=tool.qualified,
        offered=why_not is None,
        why_not=why_not,
        effect=tool.effect,
        replay=declared.replay,
        overlap=declared.overlap,
        permission=_permission(board, tool),
        category=declared.category,
        aliases=[alias if isinstance(alias, str) else alias[0] for alias in declared.aliases],
        bytes=size,
        tokens=tokens_of(size),
        description=tool.description,
        parameters=tool.parameters,
        short=label(tool.label),
    )


def _permission(board: Board, tool: Tool) -> str | None:
    """The key of `tool_permission` that rules the tool; None where a call's own touches say it."""
    declared = tool.declaration
    if declared.touches is not None and declared.permission is None and tool.effect != "delegating":
        return None  # its annotations do not say all
    keys = set(board.policy.keys(tool)) - {"unknown"}
    return keys.pop() if len(keys) == 1 else None


def label(text: str) -> str:
    """A short label in the one style of lists: it begins small, unless with a name, and has no full stop."""
    text = text.strip()
    text = text.removesuffix(".") if not text.endswith("..") else text
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _set_row(info: Any, rows: Sequence[ToolRow]) -> SetRow:
    size = sum(row.bytes for row in rows)
    return SetRow(
        name=info.name,
        distribution=info.distribution,
        version=info.version,
        tools=len(rows),
        bytes=size,
        tokens=tokens_of(size),
    )


def tool_lines(listed: ToolList, styles: Styles, *, cost: bool = False, width: int | None = None) -> list[str]:
    """The list for a person: a heading, the counts, a tool a line with its set; with `cost` the bytes and tokens.

    `width`: columns that a row may take."""
    head = ["tool", "set", *(["bytes", "~tokens"] if cost else []), ""]
    rows = [
        [
            row.name,
            row.set or "",
            *([f"{row.bytes:,}", f"~{row.tokens:,}"] if cost else []),
            row.short if row.offered else f"(not offered: {row.why_not}) {row.short}",
        ]
        for row in listed.tools
    ]
    lines = [
        styles.bold("Tools"),
        f"{listed.offered} offered this turn of {listed.registered} registered",
        "",
        *table_lines([head, *rows], right=frozenset({2, 3} if cost else ()), width=width),
    ]
    if cost:
        per_set = [
            [s.name, f"{s.tools}", f"{s.bytes:,}", f"~{s.tokens:,}", f"{s.distribution} {s.version}"]
            for s in listed.sets
        ]
        total = ["all", f"{listed.offered}", f"{listed.bytes:,}", f"~{listed.tokens:,}", "on every request"]
        lines += [
            "",
            *table_lines([["set", "tools", "bytes", "~tokens", ""], *per_set, total], right=frozenset({1, 2, 3})),
        ]
    return lines
