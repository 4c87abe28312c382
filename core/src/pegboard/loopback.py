"""Model servers on this machine: which listen where they usually do, and what they serve (decision 60).

Sockets and threads alone: no HTTP client is imported to look. What listens there may be anything, so answers are bounded in
bytes and time, nothing is followed, and on Linux a port counts only when this user or root listens on it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

PORTS = (11434, 1234, 8080)
"""Where Ollama, LM Studio and llama.cpp listen."""

PATIENCE = 0.15
"""Seconds for all ports together."""

KEPT = 3600.0
"""Seconds for which an answer is believed, while the same ports are listened on."""

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
MOST_BYTES = 1_000_000
MOST_MODELS = 1000
FILE = "loopback.json"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A server: its port, its models by name, and how many tokens each takes, where it says so."""

    port: int
    models: list[str]
    context: dict[str, int] = {}

    @property
    def base_url(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.port}/v1"


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    at: float
    listening: list[int]
    found: list[Found]


def find_servers(state: Path | None, *, ports: Iterable[int] | None = None, fresh: bool = False) -> list[Found]:
    """The servers that answer, in the order of the ports. `state`: where that is kept for an hour; `fresh`: ask again."""
    ports = PORTS if ports is None else tuple(ports)
    listening = [port for port in ports if trusted(port)]
    if not listening:
        return []
    file = state / FILE if state else None
    if file and not fresh and (kept := _read(file)) is not None:
        known = kept.listening == listening and all(one.port in listening for one in kept.found)
        if known and 0 <= time.time() - kept.at < KEPT:
            return kept.found
    found = _ask_all(listening)
    if file:
        _write(file, _Kept(at=time.time(), listening=listening, found=found))
    return found


def trusted(port: int) -> bool:
    """Whether a port may be asked: on Linux, this user or root listens there, and nobody else does; elsewhere always."""
    if not sys.platform.startswith("linux"):
        return True
    try:
        owners = {uid for at, uid in _listeners() if at == port}
    except (OSError, ValueError, IndexError):
        return False
    return bool(owners) and owners <= {0, os.getuid()}


def _listeners() -> Iterator[tuple[int, int]]:
    """(port, user id) of each socket that listens where 127.0.0.1 reaches it. The tables: proc(5)."""
    for name in TABLES:
        with suppress(FileNotFoundError), open(name, encoding="ascii") as table:
            for line in table.readlines()[1:]:
                words = line.split()
                if words[3] == "0A":
                    yield int(words[1].rpartition(":")[2], 16), int(words[7])


def _ask_all(ports: list[int]) -> list[Found]:
    """Ask every port at once; who has not answered in time is left behind, in a thread that ends by itself."""
    until = time.monotonic() + PATIENCE
    answers: dict[int, Found | None] = {}

    def ask(port: int) -> None:
        answers[port] = _ask(port, until)

    threads = [threading.Thread(target=ask, args=(port,), daemon=True) for port in ports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()) + 0.02)
    return [found for port in ports if (found := answers.get(port)) is not None]


def _ask(port: int, until: float) -> Found | None:
    try:
        body = _get(port, until)
        listed = json.loads(body) if body else None
    except (OSError, ValueError, RecursionError):
        return None
    # Whoever answered may have come after the first look.
    return _found(port, listed) if trusted(port) else None


def _get(port: int, until: float) -> bytes:
    """The body of `GET /v1/models`, or nothing. HTTP/1.0, so that the answer ends with the connection and has no chunks."""
    with socket.create_connection(("127.0.0.1", port), timeout=_left(until)) as link:
        link.settimeout(_left(until))
        link.sendall(f"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n".encode())
        data, wanted = bytearray(), MOST_BYTES + 1
        while len(data) < wanted:
            link.settimeout(_left(until))
            piece = link.recv(65536)
            if not piece:
                break
            data += piece
            wanted = _length(data) or wanted
    head, gap, body = bytes(data).partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split()
    if not gap or len(status) < 2 or status[1] != b"200":
        return b""
    return body


def _length(data: bytearray) -> int | None:
    """How long the whole answer will be, once its head is there and says so."""
    head, gap, _ = bytes(data[:65536]).partition(b"\r\n\r\n")
    for line in head.split(b"\r\n") if gap else ():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return min(len(head) + 4 + int(value), MOST_BYTES + 1)
    return None


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _found(port: int, listed: Any) -> Found | None:
    """A server whose answer is a list of models, sorted by name. Models that only embed are none to talk with."""
    data = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(data, list):
        return None
    named = {one["id"]: one for one in data[:MOST_MODELS] if isinstance(one, dict) and _is_name(one.get("id"))}
    if not named:
        return None
    names = sorted(name for name in named if "embed" not in name.lower()) or sorted(named)
    sizes = {name: size for name in names if (size := _context(named[name]))}
    return Found(port=port, models=names, context=sizes)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable() and " " not in value


def _context(model: dict[str, Any]) -> int | None:
    """vLLM says `max_model_len`, llama.cpp `meta.n_ctx` (what it was started with) in recent versions."""
    meta = model.get("meta")
    size = model.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return size if isinstance(size, int) and not isinstance(size, bool) and 0 < size < 2**31 else None


def _read(file: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError, UnicodeError):
        return None


def _write(file: Path, kept: _Kept) -> None:
    """Keep an answer. A state folder that cannot be written costs a question each time, and nothing else."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_bytes(msgspec.json.encode(kept))
        part.replace(file)
