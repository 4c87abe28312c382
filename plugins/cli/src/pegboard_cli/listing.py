"""Rows for `pegboard tools` and `pegboard sessions`. Library code: it returns values and lines, and prints nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.board import EMBEDDED
from pegboard.touches import kinds_in

from pegboard_cli.render import table_lines
from pegboard_cli.styles import Styles
from pegboard_cli.terminal import visible

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.events import AnyEvent
    from pegboard.session import SessionInfo
    from pegboard.tooling import Tool

SHORT = 60


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


def list_tools(board: Board, *, all: bool = False) -> ToolList:
    """Every registered tool in its order; those that policy denies only if `all`."""
    rows = [_row(board, tool) for tool in board.registry.tools]
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
        tools=[row for row in rows if all or row.why_not != "denied"],
    )


def _row(board: Board, tool: Tool) -> ToolRow:
    declared, size = tool.declaration, tool.wire_size()
    why_not = board.why_not(tool)
    if why_not is None and not board.config.tool_calling:
        why_not = "withheld"
    return ToolRow(
        name=tool.name,
        set=tool.set,
        qualified=tool.qualified,
        offered=why_not is None,
        why_not=why_not,
        effect=tool.effect,
        replay=declared.replay,
        overlap=declared.overlap,
        permission=_permission(tool),
        category=declared.category,
        aliases=[alias if isinstance(alias, str) else alias[0] for alias in declared.aliases],
        bytes=size,
        tokens=tokens_of(size),
        description=tool.description,
        parameters=tool.parameters,
        short=declared.short or shortened(tool.description),
    )


def _permission(tool: Tool) -> str | None:
    """The key of `tool_permission` that rules the tool; None where a call's own touches say it."""
    from pegboard.policy.rules import KEY_OF

    kinds = {KEY_OF.get(kind, kind) for _, node in tool.touched for kind in kinds_in(node)}
    return tool.declaration.permission or (kinds.pop() if len(kinds) == 1 else None)


def shortened(description: str) -> str:
    """The first line of a description, cut at a word."""
    first = description.strip().split("\n", 1)[0]
    return first if len(first) <= SHORT else first[: SHORT - 1].rsplit(" ", 1)[0] + "…"


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


def tool_lines(listed: ToolList, styles: Styles, *, cost: bool = False) -> list[str]:
    """The list for a person: a heading, the counts, a tool a line with its set; with `cost` the bytes and tokens."""
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
        *table_lines([head, *rows], right=frozenset({2, 3} if cost else ())),
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


def session_lines(found: Sequence[SessionInfo]) -> list[str]:
    """Past sessions, a line each, the latest first."""
    if not found:
        return ["No sessions yet."]
    rows = [
        [
            s.id,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(s.started)),
            f"{s.turns}",
            f"{s.events}",
            f"{s.size:,}",
            s.title,
            s.root or "",
        ]
        for s in found
    ]
    head = ["session", "started", "turns", "events", "bytes", "first request", "root"]
    return table_lines([head, *rows], right=frozenset({2, 3, 4}))


def conversation_lines(events: Sequence[AnyEvent], styles: Styles) -> Iterator[str]:
    """A session as it can be read: what was asked, said, called and answered. Nothing in it reaches a terminal raw."""
    from pegboard import events as kinds

    from pegboard_cli.viewer import error_line

    running: dict[str, None] = {}
    for event in events:
        match event:
            case kinds.CallStarted(id=id):
                running[id] = None
            case kinds.CallFinished(id=id):
                running.pop(id, None)
            case _:
                pass
        match event:
            case kinds.Prompt(text=text):
                yield ""
                yield from (styles.bold(f"> {line}") for line in _lines(text))
            case kinds.Message(text=text) if text.strip():
                yield from _lines(text)
            case kinds.CallAsked(id=id, summary=summary):
                yield styles.place(f"[{visible(id)}] {visible(summary)}")
            case kinds.ApprovalAnswered(granted=granted, by=by, reason=reason):
                said = "allowed" if granted else "refused"
                yield styles.dim(f"  {said} by {visible(by)}" + (f": {visible(reason)}" if reason else ""))
            case kinds.CallFinished(id=id, outcome="ok", text=text):
                yield from (styles.dim(f"  {line}") for line in _lines(text))
            case kinds.CallFinished(outcome=outcome, text=text):
                yield styles.bad(f"  ! {outcome}: {visible(error_line(text))}")
            case kinds.QuestionAnswered(answer=answer):
                yield styles.dim(f"  answered: {visible(answer or '(dismissed)')}")
            case kinds.Note(text=text):
                yield styles.dim(f"  {visible(text, keep=chr(9))}")
            case kinds.TurnEnded(status=status, error=error) if status != "done":
                yield styles.warn(f"({visible(status)}{': ' + visible(error) if error else ''})")
            case _:
                pass
    for id in running:
        yield styles.warn(f"[{visible(id)}] started and not finished: it still runs, or it was interrupted")


def _lines(text: str) -> list[str]:
    return visible(text.rstrip("\n"), keep="\n\t").split("\n")
