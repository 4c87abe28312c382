"""`pegboard plugins` for a person: a plugin a line, and below it what is wrong."""

from __future__ import annotations

from pegboard.terminal import visible

from pegboard_cli.plugin_list import PluginList, PluginRow
from pegboard_cli.render import table_lines
from pegboard_cli.styles import Styles
from pegboard_cli.widths import shortened
from pegboard_cli.wrapping import wrapped


def plugin_lines(listed: PluginList, styles: Styles, *, width: int | None = None) -> list[str]:
    """The list for a person: a plugin a line, cut at `width`, and below it what is wrong and how to mend it, in full."""
    shown, slashes = for_people(listed)
    rows = [[row.name, row.kind, state(row), f"{row.distribution} {row.version}", has(row)] for row in shown]
    lines = table_lines([["plugin", "kind", "state", "from", ""], *rows], width=width)
    if width is not None:
        lines = [shortened(line, width) for line in lines]
    out = [styles.bold("Plugins"), "", lines[0]]
    for row, line in zip(shown, lines[1:], strict=True):
        out.append(line)
        paint = styles.warn if row.problem else styles.dim
        out += [paint(part) for text in _told(row) for part in wrapped(f"    {text}", width)]
    return [*out, *(styles.dim(line) for line in wrapped(visible(slashes), width) if slashes)]


def for_people(listed: PluginList) -> tuple[list[PluginRow], str]:
    """The rows for a person, and a line for what is left out of them: our own slash commands, of which nothing is wrong."""
    quiet = [row for row in listed.plugins if row.kind == "slash" and row.own and row.state == "on" and not row.problem]
    names = " ".join(f"/{row.name}" for row in quiet)
    return [row for row in listed.plugins if row not in quiet], f"slash commands of ours: {names}" if quiet else ""


def state(row: PluginRow) -> str:
    """What became of it, in a word or two."""
    return "on, in part" if row.problem and row.state == "on" else row.state


def has(row: PluginRow) -> str:
    """Its tools; of one that is off, why."""
    return ", ".join(row.tools) or (row.reason or "" if row.state in ("off", "disabled") else "")


def _told(row: PluginRow) -> list[str]:
    said = [f"{row.problem.error}", f"to mend it: {row.problem.fix}"] if row.problem else []
    return [visible(text) for text in [*said, *(f"it {remark}" for remark in row.remarks)]]
