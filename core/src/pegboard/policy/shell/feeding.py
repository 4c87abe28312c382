"""What a command gets on its input, where that stands in the line, and which commands run what they get there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from pegboard.policy.shell.line import Word
from pegboard.policy.shell.runners import SHELL_VALUED, SHELLS, after_options, base, takes_line
from pegboard.policy.shell.simple import Scan, Simple, scan
from pegboard.policy.shell.words import word_of

UNKNOWN = "$…"
"""The text of a word that only comes about when the line runs."""

_INPUT = frozenset(["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"])
_SOURCES = frozenset(["source", "."])
_LATER = frozenset(["at", "batch"])
_LOGINS = frozenset(["ssh", "su", "sudo", "doas", "chroot", "nsenter", "unshare", "script"])
_PIPE = re.compile(r"(?:\s|\\\n)*\|&?(?:\s|\\\n)*")
_FAR = 12


class Fed(msgspec.Struct, frozen=True):
    """Texts that come in; `sure`: there is no other."""

    texts: list[str]
    sure: bool


def runs_input(words: Sequence[Word], simple: Simple) -> bool:
    """Whether a command runs as command lines what comes in."""
    name, operands = base(words[0]), [word.text for word in words[1:]]
    if name in _SOURCES:
        return bool(operands) and operands[0] in _INPUT
    if name in _LATER:
        return True
    if name in _LOGINS:
        fed = simple.before in ("|", "|&") or bool(simple.redirections)
        return fed and (name != "ssh" or sum(not text.startswith("-") for text in operands) < 2)
    return name in SHELLS and _reads(operands)


def _reads(texts: Sequence[str]) -> bool:
    """Whether a shell reads its input: it has neither a line nor a script of its own."""
    at = 0
    while at < len(texts):
        text = texts[at]
        if text in ("--version", "--help"):
            return False
        if text in _INPUT:
            at += 1
            if text != "-":
                return True
        elif text[:1] not in ("-", "+"):
            return False
        elif not text.startswith("--") and "s" in text[1:] and not SHELL_VALUED.fullmatch(text):
            return True
        elif takes_line(text):
            return False
        else:
            at += 2 if SHELL_VALUED.fullmatch(text) else 1
    return True


def fed(simple: Simple, scanned: Scan) -> Fed:
    """What comes in to a command."""
    texts: list[str] = []
    own, sure = False, True
    for token in simple.redirections:
        if token.descriptor not in ("", "0") or token.text[0] != "<":
            continue
        own = True
        if token.text in ("<<", "<<-"):
            texts += [scanned.text[slice(*token.body)]] if token.body is not None else []
            sure = sure and token.body is not None
        elif token.text == "<<<" and token.word is not None:
            texts.append(token.word.value)
        elif token.word is not None and token.word.value.startswith("<("):
            inner = printed(token.word.value)
            texts += inner.texts
            sure = sure and inner.sure
        else:
            sure = sure and token.word is not None and token.word.inert and token.word.value == "/dev/null"
    if simple.before in ("|", "|&"):
        piped = _output(simple.feeder, scanned, _FAR)
        joined = simple.feeder is not None and _PIPE.fullmatch(scanned.text[simple.feeder.end : simple.start])
        return Fed(texts + piped.texts, sure and (own or (piped.sure and bool(joined))))
    return Fed(texts, sure and own)


def printed(substitution: str) -> Fed:
    """What the commands of a `<(…)` print."""
    inner = scan(substitution[2:-1])
    if inner.error is not None or inner.troubles or len(inner.commands) != 1:
        texts = [text for one in inner.commands for text in _output(one, inner, _FAR).texts]
        return Fed(texts, False)
    return _output(inner.commands[0], inner, _FAR)


def _output(simple: Simple | None, scanned: Scan, far: int) -> Fed:
    """What a command prints, where it only prints what stands in the line."""
    if simple is None or not simple.words or far < 0:
        return Fed([], False)
    words = [word_of(word) for word in simple.words]
    texts, inert = [word.text for word in words[1:]], all(word.inert for word in words)
    sure = inert and words[0].inert and not scanned.defines
    match words[0].text:
        case "echo":
            while texts and re.fullmatch("-[neE]+", texts[0]):
                texts = texts[1:]
            return Fed([" ".join(texts)], sure and not any("\\" in text for text in texts))
        case "printf":
            formed = _formed(texts[1:] if texts[:1] == ["--"] else texts)
            return Fed([*formed.texts, " ".join(texts[1:])], sure and formed.sure)
        case "cat" if not [text for text in texts if text != "-"]:
            own = any(token.text.startswith("<") for token in simple.redirections)
            if own:
                into = fed(simple, scanned)
            else:
                into = _output(simple.feeder, scanned, far - 1) if simple.before in ("|", "|&") else Fed([], False)
            return Fed(into.texts, into.sure and sure)
    return Fed([], False)


def _formed(texts: Sequence[str]) -> Fed:
    """What printf prints of a plain format."""
    if not texts:
        return Fed([], True)
    form, values = texts[0].replace("\\n", "\n").replace("\\t", "\t"), list(texts[1:])
    parts = form.split("%s")
    sure = not any("%" in part or "\\" in part for part in parts)
    if len(parts) == 1:
        return Fed([form], sure)
    made = ""
    while True:
        for part in parts[:-1]:
            made += part + (values.pop(0) if values else "")
        made += parts[-1]
        if not values:
            return Fed([made], sure)


def completed(words: Sequence[Word], rest: Sequence[Word], into: Fed) -> Iterator[Sequence[Word]]:
    """The commands that `xargs` makes of `rest`: with all that comes in behind it, or one of it at a time, or in the
    place of what `-I` names. What is not known is one word."""
    replaced = _replaced(words)
    for parts in _arguments(words, into):
        known = parts != [UNKNOWN]
        if replaced and any(replaced in word.text for word in rest):
            value = " ".join(parts)
            yield [_put(word, replaced, value, known) if replaced in word.text else word for word in rest]
        else:
            yield [*rest, *(Word(part, rest[0].start, rest[0].end, plain=False, inert=known) for part in parts)]


def _put(word: Word, replaced: str, value: str, known: bool) -> Word:
    return Word(word.text.replace(replaced, value), word.start, word.end, plain=False, inert=known and word.inert)


def _arguments(words: Sequence[Word], into: Fed) -> Iterator[list[str]]:
    for text in into.texts:
        try:
            parts = shlex.split(text)
        except ValueError:
            parts = text.split()
        yield parts
        if len(parts) > 1:
            yield from ([part] for part in (*parts, *text.strip("\n").split("\n")))
    apart = any(re.match(r"-[a0dE]|--(?:arg|null|delim|eof)", word.text) for word in words[1:])
    if apart or not into.sure:
        yield [UNKNOWN]


def _replaced(words: Sequence[Word]) -> str:
    """What `xargs -I` puts its input in the place of."""
    for index, word in enumerate(words[1:-1], 1):
        if word.text == "-I":
            return words[index + 1].text
        if word.text.startswith(("-I", "--replace=")):
            return word.text.removeprefix("--replace=").removeprefix("-I")
    return "{}"


def parallel(words: Sequence[Word], into: Fed) -> Iterator[str]:
    """The lines that parallel makes of its words and of those behind `:::`, or of what comes in."""
    mark = next((at for at, word in enumerate(words) if word.text.startswith(":::")), None)
    if mark is None:
        values = [line for text in into.texts for line in text.split("\n")]
        sure = into.sure
    else:
        values = [word.text for word in words[mark:] if not word.text.startswith(":::")]
        sure = not any(word.text.startswith("::::") for word in words[mark:])
    if not sure:
        values.append(UNKNOWN)
    heads = [" ".join(word.text for word in rest) for rest in after_options(words[:mark], 0)]
    for head in heads or [""]:
        for value in values:
            yield head.replace("{}", value) if "{}" in head else f"{head} {value}"
