"""The tokens of a line: words, operators, redirections with their targets and here-documents. The rest is blank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pegboard.policy.shell.bounds import Inner, Unreadable
from pegboard.policy.shell.line import Trouble
from pegboard.policy.shell.words import QUOTED, Spelled, Speller, unseen

REDIRECTIONS = ("&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<&", "<>", "<<", "<", ">")
OPERATORS = (";;&", ";;", ";&", "&&", "||", "|&", ";", "|", "&", "(", ")")
_OPERATOR = re.compile("|".join(map(re.escape, (*REDIRECTIONS, *OPERATORS))))
_MARK = re.compile(r"[\w.:!@%+=-]+")
_DESCRIPTOR = re.compile(r"[0-9]{1,9}")


@dataclass
class Token:
    """kind: `word`, `operator` (`text` says which, a newline included), or `redirection`: then `word` is the target,
    `descriptor` what stands before it, `body` the span of a here-document and `live` whether things expand in it."""

    kind: str
    text: str
    start: int
    end: int
    word: Spelled | None = None
    descriptor: str = ""
    body: tuple[int, int] | None = None
    live: bool = False


@dataclass
class Tokens(Speller):
    """Reads the tokens of a text. Raises Unreadable where bash would not read on, or where it is not sure how bash would."""

    text: str
    awaited: list[Token] = field(default_factory=list)

    def __iter__(self) -> Iterator[Token]:
        text, at = self.text, 0
        while True:
            at = self._blank(at)
            if at >= len(text):
                break
            token = self._token(at)
            at = token.end
            if token.text == "\n" and token.kind == "operator":
                at = self._bodies(at)
            yield token
        if self.awaited:
            token = self.awaited[0]
            raise Unreadable(token.start, token.end, "R0", "a here-document has no end")

    def _blank(self, at: int) -> int:
        """Over blanks, joined lines and a comment."""
        text = self.text
        while at < len(text):
            if text[at] in " \t":
                at += 1
            elif text.startswith("\\\n", at):
                at += 2
            elif text[at] == "#":
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                for place in range(at, end):
                    if unseen(text[place]):
                        raise Unreadable(place, place + 1, "R12", "holds a character that cannot be seen")
                at = end
            else:
                break
        return at

    def _token(self, at: int) -> Token:
        text = self.text
        if text[at] == "\n":
            return Token("operator", "\n", at, at + 1)
        if text.startswith(("<(", ">("), at):
            return self._process(at)
        found = _OPERATOR.match(text, at)
        if found is not None:
            operator = found[0]
            self._whole(at, found.end())
            if operator in REDIRECTIONS:
                return self._redirection(at, at, operator)
            return Token("operator", operator, at, found.end())
        word = self.word(at)
        if text[word.end : word.end + 1] in ("<", ">") and not text.startswith(("<(", ">("), word.end):
            descriptor = text[at : word.end]
            if _DESCRIPTOR.fullmatch(descriptor) or descriptor.startswith("{"):
                operator = next(one for one in REDIRECTIONS if text.startswith(one, word.end))
                self._whole(word.end, word.end + len(operator))
                return self._redirection(at, word.end, operator)
            if word.value.isdigit():
                raise Unreadable(at, word.end + 1, "R0", "it is not clear what is redirected")
        return Token("word", text[at : word.end], at, word.end, word)

    def _process(self, at: int) -> Token:
        """A process substitution, as a word of its own."""
        end = self.closing(at + 2, ")")
        word = Spelled(at, end, self.text[at:end], QUOTED, quoted=True, dynamic=True, inners=[Inner(at + 2, end - 1)])
        why = "runs another command and takes its output as a file"
        word.troubles.append(Trouble(self.text[at:end], at, end, "R4", why))
        return Token("word", self.text[at:end], at, end, word)

    def _whole(self, start: int, end: int) -> None:
        """An operator that goes on in the next line is read in several ways."""
        if self.text.startswith("\\\n", end):
            after = end
            while self.text.startswith("\\\n", after):
                after += 2
            if self.text[after : after + 1] in ("<", ">", "|", "&", ";", "(", "-"):
                raise Unreadable(start, after + 1, "R0", "an operator is broken over two lines")

    def _redirection(self, start: int, at: int, operator: str) -> Token:
        text = self.text
        target = at + len(operator)
        while text.startswith((" ", "\t", "\\\n"), target):
            target += 2 if text[target] == "\\" else 1
        if text.startswith(("<(", ">("), target):
            process = self._process(target)
            return Token("redirection", operator, start, process.end, process.word, descriptor=text[start:at])
        if target >= len(text) or text[target] in "\n|&;()<>#":
            raise Unreadable(start, target, "R0", "a redirection leads nowhere")
        word = self.word(target)
        if text[word.end : word.end + 1] in ("<", ">") and text[word.end + 1 : word.end + 2] == "(":
            raise Unreadable(start, word.end + 2, "R0", "it is not clear where a redirection leads")
        if text[word.end : word.end + 1] in ("<", ">") and (word.value.isdigit() or word.value.startswith("{")):
            raise Unreadable(start, word.end + 1, "R0", "it is not clear what is redirected")
        token = Token("redirection", operator, start, word.end, word, descriptor=text[start:at])
        if operator in ("<<", "<<-"):
            self._mark(token, word)
        return token

    def _mark(self, token: Token, word: Spelled) -> None:
        """A here-document begins with the next line; what ends it has to be a simple word."""
        if word.dynamic or word.joined or word.troubles or not _MARK.fullmatch(word.value):
            raise Unreadable(token.start, token.end, "R0", "it is not clear what ends a here-document")
        token.live = not word.quoted
        self.awaited.append(token)

    def _bodies(self, at: int) -> int:
        """Read the here-documents that were begun on the line that ends here."""
        text = self.text
        for token in self.awaited:
            assert token.word is not None
            begin = at
            while True:
                if at >= len(text):
                    token.body = (begin, len(text))  # bash takes the rest of the text, and expands it
                    raise Unreadable(token.start, token.end, "R0", "a here-document has no end")
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                line = text[at:end]
                if (line.lstrip("\t") if token.text == "<<-" else line) == token.word.value:
                    token.body = (begin, at)
                    at = min(end + 1, len(text))
                    break
                self._body_line(token, at, end)
                at = end + 1
        self.awaited.clear()
        return at

    def _body_line(self, token: Token, at: int, end: int) -> None:
        line = self.text[at:end]
        if token.live and line.endswith("\\"):
            raise Unreadable(token.start, token.end, "R0", "a line of a here-document is joined to the next")
        for place, char in enumerate(line):
            if char != "\t" and (char < " " or char == "\x7f"):
                raise Unreadable(at + place, at + place + 1, "R12", "holds a character that cannot be seen")
