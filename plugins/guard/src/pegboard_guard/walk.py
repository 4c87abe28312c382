"""Follows a command line as a shell would: where each command runs, with which words, and what is put into it.

A line is read by core's own reader of words and commands. What other commands are given to run (`sudo`, `bash -c`, a
here-document, a pipe from `echo`) is followed too. The work is bounded: what would be more ends in `TooMuch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pegboard_guard.finds import Find
from pegboard_guard.printing import printed
from pegboard_guard.values import MAYBE, SOME, TooMuch, Values, literal, plain

if TYPE_CHECKING:
    from pegboard.policy.shell.simple import Scan, Simple

    from pegboard_guard.doomed import Doomed

LONGEST = 65_536
"""Characters of the longest line that is read."""
_AT_ONCE = 20_000
"""Characters of a line that is read without first counting its tokens: in a longer one most is a here-document."""
_TOKENS = 3000
_CHARACTERS = 30_000
"""Characters of texts within the line that are read, again where one holds another."""
_WORK = 8_000
_DEPTH = 12
_FOR = re.compile(r"(?:for|select)[ \t]+([A-Za-z_]\w*)(?:\s+in\b([^;\n]*))?")
_SETTING = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.DOTALL)
_SETS = frozenset(["export", "declare", "typeset", "local", "readonly", "env"])
_CONTAINERS = frozenset(["docker", "podman", "kubectl", "docker-compose", "nerdctl"])
"""What they run has a file system of its own."""
_READS = frozenset(["read", "mapfile", "readarray", "getopts"])


@dataclass
class Step:
    """A command: its words, where it runs, the targets of its redirections. all_below: its last words are given to it by a
    find, and stand for all that lies below them."""

    words: list[str]
    folder: str
    targets: list[tuple[str, str]] = field(default_factory=list)
    all_below: bool = False

    @property
    def name(self) -> str:
        """The program, without the folder it lies in."""
        return plain(self.words[0]).rpartition("/")[2].casefold() if self.words else ""


@dataclass
class _Fed:
    """What a command is given to read. found: it is what a find prints, and stands for all below."""

    text: str
    found: bool = False


class Walk:
    """The steps of one line."""

    def __init__(self, doomed: Doomed, environ: Mapping[str, str]) -> None:
        self.doomed = doomed
        self.folder = "."
        self.values = Values(doomed.home, environ, self._output)
        self.scans: list[Scan] = []
        self._characters, self._work, self._depth = _CHARACTERS, _WORK, 0
        self._seen: set[tuple[str, str]] = set()

    def charge(self, work: int = 1) -> None:
        """Count work, in words. Raises TooMuch."""
        self._work -= work
        if self._work < 0:
            raise TooMuch

    def line(self, text: str) -> Iterator[Step]:
        """Every command of a line. Raises TooMuch."""
        if len(text) > LONGEST or (len(text) > _AT_ONCE and _many(text)):
            raise TooMuch
        return self._text(text)

    def _scan(self, text: str) -> Scan:
        from pegboard.policy.shell.simple import scan

        self._characters -= len(text) if self._depth > 1 else 0
        if self._characters < 0 or self._depth > _DEPTH:
            raise TooMuch
        return scan(text)

    def _text(self, text: str, given: Sequence[str] = ()) -> Iterator[Step]:
        """given: what `$0`, `$1` ... stand for in it."""
        if (text, self.folder) in self._seen:
            return
        self._seen.add((text, self.folder))
        self._depth += 1
        folder, variables = self.folder, dict(self.values.variables)
        self._positional(given)
        scanned = self._scan(text)
        self.scans.append(scanned)
        yield from self._scanned(scanned)
        if scanned.error is not None and scanned.error.rule == "R13":
            raise TooMuch
        for inner in scanned.inners:
            yield from self._text(inner.text if inner.text is not None else text[inner.start : inner.end])
        if scanned.error is not None:
            yield from self._pieces(text)
        self.folder, self.values.variables = folder, variables
        self._depth -= 1

    def _positional(self, given: Sequence[str]) -> None:
        if given:
            self.values.variables |= {str(at): word for at, word in enumerate(given)}
            listed = "{" + ",".join(given[1:]) + "}" if len(given) > 2 else "".join(given[1:])
            self.values.variables |= {"@": listed, "*": listed}

    def _scanned(self, scanned: Scan) -> Iterator[Step]:
        """The commands in the order of the text. What a subshell does to its folder ends with it."""
        marks = {one.start: one.text for one in scanned.troubles if one.text in ("(", ")", "for", "select")}
        events: list[tuple[int, Simple | str]] = [*marks.items(), *((one.start, one) for one in scanned.commands)]
        outer: list[tuple[str, dict[str, str]]] = []
        fed: _Fed | None = None
        for at, one in sorted(events, key=lambda event: event[0]):
            if one == "(":
                outer.append((self.folder, dict(self.values.variables)))
            elif one == ")":
                self.folder, self.values.variables = outer.pop() if outer else (self.folder, self.values.variables)
            elif isinstance(one, str):
                self._loop(scanned.text, at)
            else:
                fed = fed if one.before in ("|", "|&") else None
                words = self._words(one, scanned)
                self._set(one, words, scanned)
                step = Step(words, self.folder, self._targets(one, scanned))
                given = self._given(one, scanned)
                yield from self._step(step, fed or given)
                fed = self._prints(words, given, fed)
                if not one.piped:
                    self._move(words)

    def _words(self, one: Simple, scanned: Scan) -> list[str]:
        found: list[str] = []
        for word in one.words:
            self.charge()
            found += self.values.words(scanned.text[word.start : word.end])
        return found

    def _targets(self, one: Simple, scanned: Scan) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for token in one.redirections:
            if token.word is not None and token.text not in ("<", "<<", "<<-", "<<<", "<&"):
                raw = scanned.text[token.word.start : token.word.end]
                found += [(token.text, word) for word in self.values.words(raw)]
        return found

    def _given(self, one: Simple, scanned: Scan) -> _Fed | None:
        """What redirections and `<( )` put into a command."""
        for token in one.redirections:
            if token.body is not None:
                return _Fed(scanned.text[slice(*token.body)])
            if token.text == "<<<" and token.word is not None:
                return _Fed(_back(self.values.value(scanned.text[token.word.start : token.word.end])))
        words = [*one.words, *(token.word for token in one.redirections if token.word is not None)]
        for word in words:
            raw = scanned.text[word.start : word.end]
            if raw.startswith("<(") and (text := self._output(raw[2:-1])) is not None:
                return _Fed(_back(text))
        return None

    def _set(self, one: Simple, words: Sequence[str], scanned: Scan) -> None:
        """What an assignment, `export x=` and the like leave in variables."""
        variables = self.values.variables
        settings = [scanned.text[word.start : word.end] for _, word in one.assigned]
        name = words[0] if words else ""
        for raw, value in [(raw, self.values.value) for raw in settings] + [
            (word, str) for word in words[1:] if name in _SETS
        ]:
            found = _SETTING.match(raw)
            if found:
                rest = SOME if raw[found.end() :].startswith("(") else value(raw[found.end() :])
                variables[found[1]] = (variables.get(found[1], "") if found[2] else "") + rest
        if name in _READS:
            variables |= dict.fromkeys((word for word in words[1:] if word.isidentifier()), SOME)
        elif name == "unset":
            variables |= dict.fromkeys(words[1:], MAYBE)
        elif name == "set" and "--" in words:
            self._positional(["", *words[words.index("--") + 1 :]])

    def _loop(self, text: str, at: int) -> None:
        found = _FOR.match(text, at)
        if found:
            words = [word for raw in (found[2] or "").split() for word in self.values.words(raw)]
            value = "{" + ",".join(words) + "}" if len(words) > 1 else words[0] if words else SOME
            self.values.variables[found[1]] = value

    def _move(self, words: Sequence[str]) -> None:
        if words and words[0] in ("cd", "pushd"):
            given = [word for word in words[1:] if not word.startswith("-")]
            target = given[0] if given else "~"
            named = target.replace(SOME, "x").replace(MAYBE, "")
            self.folder = self.doomed.joined(named, self.folder) if named else MAYBE

    def _step(self, step: Step, fed: _Fed | None, seen: set[int] | None = None) -> Iterator[Step]:
        """A command, and what it would start. seen: how many words those had that were looked at."""
        from pegboard.policy.shell.given import lines
        from pegboard.policy.shell.line import Word
        from pegboard.policy.shell.runners import SHELLS, started

        self.charge(1 + len(step.words) // 4)
        yield step
        if (len(step.words) < 2 and fed is None) or step.name in _CONTAINERS or not step.words:
            return
        seen = set() if seen is None else seen
        argv = [Word(_back(word), at, at) for at, word in enumerate(step.words)]
        below = Find(step.words) if step.name == "find" else None
        for rest in started(argv):
            if len(rest) in seen or not rest:
                continue
            seen.add(len(rest))
            if len(seen) > _DEPTH * 8:
                raise TooMuch
            words = [step.words[word.start] for word in rest]
            if below is not None and not below.narrowed:
                words = [start for word in words for start in (below.starts if word == "{}" else [word])]
            inner = self._fill(Step(words, step.folder), step.name, fed, below)
            yield from self._step(inner, fed, seen if below is None and inner.words == words else None)
        for text, word in lines(argv):
            given = [step.words[later.start] for later in argv[word.start + 1 :] if later.start < len(step.words)]
            yield from self._text(text, given if step.name in SHELLS else ())
        if fed is not None and step.name in SHELLS | {"source", ".", "parallel", "at", "batch"}:
            yield from self._text(fed.text)

    def _fill(self, step: Step, name: str, fed: _Fed | None, below: Find | None) -> Step:
        """The command that xargs makes of what it is given."""
        if name not in ("xargs", "gxargs", "parallel") or fed is None:
            return replace(step, all_below=below is not None and not below.narrowed)
        given = [literal(word) if not fed.found else word for word in re.split(r"[\s\0]+", fed.text) if word]
        self.charge(len(given))
        placed = any("{}" in word for word in step.words)
        words = [
            new
            for word in step.words
            for new in ([word.replace("{}", one) for one in given] if "{}" in word else [word])
        ]
        return Step(words if placed else [*words, *given], step.folder, all_below=fed.found)

    def _prints(self, words: Sequence[str], given: _Fed | None, fed: _Fed | None) -> _Fed | None:
        """What a command gives to the next one of a pipeline, where that is known."""
        name = words[0].rpartition("/")[2] if words else ""
        if name == "find":
            found = Find(words)
            return None if found.narrowed else _Fed("\n".join(found.starts), found=True)
        if name == "ls" and all(word.startswith("-") for word in words[1:]):
            return _Fed("*", found=True)
        if name in ("cat", "tac", "sort", "uniq", "tee"):
            return given or fed
        text = printed(words)
        return None if text is None else _Fed(_back(text))

    def _output(self, command: str) -> str | None:
        """What `$(command)` stands for, where that is known."""
        scanned = self._scan(command)
        if len(scanned.commands) != 1 or scanned.error is not None:
            return None
        only = scanned.commands[0]
        self._depth += 1
        words = self._words(only, scanned)
        given = self._given(only, scanned)
        self._depth -= 1
        return literal(given.text) if given and words[:1] == ["cat"] else printed(words)

    def _pieces(self, text: str) -> Iterator[Step]:
        """A text that could not be read to its end: what stands in it plainly, so that a slip hides nothing."""
        for piece in re.split(r"[;&|\n(){}`]+", text):
            words = [word for raw in piece.split() for word in self.values.words(raw.strip("\"'"))]
            if words:
                yield from self._step(Step(words, self.folder), None)


def _many(text: str) -> bool:
    """Whether a text has too many tokens; they are counted no further than that."""
    from itertools import islice

    from pegboard.policy.shell.bounds import Unreadable
    from pegboard.policy.shell.tokens import Tokens

    try:
        return len(list(islice(Tokens(text), _TOKENS))) == _TOKENS
    except Unreadable:
        return False


def _back(word: str) -> str:
    """A word as text that a shell reads once more: what is not known is a variable again."""
    return plain(word).replace(MAYBE, "${UNSET_}").replace(SOME, "${_}")
