"""Rows for `pegboard sessions`, and a session as it can be read. It returns lines, and prints nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pegboard.terminal import visible

from pegboard_cli.render import table_lines
from pegboard_cli.styles import Styles

if TYPE_CHECKING:
    from pegboard.events import AnyEvent
    from pegboard.session import SessionInfo

NEWEST = 20
"""Sessions that a list shows unless it is asked for all."""
UNREADABLE = "unreadable"
"""The status of a session whose log is not of this version: what it holds is not known."""
ROOM = 16
"""Columns that the title of a session should have; on a narrow terminal other columns make room for it."""


def chosen_for_list(found: Sequence[SessionInfo]) -> tuple[list[SessionInfo], int, int]:
    """The newest sessions that had a turn; how many more of them there are, and how many of single calls alone."""
    talks = [info for info in found if info.turns or info.status == UNREADABLE]
    return talks[:NEWEST], max(len(talks) - NEWEST, 0), len(found) - len(talks)


def session_lines(
    found: Sequence[SessionInfo], *, more: int = 0, single: int = 0, width: int | None = None
) -> list[str]:
    """Past sessions, a line each, the latest first; how many `more` there are, and how many of `single` calls.

    `width`: columns that a row may take: what matters least is left out, then the title is cut."""
    if not found:
        return [*_more(more, single)] or ["No sessions yet."]
    table = {
        "session": [s.id for s in found],
        "started": [time.strftime("%Y-%m-%d %H:%M", time.localtime(s.started)) for s in found],
        "turns": [f"{s.turns}" for s in found],
        "events": [f"{s.events}" for s in found],
        "bytes": [f"{s.size:,}" for s in found],
        "root": [s.root or "" for s in found],
        "first request": [s.title for s in found],
    }
    for column in ("bytes", "events", "root", "turns", "started"):
        taken = sum(max(map(len, [name, *cells])) + 2 for name, cells in table.items() if name != "first request")
        if width is not None and width - taken < min(ROOM, max(map(len, ["first request", *table["first request"]]))):
            del table[column]
    right = frozenset(i for i, name in enumerate(table) if name in ("turns", "events", "bytes"))
    rows = [list(table), *map(list, zip(*table.values(), strict=True))]
    return [*table_lines(rows, right=right, width=width), *_more(more, single)]


def _more(more: int, single: int) -> list[str]:
    told = [f"{more} more"] if more else []
    told += [f"{single} of single calls"] if single else []
    return [f"and {', '.join(told)}: pegboard sessions list --all"] if told else []


def conversation_lines(events: Sequence[AnyEvent], styles: Styles) -> Iterator[str]:
    """A session as it can be read: what was asked, said, called and answered. Nothing in it reaches a terminal raw."""
    from pegboard import events as kinds

    from pegboard_cli.results import error_line
    from pegboard_cli.undo_lines import undone_line

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
            case kinds.Prompt(text=text, by="pegboard"):
                yield from (styles.dim(f"  (to the model: {line})") for line in _lines(text))
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
            case kinds.Undone():
                yield styles.place(f"[{visible(event.id)}] {undone_line(event)}")
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
