"""The forms in which this command draws blocks, for `pegboard plugin check` (entry-point group `pegboard.forms`).

Each takes blocks and a width in columns, gives what would be shown, and raises what goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock


def plain(blocks: list[AnyBlock], width: int) -> str:
    """Lines of text without colours, as in a pipe or a log."""
    from pegboard_cli.render import block_lines
    from pegboard_cli.styles import Styles

    styles = Styles(False)
    return "\n".join(line for block in blocks for line in block_lines(block, styles, width=width))


def rich(blocks: list[AnyBlock], width: int) -> str:
    """Colours and tables, as on a terminal. Rich comes with Typer."""
    from io import StringIO

    from rich.console import Console

    from pegboard_cli.richly import renderables

    console = Console(file=StringIO(), width=width, force_terminal=True, color_system="truecolor", legacy_windows=False)
    with console.capture() as capture:
        console.print(renderables(blocks))
    return capture.get()


def json(blocks: list[AnyBlock], width: int) -> str:
    """What programs are given: written, and read back as the same."""
    from pegboard.rendering import from_json, to_json

    body = to_json(blocks)
    if to_json(from_json(body)) != body:
        raise ValueError("read back from JSON they are not the same")
    return body.decode()
