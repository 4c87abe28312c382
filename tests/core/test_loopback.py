"""Looking for model servers on this machine: real servers on loopback, honest and hostile, on ports of the test's own."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from pegboard import loopback
from pegboard.loopback import FILE, Found, find_servers

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="owners of ports are known on Linux alone")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine may take longer than a person's: what is tested is not the time."""
    monkeypatch.setattr(loopback, "PATIENCE", 5.0)


@contextmanager
def speaking(answer: Callable[[socket.socket], object]) -> Iterator[int]:
    """A server that does as it likes with each connection; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as links:

        def serve() -> None:
            while True:
                try:
                    link, _ = listener.accept()
                except OSError:
                    return
                links.enter_context(link)
                threading.Thread(target=_quietly, args=(answer, link), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _quietly(answer: Callable[[socket.socket], object], link: socket.socket) -> None:
    try:
        link.recv(4096)
        answer(link)
        link.close()
    except OSError:
        return


def page(body: bytes, *, head: str = "HTTP/1.1 200 OK", length: bool = True) -> Callable[[socket.socket], object]:
    extra = f"Content-Length: {len(body)}\r\n" if length else ""
    return lambda link: link.sendall(f"{head}\r\n{extra}\r\n".encode() + body)


def listing(*names: Any) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def test_a_server_is_found_with_its_models_by_name() -> None:
    models = ["zeta", {"id": "alpha", "meta": {"n_ctx": 4096}}, {"id": "beta", "max_model_len": 8192}]
    with ModelServer(models=models) as server:
        found = find_servers(None, ports=[server.port])
    assert found == [Found(port=server.port, models=["alpha", "beta", "zeta"], context={"alpha": 4096, "beta": 8192})]
    assert [seen.path for seen in server.requests] == ["/v1/models"]


def test_servers_come_in_the_order_of_the_ports() -> None:
    with ModelServer(models=["b"]) as one, ModelServer(models=["a"]) as two:
        assert [found.models for found in find_servers(None, ports=[two.port, 1, one.port])] == [["a"], ["b"]]


def test_where_nothing_listens_nothing_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert find_servers(None, ports=[port]) == []


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    with speaking(page(listing("m"), length=False)) as port:
        assert find_servers(None, ports=[port])[0].models == ["m"]


def test_a_server_that_keeps_the_connection_open_is_believed_by_its_length() -> None:
    def answer(link: socket.socket) -> None:
        page(listing("m"))(link)
        time.sleep(30)

    with speaking(answer) as port:
        assert find_servers(None, ports=[port])[0].models == ["m"]


HOSTILE = {
    "not HTTP": lambda link: link.sendall(b"\x00\xff" * 500),
    "says nothing and hangs up": lambda link: None,
    "a page": page(b"<html>hello</html>"),
    "no list": page(b'{"data": {"id": "m"}}'),
    "an empty list": page(listing()),
    "no names": page(listing(5, None, "", "a b", "x" * 300, "esc\x1b[31m")),
    "not found": page(listing("m"), head="HTTP/1.1 404 Not Found"),
    "a redirect": page(listing("m"), head="HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/v1/models"),
    "deep": page(b'{"data": ' + b"[" * 200_000),
    "too long": page(b'{"data": [{"id": "m"}], "x": "' + b"y" * 1_100_000 + b'"}'),
    "a length of megabytes and then nothing": page(b"", head="HTTP/1.1 200 OK\r\nContent-Length: 99999999999"),
    "a head without an end": lambda link: [link.sendall(b"X-A: b\r\n" * 1000) for _ in range(200)],
    "endless": lambda link: [link.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"z" * 65536) for _ in range(100_000)],
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE.keys())
def test_whatever_else_listens_is_no_server(answer: Callable[[socket.socket], object]) -> None:
    with speaking(answer) as port, ModelServer(models=["good"]) as server:
        assert [found.models for found in find_servers(None, ports=[port, server.port])] == [["good"]]


def test_one_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "PATIENCE", 0.3)
    ended = threading.Event()

    def drip(link: socket.socket) -> None:
        try:
            for char in b"HTTP/1.1 200 OK\r\n" * 1000:
                link.sendall(bytes([char]))
                time.sleep(0.02)
        except OSError:
            ended.set()

    with speaking(drip) as port:
        assert find_servers(None, ports=[port]) == []
        assert ended.wait(60), "its thread still listens"


def test_models_that_only_embed_do_not_answer() -> None:
    with ModelServer(models=["a-text-embedding", "chat"]) as server:
        assert find_servers(None, ports=[server.port])[0].models == ["chat"]


# --- whose port it is -------------------------------------------------------------------------------------------------

TABLE = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def row(port: int, uid: int, *, address: str = "0100007F", state: str = "0A") -> str:
    return f"   0: {address}:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {uid:5d} 0 1 1 0\n"


@linux
@pytest.mark.parametrize(
    ("rows", "believed"),
    [
        ([(0, "0A")], True),
        ([(os.getuid(), "0A")], True),
        ([(os.getuid() + 1, "0A")], False),
        ([(os.getuid(), "0A"), (os.getuid() + 1, "0A")], False),
        ([(os.getuid() + 1, "01"), (os.getuid(), "0A")], True),
        ([], False),
    ],
)
def test_only_a_port_of_this_user_or_root_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: list[tuple[int, str]], believed: bool
) -> None:
    with ModelServer() as server:
        table = tmp_path / "tcp"
        table.write_text(TABLE + "".join(row(server.port, uid, state=state) for uid, state in rows), "ascii")
        monkeypatch.setattr(loopback, "TABLES", [str(table), str(tmp_path / "tcp6-is-not-there")])
        assert bool(find_servers(None, ports=[server.port])) == believed
        assert bool(server.requests) == believed, "a stranger's port was asked"


@linux
def test_the_real_tables_know_who_listens() -> None:
    with ModelServer() as server:
        assert loopback.trusted(server.port)
    with socket.create_server(("::1", 0), family=socket.AF_INET6) if socket.has_ipv6 else ModelServer() as other:
        port = other.getsockname()[1] if isinstance(other, socket.socket) else other.port
        assert loopback.trusted(port)


# --- kept for an hour -------------------------------------------------------------------------------------------------


def test_an_answer_is_kept_while_the_same_ports_listen(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with ModelServer(models=["a"]) as server, ModelServer(models=["b"]) as other:
        first = find_servers(state, ports=[server.port])
        assert find_servers(state, ports=[server.port]) == first
        assert len(server.requests) == 1
        find_servers(state, ports=[server.port], fresh=True)
        assert len(server.requests) == 2
        both = find_servers(state, ports=[server.port, other.port])
        assert [found.models for found in both] == [["a"], ["b"]]


@linux
def test_that_there_is_none_is_kept_too_until_something_new_listens(tmp_path: Path) -> None:
    asked: list[int] = []
    with speaking(lambda link: asked.append(1)) as port:
        assert find_servers(tmp_path, ports=[port]) == []
        assert find_servers(tmp_path, ports=[port]) == []
        assert len(asked) == 1
        with ModelServer(models=["a"]) as server:
            assert len(find_servers(tmp_path, ports=[port, server.port])) == 1


@pytest.mark.parametrize("shift", [3601, -3600])
def test_an_answer_of_another_hour_is_not_believed(tmp_path: Path, shift: float) -> None:
    with ModelServer(models=["a"]) as server:
        find_servers(tmp_path, ports=[server.port])
        kept = json.loads((tmp_path / FILE).read_text("utf-8"))
        (tmp_path / FILE).write_text(json.dumps({**kept, "at": kept["at"] - shift}), "utf-8")
        find_servers(tmp_path, ports=[server.port])
        assert len(server.requests) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"at": "x"}', "\udcff"])
def test_a_spoilt_file_is_asked_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    with ModelServer(models=["a"]) as server:
        assert find_servers(tmp_path, ports=[server.port])[0].models == ["a"]


def test_a_state_folder_that_cannot_be_made_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with ModelServer(models=["a"]) as server:
        assert find_servers(tmp_path / "file" / "state", ports=[server.port])[0].models == ["a"]


def test_looking_imports_no_http_client() -> None:
    import subprocess

    heavy = ["http.client", "httpx2", "openai", "asyncio"]
    code = f"import sys, pegboard.loopback; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
