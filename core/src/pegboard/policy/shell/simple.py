"""From tokens to simple commands. What is more than a list of those is a trouble; its commands are found all the same."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from pegboard.policy.shell.bounds import Inner, Unreadable
from pegboard.policy.shell.budget import Budget
from pegboard.policy.shell.line import Trouble
from pegboard.policy.shell.redirects import redirection
from pegboard.policy.shell.tokens import Token, Tokens
from pegboard.policy.shell.words import Spelled, Speller

LEADING = frozenset(["if", "then", "else", "elif", "while", "until", "do", "{", "!", "coproc"])
CLOSING = frozenset(["fi", "done", "esac", "}"])
HEADING = frozenset(["for", "select", "case", "function", "[["])
RESERVED = LEADING | CLOSING | HEADING
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)(\+?=|\[)", re.DOTALL)
_DEFINES = re.compile(r"\(\s*\)|\bfunction\b|\balias\b|\benable\b")
_COMPOUND = "is more than a list of simple commands"


@dataclass
class Simple:
    """A simple command. before: the operator between it and the one before it. piped: it is a part of a pipeline; feeder:
    what stands before it there. heading: the word (`for`, `[[`) whose own words these are."""

    before: str
    start: int = -1
    end: int = -1
    words: list[Spelled] = field(default_factory=list)
    assigned: list[tuple[str, Spelled]] = field(default_factory=list)
    redirections: list[Token] = field(default_factory=list)
    nested: bool = False
    piped: bool = False
    feeder: Simple | None = None
    heading: str = ""
    timed: int = 0

    def reach(self, start: int, end: int) -> None:
        """Take a part of the line in."""
        self.start = start if self.start < 0 else self.start
        self.end = end

    @property
    def clock(self) -> bool:
        """Whether all there is so far is the word `time`, after which a command may begin in any way."""
        while self.timed < len(self.words) and self.words[self.timed].value in ("time", "-p", "--"):
            self.timed += 1
        first = self.words[0] if self.words else None
        return first is not None and first.plain and first.value == "time" and self.timed == len(self.words)


@dataclass
class Scan:
    """What was made out in a text. words: every word, for comparing."""

    text: str
    commands: list[Simple] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    inners: list[Inner] = field(default_factory=list)
    words: list[tuple[int, int]] = field(default_factory=list)
    error: Trouble | None = None

    @cached_property
    def defines(self) -> bool:
        """Whether a name of a command may get another meaning in it."""
        return _DEFINES.search(self.text) is not None


def scan(text: str, budget: Budget | None = None) -> Scan:
    """Read a text as far as it can be read, and as `budget` allows."""
    found = Scan(text)
    try:
        _Scanner(found, budget or Budget()).run()
    except Unreadable as problem:
        start, end = problem.start, min(problem.end, len(text))
        found.error = Trouble(text[start:end], start, end, problem.rule, problem.why)
    return found


class _Scanner:
    def __init__(self, found: Scan, budget: Budget) -> None:
        self.found, self.budget = found, budget
        self.current = Simple("")
        self.compound = 0
        self.documents: list[Token] = []

    def run(self) -> None:
        try:
            for token in Tokens(self.found.text):
                if not self.budget.token():
                    raise Unreadable(token.start, len(self.found.text), "R13", "holds more than can be looked at")
                self._take(token)
            if self.current.start < 0 and self.current.before in ("&&", "||", "|", "|&") and not self.compound:
                raise Unreadable(len(self.found.text), len(self.found.text), "R0", "a command is missing at the end")
        finally:
            self._finish()
            for token in self.documents:
                self._document(token)

    def _take(self, token: Token) -> None:
        match token.kind:
            case "word":
                assert token.word is not None
                self._word(token, token.word)
            case "redirection":
                self._redirect(token)
            case _:
                self._operator(token)

    def _trouble(self, start: int, end: int, rule: str, why: str) -> None:
        self.found.troubles.append(Trouble(self.found.text[start:end], start, end, rule, why))

    def _spelled(self, word: Spelled) -> None:
        self.found.words.append((word.start, word.end))
        self.found.troubles += word.troubles
        self.found.inners += word.inners
        if word.braces and not word.dynamic:
            self._trouble(word.start, word.end, "R6", "becomes several words")

    def _word(self, token: Token, word: Spelled) -> None:
        current = self.current
        self._spelled(word)
        if current.heading:
            self._head(word)
            return
        if not current.words or current.clock:
            if word.value in RESERVED and not word.quoted and not word.joined:
                self._reserved(word)
                return
            name = _ASSIGNMENT.match(word.bare)
            if name is not None:
                if name[2] == "[":
                    self._trouble(
                        word.start, word.end, "R7", f"sets an element of {name[1]}, whose index may run a command"
                    )
                elif current.clock:
                    self._trouble(word.start, word.end, "R7", f"sets {name[1]}")
                current.assigned.append((name[1], word))
                if name[2] == "[" and "=" not in word.bare:
                    current.words.append(word)
                current.reach(token.start, token.end)
                return
        current.words.append(word)
        current.reach(token.start, token.end)

    def _head(self, word: Spelled) -> None:
        """The words between `for` or `case` and what it does are no command; in `[[ ]]` none is."""
        if self.current.heading == "[[":
            ended = word.value == "]]" and not word.quoted
        else:
            ended = word.value in ("do", "{") and not word.quoted
        if ended:
            self._finish()

    def _reserved(self, word: Spelled) -> None:
        """A word of the shell's grammar: what follows is a command again, or is a heading."""
        self._trouble(word.start, word.end, "R6", _COMPOUND)
        if self.current.words:
            self._finish()
        self.compound += 1
        self.current.nested = True
        if word.value in HEADING:
            self.current.heading = word.value

    def _redirect(self, token: Token) -> None:
        word = token.word
        assert word is not None
        if self.current.heading == "[[":
            return
        if token.text in ("<<", "<<-"):
            self.documents.append(token)
        else:
            self._spelled(word)
            if word.value == "-" and self.found.text[word.start - 2 : word.start] in (">&", "<&"):
                self.found.words.pop()  # it is a part of the operator, for others
            why = redirection(token)
            if why is not None:
                self._trouble(token.start, token.end, "R5", why)
        self.current.redirections.append(token)
        self.current.reach(token.start, token.end)

    def _document(self, token: Token) -> None:
        """What expands in the body of a here-document; the body is known when all has been read."""
        speller = Speller(self.found.text)
        at, end = token.body if token.body is not None and token.live else (0, 0)
        while at < end:
            char = self.found.text[at]
            if char == "\\":
                at += 2
            elif char == "`" or (char == "$" and speller.expands(at, inside=True)):
                part = Spelled(at)
                at = speller.expansion(at, part, inside=True)
                self.found.troubles += part.troubles
                self.found.inners += part.inners
            else:
                at += 1

    def _operator(self, token: Token) -> None:
        text = token.text
        if self.current.heading == "[[" and text != ";":
            return
        match text:
            case "(" | ")":
                self._trouble(token.start, token.end, "R6", _COMPOUND)
                self.compound += 1
                self._finish()
            case ";;" | ";&" | ";;&" if not self.compound:
                raise Unreadable(token.start, token.end, "R0", "stands in no choice")
            case ";;" | ";&" | ";;&":
                self._trouble(token.start, token.end, "R6", _COMPOUND)
                self._finish()
            case "&":
                self._need(token)
                self._trouble(token.start, token.end, "R6", "runs a command in the background")
                self._finish("&")
            case "\n":
                if self.current.start >= 0 or self.current.before not in ("&&", "||", "|", "|&"):
                    self._finish("\n")
            case _:
                self._need(token)
                if text in ("|", "|&"):
                    self.current.piped = True
                self._finish(text)

    def _need(self, token: Token) -> None:
        if self.current.start < 0 and not self.compound:
            raise Unreadable(token.start, token.end, "R0", "a command is missing before this")

    def _finish(self, before: str = "") -> None:
        done = self.current
        piped = before in ("|", "|&")
        feeder = done if piped and done.start >= 0 and not done.heading else None
        self.current = Simple(before, piped=piped, nested=bool(self.compound), feeder=feeder)
        if done.start >= 0 and not done.heading:
            self.found.commands.append(done)
