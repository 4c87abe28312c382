"""Slash commands of a line session: which there are, how a line is read, and what they show. Nothing here writes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pegboard import events as kinds
from pegboard import slash
from pegboard.errors import ConfigError
from pegboard.slash import BadCommand, Command
from pegboard.terminal import visible
from pegboard.wire import clean

from pegboard_cli.completing import only_calls
from pegboard_cli.describing import tool_page
from pegboard_cli.history import chosen_for_list, conversation_lines, session_lines
from pegboard_cli.listing import list_tools, only
from pegboard_cli.render import table_lines
from pegboard_cli.styles import Styles
from pegboard_cli.typed_calls import call_words
from pegboard_cli.wrapping import wrapped

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.events import AnyEvent
    from pegboard.policy import Policy
    from pegboard.port import Conversation
    from pegboard.session import SessionInfo
    from pegboard.slashes import Slashes

COMMANDS: dict[str, tuple[str, str]] = {
    "help": ("/help [TOOL]", "this page; or what a tool does, and its parameters"),
    "tool": ("/tool NAME ARGUMENTS", 'make one call yourself: k=v ..., or {"k": "v"}'),
    "sessions": ("/sessions", "past sessions, the latest first"),
    "resume": ("/resume [ID]", "go on with another session; without ID, the last one in this folder"),
    "undo": ("/undo [CALL]", "put files back as they were before the last call, or this one; /undo list shows them"),
    "new": ("/new", "begin a new session"),
    "model": ("/model [NAME]", "which model answers; with NAME, another one from here on"),
    "mode": ("/mode [NAME]", "which modes there are; with NAME, be in it from here on; none: in no mode"),
    "quit": ("/quit", "leave; so does Ctrl-D"),
}
"""Name: how it is written, and what it does. These are about the line session itself; the others are the board's."""
ALSO = {"exit": "quit"}
LAST_LINES = 30
"""Lines of the last exchange that are shown when a session is gone on with."""
_NOTES = """\
A line goes to the model. A backslash at the end goes on in the next line; a pasted text of several lines is one prompt.
A line that begins with a slash and a word is a command; with a space in front, or a second slash, it is not.
Ctrl-C stops the running call; pressed again, or with none running, it ends the turn. At a question it ends the turn."""


def read_line(line: str, others: Collection[str] = ()) -> Command | str:
    """What a line says; see `pegboard.slash`. others: names of the board's slash commands.

    Raises:
        BadCommand: it looks like a command, and there is none of that name.
    """
    return slash.read_line(line, {name: usage for name, (usage, _) in COMMANDS.items()}, lambda: others, ALSO)


def read_model(rest: str) -> str:
    """The model that `/model` names; empty: none.

    Raises:
        BadCommand: a part of the name is missing.
    """
    provider, slash, name = rest.partition("/")
    if slash and not (provider and name):
        missing = "a model is missing after" if provider else "a provider is missing before"
        raise BadCommand(f"{rest}: the name of {missing} the slash; nothing was changed. Write /model PROVIDER/MODEL.")
    return rest


def mode_lines(board: Board, current: str, styles: Styles, width: int | None) -> list[str]:
    """`/mode`: those there are, and which one is on."""
    from pegboard.policy import choices

    there = choices(board.loaded)
    rows = [[("* " if name == current else "  ") + name, there[name]] for name in sorted(there)]
    said = f"the mode is {current}" if current else "no mode is on"
    return [*table_lines(rows, width=width), styles.dim(visible(f"{said} · /mode NAME changes it, /mode none ends it"))]


def help_lines(
    board: Board, topic: str, styles: Styles, width: int | None, policy: Policy | None, others: Slashes
) -> list[str]:
    """`/help`, or one command, or one tool. others: the board's slash commands, which are imported for it.

    Raises:
        BadCommand: there is neither a command nor a tool of that name.
    """
    listed = list_tools(board, all=True, policy=policy)
    if not topic:
        tools = [[row.name, row.short] for row in listed.tools if row.offered]
        theirs = [(one.usage, one.help) for one in others.all() if one.name not in COMMANDS]
        return [
            styles.bold("Commands"),
            *table_lines([["  " + usage, text] for usage, text in [*COMMANDS.values(), *theirs]], width=width),
            "",
            *(row for line in _NOTES.split("\n") for row in wrapped(line, width)),
            "",
            styles.bold("Tools") + styles.dim("  /help NAME shows one"),
            *table_lines([["  " + name, short] for name, short in tools], width=width),
        ]
    name = topic.removeprefix("/")
    if topic[0] == "/" or board.registry.get(topic) is None:
        if name in COMMANDS:
            return [": ".join(COMMANDS[name])]
        if name in others.names:
            command = others.get(name)
            return [visible(f"{command.usage}: {command.help}")]
    try:
        return tool_page(only(listed, topic, board.registry).tools[0], styles, min(width or 100, 100))
    except ConfigError as error:
        raise BadCommand(str(error).replace("`pegboard tools`", "/tools")) from None


