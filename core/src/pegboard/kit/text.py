"""How bytes are read as text: one rule for reading, searching and editing.

A byte order mark first (UTF-16 and UTF-8), else UTF-8, else Latin-1, byte for byte, which fits any bytes and gives them
back unharmed. A NUL in the first 8 KiB means binary, unless a UTF-16 mark was found before it. Only LF ends a line:
form feed, NEL, U+2028 and a bare CR do not, as in grep and git.
"""

from __future__ import annotations

import codecs
import os
from typing import Literal, TypeAlias

from pegboard.errors import ToolError

HEAD = 8192
"""Bytes in which a NUL means "binary"."""

Encoding: TypeAlias = Literal["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1"]
TITLES: dict[Encoding, str] = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "latin-1": "not UTF-8, shown as Latin-1",
}
BOMS: dict[Encoding, bytes] = {
    "utf-8": b"",
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "latin-1": b"",
}
_MAGIC = {
    b"\x89PNG": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF8": "GIF image",
    b"%PDF": "PDF document",
    b"PK\x03\x04": "ZIP archive",
    b"\x1f\x8b": "gzip archive",
    b"\xfd7zXZ": "xz archive",
    b"BZh": "bzip2 archive",
    b"\x28\xb5\x2f\xfd": "Zstandard archive",
    b"\x7fELF": "ELF program or library",
    b"MZ": "Windows program or library",
    b"\xcf\xfa\xed\xfe": "Mach-O program or library",
    b"SQLite format 3": "SQLite database",
    b"RIFF": "RIFF media file",
    b"\x00asm": "WebAssembly module",
    b"\xff\xfe\x00\x00": "UTF-32 text",
    b"\x00\x00\xfe\xff": "UTF-32 text",
}


class BinaryFile(ToolError):
    """The file is no text."""


def sniff(head: bytes) -> Encoding | Literal["binary"] | None:
    """What the first bytes say; None: UTF-8 or Latin-1, which only the whole tells."""
    if head.startswith(b"\xff\xfe\x00\x00"):
        return "binary"
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    if b"\0" in head[:HEAD]:
        return "binary"
    return None


def encoding_of(data: bytes, path: str = "The file") -> Encoding:
    """The encoding of a whole file. Raises BinaryFile."""
    found = sniff(data[:HEAD])
    if found == "binary":
        raise binary_error(path, data[:HEAD], len(data))
    if found is not None:
        return found
    if not is_utf8(data):
        return "latin-1"
    return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"


def decode(data: bytes, path: str = "The file") -> tuple[str, Encoding]:
    """A whole file's text, without its byte order mark. Raises BinaryFile."""
    encoding = encoding_of(data, path)
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    return data[len(BOMS[encoding]) :].decode(codec, "replace"), encoding


class Utf8:
    """Counts characters of what it is fed, for as long as that is UTF-8."""

    SLICE = 1 << 13  # small texts are made and freed without asking the system for memory: four times faster

    def __init__(self) -> None:
        self.valid = True
        self.chars = 0
        self._rest = b""

    def feed(self, block: bytes) -> bool:
        """Whether all so far can be UTF-8."""
        if not self._rest and block.isascii():
            self.chars += len(block)
            return self.valid
        data, at = self._rest + block, 0
        while self.valid and at < len(data):
            try:
                text, used = codecs.utf_8_decode(data[at : at + self.SLICE], "strict", False)
            except UnicodeDecodeError:
                self.valid = False
                break
            if not used:  # the beginning of a character
                break
            self.chars += len(text)
            at += used
        self._rest = data[at:]
        return self.valid

    def finish(self) -> bool:
        """Whether all of it was UTF-8."""
        self.valid = self.valid and not self._rest
        return self.valid


def is_utf8(data: bytes) -> bool:
    """Whether all of it is UTF-8, found without making a text of it all."""
    if data.isascii():
        return True
    found, block = Utf8(), 1 << 18
    return all(found.feed(data[at : at + block]) for at in range(0, len(data), block)) and found.finish()


def line_text(line: bytes) -> str:
    """A piece of a file for showing: UTF-8 where it is, else Latin-1."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def is_binary(data: bytes) -> bool:
    return sniff(data[:HEAD]) == "binary"


def binary_error(path: str, head: bytes, size: int) -> BinaryFile:
    kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    suffix = os.path.splitext(path)[1]
    what = kind or (f"{suffix[1:]} file" if suffix else "unknown type")
    return BinaryFile(f"{path} is binary ({what}, {size:,} bytes), so it is not shown or edited as text.")


def encode(text: str, encoding: Encoding, what: str) -> bytes:
    """`text` in a file's encoding, without a mark. `what` names it in the error. Raises ToolError."""
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        bad = text[error.start].encode("unicode_escape").decode()
        name = "the file, which is not UTF-8," if encoding == "latin-1" else "a text file"
        raise ToolError(f"{what} holds a character that {name} cannot hold: {bad}. Nothing was changed.") from None
