"""What could be written at the cursor: which word it is in, and what would stand in its place. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pegboard.port import Offered
from pegboard.terminal import visible

from pegboard_tui.composer.fuzzy import name_of, places, score

_T = TypeVar("_T")
_NAME = re.compile(r"/([\w.:-]*)")
_MENTION = re.compile(r"(?:^|(?<=[\s\"'`(\[{,;=]))@(?:\"([^\"]*)|([^\s\"]*))$")
_SHELL_WORD = re.compile(r"(?:[^\s\\'\"|&;<>()]|\\.|'[^']*'?|\"[^\"]*\"?)*$")
_MARK = re.compile("[\ufdd0-\ufdd3]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A word that is being written. `start`, `end`: its place in the line; what is chosen comes there. `query`: what of it
    counts. `command`, `rest`: of a slash command's word, what stands before."""

    kind: Literal["command", "word", "file", "path"]
    start: int
    end: int
    query: str
    command: str = ""
    rest: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What could stand there. `text`: what is put into the line. `label`, `help`: what is shown. `hits`: the letters of the
    label that were asked for."""

    text: str
    label: str
    help: str = ""
    hits: Sequence[int] = ()


def wanted(line: str, column: int, *, first: bool, command: bool) -> Wanted | None:
    """The word that a cursor is at the end of; None: nothing is offered there. first: it is the first line of the text.
    command: that is a command of the person's (`!`), in which paths are completed, and only when asked for."""
    before = line[:column]
    if command:
        start = _begin_of_word(before)
        return Wanted(kind="path", start=start, end=column, query=_unquoted(before[start:]))
    if first and before.startswith("/") and not before.startswith("//"):
        found = _NAME.match(before)
        assert found is not None
        if found.end() == column:
            return Wanted(kind="command", start=0, end=_name_end(line, column), query=found[1])
        rest = before[found.end() :]
        if not rest[0].isspace() or not found[1]:
            return None  # /usr/bin is a path
        query = rest.split(" ")[-1].split("\t")[-1]
        return Wanted(
            kind="word", start=column - len(query), end=column, query=query, command=found[1], rest=rest.lstrip()
        )
    if mention := _MENTION.search(before):
        query = mention[1] if mention[1] is not None else mention[2]
        if not _MARK.search(query):
            return Wanted(kind="file", start=mention.start(), end=column, query=query)
    return None


def _name_end(line: str, column: int) -> int:
    found = _NAME.match(line)
    return max(column, found.end()) if found else column


def _begin_of_word(before: str) -> int:
    found = _SHELL_WORD.search(before)
    start = found.start() if found else len(before)
    return max(start, 1)  # the sign of the command is no part of it


def _unquoted(word: str) -> str:
    for closing in ("", "'", '"'):
        try:
            return "".join(shlex.split(word + closing))
        except ValueError:
            continue
    return word


def of_commands(offered: Iterable[Offered], query: str) -> list[Choice]:
    """Slash commands whose name fits, the best first; for an empty query, all as they come."""
    return [
        Choice(text=f"/{one.name}", label=one.usage or f"/{one.name}", help=one.help, hits=[at + 1 for at in hits])
        for one, hits in _fitting(offered, query, lambda one: one.name)
    ]


def of_words(words: Iterable[str], query: str) -> list[Choice]:
    """Words that fit, the best first."""
    return [Choice(text=word, label=word, hits=hits) for word, hits in _fitting(words, query, str)]


def _fitting(things: Iterable[_T], query: str, name_of_it: Callable[[_T], str]) -> list[tuple[_T, list[int]]]:
    low = query.lower()
    rated = [(score(low, (name := name_of_it(one).lower()), 0), places(low, name, 0), one) for one in things]
    if low:
        rated.sort(key=lambda each: -each[0])
    return [(one, list(hits)) for points, hits, one in rated if points]


def of_files(paths: Iterable[str], query: str) -> list[Choice]:
    """Files for a mention. The sign goes when one is taken: what is seen is what is sent, and what is read is a path."""
    low = query.lower()
    return [Choice(text=quoted(path), label=path, hits=places(low, path.lower(), name_of(path))) for path in paths]


def of_paths(paths: Iterable[str], query: str) -> list[Choice]:
    """Files for a shell's line."""
    return [Choice(text=shlex.quote(path), label=path, hits=range(len(query))) for path in paths]


def quoted(path: str) -> str:
    """A path as a word of a prompt: in quotation marks where it would fall apart."""
    if not re.search(r"[\s\"'`]", path):
        return path
    sign = next((sign for sign in ('"', "'", "`") if sign not in path), "")
    return f"{sign}{path}{sign}" if sign else shlex.quote(path)


def of_prompts(entries: Iterable[str], query: str) -> list[Choice]:
    """Prompts of the past."""
    words = query.lower().split()
    found = []
    for entry in entries:
        line, _, more = entry.strip().partition("\n")
        low = line.lower()
        hits = [at for word in words if (begin := low.find(word)) >= 0 for at in range(begin, begin + len(word))]
        lines = f"{more.count(chr(10)) + 2} lines" if more else ""
        found.append(Choice(text=entry, label=line, help=lines, hits=hits))
    return found


def shown(choice: Choice) -> Choice:
    """As it may be drawn: where something had to be spelled out, without its marks."""
    label, help = visible(choice.label[:500]), visible(choice.help[:500])
    hits = choice.hits if label == choice.label[:500] else ()
    return Choice(text=choice.text, label=label, help=help, hits=hits)
