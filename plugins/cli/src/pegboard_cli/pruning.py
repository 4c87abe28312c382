"""What `pegboard sessions delete` and `prune` say and ask, and how times and sizes are written."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer
from pegboard.terminal import plain, visible

from pegboard_cli.styles import is_terminal

if TYPE_CHECKING:
    from pegboard.session import SessionInfo
    from pegboard.session.removal import Removed

NAMED = 10
"""Sessions that are listed before the question whether they may go."""
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def age(value: str | None) -> str | None:
    """An age as it was given, such as `30d`, `12h`, `2w`.

    Raises:
        typer.BadParameter: it is none.
    """
    if value is not None and _age(value) is None:
        raise typer.BadParameter(f"{plain(value)!r} is no age; write a number and m, h, d or w, as in 30d")
    return value


def size(value: str | None) -> str | None:
    """A size as it was given, such as `500M`, `2G`, `1000`.

    Raises:
        typer.BadParameter: it is none.
    """
    if value is not None and _size(value) is None:
        raise typer.BadParameter(f"{plain(value)!r} is no size; write a number and K, M or G, as in 500M")
    return value


def seconds_of(value: str | None) -> float | None:
    """The seconds of an age."""
    return _age(value) if value is not None else None


def bytes_of(value: str | None) -> int | None:
    """The bytes of a size."""
    return _size(value) if value is not None else None


def _age(value: str) -> float | None:
    found = re.fullmatch(r"([0-9]{1,6})([mhdw])", value)
    return int(found[1]) * float(_SECONDS[found[2]]) if found else None


def _size(value: str) -> int | None:
    found = re.fullmatch(r"([0-9]{1,15})([kmg]?)(?:i?b)?", value.lower())
    return int(found[1]) * _BYTES[found[2]] if found else None


def agreed(question: str) -> bool | None:
    """Ask a person at the terminal; Enter means no. None: nobody is there to ask."""
    if not is_terminal(sys.stdin) or not is_terminal(sys.stderr):
        return None
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def doomed_lines(chosen: Sequence[SessionInfo]) -> list[str]:
    """Which sessions the question is about: the first few by name, and how many more."""
    lines = [
        f"{visible(info.id)}: {info.size:,} bytes" + (f", {visible(info.title)}" if info.title else "")
        for info in chosen[:NAMED]
    ]
    return [*lines, f"and {len(chosen) - NAMED} more"] if len(chosen) > NAMED else lines


def question(chosen: Sequence[SessionInfo]) -> str:
    """What is asked before sessions are deleted."""
    total = sum(info.size for info in chosen)
    if len(chosen) == 1:
        title = f" ({visible(chosen[0].title)})" if chosen[0].title else ""
        return f"Delete session {visible(chosen[0].id)}{title}, {total:,} bytes? It cannot be brought back."
    return f"Delete {len(chosen)} sessions, {total:,} bytes? They cannot be brought back."


def removed_lines(removed: Sequence[Removed]) -> list[str]:
    """What became of each session, and what that freed."""
    lines = [f"{visible(one.id)}: {one.outcome}" + (f", {one.size:,} bytes" if one.size else "") for one in removed]
    lines += [f"  {visible(one.why)}" for one in removed if one.outcome == "failed" and one.why]
    gone = [one for one in removed if one.outcome in ("deleted", "would be deleted")]
    would = "would be " if any(one.outcome == "would be deleted" for one in gone) else ""
    kept = sum(one.outcome == "in use" for one in removed)
    beside = f"; {kept} in use and left alone" if kept else ""
    plural = "" if len(gone) == 1 else "s"
    return [
        *lines,
        f"{len(gone)} session{plural} {would}deleted, {sum(one.size for one in gone):,} bytes {would}freed{beside}.",
    ]
