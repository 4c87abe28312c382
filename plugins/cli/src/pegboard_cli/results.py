"""What became of a call, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegboard.terminal import command_output, spelled, visible
from pegboard.touches import kinds_in
from pegboard.wording import refusal

from pegboard_cli.places import place_of

if TYPE_CHECKING:
    from pegboard.calls import BlockName
    from pegboard.events import ApprovalAnswered, CallFinished
    from pegboard.tooling import Tool


def result_text(text: str, tool: Tool | None, block: BlockName | None = None) -> str:
    """A result, or what a running call has printed, safe to show. What commands print loses its colours."""
    return command_output(text) if block is None and runs_commands(tool) else spelled(text)


def runs_commands(tool: Tool | None) -> bool:
    """Whether a tool declares that it runs commands."""
    return tool is not None and any("run" in kinds_in(node) for _, node in tool.touched)


def error_line(text: str) -> str:
    """The first line of a result that went wrong, beginning with `Error:`."""
    first = text.strip().split("\n", 1)[0]
    return first if first.startswith("Error:") else f"Error: {first}"


def short_error(event: CallFinished) -> str:
    """What went wrong in one line. A refusal is named only: the model's answer says the rest."""
    return visible(f"Error: {reason}" if (reason := refusal(event)) else error_line(spelled(event.text)), keep="\t")


def kept_line(event: ApprovalAnswered) -> str:
    """Where a person's answer was kept that outlasts the session, and how it is taken back; nothing where none was."""
    source = event.source
    if not event.granted or source is None or not event.remember:
        return ""
    how = "in this project" if event.scope == "project" else "in every project"
    return visible(
        f"  kept {how}: {'; '.join(event.remember)} ({place_of(source)}). To take it back, delete that rule there."
    )


def dropped_line(dropped: Sequence[str], tool: Tool | None, text: str = "") -> str:
    """A note on arguments that no parameter takes; nothing where there are none, or where the result shown names them."""
    unknown = [visible(name) for name in dropped if tool is None or name not in tool.shape.names]
    if not unknown or text.rstrip().endswith(f"has no such parameter: {', '.join(unknown)})"):
        return ""
    return f"  (ignored, there is no such parameter: {', '.join(unknown)})"
