"""Over what stands inside a word: where a quote, a substitution, a bracket ends, and which commands stand in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

DEPTH = 12
"""How deep substitutions may stand in one another, before a line is too deep to be read."""

ENDS = frozenset(" \t\n|&;()<>")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_CODE = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)", re.DOTALL)


class Unreadable(Exception):
    """The line cannot be read on. Caught where the line began to be read."""

    def __init__(self, start: int, end: int, rule: str, why: str) -> None:
        super().__init__(why)
        self.start, self.end, self.rule, self.why = start, end, rule, why


@dataclass
class Inner:
    """Command text inside a word: where it stands, and the text itself where that differs from the line's."""

    start: int
    end: int
    text: str | None = None


class Bounds:
    """Finds the ends of things in one text. Raises Unreadable where one has none."""

    def __init__(self, text: str) -> None:
        self.text = text

    def quote(self, opened: int) -> int:
        """Where the quote that ends the single-quoted part here stands."""
        end = self.text.find("'", opened + 1)
        if end < 0:
            raise Unreadable(opened, len(self.text), "R0", "a quote has no end")
        return end

    def ansi(self, at: int) -> tuple[int, str]:
        """The end and the value of the `$'…'` here."""
        text, opened, value = self.text, at, ""
        at += 2
        while at < len(text):
            if text[at] == "'":
                return at + 1, value
            if text[at] != "\\":
                value, at = value + text[at], at + 1
                continue
            code = _CODE.match(text, at + 1)
            if code is None:
                following = text[at + 1 : at + 2]
                value, at = value + _ESCAPES.get(following, following), at + 2
                continue
            digits = next((group for group in code.groups()[:3] if group), None)
            number = int(digits, 16) if digits else int(code[4], 8) if code[4] else ord(code[5]) & 0x1F
            value, at = value + (chr(number) if number <= 0x10FFFF else "?"), code.end()
        raise Unreadable(opened, len(text), "R0", "a quote has no end")

    def backticks(self, opened: int) -> int:
        """The end of the backtick substitution here."""
        at = opened + 1
        while at < len(self.text):
            if self.text[at] == "`":
                return at + 1
            at += 2 if self.text[at] == "\\" else 1
        raise Unreadable(opened, len(self.text), "R0", "a backtick has no second one")

    def closing(self, start: int, closer: str, depth: int = 0) -> int:
        """The end of what closes with this character: after it, quotes and what is nested seen to."""
        if depth > DEPTH:
            raise Unreadable(start, len(self.text), "R13", "is nested too deeply to be read")
        text, at = self.text, start
        while at < len(text):
            char = text[at]
            if char == closer:
                return at + 1
            if char == "#" and closer == ")" and (at == start or text[at - 1] in ENDS):
                at = text.find("\n", at)
                if at < 0:
                    break
            elif char == "(" and closer == ")":
                at = self.closing(at + 1, ")", depth + 1)
            else:
                at = self._over(at, depth)
        raise Unreadable(start, len(text), "R0", f"a {closer} is missing")

    def inside(self, start: int, end: int) -> list[Inner]:
        """The substitutions between two places, in `${…}` and the like."""
        found: list[Inner] = []
        at = start
        while at < end:
            if self.text.startswith(("$(", "<(", ">("), at):
                close = min(self.closing(at + 2, ")"), end)
                found.append(Inner(at + 2, close - 1))
                at = close
            elif self.text[at] == "`":
                close = min(self.backticks(at), end)
                found.append(Inner(at + 1, close - 1, self.text[at + 1 : close - 1].replace("\\", "")))
                at = close
            else:
                at += 2 if self.text[at] == "\\" else 1
        return found

    def _over(self, at: int, depth: int) -> int:
        """The place after whatever stands here, inside something nested."""
        text = self.text
        char, opener = text[at], text[at : at + 2]
        if char == "\\":
            return at + 2
        if char == "'":
            return self.quote(at) + 1
        if opener == "$'":
            return self.ansi(at)[0]
        if char == '"':
            return self._over_double(at, depth)
        if char == "`":
            return self.backticks(at)
        if opener in ("$(", "<(", ">("):
            return self.closing(at + 2, ")", depth + 1)
        if opener == "${":
            return self.closing(at + 2, "}", depth + 1)
        return at + 1

    def _over_double(self, opened: int, depth: int) -> int:
        text, at = self.text, opened + 1
        while at < len(text):
            if text[at] == '"':
                return at + 1
            if text[at] in "\\`" or text[at : at + 2] in ("$(", "${"):
                at = self._over(at, depth)
            else:
                at += 1
        raise Unreadable(opened, len(text), "R0", "a quote has no end")
