"""What a reading command may read, for rules on paths: the places that its words may name, and what lies below them.

A word may be a path, or hold one (`--file=x`, `HEAD:x`); whether it is, only the program knows. So a place that is there and
that a rule names is taken for it, and where a place cannot be told apart from what a rule names the command is in doubt.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pegboard.policy.conditions import path_fits
from pegboard.policy.shell.cd import READS
from pegboard.policy.shell.line import Command, Line
from pegboard.policy.shell.table_data import Reads, reads
from pegboard.policy.shell.table_places import HARMLESS, Place

_MOST = 2000
"""Entries below a folder that are looked at; of more nobody knows."""
_LONGEST = 64
_FROM = re.compile(r"(?<!<)<(?![<&(])\s*([^\s;|&<>]*)")


class Named(msgspec.Struct, frozen=True, gc=False):
    """A place that a command may read: relative to the root, or absolute where it lies outside. there: it exists."""

    at: str
    full: str
    there: bool
    folder: bool


class Operands(msgspec.Struct, frozen=True, gc=False):
    """The places that a command may read. sure: nothing else is read, as far as the table of commands knows."""

    root: str
    places: tuple[Named, ...]
    sure: bool

    def are(self, patterns: tuple[str, ...]) -> bool:
        """Whether one that is there is plainly what these patterns name."""
        return any(one.there and _fits(patterns, one) for one in self.places)

    def may_be(self, patterns: tuple[str, ...]) -> bool:
        """Whether one is, or leads to, what they name; or nobody can tell."""
        if not self.sure:
            return True
        return any(_fits(patterns, one) or (one.folder and self._below(patterns, one)) for one in self.places)

    def _below(self, patterns: tuple[str, ...], one: Named) -> bool:
        if all(_leads_apart(pattern, one.at) for pattern in patterns):
            return False
        for seen, entry in enumerate(_entries(one.full)):
            if seen >= _MOST:
                return True
            links = (entry.path, os.path.realpath(entry.path)) if entry.is_symlink() else (entry.path,)
            if any(_fits(patterns, _named(self.root, path)) for path in links):
                return True
        return False


def operands_of(line: Line, command: Command, root: str, cwd: str) -> Operands:
    """What a command of a line may read that `reads` (see `line.Command`); from the folder that the line runs in."""
    root = os.path.realpath(root)
    here = os.path.realpath(os.path.join(root, cwd))
    if command.reads == READS:
        texts, sure = [word.text for word in command.judged[1:]], True
        return Operands(root, tuple(_places(root, [here], texts)), sure)
    texts, sure = _texts(command, Place(root, here))
    sure = sure and not any(other.reads == READS for other in line.commands)
    first = list(_places(root, [here], texts))
    bases = [here]
    if any(word.text.startswith("-C") for word in command.judged):
        bases += [one.full for one in first if one.folder]
    places = [*first, *_places(root, bases[1:], texts)]
    if not any(one.there for one in places):
        row = reads().get(command.reads or "")
        if row is not None and row.operands == "ref" and not row.names:
            sure = False  # whatever the repository has, and had
        elif not _reads_no_folder(row, command):
            places.append(_named(root, here))
    return Operands(root, tuple(places), sure)


def _texts(command: Command, place: Place) -> tuple[list[str], bool]:
    """The texts in a command's words that may be paths, and whether those are all."""
    found, sure = list[str](), True
    for word in command.judged[1:]:
        if not word.inert and not word.glob:
            sure = False
        elif word.glob:
            expanded = place.expanded(word.text)
            sure = sure and expanded is not None
            found += expanded or ()
        else:
            found += _parts(word.text)
            sure = sure and not (word.text.startswith("-") and len(word.text) > _LONGEST and "=" not in word.text)
    for text in _between(command):
        for target in _FROM.findall(text):
            sure = sure and re.fullmatch(r"[\w./+@%,:-]+", target) is not None
            found.append(target)
    return found, sure


def _parts(text: str) -> Iterator[str]:
    """A word, and what in it may be a path."""
    yield text
    if text.startswith("--") or "=" in text:
        yield text.partition("=")[2]
    if text.startswith("-") and not text.startswith("--") and len(text) <= _LONGEST:
        yield from (text[at:] for at in range(2, len(text)))
    for part in text.split(":")[1:]:
        part = re.sub(r"^\([^)]*\)", "", part).lstrip("/!^")
        yield part


def _between(command: Command) -> Iterator[str]:
    """What stands between and behind the words of a command: its redirections."""
    at = 0
    for word in command.words:
        yield command.text[at : word.start - command.start]
        at = word.end - command.start
    yield command.text[at:]


def _places(root: str, bases: Iterable[str], texts: Sequence[str]) -> Iterator[Named]:
    for base in bases:
        for text in texts:
            if text in HARMLESS or "\0" in text:
                continue
            lexical = posixpath.normpath(posixpath.join(base, text))
            try:
                real = os.path.realpath(os.path.join(base, text))
            except (OSError, ValueError):
                continue
            for path in dict.fromkeys((lexical, real)):
                yield _named(root, path)


def _named(root: str, path: str) -> Named:
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    at = (os.path.relpath(path, root) if path != root else ".") if inside else path
    return Named(at=at, full=path, there=os.path.lexists(path), folder=os.path.isdir(path))


def _fits(patterns: tuple[str, ...], one: Named) -> bool:
    return path_fits(patterns, one.at, outside=one.at.startswith("/"), folder=one.folder, exactly=False)


def _leads_apart(pattern: str, at: str) -> bool:
    """Whether what a pattern names lies for sure elsewhere than below this folder."""
    plain = pattern.removeprefix("./").rstrip("/")
    if pattern.startswith("!"):
        return True
    if "/" not in plain or at.startswith("/"):
        return False
    wanted = [part.casefold() for part in re.split(r"[*?\[\\]", plain)[0].split("/") if part]
    if re.search(r"[*?\[\\]", plain) and wanted:
        wanted.pop()  # it may be the beginning of a longer name
    here = [part.casefold() for part in at.split("/") if part not in ("", ".")]
    both = min(len(wanted), len(here))
    return wanted[:both] != here[:both]


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    yield entry
                    if entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue


def _reads_no_folder(row: Reads | None, command: Command) -> bool:
    """Whether a program to which nothing is named reads what is put into it, or nothing."""
    if row is None:
        return command.reads is not None and command.reads.endswith(" --version")
    if row.operands in ("text", "none", "version"):
        return True
    if row.operands != "path" or row.names or row.style == "expression" or row.recursive == "always":
        return False
    options = [word.text for word in command.judged[1:] if word.text.startswith("-")]
    letters = {name[1] for name in row.recursive if not name.startswith("--")}
    longs = tuple(name for name in row.recursive if name.startswith("--"))
    return not any((set(one) & letters if not one.startswith("--") else one.startswith(longs)) for one in options)
