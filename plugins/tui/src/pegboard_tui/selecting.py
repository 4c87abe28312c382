"""What can be taken out of a transcript: the source of an item, its last code block, and what the mouse selected.

Sources are what a model, tool or person wrote, not the cells that it was drawn with; only what a terminal would obey when it
is pasted there is spelled out, and colours that a command printed are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias, assert_never

import msgspec
from pegboard import blocks as kinds
from pegboard.blocks import AnyBlock
from pegboard.terminal import code, command_output
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from pegboard_tui.drawing.calls import blocks_of
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told

_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
Span: TypeAlias = tuple[int, int]
"""Of characters in a row: the first, and the one after the last."""

# --- sources ------------------------------------------------------------------------------------------------------------


def source(item: AnyItem) -> str:
    """What an item says, as it was written: Markdown, a result's text, a diff that `patch` takes. Empty: it says nothing."""
    return _safe(_source(item).replace("\r\n", "\n"))


def searched(item: AnyItem) -> Iterator[str]:
    """The texts in which a search looks: the source, and of a call its line."""
    if isinstance(item, Made):
        line = item.described.activity
        yield f"{line.verb} {line.subject} {line.details}"
    if isinstance(item, Shown):
        yield item.title
    yield _source(item)


def last_code(item: AnyItem) -> str | None:
    """The last fenced code block of an item, without its fences; None: there is none."""
    texts = [item.text] if isinstance(item, Said | Asked | Thought) else markdown_of(shown_blocks(item))
    found = [block for text in texts for block in fenced(text)]
    return _safe(found[-1]) if found else None


def _safe(text: str) -> str:
    return _OBEYED.sub(lambda found: code(found[0]), text)


def shown_blocks(item: AnyItem) -> Sequence[AnyBlock]:
    """The blocks that an item holds."""
    match item:
        case Shown(blocks=blocks):
            return blocks
        case Made():
            return blocks_of(item)
        case _:
            return ()


def markdown_of(blocks: Sequence[AnyBlock]) -> list[str]:
    """The Markdown among blocks."""
    return [block.text for block in blocks if isinstance(block, kinds.Markdown)]


def fenced(text: str) -> list[str]:
    """The fenced code blocks of a Markdown text. One that is not closed goes on to the end."""
    found: list[list[str]] = []
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
            else:
                found[-1].append(line)
        elif match and not ("`" in match[2] and match[1][0] == "`"):
            fence = match[1]
            found.append([])
    return ["\n".join(lines) for lines in found]


def _source(item: AnyItem) -> str:
    match item:
        case Asked(text=text) | Said(text=text) | Thought(text=text) | Told(text=text):
            return text
        case Made():
            return _result(item)
        case Shown(blocks=blocks):
            return "\n\n".join(filter(None, map(text_of, blocks)))
        case Ended(ended=ended):
            return ended.error or ""
        case _:
            assert_never(item)


def _result(made: Made) -> str:
    blocks = shown_blocks(made)
    diffs = [text_of(block) for block in blocks if isinstance(block, kinds.Diff)]
    if diffs:
        return "\n".join(diffs)
    if made.finished is None:
        return text_of(made.described.activity)
    text = made.finished.text or "\n\n".join(filter(None, map(text_of, blocks)))
    return command_output(text) if made.described.commands else text


def text_of(block: AnyBlock) -> str:
    """A block as plain text."""
    match block:
        case kinds.Activity(verb=verb, subject=subject, details=details):
            return " ".join(filter(None, (verb, subject, details)))
        case kinds.Diff():
            return _patch(block)
        case kinds.Note(text=text) | kinds.Problem(text=text) | kinds.Markdown(text=text) | kinds.Text(text=text):
            return text
        case kinds.Table(columns=columns, rows=rows):
            return "\n".join("\t".join(row) for row in [columns, *rows])
        case kinds.Image(alt=alt):
            return alt
        case kinds.Custom(plain=plain, data=data):
            return "\n\n".join(filter(None, map(text_of, plain))) or msgspec.json.encode(data).decode()
        case _:
            assert_never(block)


def _patch(diff: kinds.Diff) -> str:
    before = "/dev/null" if diff.change == "created" else diff.path
    after = "/dev/null" if diff.change == "deleted" else diff.to or diff.path
    return f"--- {before}\n+++ {after}\n{diff.text}"


# --- the mouse ----------------------------------------------------------------------------------------------------------

_ROWS = 1 << 32
LEADS = ("│ ", "┆ ", "▌ ")
"""The bars that drawing puts before results, code, reasoning and prompts: pieces of a row by themselves."""


class Spot(NamedTuple):
    """A row of an item, by their numbers. In a `Selection` it stands for the y, so that what is selected stays the same
    while lines above it come and go."""

    number: int
    row: int

    @property
    def y(self) -> int:
        """As a number that grows down the transcript."""
        return self.number * _ROWS + self.row

    @classmethod
    def of(cls, offset: Offset) -> Spot:
        """The row of a selection's start or end."""
        return cls(*divmod(offset.y, _ROWS))


def span_of(selection: Selection, spot: Spot, strip: Strip) -> Span | None:
    """Which characters of a row are selected, without the bar before it and the blanks behind; None: none of it is."""
    found = selection.get_span(spot.y)
    if found is None:
        return None
    least, most = lead_of(strip), len(strip.text.rstrip())
    start, end = max(found[0], least), most if found[1] < 0 else min(found[1], most)
    return (start, end) if start <= end else (min(start, most), min(start, most))


def lead_of(strip: Strip) -> int:
    """How many characters stand before a row's text: a bar, and what is blank before that."""
    size = 0
    for segment in strip:
        size += len(segment.text)
        if segment.text in LEADS:
            return size
        if segment.text.strip():
            break
    return 0


def restyled(strip: Strip, spans: Sequence[Span], style: Style) -> Strip:
    """A strip of which some characters have this style on top of their own."""
    text = strip.text
    pieces: list[Strip] = []
    done = 0
    for start, end in spans:
        left, right = cell_len(text[:start]), cell_len(text[:end])
        if right > left >= done:
            marked = [Segment(part.text, (part.style or Style()) + style) for part in strip.crop(left, right)]
            pieces += [strip.crop(done, left), Strip(marked)]
            done = right
    return Strip.join([*pieces, strip.crop(done)]) if pieces else strip
