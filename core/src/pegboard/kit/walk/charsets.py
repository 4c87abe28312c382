r"""Sets of characters that `re` has no word for: POSIX classes and `\p{...}`, as what stands inside brackets."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
NOT_POSIX = {
    "alnum": r"\x00-/:-@\[-`{-\ud7ff\ue000-\U0010ffff",
    "alpha": r"\x00-@\[-`{-\ud7ff\ue000-\U0010ffff",
    "ascii": r"\x80-\ud7ff\ue000-\U0010ffff",
    "digit": r"\x00-/:-\ud7ff\ue000-\U0010ffff",
    "lower": r"\x00-`{-\ud7ff\ue000-\U0010ffff",
    "space": r"\x00-\x08\x0e-\x1f!-\ud7ff\ue000-\U0010ffff",
    "upper": r"\x00-@\[-\ud7ff\ue000-\U0010ffff",
    "word": r"\x00-/:-@\[-^`{-\ud7ff\ue000-\U0010ffff",
    "xdigit": r"\x00-/:-@G-`g-\ud7ff\ue000-\U0010ffff",
}
_CATEGORIES = {
    "letter": "L", "uppercaseletter": "Lu", "uppercase": "Lu", "upper": "Lu", "lowercaseletter": "Ll",
    "lowercase": "Ll", "lower": "Ll", "titlecaseletter": "Lt", "modifierletter": "Lm", "otherletter": "Lo",
    "mark": "M", "number": "N",
    "decimalnumber": "Nd", "digit": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P",
    "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc", "separator": "Z", "spaceseparator": "Zs", "other": "C",
    "control": "Cc", "cntrl": "Cc", "format": "Cf",
}  # fmt: skip


def property_ranges(name: str, *, negated: bool) -> str:
    r"""The ranges of characters that `\p{name}` stands for; empty when the property is not known.

    General categories, by their short and long names."""
    plain = re.sub(r"[\s_-]", "", name.removeprefix("^").partition("=")[2] or name.removeprefix("^"))
    category = _CATEGORIES.get(plain.lower(), plain[:1].upper() + plain[1:].lower())
    return _ranges(category, negated != name.startswith("^"))


@lru_cache(maxsize=32)
def _ranges(category: str, negated: bool) -> str:
    if len(category) not in (1, 2) or not category.isalpha():
        return ""
    spans: list[list[int]] = []
    known = False
    for number in range(sys.maxunicode + 1):
        found = unicodedata.category(chr(number))
        inside = found.startswith(category)
        known |= inside
        if inside != negated and found != "Cs":
            if spans and spans[-1][1] == number - 1:
                spans[-1][1] = number
            else:
                spans.append([number, number])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in spans) if known else ""
