"""What copying an item gives: its text as it was written, safe to be pasted, for what a person copies is what was shown."""

from __future__ import annotations

from typing import assert_never

from pegboard import blocks as kinds
from pegboard.blocks import AnyBlock
from pegboard.terminal import command_output, spelled, visible

from pegboard_tui.drawing.calls import blocks_of
from pegboard_tui.drawing.items import usage_text
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told


def source_text(item: AnyItem) -> str:
    """The prompt, the Markdown, the result, or the change as a unified diff. Characters that hide are spelled out."""
    match item:
        case Asked(text=text) | Said(text=text) | Thought(text=text) | Told(text=text):
            return spelled(text).strip("\n")
        case Made():
            return _made(item)
        case Shown(blocks=blocks):
            return "\n\n".join(filter(None, map(block_text, blocks)))
        case Ended(ended=ended, usage=usage):
            return spelled(ended.error or "") or (usage_text(usage) if usage else "")
        case _:
            assert_never(item)


def block_text(block: AnyBlock) -> str:
    """A block as plain text: Markdown and tables as Markdown, a diff as one that `patch` reads."""
    match block:
        case kinds.Activity(glyph=glyph, verb=verb, subject=subject, details=details):
            return " ".join(filter(None, map(visible, (glyph, verb, subject, details.partition("\n")[0]))))
        case kinds.Diff():
            return _diff(block)
        case kinds.Note(text=text) | kinds.Problem(text=text) | kinds.Markdown(text=text) | kinds.Text(text=text):
            return spelled(text).strip("\n")
        case kinds.Table(columns=columns, rows=rows):
            count = max([len(columns), *map(len, rows)])
            whole = [[*row, *[""] * (count - len(row))] for row in [columns, *rows]]
            made = [f"| {' | '.join(visible(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in whole]
            return "\n".join([made[0], f"|{'---|' * count}", *made[1:]]) if count else ""
        case kinds.Image(alt=alt, media_type=kind):
            return visible(alt or f"[picture, {kind}]")
        case kinds.Custom(plain=plain):
            return "\n\n".join(filter(None, map(block_text, plain)))
        case _:
            assert_never(block)


def _made(item: Made) -> str:
    finished = item.finished
    if finished is None:
        return block_text(item.described.activity)
    shown = [block_text(block) for block in blocks_of(item)]
    if item.described.echo or finished.outcome != "ok" or not any(shown):
        output = item.described.commands and finished.block is None
        shown.append((command_output if output else spelled)(finished.text).strip("\n"))
    return "\n\n".join(filter(None, shown)) or block_text(item.described.activity)


def _diff(block: kinds.Diff) -> str:
    path, to = visible(block.path), visible(block.to or block.path)
    old = "/dev/null" if block.change == "created" else f"a/{path}"
    new = "/dev/null" if block.change == "deleted" else f"b/{to}"
    return f"--- {old}\n+++ {new}\n{spelled(block.text)}".rstrip("\n")
