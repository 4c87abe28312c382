"""A real HTTP server on loopback that says exactly what a test tells it to, byte for byte where that matters."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import pytest

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass
class WebServer:
    """`say` what a path answers, then look at `asked`. The same server is `localhost` and `127.0.0.1`: two origins."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    _says: dict[str, bytes | Handler] = field(default_factory=dict)
    _started: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def other(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def hosts(self) -> list[str]:
        """For `web.allow_hosts`."""
        return [f"localhost:{self.port}", f"127.0.0.1:{self.port}"]

    def say(self, path: str, body: bytes | str = b"", status: int | str = 200, **headers: str) -> str:
        """Answer so at this path; underscores in names of headers are hyphens. Returns the URL."""
        data = body.encode() if isinstance(body, str) else body
        named = {"content-length": str(len(data))} | {k.replace("_", "-"): v for k, v in headers.items()}
        lines = [f"HTTP/1.1 {status}" + ("" if isinstance(status, str) else " Fine")]
        lines += [f"{name}: {value}" for name, value in named.items()]
        return self.send(path, ("\r\n".join([*lines, "", ""])).encode("utf-8", "surrogateescape") + data)

    def send(self, path: str, what: bytes | Handler) -> str:
        """Answer with these bytes, or as a function writes them. Returns the URL."""
        self._says[path] = what
        return self.url + path

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, target, _ = head[0].split(" ")
            headers = [(name, value) for line in head[1:-2] for name, _, value in [line.partition(": ")]]
            asked = Asked(method, target, headers, b"")
            asked.body = await reader.readexactly(int(asked.header("content-length") or 0))
            self.asked.append(asked)
            says = self._says.get(target.partition("?")[0], b"HTTP/1.1 404 Not Here\r\ncontent-length: 0\r\n\r\n")
            if isinstance(says, bytes):
                writer.write(says)
                await writer.drain()
            else:
                await says(writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _run(self, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await stop.wait()
        server.close()

    def __enter__(self) -> WebServer:
        self._loop, self._stop = asyncio.new_event_loop(), asyncio.Event()

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(self._run(self._stop))
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
                self._loop.run_until_complete(asyncio.wait([task]))
            self._loop.close()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        self._started.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)


@pytest.fixture(scope="module")
def started_server() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def server(started_server: WebServer) -> WebServer:
    """The module's server, with an empty memory."""
    started_server.asked.clear()
    started_server._says.clear()
    return started_server


@pytest.fixture(scope="session")
def pdf() -> Callable[..., bytes]:
    """Makes small PDFs: a text for each page, and a title."""
    return made_pdf


def made_pdf(*pages: str, title: str = "") -> bytes:
    """A PDF of these pages, in one standard font."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\n"
    return out + end.encode() + f"startxref\n{len(out)}\n%%EOF\n".encode()
