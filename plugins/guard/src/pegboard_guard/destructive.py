"""The guard of plainly destructive commands (`guard.destructive`): what nobody wants, whoever allowed it.

It reads the line as the shell would, so text is not mistaken for a command: `echo "rm -rf /"` passes. It looks at every
command in it, also behind `sudo`, in loops and substitutions, and in the text given to another shell. It is no sandbox:
what a program does when it runs is not seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pegboard.calls import Call, Deny, Touch

from pegboard_guard.doomed import Doomed

if TYPE_CHECKING:
    from pegboard.policy.shell import Command, Line, Word

LONGEST = 20_000
"""Characters of a line that are read as the shell would; of what follows only what stands there plainly is looked at."""
_MOST_TEXTS = 8

_REMOVERS = frozenset(["rm", "grm", "srm", "rmdir", "unlink", "shred", "rimraf"])
_FORMATTERS = re.compile(
    r"mkfs(?:\..*)?|mke2fs|mkswap|mkdosfs|wipefs|[sc]?fdisk|s?gdisk|parted|blkdiscard|newfs(?:_.*)?"
)
_LOOKING = frozenset(
    ["-l", "--list", "-h", "--help", "-V", "--version", "-v", "-d", "--dump", "-J", "--json", "-n", "--no-act", "print"]
)
_NARROWING = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|i?lname|size|[acm]time|[acm]min|newer\w*|[ac]newer|empty|user|group|uid|gid|perm|"
    r"links|inum|samefile|used|nouser|nogroup|fstype|false)"
)
_BOMB = re.compile(
    r"(?:^|[\s;&|({])(?:function\s+)?([^\s(){};|&]+)\s*(?:\(\s*\))?\s*"
    r"\{[^}]*?(?<![^\s;&|({])\1\s*\|&?\s*\1\s*&"
)
_BOMBS_WITHIN = 4000
"""Characters of a function that are looked at for one that starts itself twice."""
_REDIRECTED = re.compile(r"(?:\d*|&)>{1,2}[|&]?\s*([\"']?)(/dev/[^\s\"';&|<>]+)\1")


class DestructiveCommands:
    """Refuses commands that remove the system, a home, the workspace or its history, overwrite disks, or are fork bombs."""

    def __init__(self, home: str | None = None, here: str | None = None) -> None:
        self._doomed = Doomed(home, here)

    def __call__(self, call: Call, touches: list[Touch], /) -> Deny | None:
        """Before the call. Nothing has run yet, so nothing was changed."""
        for touch in touches:
            if touch.kind == "run":
                found = self.found(touch.what)
                if found is not None:
                    return _deny(found)
        return None

    def found(self, line: str) -> str | None:
        """What is destructive in a command line, as the rule names it: `rm of the workspace root`."""
        from pegboard.config.schema import PermissionSettings

        settings = PermissionSettings(bash_max_chars=LONGEST, bash_max_commands=LONGEST)
        found = next(self._in_text(line[:LONGEST], settings, set()), None)
        return found or next(self._in_pieces(line[LONGEST:]), None)

    def _in_text(self, text: str, settings: object, seen: set[str]) -> Iterator[str]:
        """`seen`: the texts that were read already, for one may hold others, and those the same again."""
        from pegboard.policy.shell import read_line
        from pegboard.policy.shell.runners import lines

        line = read_line(text, settings=settings)  # type: ignore[arg-type]
        if any(_BOMB.search(trouble.text[:_BOMBS_WITHIN]) for trouble in line.troubles):
            yield "a fork bomb"
        folder = "."
        for command in line.commands:
            yield from self._in_command(command.words, folder)
            yield from self._written(line, command)
            for inner, _ in lines(command.words):
                if inner not in seen and len(seen) < _MOST_TEXTS:
                    seen.add(inner)
                    yield from self._in_text(inner, settings, seen)
            if not command.nested and [word.text for word in command.words[:1]] == ["cd"]:
                folder = self._moved(command.words, folder)
        if line.error is not None:
            yield from self._in_pieces(text)

    def _moved(self, words: Sequence[Word], folder: str) -> str:
        given = [word for word in words[1:] if not word.text.startswith("-")]
        return self._doomed.folder(given[0].text, folder, inert=given[0].inert) if given else self._doomed.home

    def _in_pieces(self, text: str) -> Iterator[str]:
        """A line that could not be read: what stands in it plainly, so that a slip at its end hides nothing."""
        from pegboard.policy.shell import Word
        from pegboard.policy.shell.runners import started

        for piece in re.split(r"[;&|\n(){}`]+", text):
            words = [Word(word.strip("\"'"), 0, 0, inert="$" not in word) for word in piece.split()]
            for one in (words, *started(words)):
                yield from self._in_command(one, ".")

    def _written(self, line: Line, command: Command) -> Iterator[str]:
        """Redirections to disks: what stands in the command outside of its words."""
        if line.text[command.start : command.end] != command.text:
            return  # it is not a part of the line, but made from one; the part is looked at by itself
        rest = list(command.text)
        for word in command.words:
            if command.start <= word.start and word.end <= command.end:
                for at in range(word.start - command.start, word.end - command.start):
                    rest[at] = " " if command.text[at] != ">" or "/dev/" not in word.text else "x"
        for match in _REDIRECTED.finditer("".join(rest)):
            if self._doomed.device(match[2]):
                yield "writing to a disk"

    def _in_command(self, words: Sequence[Word], folder: str) -> Iterator[str]:
        if not words:
            return
        name = words[0].text.rpartition("/")[2].casefold()
        options = [word.text for word in words[1:] if word.text.startswith("-") and word.text != "-"]
        operands = _operands(words)
        if name in _REMOVERS:
            if name != "rm" or any(re.match(r"-[a-zA-Z]*[rRf]|--r|--f|--no-p", option) for option in options):
                yield from self._removed(name, operands, folder)
        elif name == "find":
            yield from self._found(words, folder)
        elif name == "mv":
            aside = any(re.match(r"-[a-zA-Z]*t|--t", option) for option in options)
            yield from self._removed(name, operands if aside else operands[:-1], folder, outside=True)
        elif name in ("chmod", "chown", "chgrp") and any(re.match(r"-[a-zA-Z]*R|--rec", option) for option in options):
            yield from self._removed(f"{name} -R", operands, folder, elsewhere=True)
        elif name == "rsync" and any(option.startswith("--del") for option in options):
            yield from self._removed("rsync --delete", operands[-1:], folder, elsewhere=True)
        elif (
            _FORMATTERS.fullmatch(name)
            and operands
            and not _LOOKING.intersection([*options, *(w.text for w in operands)])
        ):
            yield f"{name}, which formats a disk"
        yield from self._to_device(name, operands)

    def _removed(
        self, name: str, operands: Sequence[Word], folder: str, *, outside: bool = False, elsewhere: bool = False
    ) -> Iterator[str]:
        """`outside`: all in a folder of the workspace may be taken. `elsewhere`: the workspace itself too."""
        for word in operands:
            place = self._doomed.place(word.text, folder, inert=word.inert and not word.text.startswith("~"))
            if place is None:
                continue
            within = "workspace root" in place or ".git" in place
            if not (within and (elsewhere or (outside and place.startswith("all of")))):
                yield f"{name} of {place}"

    def _to_device(self, name: str, operands: Sequence[Word]) -> Iterator[str]:
        texts = [word.text for word in operands]
        match name:
            case "dd" | "gdd":
                written = [text[3:] for text in texts if text.startswith("of=")]
            case "cp" | "mv" | "install" | "rsync":
                written = texts[-1:] if len(texts) > 1 else []
            case "tee" | "shred" | "truncate" | "badblocks" | "sponge":
                written = texts
            case _:
                return
        if any(map(self._doomed.device, written)):
            yield f"{name} to a disk"

    def _found(self, words: Sequence[Word], folder: str) -> Iterator[str]:
        """find that removes all below where it starts: with `-delete` or `-exec rm`, and no test that narrows it."""
        texts = [word.text for word in words]
        begins = 1
        while begins < len(texts) and (texts[begins][:1] not in ("-", "(", "!") or texts[begins] in ("-H", "-L", "-P")):
            begins += 1
        runs = {
            following.rpartition("/")[2]
            for text, following in pairwise(texts)
            if re.fullmatch("-(exec|ok)(dir)?", text)
        }
        if "-delete" not in texts and not _REMOVERS.intersection(runs):
            return
        narrowed = any(
            _NARROWING.fullmatch(text) and texts[at + 1 : at + 2] not in (["*"], ["**"], [".*"])
            for at, text in enumerate(texts)
            if at >= begins and texts[at - 1] not in ("!", "-not")
        )
        if not narrowed:
            from pegboard.policy.shell import Word

            starts = [word for word in words[1:begins] if not word.text.startswith("-")]
            yield from self._removed("find", starts or [Word(".", 0, 0)], folder)


def _operands(words: Sequence[Word]) -> list[Word]:
    ended = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    before = [word for word in words[1:ended] if not word.text.startswith("-") or word.text == "-"]
    return [*before, *words[ended + 1 :]]


def _deny(found: str) -> Deny:
    text = (
        f"This command was refused, because it holds {found}. Nothing was run and nothing was changed. "
        "Name exactly the files that are meant, or ask the person to do it; do not work around this with another command."
    )
    return Deny(f"guard.destructive: {found}", text)
