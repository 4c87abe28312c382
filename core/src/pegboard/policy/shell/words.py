"""One word, as bash reads it: where it ends, what is quoted in it, what of it expands."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from pegboard.policy.shell.bounds import ENDS, Bounds, Inner, Unreadable
from pegboard.policy.shell.line import Trouble, Word

QUOTED = "\0"
"""Stands in `Spelled.bare` for a character that means only itself."""

_EXPANDS = re.compile(r"[A-Za-z0-9_@*#?$!-]|[^\x00-\x7f]")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|.", re.DOTALL)
_TILDE = re.compile(r"~|[A-Za-z_][A-Za-z_0-9]*\+?=(.*:)?~", re.DOTALL)
_BLANK_LETTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_RUN = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")
_CALM = re.compile(r"""[^"$`\\]+""")


@dataclass
class Spelled:
    """A word as it was read. bare: its characters, with `QUOTED` for every quoted one and for what expands."""

    start: int
    end: int = 0
    value: str = ""
    bare: str = ""
    quoted: bool = False
    dynamic: bool = False
    joined: bool = False
    troubles: list[Trouble] = field(default_factory=list)
    inners: list[Inner] = field(default_factory=list)

    @property
    def glob(self) -> bool:
        """Whether file names may take its place."""
        opened = self.bare.find("[")
        return "*" in self.bare or "?" in self.bare or (opened >= 0 and "]" in self.bare[opened:])

    @property
    def braces(self) -> bool:
        """Whether it may become several words."""
        inside = self.bare[self.bare.find("{") : self.bare.rfind("}") + 1]
        return inside.startswith("{") and ("," in inside or ".." in inside)

    @property
    def tilde(self) -> bool:
        """Whether a home folder takes the place of a part of it."""
        return _TILDE.match(self.bare) is not None

    @property
    def inert(self) -> bool:
        """Whether the program gets `value`."""
        return not (self.dynamic or self.glob or self.braces or self.tilde)

    @property
    def plain(self) -> bool:
        """Whether it is spelled without quotes, backslashes and expansions."""
        return self.inert and not self.quoted and not self.joined


def word_of(word: Spelled) -> Word:
    """A word as rules see it."""
    return Word(word.value, word.start, word.end, plain=word.plain, inert=word.inert, glob=word.glob)


def unseen(char: str) -> bool:
    """Whether a character is one that people do not see, or take for a blank: it may not stand outside quotes."""
    if char in "\n\t" or " " <= char <= "~":
        return False
    return unicodedata.category(char)[0] in "CZ" or _BLANK_LETTERS.match(char) is not None


class Speller(Bounds):
    """Reads words of one text."""

    def word(self, start: int) -> Spelled:
        """The word that begins here. Raises Unreadable where it has no end."""
        text, at, found = self.text, start, Spelled(start)
        while at < len(text):
            char = text[at]
            if char in ENDS:
                break
            if char == "\\":
                at = self._escaped(at, found)
            elif char == "'":
                end = self.quote(at)
                self._add(found, text[at + 1 : end], quoted=True)
                at = end + 1
            elif char == '"':
                at = self._double(at, found)
            elif char == "`" or (char == "$" and self.expands(at)):
                at = self.expansion(at, found, inside=False)
            elif (run := _RUN.match(text, at)) is not None:
                self._add(found, run[0], quoted=False)
                at = run.end()
            else:
                if unseen(char):
                    raise Unreadable(at, at + 1, "R12", "holds a character that cannot be seen or is taken for a blank")
                found.value += char
                found.bare += char
                at += 1
        found.end = at
        if found.dynamic:
            found.value = text[start:at]
        return found

    def expands(self, at: int, *, inside: bool = False) -> bool:
        """Whether the `$` here begins an expansion, inside double quotes or outside."""
        following = self.text[at + 1 : at + 2]
        return bool(following) and (
            following in "{([" or _EXPANDS.match(following) is not None or (not inside and following in "'\"")
        )

    def _add(self, found: Spelled, value: str, *, quoted: bool) -> None:
        found.value += value
        found.bare += QUOTED * len(value) if quoted else value
        found.quoted = found.quoted or quoted

    def _escaped(self, at: int, found: Spelled) -> int:
        following = self.text[at + 1 : at + 2]
        if not following:
            raise Unreadable(at, at + 1, "R0", "ends in a backslash")
        if following == "\n":
            found.joined = True
        elif unseen(following):
            raise Unreadable(at, at + 2, "R12", "holds a character that cannot be seen or is taken for a blank")
        else:
            self._add(found, following, quoted=True)
        return at + 2

    def _double(self, opened: int, found: Spelled) -> int:
        """Read a double-quoted part; what expands in it goes into `found`."""
        text, at = self.text, opened + 1
        found.quoted = True
        while at < len(text):
            char = text[at]
            if char == '"':
                return at + 1
            if char == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\"):
                self._add(found, text[at + 1], quoted=True)
                at += 2
            elif char == "\\" and text[at + 1 : at + 2] == "\n":
                at += 2
            elif char == "`" or (char == "$" and self.expands(at, inside=True)):
                at = self.expansion(at, found, inside=True)
            else:
                run = _CALM.match(text, at)
                self._add(found, run[0] if run else char, quoted=True)
                at = run.end() if run else at + 1
        raise Unreadable(opened, len(text), "R0", "a quote has no end")

    def expansion(self, at: int, found: Spelled, *, inside: bool) -> int:
        """Read what begins with `$` or a backtick here, and note it."""
        text = self.text
        opener = text[at : at + 2]
        if opener == "$'":
            end, value = self.ansi(at)
            self._add(found, value, quoted=True)
            self._note(found, at, end, "is a string with escapes")
            return end
        found.dynamic = True
        found.bare += QUOTED
        if text[at] == "`":
            end = self.backticks(at)
            found.inners.append(Inner(at + 1, end - 1, re.sub(r"\\([$`\\])", r"\1", text[at + 1 : end - 1])))
            why = "runs another command and takes its output"
        elif opener == '$"':
            end, why = self._double(at + 1, found), "is a string that is translated"
        elif text.startswith("$((", at):
            end, why = self.closing(at + 2, ")"), "is arithmetic, which may run commands"
            found.inners.append(Inner(at + 2, end - 1))
        elif opener == "$(":
            end, why = self.closing(at + 2, ")"), "runs another command and takes its output"
            found.inners.append(Inner(at + 2, end - 1))
        elif opener in ("${", "$["):
            end = self.closing(at + 2, "}" if opener == "${" else "]")
            why = (
                "puts in a value that is not known here" if opener == "${" else "is arithmetic, which may run commands"
            )
            found.inners += self.inside(at + 2, end - 1)
        else:
            name = _PARAMETER.match(text, at + 1)
            end = name.end() if name else at + 1
            why = "puts in a value that is not known here"
        self._note(found, at, end, why)
        return end

    def _note(self, found: Spelled, start: int, end: int, why: str) -> None:
        found.quoted = True
        found.troubles.append(Trouble(self.text[start:end], start, end, "R4", why))
