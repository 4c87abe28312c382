"""What `pegboard explain` prints: a decision with its rule, the parts of a command line, what "always" would remember."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pegboard.calls import Layer, Source
from pegboard.errors import ConfigError
from pegboard.terminal import visible
from pegboard.typed import BadWord
from pegboard.wire import encode

from pegboard_cli.app import OK, USAGE
from pegboard_cli.arguments import read_stdin
from pegboard_cli.call import of_words
from pegboard_cli.front import Wishes, built
from pegboard_cli.places import place_of
from pegboard_cli.styles import Styles, takes_colour

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.explaining import CommandLine, Explained

_WIDE = 48


async def explain_call(
    name: str, arguments: Mapping[str, Any], wishes: Wishes, *, file: str | None, words: bool = False
) -> int:
    """Explain one call, or one for each line of a file; returns the exit code. `words`: the arguments were written as
    `k=v`."""
    lines = _lines_of(file) if file is not None else None
    async with built(wishes) as board:
        for note in board.notes:
            sys.stderr.write(f"pegboard: {visible(note)}\n")
        tool = board.registry.get(name)
        given = of_words(arguments, tool) if words else arguments
        if lines is None:
            return await _one(board, name, given, wishes)
        if tool is None or tool.key is None:
            what = (
                f"there is no tool {name!r}" if tool is None else f"{tool.name} takes no argument that a line could be"
            )
            raise ConfigError(f"{what}; nothing was explained")
        failed = False
        for number, line in lines:
            failed |= await _line(board, name, {**given, tool.key: line}, number, wishes)
    return USAGE if failed else OK


async def _one(board: Board, name: str, arguments: Mapping[str, Any], wishes: Wishes) -> int:
    from pegboard.explaining import Unexplained, explain

    try:
        found = await explain(board, name, arguments)
    except Unexplained as error:
        sys.stderr.write("pegboard: " + "\n".join(visible(line) for line in str(error).split("\n")) + "\n")
        return USAGE
    if wishes.json:
        sys.stdout.buffer.write(encode(found) + b"\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in told(found, Styles(takes_colour(sys.stdout)))))
    return OK


async def _line(board: Board, name: str, arguments: Mapping[str, Any], number: int, wishes: Wishes) -> bool:
    """Print what one line of the file gets; whether that could not be said."""
    from pegboard.explaining import Unexplained, explain

    problem: str | None = None
    said: dict[str, Any] = {"line": number}
    try:
        found = await explain(board, name, arguments)
        said |= msgspec.to_builtins(found)
        text = f"{found.action}  {found.rule}{_from(found.layer, found.source)}"
    except Unexplained as error:
        problem = said["error"] = str(error)
        text = " ".join(problem.split("\n"))
    if wishes.json:
        sys.stdout.buffer.write(encode(said) + b"\n")
    else:
        sys.stdout.write(visible(f"{number}: {text}") + "\n")
    return problem is not None


def told(found: Explained, styles: Styles) -> Iterator[str]:
    """The lines for a person. Whatever comes from outside is spelled out."""
    colour = {"allow": styles.good, "ask": styles.warn, "deny": styles.bad}[found.action]
    inside = " in the sandbox" if found.sandbox else ""
    yield colour(f"{found.action}{inside}") + visible(f"  {found.tool}: {found.rule}{_from(found.layer, found.source)}")
    if found.guard is not None:
        guard = found.guard
        yield visible(f"  the plugin {guard.plugin!r} says {guard.action} ({guard.rule}): {guard.text}")
    if found.command is not None:
        yield from _parts(found.command)
    if found.action == "ask":
        yield "  where nobody can be asked, it is blocked"
    if found.remember:
        yield visible(f'  "always" would remember: {"; ".join(found.remember)}')
    others = [one for one in found.considered if not one.decided]
    if others:
        yield "  other rules that speak of it:"
        for one in others:
            yield visible(f"    {one.action:5}  {one.rule}{_from(one.layer, one.source)}")


def _parts(command: CommandLine) -> Iterator[str]:
    if command.error is not None:
        yield visible(f"  not understood: {command.error}")
    wide = min(max((len(part.text) for part in command.parts), default=0), _WIDE)
    for part in command.parts:
        text = part.text if len(part.text) <= _WIDE else part.text[: _WIDE - 1] + "…"
        mark = {"allow": "✓", "ask": "?", "deny": "✗"}[part.verdict]
        yield visible(f"  {mark} {text.ljust(wide)}  {_because(part.rule, part.why)}")


def _because(rule: str, why: str | None) -> str:
    """A rule and its reason. The number of a rule of the parser (`R5`) is for programs: a person gets the reason."""
    if why and re.fullmatch(r"R\d+", rule):
        return why
    return f"{rule}: {why}" if why and not why.startswith(rule) else rule


def _from(layer: Layer, source: Source | None) -> str:
    return f" ({layer}{place_of(source, ', ')})"


def _lines_of(file: str) -> list[tuple[int, str]]:
    """The lines of a file that hold anything, with their numbers.

    Raises:
        ConfigError: it cannot be read; as for all usage errors, exit 2.
    """
    try:
        text = read_stdin() if file == "-" else Path(file).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError, BadWord) as error:
        raise ConfigError(f"--file {file}: {error}; nothing was explained") from None
    return [(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
