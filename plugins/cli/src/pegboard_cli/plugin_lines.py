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
    rows = [[row.name, row.kind, _state(row), f"{row.distribution} {row.version}", _has(row)] for row in listed.plugins]
    lines = table_lines([["plugin", "kind", "state", "from", ""], *rows], width=width)
    if width is not None:
        lines = [shortened(line, width) for line in lines]
    out = [styles.bold("Plugins"), "", lines[0]]
    for row, line in zip(listed.plugins, lines[1:], strict=True):
        out.append(line)
        paint = styles.warn if row.problem else styles.dim
        out += [paint(part) for text in _told(row) for part in wrapped(f"    {text}", width)]
    return out


def _state(row: PluginRow) -> str:
    return "on, in part" if row.problem and row.state == "on" else row.state


def _has(row: PluginRow) -> str:
    return ", ".join(row.tools) or (row.reason or "" if row.state in ("off", "disabled") else "")


def _told(row: PluginRow) -> list[str]:
    said = [f"{row.problem.error}", f"to mend it: {row.problem.fix}"] if row.problem else []
    return [visible(text) for text in [*said, *(f"it {remark}" for remark in row.remarks)]]
