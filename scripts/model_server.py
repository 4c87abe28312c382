"""An OpenAI-compatible server on loopback that plays a script, for tests and for `scripted_model.py`.

with ModelServer(Reply(calls=[("read_file", {"path": "a.txt"})]), Reply(text="done")) as server:
    ...                                              server.base_url, server.requests, server.gone
"""

from __future__ import annotations

import itertools
import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer to a request for a completion.

    calls: (name, arguments); arguments given as text go out as they are, broken or not. piece: characters a chunk.
    finish: the finish reason, else the fitting one; "" sends none. status, headers, body: an answer that is not 200.
    chunks: exact chunk objects (or lines, as text) instead of what the fields above make. break_after, hang_after: after
    so many chunks the connection is reset, or nothing more comes until the client goes. forever: the text again and
    again. done: whether `[DONE]` ends it. plain: JSON though a stream was asked for. pause: seconds between chunks.
    """

    text: str = ""
    thinking: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    piece: int = 7
    finish: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    chunks: Sequence[Any] | None = None
    usage: dict[str, Any] | None = None
    break_after: int | None = None
    hang_after: int | None = None
    forever: bool = False
    done: bool = True
    plain: bool = False
    pause: float = 0.0


Answerer = Callable[[dict[str, Any]], Reply]
_ids = itertools.count(1)


@dataclass(frozen=True)
class Seen:
    """A request as it came: method, path with its query, headers in lower case, the body as JSON (None without one)."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class ModelServer:
    """The server, on a port of its own. `requests`: every request so far. `completions`: the bodies that asked for a reply.

    gone: how many clients left before their answer was whole. `then` answers when the script has run out."""

    def __init__(
        self,
        *script: Reply,
        then: Answerer | None = None,
        models: Iterable[Any] = ("scripted",),
        key: str | None = None,
        port: int = 0,
    ) -> None:
        self.script = list(script)
        self.then = then or (lambda body: Reply(text="done"))
        self.models = [{"id": one, "object": "model"} if isinstance(one, str) else one for one in models]
        self.key = key
        self.requests: list[Seen] = []
        self.gone = 0
        self.changed = threading.Condition()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """What `base_url` and OPENAI_BASE_URL take."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def completions(self) -> list[Any]:
        """The bodies of the requests for a reply, in order."""
        return [seen.body for seen in self.requests if seen.path.split("?")[0].endswith("/chat/completions")]

    def speak_tls(self, context: ssl.SSLContext) -> None:
        """Answer over TLS from here on."""
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    def say(self, *replies: Reply) -> None:
        """Add replies to the script."""
        with self.changed:
            self.script.extend(replies)

    def wait(self, until: Callable[[ModelServer], Any], seconds: float = 20) -> bool:
        """Wait until something is so: `server.wait(lambda s: s.gone)`. False: it did not become so."""
        with self.changed:
            return bool(self.changed.wait_for(lambda: until(self), seconds))

    def take(self, seen: Seen) -> None:
        """Note a request."""
        with self.changed:
            self.requests.append(seen)
            self.changed.notify_all()

    def next(self, body: dict[str, Any]) -> Reply:
        """The reply to this request."""
        with self.changed:
            if self.script:
                return self.script.pop(0)
        return self.then(body)

    def left(self) -> None:
        """Note that a client went away."""
        with self.changed:
            self.gone += 1
            self.changed.notify_all()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

        def do_GET(self) -> None:
            self._note(None)
            if self.path.split("?")[0].endswith("/models"):
                self._json(200, {"object": "list", "data": server.models})
            else:
                self._json(404, {"error": {"message": f"no such path: {self.path}"}})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(raw)
            self._note(body)
            if server.key is not None and self.headers.get("authorization") != f"Bearer {server.key}":
                self._json(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
                return
            reply = server.next(body)
            if reply.status != 200 or reply.body is not None:
                self._json(reply.status, reply.body or {"error": {"message": f"status {reply.status}"}}, reply.headers)
            elif reply.plain or not body.get("stream"):
                self._json(200, _whole(reply, body))
            else:
                self._stream(reply, body)

        def _note(self, body: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.take(Seen(self.command, self.path, headers, body))

        def _json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(data)

        def _stream(self, reply: Reply, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for number, chunk in enumerate(_chunks(reply, body)):
                    if reply.break_after == number:
                        return self._reset()
                    if reply.hang_after == number:
                        return self._until_gone()
                    self._line(chunk if isinstance(chunk, str) else json.dumps(chunk))
                    time.sleep(reply.pause)
                if reply.break_after is not None:
                    return self._reset()
                if reply.hang_after is not None:
                    return self._until_gone()
                if reply.done:
                    self._line("[DONE]")
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                server.left()
                self.close_connection = True

        def _line(self, text: str) -> None:
            data = f"data: {text}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def _reset(self) -> None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True

        def _until_gone(self) -> None:
            select.select([self.connection], [], [], 60)
            server.left()
            self.close_connection = True

    return Handler


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given)


def _finish(reply: Reply) -> str | None:
    return (reply.finish or None) if reply.finish is not None else "tool_calls" if reply.calls else "stop"


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(reply.thinking, reply.piece):
        yield {"reasoning_content": piece}
    for piece in (
        itertools.cycle(_pieces(reply.text, reply.piece)) if reply.forever else _pieces(reply.text, reply.piece)
    ):
        yield {"content": piece}
    for index, (name, given) in enumerate(reply.calls):
        head = {"name": name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": f"call_{next(_ids)}", "type": "function", "function": head}]}
        for piece in _pieces(_arguments(given), reply.piece):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(reply: Reply) -> dict[str, Any]:
    return reply.usage or {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _chunks(reply: Reply, body: dict[str, Any]) -> Iterator[Any]:
    if reply.chunks is not None:
        yield from reply.chunks
        return
    base = {"id": "r1", "object": "chat.completion.chunk", "created": 0, "model": body.get("model", "scripted")}
    for delta in _deltas(reply):
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": _usage(reply)}


def _whole(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": f"call_{next(_ids)}", "type": "function", "function": {"name": name, "arguments": _arguments(given)}}
        for name, given in reply.calls
    ]
    message = {"role": "assistant", "content": reply.text or None, **({"tool_calls": calls} if calls else {})}
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply)}],
        "usage": _usage(reply),
    }
