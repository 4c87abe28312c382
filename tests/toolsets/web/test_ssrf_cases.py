"""Every line of the shared `ssrf.jsonl`, through the tools, over a network that is made of Python alone.

Look-ups and connections are replaced at the two places where the guard makes them (`Net.look_up`, `Net.open`), so what is
recorded is what would have been dialled. What the HTTP client makes of it is real.
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import ssl
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpcore2
import pegboard_tools_web
import pytest
from pegboard.calls import Record
from pegboard.kit.net import block_of
from pegboard.testing.bench import TestBoard
from pegboard_tools_web.net import Net
from pegboard_tools_web.settings import Settings

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "shared" / "cases" / "ssrf.jsonl").read_text(encoding="utf-8").splitlines()
]
TOOLS = ["web_fetch", "http_request"]
SHORT = 0.4
"""Seconds that stand for the ten of the cases, where one ends by its time limit."""


class World:
    """The DNS and the servers of one case, and what was asked of them."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.names: dict[str, list[str]] = setup.get("resolver") or {}
        self.in_turn: dict[str, list[list[str]]] = {k: list(v) for k, v in (setup.get("resolver_seq") or {}).items()}
        self.replies: dict[str, Any] = setup.get("http") or {}
        self.failing = bool(setup.get("fail_first"))
        self.dialled: list[str] = []
        self.hosts: list[str] = []
        self.tls_names: list[str] = []
        self.received = 0

    async def look_up(self, host: str, port: int) -> list[str]:
        if turns := self.in_turn.get(host):
            return turns.pop(0) if len(turns) > 1 else turns[0]
        if host in self.names:
            return self.names[host]
        try:  # numeric spellings go to the platform, as they would without us
            return [socket.inet_ntoa(socket.inet_aton(host))]
        except OSError:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from None

    async def open(self, address: str, port: int, timeout: float | None) -> Stream:
        self.dialled.append(address)
        if self.failing:
            self.failing = False
            raise httpcore2.ConnectError("connection refused")
        return Stream(self, address)

    def reply(self, url: str, address: str) -> dict[str, Any]:
        public = block_of(ip_address(address)) is None
        found: dict[str, Any] = self.replies.get(url) or self.replies["default_public" if public else "default_private"]
        return found


class Stream(httpcore2.AsyncNetworkStream):
    """A connection to one address of a World."""

    def __init__(self, world: World, address: str) -> None:
        self.world, self.address, self.scheme = world, address, "http"
        self.sent = b""
        self.coming: Iterator[bytes] | None = None

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        self.scheme = "https"
        self.world.tls_names.append(server_hostname or "")
        return self

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.sent += buffer
        if self.coming is None and b"\r\n\r\n" in self.sent:
            first, *rest = self.sent.decode().split("\r\n")
            host = next(line.partition(": ")[2] for line in rest if line.lower().startswith("host: "))
            self.world.hosts.append(host)
            reply = self.world.reply(f"{self.scheme}://{host}{first.split()[1]}", self.address)
            self.every = reply.get("every_s", 0)
            self.coming = wire(reply)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        assert self.coming is not None
        if self.every:
            await asyncio.sleep(self.every * SHORT / 10)
        piece = next(self.coming, b"")
        self.world.received += len(piece)
        return piece

    async def aclose(self) -> None:
        pass


def wire(reply: dict[str, Any]) -> Iterator[bytes]:
    """A reply as it comes over the connection."""
    headers = dict(reply["headers"])
    body = base64.b64decode(reply.get("b64", ""))
    if "b64" in reply:
        headers["content-length"] = str(len(body))
    lines = [f"HTTP/1.1 {reply['status']} x", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    yield "\r\n".join(lines).encode()
    if body:
        yield body
    while endless := base64.b64decode(reply.get("endless_b64") or reply.get("drip_b64") or ""):
        yield endless
    if zeros := reply.get("gzip_of_zeros"):
        packer, block = zlib.compressobj(wbits=31), bytes(1 << 20)
        for _ in range(zeros >> 20):
            if packed := packer.compress(block):
                yield packed
        yield packer.flush()


@pytest.fixture(scope="module")
def fetch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., tuple[Record, World]]]:
    """Run a case's URL through a tool; one board for each configuration."""
    boards: dict[str, TestBoard] = {}
    world: list[World] = []
    patch = pytest.MonkeyPatch()
    from_settings = Net.of

    def stubbed(settings: Settings) -> Net:
        return Net(
            from_settings(settings).policy,
            look_up=lambda host, port: world[0].look_up(host, port),
            open=lambda address, port, timeout: world[0].open(address, port, timeout),
            ssl_context=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )

    patch.setattr(Net, "of", staticmethod(stubbed))

    def run(tool: str, case: dict[str, Any]) -> tuple[Record, World]:
        config = case["call"]["config"]
        settings = {
            "web.ports": config["ports"],
            "web.max_redirects": config["max_redirects"],
            "web.max_bytes": config["max_bytes"],
            "web.allow_cidrs": config.get("allow_cidrs", []),
            "web.timeout": SHORT if "/slow" in case["call"]["args"]["url"] else 10.0,
        }
        key = json.dumps(settings)
        if key not in boards:
            root = tmp_path_factory.mktemp("root")
            boards[key] = TestBoard(root, modules={"web": pegboard_tools_web}, settings=settings)
        world[:] = [World(case["setup"])]
        return boards[key].call(tool, **case["call"]["args"]), world[0]

    yield run
    for board in boards.values():
        board.close()
    patch.undo()


