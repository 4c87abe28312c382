"""A reply's stream, read from its bytes: server-sent events, and where it may end.

Endpoints differ in how they end one. Once a chunk has said why the reply finished, it is whole, whatever comes after.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from pegboard_openai.assembly import Assembly

LAST = 2.0
"""Seconds that a finished reply waits for what may follow it: token counts, and the end of the answer."""
MOST_LINE = 32 * 1024 * 1024
"""Bytes of one line."""

_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class Unreadable(Exception):
    """What came is no stream of JSON."""


class ToldError(Exception):
    """The endpoint told of an error within the stream. `told`: its words."""

    def __init__(self, told: Any) -> None:
        super().__init__("an error within the stream")
        self.told = told


async def chunks(parts: AsyncIterator[bytes], assembly: Assembly) -> AsyncIterator[Any]:
    """The chunks of a stream, each to be taken by `assembly` before the next is asked for.

    Raises:
        Unreadable: a chunk is no JSON.
        ToldError: a chunk is an error.
    """
    import httpx2

    events, done = _events(parts), False
    while True:
        try:
            async with asyncio.timeout(LAST if done or assembly.finished else None):
                event, data = await anext(events)
            if done := done or data.startswith("[DONE]"):
                continue  # read to its end, so that the connection can be used again
            chunk = _decoded(data)
        except StopAsyncIteration:
            return
        except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, Unreadable):
            if done or assembly.finished:
                return
            raise
        if event == "error" or (isinstance(chunk, dict) and chunk.get("error")):
            raise ToldError(chunk)
        yield chunk


async def _events(parts: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, str]]:
    """Kind and data of each event that has data."""
    kind, data = "", list[str]()
    async for line in _lines(parts):
        if not line:
            if data:
                yield kind, "\n".join(data)
            kind, data = "", []
            continue
        name, _, value = line.partition(b":")
        try:
            text = value.removeprefix(b" ").decode()
        except UnicodeDecodeError as error:
            raise Unreadable(type(error).__name__) from None
        if name == b"data":
            data.append(text)
        elif name == b"event":
            kind = text


async def _lines(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines, with CR, LF or both at their ends, and without the mark that some servers begin with."""
    held, size, first, after_cr = list[bytes](), 0, True, False
    async for part in parts:
        if not part:
            continue
        got = part[1:] if after_cr and part.startswith(b"\n") else part
        after_cr = part.endswith(b"\r")
        *lines, rest = _END.split(got)
        for line in lines:
            whole = b"".join([*held, line])
            yield whole.removeprefix(_BOM) if first else whole
            held, size, first = [], 0, False
        held.append(rest)
        size += len(rest)
        if size > MOST_LINE:
            raise Unreadable(f"a line of more than {MOST_LINE:,} bytes")
    if size:
        yield b"".join(held)


def _decoded(data: str) -> Any:
    try:
        return json.loads(data)  # takes halves of characters, and NaN, which servers do send
    except (ValueError, RecursionError) as error:
        raise Unreadable(type(error).__name__) from None