def known_sessions(board: Board) -> list[SessionInfo]:
    """Past sessions of any folder, the latest first."""
    from pegboard.session import sessions

    return sessions(board.sessions_folder) if board.sessions_folder else []


def sessions_lines(board: Board, current: str, width: int | None) -> list[str]:
    """`/sessions`."""
    shown, more, single = chosen_for_list(known_sessions(board))
    lines = session_lines(shown, more=more, single=single, width=width)
    return [*lines, f"this one: {current} · /resume ID goes on with another"]


def session_meant(board: Board, given: str, current: str) -> SessionInfo:
    """The session that `/resume` is to open: by its id, or the beginning of one; without any, the last other one here.

    Raises:
        BadCommand: there is none, or more than one.
    """
    found = [info for info in known_sessions(board) if info.id != current]
    if not given:
        here = next((info for info in found if info.root == clean(board.root) and info.turns), None)
        if here is None:
            raise BadCommand("there is no other session in this folder; /sessions lists those of all folders")
        return here
    meant = [info for info in found if info.id == given] or [info for info in found if info.id.startswith(given)]
    if given == current:
        raise BadCommand("that is this session")
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise BadCommand(f"{given!r} begins {len(meant)} sessions: {', '.join(info.id for info in meant[:4])}")
    near = difflib.get_close_matches(given, [info.id for info in found], 1)
    hint = f" Did you mean {near[0]}?" if near else " /sessions lists those there are."
    raise BadCommand(f"there is no session {given!r}.{hint}")


def last_exchange(events: Sequence[AnyEvent], styles: Styles) -> list[str]:
    """The last turn of a session as it can be read, and what came after it; its middle left out when it is long."""
    starts = [number for number, event in enumerate(events) if isinstance(event, kinds.TurnStarted)]
    lines = list(conversation_lines(events[starts[-1] :] if starts else events, styles))
    lines = lines[1:] if lines[:1] == [""] else lines
    if len(lines) > LAST_LINES:
        head = LAST_LINES // 5
        lines = [*lines[:head], styles.dim(f"… ({len(lines) - LAST_LINES} lines)"), *lines[head - LAST_LINES :]]
    before = len(starts) - 1
    earlier = [styles.dim(f"({before} earlier turn{'' if before == 1 else 's'})")] if before > 0 else []
    return [*earlier, *lines]


def completions(board: Board, before: str, others: Slashes, conversation: Conversation | None) -> list[str]:
    """What Tab offers, given the line up to the word: commands, tools, sessions, what a command of the board's offers."""
    if not before:
        return [f"/{name} " for name in [*COMMANDS, *others.names]]
    match before.split():
        case ["/tool", *_] if conversation is not None:
            return _ended(call_words(before.removeprefix("/tool").lstrip(), board, board.policy))
        case ["/help"]:
            tools = [tool.name for tool in board.registry.tools if not board.policy.hidden(tool)]
            return _ended([*tools, *(f"/{name}" for name in [*COMMANDS, *others.names])])
        case ["/undo"]:
            return ["list "]
        case ["/mode"]:
            from pegboard.policy import choices

            return [f"{visible(name)} " for name in sorted({*choices(board.loaded), "none"})]
        case ["/resume"] if board.sessions_folder is not None and board.sessions_folder.is_dir():
            return sorted(visible(one.name) for one in board.sessions_folder.iterdir() if not only_calls(str(one)))
        case [command, *_] if conversation is not None and (name := command[1:]) in others.names:
            return _ended(conversation.complete(name, before.removeprefix(command).lstrip()))
        case _:
            return []


def _ended(words: Sequence[str]) -> list[str]:
    """Words as they are typed: with a space behind, unless a value follows. One that would not be typed is none."""
    return [word if word.endswith("=") else f"{word} " for word in words if visible(word) == word]
