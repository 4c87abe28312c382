"""The app's own slash commands: which there are, how a line is read, what could follow. Nothing here does anything.

Those that the board has beside them come from `Host.commands()`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from pegboard import slash
from pegboard.port import Host, Offered
from pegboard.slash import BadCommand, Command

MOST_BYTES = 64 * 1024 * 1024
"""Of a file that stands for an argument."""
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
_WORD = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)(?P<sign>:=|=@|=)(?P<value>.*)", re.DOTALL)


def offered(host: Host) -> list[Offered]:
    """Every command: the app's, then those of the board. A name of the app's is the app's."""
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


# --- arguments of a call ------------------------------------------------------------------------------------------------


def read_call(rest: str, root: str) -> tuple[str, dict[str, Any]]:
    """The tool that `/tool` names, and its arguments. It may read files (`k=@FILE`, from the root): call it in a thread.

    Raises:
        BadCommand: they are neither words nor a JSON object, or a file cannot be read.
    """
    name, _, given = rest.partition(" ")
    given = given.strip()
    if not name:
        raise BadCommand(f"write {LOCAL['tool'].usage}; /tools lists the tools")
    try:
        if given.startswith("{"):
            return name, msgspec.json.decode(given.encode(), type=dict[str, Any])
        words = shlex.split(given)
    except ValueError as error:  # msgspec's is one, too
        raise BadCommand(f"the arguments of {name} cannot be read: {error}. Nothing was run.") from None
    named: dict[str, list[Any]] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None:
            raise BadCommand(f"{word!r} is no argument: write name=value, name:=JSON or name=@file. Nothing was run.")
        named.setdefault(found["key"], []).append(_value(found["key"], found["sign"], found["value"], root))
    return name, {key: values[0] if len(values) == 1 else values for key, values in named.items()}


def _value(key: str, sign: str, text: str, root: str) -> Any:
    if sign == "=":
        return text
    try:
        if sign == ":=":
            return msgspec.json.decode(text.encode())
        with Path(root, text).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadCommand(f"{key}=@{text} has more than {MOST_BYTES // 1024**2} MiB. Nothing was run.")
        return data.decode()
    except (msgspec.DecodeError, UnicodeError, OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        wanted = f"{key}:= wants JSON" if sign == ":=" else f"{key}=@{text} cannot be read"
        raise BadCommand(f"{wanted}: {why}. Nothing was run.") from None
