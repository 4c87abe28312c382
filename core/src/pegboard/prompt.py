"""The system prompt: made once a session, in a fixed order, so that a provider's prompt cache holds."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.config.schema import Config
from pegboard.errors import DoorError, ToolError
from pegboard.hooks import Fragment
from pegboard.kit.workspace import Workspace
from pegboard.policy import Mode
from pegboard.wire import clean

MAX_INSTRUCTIONS = 32 * 1024

BASE = """You are a coding agent working in the folder {root} through the tools you are given.
Paths are relative to that folder. Look before you change; change only what was asked; say plainly what you did.
When a call is declined or refused, ask the person or take another way; do not try to get around it.
When a call was interrupted and its effects are unknown, look at the state of things first."""


MODE = """The person has put you into the mode {name!r}. {description}
What it does not allow is refused: do not try it, and say what you would do."""


def system_prompt(
    workspace: Workspace, config: Config, fragments: Iterable[tuple[str, Fragment]], mode: Mode | None = None
) -> str:
    """The base text, then plugins' fragments by owner and name, the project's own instructions, and the mode that is on."""
    parts = [BASE.format(root=workspace.root)]
    parts += [fragment.text for _, fragment in sorted(fragments, key=lambda pair: (pair[0], pair[1].name))]
    instructions = _instructions(workspace, config.project_instructions)
    if instructions:
        parts.append(f"The project's own instructions ({config.project_instructions}):\n{instructions}")
    if mode is not None:
        parts.append(MODE.format(name=mode.name, description=mode.description).replace(". \n", ".\n"))
    return clean("\n\n".join(parts))  # a folder may have a name that is no UTF-8, and a provider sends UTF-8


def _instructions(workspace: Workspace, path: str) -> str:
    if not path:
        return ""
    try:
        return workspace.read_text(path)[:MAX_INSTRUCTIONS].strip()
    except (DoorError, ToolError):
        return ""
