"""Where a running call's output goes: the head to the model, the rest to the spool, the tail to viewers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import msgspec

from pegboard.kit.caps import Capped, Caps, Keep, shortened
from pegboard.kit.spool import Spool, unfinished

TAIL_BYTES = 8 * 1024
TAIL_SECONDS = 0.05
_MOST_TAIL = 4 * 1024 * 1024
"""Bytes of the end that are held where only lines are limited."""
_COUNT_EXACTLY = 16 * 1024
_CONTINUATION = bytes(range(0x80, 0xC0))


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot for viewers: the last of the output as it came in, and how many bytes there were in all.

    `stream` is the one that spoke last. Control characters are left in: what to do with them is the front end's affair.
    """

    stream: str
    text: str
    size: int


class Sink:
    """Takes output as it comes, in memory bounded by the caps: 200 MB pass at nearly the speed of throwing them away.

    Used from one thread at a time. Streams (`stdout`, `stderr`) are kept apart as well as in the order they came.
    """

    def __init__(
        self,
        caps: Caps | None = None,
        *,
        keep: Keep = "head",
        spool: Spool | None = None,
        on_tail: Callable[[Tail], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_tail` is called with the first output, at most 20 times a second, and at the end."""
        self.caps = caps or Caps()
        self.capped: Capped | None = None
        self._keep: Keep = keep
        self._spool = spool
        self._whole = _Kept(self.caps, keep)
        self._streams: dict[str, _Kept] = {}
        self._held: dict[str, bytes] = {}
        self._ticker = _Ticker(on_tail, clock) if on_tail else None

    @property
    def size(self) -> int:
        """Bytes taken so far."""
        return self._whole.size

    def feed(self, stream: str, data: bytes) -> None:
        """Take a piece of `stream`. Pieces may end anywhere, also inside a character. After `close` it is dropped."""
        if self.capped is not None:
            return
        if self._held:
            data = self._held.pop(stream, b"") + data
        if data and data[-1] >= 0x80 and (extra := unfinished(data)):
            self._held[stream] = data[-extra:]
            data = data[:-extra]
        if data:
            self._take(stream, data)

    def unfinished(self) -> bytes:
        """Take back the beginning of a character whose rest has not come: for whoever takes the output from here on."""
        held = b"".join(self._held.values())
        self._held.clear()
        return held

    def text(self) -> str:
        """What the model would get if the output ended now; for a call that was interrupted."""
        return self.capped.text if self.capped else self._cut(self._whole).text

    def stream(self, name: str) -> str:
        """One stream alone, under the same caps; empty where nothing came."""
        kept = self._streams.get(name)
        return self._cut(kept).text if kept else ""

    def close(self) -> Capped:
        """End the output. The last snapshot is given out and the spool closed; again it answers the same."""
        if self.capped is None:
            for stream, data in self._held.items():
                self._take(stream, data)
            self._held.clear()
            self.capped = self._finish()
            if self._ticker:
                self._ticker.close()
        return self.capped

    def _finish(self) -> Capped:
        capped = self._cut(self._whole)
        if self._spool is None:
            return capped
        if capped.truncated and not self._whole.over:  # bytes that are not UTF-8 grow when they become text
            self._spool.write(bytes(self._whole.head))
            capped = self._cut(self._whole)
        self._spool.close()
        return capped

    def _take(self, stream: str, data: bytes) -> None:
        chars, whole = count_chars(data), self._whole
        before, was_over = len(whole.head), whole.over
        whole.add(data, chars)
        if self._spool and whole.over:
            if not was_over:
                self._spool.write(bytes(whole.head[:before]))
            self._spool.write(data)
        if (kept := self._streams.get(stream)) is None:
            kept = self._streams[stream] = _Kept(self.caps, self._keep)
        kept.add(data, chars)
        if self._ticker:
            self._ticker.add(stream, data)

    def _cut(self, kept: _Kept) -> Capped:
        head = kept.head.decode("utf-8", "replace")
        if not kept.over and not self.caps.exceeded_by(head):
            return Capped(text=head, truncated=False, full_output=None)
        tail = kept.tail.text() if kept.tail else ""
        rest = self._spool.rest if self._spool else ""
        text = shortened(head, tail, kept.chars, caps=self.caps, keep=self._keep, rest=rest)
        return Capped(text=text, truncated=True, full_output=self._spool.name if self._spool else None)


class _Kept:
    """All of a text until it exceeds its caps; then its beginning, its end where asked for, and its measures."""

    __slots__ = ("caps", "chars", "head", "newlines", "over", "size", "tail")

    def __init__(self, caps: Caps, keep: Keep) -> None:
        self.caps = caps
        self.head = bytearray()
        self.tail = _Ring(min(caps.halved().most_bytes(), _MOST_TAIL)) if keep == "ends" else None
        self.over = False
        self.size = self.chars = self.newlines = 0

    def add(self, data: bytes, chars: int) -> None:
        """Add a piece that holds whole characters, `chars` of them."""
        self.size += len(data)
        self.chars += chars
        if not self.over:
            self.newlines += data.count(b"\n")
            lines = self.newlines + (data[-1] != 0x0A)
            self.over = self.caps.exceeded(chars=self.chars, size=self.size, lines=lines)
            room = self.caps.most_bytes() - len(self.head)
            self.head += data[:room] if self.over and room < len(data) else data
        if self.tail:
            self.tail.add(data)


class _Ring:
    """The last `limit` bytes of what was added."""

    __slots__ = ("_data", "cut", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.cut = False
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """Add a piece; what is older than `limit` bytes goes, in large steps."""
        self._data += data[-self.limit :]
        self.cut = self.cut or len(data) > self.limit
        if len(self._data) > 2 * self.limit:
            del self._data[: -self.limit]
            self.cut = True

    def text(self) -> str:
        """The end as text, from a whole character on."""
        data = bytes(self._data[-self.limit :])
        if self.cut or len(self._data) > self.limit:
            data = data[:3].lstrip(_CONTINUATION) + data[3:]
        return data.decode("utf-8", "replace")


class _Ticker:
    """Gives out snapshots of the end: the first at once, then at most one every `TAIL_SECONDS`, and a last one."""

    def __init__(self, show: Callable[[Tail], None], clock: Callable[[], float]) -> None:
        self._show = show
        self._clock = clock
        self._ring = _Ring(TAIL_BYTES)
        self._stream = ""
        self._size = 0
        self._due = float("-inf")
        self._unseen = False
        self._timer: asyncio.TimerHandle | None = None

    def add(self, stream: str, data: bytes) -> None:
        self._ring.add(data)
        self._stream = stream
        self._size += len(data)
        self._unseen = True
        wait = self._due - self._clock()
        if wait <= 0:
            self._tick()
        elif self._timer is None:
            self._timer = self._later(wait)

    def close(self) -> None:
        if self._unseen:
            self._tick()

    def _later(self, seconds: float) -> asyncio.TimerHandle | None:
        """So that what came in a burst is seen although nothing follows; outside a loop, the next piece brings it."""
        try:
            return asyncio.get_running_loop().call_later(seconds, self._tick)
        except RuntimeError:
            return None

    def _tick(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._due = self._clock() + TAIL_SECONDS
        self._unseen = False
        self._show(Tail(stream=self._stream, text=self._ring.text(), size=self._size))


def count_chars(data: bytes) -> int:
    """Characters of UTF-8 text. Long pieces that are not UTF-8 are counted by the bytes that begin a character."""
    if data.isascii():
        return len(data)
    try:
        return len(data.decode())
    except UnicodeDecodeError:
        if len(data) <= _COUNT_EXACTLY:
            return len(data.decode("utf-8", "replace"))
        # Decoding binary data takes 3 ms per 256 KiB. A replacement stands for three bytes at most.
        return max(len(data.translate(None, _CONTINUATION)), len(data) // 3)
