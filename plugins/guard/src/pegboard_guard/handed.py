"""Commands that others are given to run, beyond those that core knows; and what `echo` and the like print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pegboard_guard.values import literal

if TYPE_CHECKING:
    from pegboard.policy.shell.line import Word

_RUN = frozenset(["uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "bundle", "npm", "pnpm", "yarn", "bun", "mise", "direnv"])
_DIRECT = frozenset(["npx", "bunx", "pnpx", "dotenv", "strace", "doas", "retry"])
_SSH_VALUES = frozenset("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w".split())
_FORMAT = re.compile(r"%[-+ #0-9.]*[a-zA-Z]")


def handed(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The rest of the words that is a command itself: `uv run X`, `npx X`, `git submodule foreach X`."""
    name = words[0].text.rpartition("/")[2]
    if name in _RUN or name in _DIRECT:
        at = next((at for at, word in enumerate(words) if word.text in ("run", "exec", "x")), None)
        at = 0 if name in _DIRECT else at
        if at is not None:
            while at + 1 < len(words) and words[at + 1].text.startswith("-"):
                at += 1
            yield words[at + 1 :]
    elif name == "git":
        for at, pair in enumerate(zip(words, words[1:], strict=False)):
            if (pair[0].text, pair[1].text) in (("submodule", "foreach"), ("bisect", "run")):
                rest = words[at + 2 :]
                yield rest[1:] if rest and rest[0].text.startswith("-") else rest


class REPEATS:
    """Texts that are read as a command line again."""

    @staticmethod
    def texts(words: Sequence[Word]) -> Iterator[str]:
        """Of `trap`, `ssh`, `git submodule foreach`, `git rebase -x`, `alias`, `env -S`, `script -qc`."""
        name = words[0].text.rpartition("/")[2]
        texts = [word.text for word in words]
        if name == "trap":
            yield from [text for text in texts[1:] if not text.startswith("-")][:1]
        elif name == "eval":
            yield " ".join(text for text in texts[1:] if text != "--")
        elif name == "ssh":
            at = 1
            while at < len(texts) and texts[at].startswith("-"):
                at += 2 if texts[at] in _SSH_VALUES else 1
            yield " ".join(texts[at + 1 :])
        elif name == "alias":
            yield from (text.partition("=")[2] for text in texts[1:] if "=" in text)
        elif name == "env":
            for at, text in enumerate(texts):
                if found := re.match(r"-[iv0]*S(.*)|--split-string=(.*)", text, re.DOTALL):
                    yield " ".join([found[1] or found[2] or "", *texts[at + 1 :]])
        elif name in ("script", "su", "flock"):
            for text, following in zip(texts, texts[1:], strict=False):
                if re.fullmatch("-[a-z]*c", text):
                    yield following
        elif name == "git":
            yield from REPEATS._git(words, texts)

    @staticmethod
    def _git(words: Sequence[Word], texts: Sequence[str]) -> Iterator[str]:
        for rest in handed(words):
            if len(rest) == 1:
                yield rest[0].text
        if "rebase" in texts:
            for text, following in zip(texts, [*texts[1:], ""], strict=False):
                if text in ("-x", "--exec"):
                    yield following
                elif text.startswith("--exec="):
                    yield text.partition("=")[2]
        for text in texts:
            if found := re.fullmatch(r"alias\.[^=]*=!(.*)", text, re.DOTALL):
                yield found[1]


def printed(words: Sequence[str]) -> str | None:
    """What a command prints, as a word. None: nobody knows."""
    name = words[0].rpartition("/")[2] if words else ""
    rest = list(words[1:])
    match name:
        case "echo":
            while rest and re.fullmatch("-[neE]+", rest[0]):
                rest.pop(0)
            return " ".join(rest)
        case "printf" if rest:
            rest = rest[1:] if rest[0] == "--" else rest
            form = rest[0].replace("\\n", "\n").replace("\\0", "\n")
            return " ".join(rest[1:]) if _FORMAT.search(form) and len(rest) > 1 else form
        case "pwd":
            return "."
        case "mktemp":
            return "/tmp/made-by/mktemp"
        case "git" if rest[:1] == ["rev-parse"]:
            if "--show-toplevel" in rest:
                return "."
            if {"--git-dir", "--absolute-git-dir", "--git-common-dir"}.intersection(rest):
                return literal(".git")
    return None
