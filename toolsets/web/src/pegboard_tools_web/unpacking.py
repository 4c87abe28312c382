"""Unpack a body as it comes, in small pieces, so that a few bytes that stand for gigabytes never become them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

PIECE = 64 * 1024
ACCEPTED = "gzip, deflate"
_NAMED = frozenset({"br", "zstd", "compress", "gzip", "deflate"})


class BadPacking(Exception):
    """The body is not what its headers say; the text is the end of a sentence."""


class Plain:
    """A body that comes as it is."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What these bytes unpack to, at most `PIECE` bytes at a time."""
        yield data

    def finish(self) -> None:
        """Raises BadPacking: the data ended too early."""


class Inflated(Plain):
    """gzip (several members too) and deflate (with and without its own header: servers send both)."""

    def __init__(self, coding: str) -> None:
        self._gzip = coding == "gzip"
        self._held = b""
        self._inflate: zlib._Decompress | None = None
        self._done = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        data, self._held = self._held + data, b""
        more = False  # zlib holds unpacked bytes back that did not fit into the last piece
        while data or more:
            if self._inflate is None:
                if len(data) < 2:
                    self._held = data
                    return
                if self._done and not (self._gzip and data.startswith(b"\x1f\x8b")):
                    return  # what stands behind the data is padding
                self._inflate = zlib.decompressobj(self._window(data))
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error:
                raise BadPacking("it is not what its Content-Encoding says") from None
            data, more = self._inflate.unconsumed_tail, len(piece) == PIECE
            if self._inflate.eof:
                data, more, self._inflate, self._done = self._inflate.unused_data, False, None, True
            if piece:
                yield piece

    def finish(self) -> None:
        if self._inflate is not None or (self._held and not self._done):
            raise BadPacking("it ended in the middle")

    def _window(self, data: bytes) -> int:
        if self._gzip:
            return zlib.MAX_WBITS | 16
        own_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.MAX_WBITS if own_header else -zlib.MAX_WBITS


def unpacker(content_encoding: str | None) -> Plain:
    """What unpacks a body with this Content-Encoding.

    Raises:
        BadPacking: it was packed in a way that was not asked for.
    """
    codings = [coding for part in (content_encoding or "").lower().split(",") if (coding := part.strip())]
    codings = [coding.removeprefix("x-") for coding in codings if coding != "identity"]
    match codings:
        case []:
            return Plain()
        case ["gzip" | "deflate" as coding]:
            return Inflated(coding)
    known = all(coding in _NAMED for coding in codings)  # other words are the server's, and belong inside the marks
    raise BadPacking(f"it is packed {'as ' + ', '.join(codings[:3]) if known else 'in a way'} that is not known here")
