"""Command lines that a command is given in its words: `bash -c`, `eval`, `ssh`, `git rebase -x` and the like."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from pegboard.policy.shell.line import Word
from pegboard.policy.shell.runners import RUNNERS, SHELL_VALUED, SHELLS, after_options, base, takes_line

_AWKS = frozenset(["awk", "gawk", "mawk", "nawk"])
_JOINED = {"eval": 0, "watch": 0, "ssh": 1, "tmux": 1, "screen": 1}
"""Programs that make one line of their words, and how many words of their own stand before it."""

_EACH = frozenset(["mapfile", "readarray", "complete", "bind", "tmux", "screen"])
_C = frozenset(["script", "su", "runuser", "flock", "sg", "npx", "npm", "nix", "busybox", "toybox", "xterm"])
_LINE_OPTION = re.compile(
    r"--(?:[a-z-]*-)?(?:c|co|com|comm|comma|comman|command|run|exec|cmd|extcmd|[a-z]*filter|program|pager|rsh|pack|action)"
    r"(?:-[a-z-]*)?",
)
_SPLIT = re.compile(r"-[iv0]*S(.*)|--s[a-z-]*=(.*)", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_AWK_STARTS = re.compile(r"system|(?<!\|)\|(?!\|)")
_CONNECTS = re.compile(r"(?:-o)?\s*(?:proxy|local|remote)command\s*[= ](.*)", re.DOTALL | re.IGNORECASE)

Given = tuple[str, Word]


def lines(words: Sequence[Word]) -> Iterator[Given]:
    """The command lines that a command is given as a word, and the word."""
    if not words:
        return
    name = base(words[0])
    if name in SHELLS:
        yield from _of_shell(words)
    elif name == "env":
        yield from _split(words)
    elif name == "trap":
        for word in words[1:3]:
            if not word.text.startswith("-"):
                yield word.text, word
                break
    elif name == "alias":
        yield from ((word.text.partition("=")[2], word) for word in words[1:] if "=" in word.text)
    elif name == "git":
        yield from _of_git(words)
    elif name in _AWKS:
        for word in words[1:]:
            if _AWK_STARTS.search(word.text):
                yield from ((part.replace('\\"', '"'), word) for part in _STRING.findall(word.text))
    if name in _JOINED:
        for rest in after_options(words, _JOINED[name]):
            yield " ".join(word.text for word in rest), rest[0]
    if name in _EACH:
        yield from ((word.text, word) for word in words[1:] if not word.text.startswith("-"))
    yield from _of_options(name, words)


def _of_shell(words: Sequence[Word]) -> Iterator[Given]:
    for index, word in enumerate(words[1:-1], 1):
        if takes_line(word.text):
            for before, later in zip(words[index:], words[index + 1 :], strict=False):
                if later.text.startswith(("-", "+")):
                    continue
                yield later.text, later
                if not SHELL_VALUED.fullmatch(before.text):
                    break


def _split(words: Sequence[Word]) -> Iterator[Given]:
    """What env makes words of; the words after it are its last."""
    for index, word in enumerate(words[1:], 1):
        found = _SPLIT.fullmatch(word.text)
        if found is None and not (word.text.startswith("--s") and "--split-string".startswith(word.text)):
            continue
        joined = (found[1] or found[2]) if found is not None else ""
        at = index + 1 if joined else index + 2
        text = joined or "".join(later.text for later in words[index + 1 : index + 2])
        rest = (shlex.quote(later.text) if later.inert else later.text for later in words[at:])
        yield " ".join([text.replace("\\_", " "), *rest]), word


def _of_options(name: str, words: Sequence[Word]) -> Iterator[Given]:
    """The values of options that say by their name, or that of the program, that they hold a command."""
    for index, word in enumerate(words[1:], 1):
        text = word.text
        if not text.startswith("-"):
            if name in ("ssh", "scp", "sftp") and (found := _CONNECTS.fullmatch(text)):
                yield found[1], word
            continue
        option, joined, value = text.partition("=")
        following = words[index + 1] if index + 1 < len(words) else None
        if _LINE_OPTION.fullmatch(option):
            if joined:
                yield value.removeprefix("exec="), word
            elif following is not None:
                yield following.text.removeprefix("exec="), following
        elif (name in _C or name in RUNNERS) and (found := re.fullmatch(r"-[A-Za-z]*?c(.*)", text, re.DOTALL)):
            if found[1] and name in _C:
                yield found[1], word
            if following is not None and not found[1]:
                yield following.text, following
        elif name in ("ssh", "scp", "sftp") and (found := _CONNECTS.fullmatch(text)):
            yield found[1], word


def _of_git(words: Sequence[Word]) -> Iterator[Given]:
    texts = [word.text for word in words]
    for index, word in enumerate(words[1:], 1):
        text, following = word.text, words[index + 1] if index + 1 < len(words) else None
        if text == "-c" and following is not None:
            key, _, value = following.text.partition("=")
            if key.casefold().startswith("alias."):
                yield value[1:] if value.startswith("!") else f"git {value}", following
            elif value.startswith("!") or " " in value:
                yield value.lstrip("!"), following
        elif text.startswith("-x") and ("rebase" in texts or "difftool" in texts):
            if text[2:]:
                yield text[2:], word
            elif following is not None:
                yield following.text, following
        elif text.startswith("-O") and text[2:]:
            yield text[2:], word
        elif text == "foreach":
            for rest in after_options(words[index:], 0):
                yield " ".join(one.text for one in rest), rest[0]
