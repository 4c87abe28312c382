r"""What is long or not for the eye stands in the input as a chip: one piece, shown as a label, and put back when it is sent.

`[pasted 120 lines]` stands for a paste; `<\x1b>` for characters that a terminal would obey or not draw. In the text of the
input a chip is its label between two characters that Unicode keeps for a program's own use and that no text from outside
gets in with: in one that does they are themselves made a chip. So what somebody types never is one, however it looks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pegboard.terminal import spelled, visible

_SIGNS = {"\ufdd0": "[", "\ufdd1": "]", "\ufdd2": "<", "\ufdd3": ">"}
_FOLDED, _HIDDEN = "\ufdd0{}\ufdd1", "\ufdd2{}\ufdd3"
_CHIP = re.compile("[\ufdd0\ufdd2]([^\ufdd0-\ufdd3]*)[\ufdd1\ufdd3]")
_DRAWN = str.maketrans(_SIGNS)
MOST_LINES = 5
MOST_CHARS = 500
"""A paste of more than this is folded."""
MOST_SHOWN_LINES = 1_000
MOST_SHOWN = 100_000
"""What the input shows in full of a text that is no paste; of a line, a tenth of it."""
_MOST_SPELLED = 24
"""Characters of a hidden run's label; a longer one is counted instead."""


def unified(text: str) -> str:
    r"""Line ends as `\n`: a terminal sends a paste's as `\r`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_long(text: str, lines: int = MOST_LINES, chars: int = MOST_CHARS) -> bool:
    """Whether a text is rather a chip than text in the input."""
    return len(text) > chars or text.count("\n") >= lines


def drawn(line: str) -> str:
    """A line of the input as it is shown; as long as it was."""
    return line.translate(_DRAWN)


def spans(line: str) -> list[tuple[int, int]]:
    """Where the chips of a line begin and end."""
    return [found.span() for found in _CHIP.finditer(line)]


def around(line: str, column: int) -> tuple[int, int] | None:
    """The chip that a place is strictly inside of."""
    return next(((start, end) for start, end in spans(line) if start < column < end), None)


class Chips:
    """What the chips of one input stand for. kept: of a draft that is taken up again."""

    def __init__(self, kept: Mapping[str, str] | None = None) -> None:
        self._texts = dict(kept or {})

    def fold(self, text: str) -> str:
        """One chip for a text."""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return _FOLDED.format(self._named(f"pasted {size}", text))

    def safe(self, text: str) -> str:
        """A text in which what is not for the eye is a chip, and the rest as it was."""
        if spelled(text) == text:
            return text
        parts: list[str] = []
        hidden: list[str] = []
        for char in text:
            if spelled(char) != char:
                hidden.append(char)
                continue
            if hidden:
                parts.append(self._hide("".join(hidden)))
                hidden.clear()
            parts.append(char)
        if hidden:
            parts.append(self._hide("".join(hidden)))
        return "".join(parts)

    def _hide(self, run: str) -> str:
        label = visible(run)
        if len(label) > _MOST_SPELLED:
            label = f"{len(run):,} hidden characters"
        return _HIDDEN.format(self._named(label, run))

    def _named(self, label: str, text: str) -> str:
        name, number = label, 1
        while self._texts.setdefault(name, text) != text:
            number += 1
            name = f"{label} #{number}"
        return name

    def expand(self, text: str) -> str:
        """What a text of the input stands for."""
        return _CHIP.sub(lambda found: self._texts[found[1]], text)

    def head(self, line: str, most: int) -> str:
        """How the text begins that a line stands for: what is asked with every key is not to copy a long paste."""
        found = _CHIP.match(line)
        if found is None:
            return re.split("[\ufdd0\ufdd2]", line[:most])[0]
        head = self._texts[found[1]][:most]
        return head if len(head) == most else head + self.head(line[found.end() :], most - len(head))

    def of(self, text: str) -> dict[str, str]:
        """What the chips of this text stand for, by their labels."""
        return {found[1]: self._texts[found[1]] for found in _CHIP.finditer(text)}

    def shown(self, text: str, before: str) -> str:
        """A text that is no paste, as the input has it: in full, unless it is too much for that. What the pastes of the
        input `before` stand for is folded again where it is whole in it: an editor was given the one for the other."""
        parts: list[str] = []
        for found in _CHIP.finditer(before):
            content = self._texts[found[1]]
            if found[0][0] == _FOLDED[0] and (at := text.find(content)) >= 0:
                parts += [self._whole(text[:at]), found[0]]
                text = text[at + len(content) :]
        return "".join([*parts, self._whole(text)])

    def _whole(self, text: str) -> str:
        long = is_long(text, MOST_SHOWN_LINES, MOST_SHOWN) or max(map(len, text.split("\n"))) > MOST_SHOWN // 10
        return self.fold(text) if long else self.safe(text)