def problems(expected: dict[str, Any], record: Record, world: World, peak: int) -> list[str]:
    """What is not as it should be. `max_seconds` is held by the small time limit: the endless would not end otherwise."""
    wanted = ("ok",) if expected["outcome"] == "ok" else ("error", "interrupted")  # what a tool refuses is an error
    found = [] if record.outcome in wanted else [f"{record.outcome} instead of {expected['outcome']}: {record.text}"]
    for fact in expected["must"]:
        (name, value), *_ = fact.items()
        facts: dict[str, Callable[[Any], bool]] = {
            "dialled_only": lambda v: set(world.dialled) <= set(v) and bool(v) == bool(world.dialled),
            "not_dialled": lambda v: not set(world.dialled) & set(v),
            "dial_count_max": lambda v: len(world.dialled) <= v,
            "sent_host": lambda v: set(world.hosts) == {v},
            "tls_name": lambda v: set(world.tls_names) == {v},
            "out_has": lambda v: v in record.text,
            "out_lacks": lambda v: v not in record.text,
            "out_has_any": lambda v: any(text in record.text for text in v),
            "received_max_bytes": lambda v: world.received <= v,
            "memory_max_mib": lambda v: peak <= v << 20,
            "max_seconds": lambda v: True,
        }
        if not facts[name](value):
            found.append(
                f"{fact}: dialled {world.dialled}, received {world.received}, peak {peak}, text {record.text!r}"
            )
    return found


@pytest.mark.row("Z-044")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case(case: dict[str, Any], tool: str, fetch: Callable[..., tuple[Record, World]]) -> None:
    measured = "memory_max_mib" in json.dumps(case["expect"])
    if measured:
        tracemalloc.start()
    record, world = fetch(tool, case)
    peak = tracemalloc.get_traced_memory()[1] if measured else 0
    if measured:
        tracemalloc.stop()
    choices = [case["expect"]]
    if not case["expect"].get("contested"):  # what is contested was decided: the first answer (decision record 0026)
        choices += case["expect"].get("accept_also", [])
    found = [problems(choice, record, world, peak) for choice in choices]
    assert [] in found, found


def test_all_cases_are_here() -> None:
    assert len(CASES) == 121


@pytest.mark.row("Z-044")
def test_when_the_first_address_does_not_answer_the_next_judged_one_is_dialled(
    fetch: Callable[..., tuple[Record, World]],
) -> None:
    case = json.loads(json.dumps(next(case for case in CASES if case["id"] == "ssrf-120")))
    case["setup"] |= {"resolver": {"public.example": ["93.184.216.34", "151.101.1.69"]}, "fail_first": True}

    record, world = fetch("http_request", case)

    assert record.outcome == "ok"
    assert world.dialled == ["93.184.216.34", "151.101.1.69"]


@pytest.mark.row("Z-044")
def test_a_name_is_looked_up_once_for_each_connection(fetch: Callable[..., tuple[Record, World]]) -> None:
    case = json.loads(json.dumps(next(case for case in CASES if case["id"] == "ssrf-127")))
    case["setup"]["resolver_seq"] = {"rebind.example": [["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]]}

    record, world = fetch("http_request", case)

    assert (record.outcome, world.dialled) == ("ok", ["93.184.216.34"])
    assert len(world.in_turn["rebind.example"]) == 2
