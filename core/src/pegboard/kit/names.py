r"""File names as text: bytes that are not UTF-8 are shown as `caf\xe9`, and accepted back so.

Python keeps such bytes as lone surrogates (`os.fsdecode`), which no JSON document may hold. Everything the kit hands
out in a result (`at`, `path`) is in the shown form; names that go to the operating system are not.
"""

from __future__ import annotations

import os
import re

_ESCAPED = re.compile(r"\\x([89a-fA-F][0-9a-fA-F])")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def shown(name: str) -> str:
    r"""A name or path from the operating system, as valid Unicode: an undecodable byte becomes `\xNN`."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "".join(_shown_char(char) for char in name)
    return name


def _shown_char(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char


def printable(text: str) -> str:
    r"""A name as it can stand within a line: line ends and control characters are spelled out (`\n`, `\x1b`)."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), shown(text))


def given(text: str) -> str | None:
    r"""The other name that a shown one may stand for, or None when it has no `\xNN` in it.

    A file may also be called `caf\xe9` letter for letter; callers try the text as it is first.
    """
    name = _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), text)
    if name == text:
        return None
    try:
        return os.fsdecode(os.fsencode(name))
    except UnicodeError:
        return None
