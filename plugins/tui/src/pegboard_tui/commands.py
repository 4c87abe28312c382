"""The app's own slash commands: which there are, how a line is read, what could follow. Nothing here does anything.

Those that the board has beside them come from `Host.commands()`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from pegboard import slash, typed
from pegboard.port import Host, Offered
from pegboard.slash import BadCommand, Command

OWNER = "pegboard-tui"


class Local(NamedTuple):
    """How a command is written, and what it does: a line without a full stop."""

    usage: str
    help: str


LOCAL: dict[str, Local] = {
    "help": Local("/help [NAME]", "the commands there are; or one of them"),
    "tool": Local("/tool NAME ARGUMENTS", 'make one call yourself: k=v ..., k:=JSON, k=@FILE, or {"k": "v"}'),
    "mode": Local("/mode [NAME]", "which modes there are; with NAME, be in it from here on; none: in no mode"),
    "model": Local("/model [NAME]", "which models are known; with NAME, it answers from here on"),
    "sessions": Local("/sessions", "past sessions, with a search"),
    "resume": Local("/resume [ID]", "go on with another session: by its id, or the beginning of one; else choose it"),
    "new": Local("/new", "begin a new session; this one stays open"),
    "close": Local("/close", "close this session; it is kept, and /resume opens it again"),
    "undo": Local(
        "/undo [CALL]", "put files back as they were before the last call, or this one; /undo list shows them"
    ),
    "copy": Local("/copy [N]", "copy the last answer, or the Nth from the end"),
    "thinking": Local("/thinking", "show the model's reasoning, or hide it"),
    "theme": Local("/theme [NAME]", "which colours there are; with NAME, these from here on"),
    "keys": Local("/keys", "what each key does"),
    "quit": Local("/quit", "leave; so does Ctrl-C with nothing running"),
}
"""By name, in the order in which `/help` lists them."""
ALSO = {"exit": "quit", "q": "quit", "clear": "new", "?": "help"}


def offered(host: Host) -> list[Offered]:
    """Every command: the app's, then those of the board. A name of the app's is the app's. It imports plugins: call it in a
    thread."""
    own = [Offered(name=name, usage=one.usage, help=one.help, owner=OWNER) for name, one in LOCAL.items()]
    return [*own, *(one for one in host.commands() if one.name not in LOCAL)]


def read_line(line: str, names: Callable[[], Collection[str]]) -> Command | str:
    """What a line says; see `pegboard.slash`. names: of the board's commands.

    Raises:
        BadCommand: it looks like a command, and there is none of that name.
    """
    return slash.read_line(line, {name: one.usage for name, one in LOCAL.items()}, names, ALSO)


def completions(name: str, rest: str, host: Host) -> list[str] | None:
    """What could stand after one of the app's commands: whole words for the last one of `rest`; None: it is another's."""
    if name not in LOCAL:
        return None
    if len(rest.split(" ")) > 1:
        return []
    words: Sequence[str] = ()
    match name:
        case "help":
            words = [one.name for one in offered(host)]
        case "mode":
            words = [*sorted(host.modes()), "none"]
        case "model":
            words = host.models()
        case "undo":
            words = ["list"]
        case _:
            pass
    return [word for word in words if word.startswith(rest)]


def read_call(rest: str, root: str) -> tuple[str, dict[str, Any]]:
    """The tool that `/tool` names, and its arguments. It may read files (`k=@FILE`, from the root): call it in a thread.

    Raises:
        BadCommand: they are neither words nor a JSON object, or a file cannot be read.
    """
    try:
        return typed.read_call(rest, usage=LOCAL["tool"].usage, root=root)
    except typed.BadWord as error:
        raise BadCommand(f"{error}. Nothing was run.") from None
