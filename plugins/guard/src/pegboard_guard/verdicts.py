"""What one command would destroy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

import msgspec

from pegboard_guard.doomed import Doomed
from pegboard_guard.finds import REMOVERS, Find
from pegboard_guard.formats import formats
from pegboard_guard.values import MAYBE, known, plain
from pegboard_guard.walk import Step

_UNKNOWN = re.compile(r"[\ue101\ue102*?/]*[\ue101\ue102][\ue101\ue102*?/]*")
"""A word of which nothing is known but slashes and globs."""
_WRITES = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
    "pv": ("-o", "--output"),
    "sort": ("-o", "--output"),
    "gcc": ("-o",),
    "openssl": ("-out",),
}
"""Options that name a file to be written."""
_OVERWRITES = frozenset([">", ">|", "&>", ">&"])


class Finding(msgspec.Struct, frozen=True):
    """What is destructive, as a rule names it: `rm of the workspace root`. sure: plainly so; if not, a person is asked."""

    what: str
    sure: bool = True


def verdicts(step: Step, doomed: Doomed) -> Iterator[Finding]:
    """Everything that a command would destroy."""
    yield from _redirected(step, doomed)
    if len(step.words) < 2:
        return
    name = _name(step)
    options = [plain(word) for word in step.words[1:] if word.startswith("-") and word != "-"]
    operands = _operands(step.words)
    if name in REMOVERS:
        yield from _remover(name, options, operands, step, doomed)
    elif name == "find":
        yield from _found(step, doomed)
    elif name == "mv":
        aside = any(re.match(r"-[a-zA-Z]*t|--t", option) for option in options)
        yield from _removed(name, operands if aside else operands[:-1], step.folder, doomed, outside=True)
    elif name in ("chmod", "chown", "chgrp") and any(re.match(r"-[a-zA-Z]*R|--rec", option) for option in options):
        yield from _removed(f"{name} -R", operands, step.folder, doomed, elsewhere=True)
    elif name == "rsync" and any(option.startswith("--del") for option in options):
        yield from _removed("rsync --delete", operands[-1:], step.folder, doomed, elsewhere=True)
    elif not known(step.words[0]) and _forced(options):
        for finding in _removed("a command that is not known, run on", operands, step.folder, doomed):
            yield Finding(finding.what.replace(" on of", " on"), sure=False)
    found = formats(name, [plain(word) for word in step.words[1:]], [plain(word) for word in operands], doomed)
    if found is not None:
        yield Finding(f"{name}, which formats {'a disk' if found else 'what may be a disk'}", sure=found)
    yield from _written(name, step, operands, doomed)


def _name(step: Step) -> str:
    """The program; of a glob that may stand for one that removes, that one."""
    if any(char in step.words[0] for char in "*?["):
        pattern = step.words[0].rpartition("/")[2]
        return next((name for name in sorted(REMOVERS) if fnmatchcase(name, pattern)), step.name)
    return step.name


def _forced(options: Sequence[str]) -> bool:
    """Whether a removal is recursive and asks nothing."""
    letters = "".join(option[1:] for option in options if re.fullmatch("-[a-zA-Z]+", option))
    recursive = "r" in letters.lower() or any(option.startswith("--r") for option in options)
    return recursive and ("f" in letters or any(option.startswith("--f") for option in options))


def _remover(
    name: str, options: Sequence[str], operands: Sequence[str], step: Step, doomed: Doomed
) -> Iterator[Finding]:
    forced = name == "rimraf" or _forced(options)
    deep = name != "rm" or step.all_below or any(re.match(r"-[a-zA-Z]*[rRf]|--r|--f|--no-p", one) for one in options)
    for word in operands:
        place = doomed.place(word, step.folder)
        if place is not None and (deep or _files(place)):
            yield Finding(f"{name} of {place}")
        if deep and (emptied := doomed.emptied(word, step.folder)) is not None:
            root = emptied.endswith("the root of the file system")
            if root or forced:
                yield Finding(f"{name} of {emptied}, where a variable is not set", sure=root)
        lost = step.folder == MAYBE and doomed.place(word, ".") is not None
        if forced and (lost or _UNKNOWN.fullmatch(word)):
            yield Finding(f"{name} of what is not known: recursive, and forced", sure=False)


def _files(place: str) -> bool:
    """Whether even an rm that is not recursive loses something that nobody gets back."""
    return ".git" in place or (place.startswith("all of") and "workspace" not in place)


def _removed(
    name: str, operands: Sequence[str], folder: str, doomed: Doomed, *, outside: bool = False, elsewhere: bool = False
) -> Iterator[Finding]:
    """`outside`: all in a folder of the workspace may be taken. `elsewhere`: the workspace itself too."""
    for word in operands:
        place = doomed.place(word, folder)
        if place is None:
            continue
        within = "workspace root" in place or ".git" in place
        if not (within and (elsewhere or (outside and place.startswith("all of")))):
            yield Finding(f"{name} of {place}")


def _found(step: Step, doomed: Doomed) -> Iterator[Finding]:
    """find that removes all below where it starts: with `-delete` or `-exec rm`, and no test that narrows it."""
    find = Find(step.words)
    if (find.deletes or REMOVERS.intersection(find.runs)) and not find.narrowed:
        yield from _removed("find", find.starts, step.folder, doomed)
        for word in find.starts:
            emptied = doomed.emptied(word, step.folder)
            if emptied is not None and emptied.endswith("the root of the file system"):
                yield Finding(f"find of {emptied}, where a variable is not set")
            elif _UNKNOWN.fullmatch(word):
                yield Finding("find of what is not known, removing all", sure=False)


def _redirected(step: Step, doomed: Doomed) -> Iterator[Finding]:
    for operator, target in step.targets:
        if doomed.device(target):
            yield Finding("writing to a disk")
        elif operator in _OVERWRITES and doomed.history(target, step.folder):
            yield Finding("overwriting the repository's .git")


def _written(name: str, step: Step, operands: Sequence[str], doomed: Doomed) -> Iterator[Finding]:
    words = step.words
    match name:
        case "dd" | "gdd":
            written = [word[3:] for word in operands if word.startswith("of=")]
        case "cp" | "mv" | "install" | "rsync" | "ln":
            written = list(operands[-1:]) if len(operands) > 1 else []
            written += [
                f"{folder}/{word}" for folder in _valued(words, ("-t", "--target-directory")) for word in operands
            ]
        case "tee" | "shred" | "truncate" | "badblocks" | "sponge":
            written = list(operands)
        case _ if name in _WRITES:
            written = _valued(words, _WRITES[name])
        case _:
            return
    if any(map(doomed.device, written)):
        yield Finding(f"{name} to a disk")
    adds = name == "tee" and any(re.match("-[a-z]*a|--a", word) for word in words[1:])
    if not adds and any(doomed.history(word, step.folder) for word in written):
        yield Finding(f"{name} over the repository's .git")


def _valued(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """The values of options, in the next word, after `=`, or joined."""
    found = [following for word, following in pairwise(words) if word in options]
    for word in words[1:]:
        for option in options:
            if word.startswith(f"{option}=") or (len(option) == 2 and word.startswith(option) and word != option):
                found.append(word[len(option) :].removeprefix("="))
    return found


def _operands(words: Sequence[str]) -> list[str]:
    ended = next((at for at, word in enumerate(words) if word == "--"), len(words))
    before = [word for word in words[1:ended] if not word.startswith("-") or word == "-"]
    return [*before, *words[ended + 1 :]]
