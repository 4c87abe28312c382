"""Blocks for front ends that have Rich: a renderable each. Rich is imported when this module is, so import it when needed.

What blocks hold came from models, tools and files. It reaches Rich as `Text` objects, never as Rich's own markup, so that
`[red]` is shown as it is written; and spelled as everywhere (see `terminal`), so that nothing hides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from markdown_it import MarkdownIt
from pegboard import blocks as kinds
from pegboard.terminal import spelled, visible
from rich.console import Group
from rich.markdown import Markdown
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
"""By the first character of a line."""


def renderables(blocks: Iterable[AnyBlock]) -> Group:
    """Blocks below one another."""
    return Group(*map(renderable, blocks))


def renderable(block: AnyBlock) -> RenderableType:
    """One block: a diff in colours, Markdown set, a table with its columns, a picture by its name."""
    match block:
        case kinds.Activity():
            return _activity(block)
        case kinds.Diff():
            return _diff(block)
        case kinds.Note(text=text):
            return Text(spelled(text), style="dim")
        case kinds.Problem(text=text):
            return Text(spelled(text), style="red")
        case kinds.Markdown(text=text):
            return SafeMarkdown(text)
        case kinds.Text(text=text, title=title):
            shown = Text(spelled(text))
            return Group(Text(visible(title), style="bold"), shown) if title else shown
        case kinds.Table(columns=columns, rows=rows):
            return _table(columns, rows)
        case kinds.Image(media_type=kind, alt=alt):
            return Text(f"[picture, {visible(kind)}{': ' + visible(alt) if alt else ''}]", style="dim")
        case kinds.Custom(plain=plain):
            return renderables(plain)
        case _:
            assert_never(block)


class SafeMarkdown:
    """Markdown in which nothing hides: what it could conceal stands there as it was written.

    HTML and its comments, pictures, definitions of links and entities (`&#8238;` would turn the line round) are not read;
    a link is its text with the address behind it, and no terminal hyperlink, which could lie."""

    def __init__(self, text: str) -> None:
        parser = MarkdownIt("commonmark").enable(["strikethrough", "table"])
        parser.disable(["html_block", "html_inline", "image", "reference", "entity"])
        self._markdown = Markdown("", hyperlinks=False)
        self._markdown.parsed = parser.parse(spelled(text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What Rich makes of it, looked through once more."""
        for segment in console.render(self._markdown, options):
            yield Segment(spelled(segment.text), segment.style, segment.control)


def _activity(block: kinds.Activity) -> Text:
    details, _, more = block.details.partition("\n")
    line = Text(" ".join(filter(None, (visible(block.glyph), visible(block.verb)))), style="bold")
    for part, style in ((visible(block.subject), "not bold"), (visible(details), "not bold dim")):
        if part:
            line.append(" " if line else "").append(part, style=style)
    for part in more.split("\n") if more else ():
        line.append(f"\n  {visible(part, keep=chr(9))}", style="not bold dim")
    return line


def _diff(block: kinds.Diff) -> Text:
    shown = Text(visible(block.path) + (f" → {visible(block.to)}" if block.to else ""))
    if block.change != "changed":
        shown.append(f" ({block.change})")
    shown.append(f" +{block.added}", style="green").append(f" -{block.removed}", style="red")
    for line in block.text.rstrip("\n").split("\n"):
        if line:
            shown.append("\n").append(visible(line, keep="\t"), style=DIFF_STYLES.get(line[0]))
    return shown


def _table(columns: list[str], rows: list[list[str]]) -> Table:
    width = max(map(len, [columns, *rows]))
    table = Table(show_edge=False, pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for name in [*columns, *[""] * (width - len(columns))]:
        table.add_column(Text(visible(name), style="bold"), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table
