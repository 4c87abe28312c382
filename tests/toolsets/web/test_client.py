"""The HTTP client of the set, against a real server: bodies, limits, redirects, headers, proxies, turns."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.errors import Interrupted, ToolError
from pegboard.kit.net import parse
from pegboard_tools_web.asking import Asked, Stay, checked, redirected
from pegboard_tools_web.client import Reply, request
from pegboard_tools_web.net import Net
from pegboard_tools_web.settings import Settings
from pegboard_tools_web.unpacking import BadPacking, unpacker

Get = Callable[..., Awaitable[Reply]]


@pytest.fixture
def get(server: Any) -> Get:
    """A request under settings that open the server."""

    async def ask(url: str, method: str = "GET", settings: dict[str, Any] | None = None, **options: Any) -> Reply:
        return await request(Settings(allow_hosts=server.hosts, **(settings or {})), method, url, **options)

    return ask


def drip(piece: bytes, pause: float = 0.02, head: bytes = b"HTTP/1.1 200 Fine\r\n\r\n") -> Any:
    """Sends the same again and again, without end."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return send


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


# --- replies ----------------------------------------------------------------------------------------------------------


async def test_a_reply_has_status_headers_and_body(server: Any, get: Get) -> None:
    reply = await get(server.say("/a", "hello", 418, X_Tea="yes", content_type="text/plain"))

    assert (reply.status, reply.reason, reply.body, reply.truncated) == (418, "Fine", b"hello", False)
    assert (reply.header("X-TEA"), reply.header("none"), reply.url) == ("yes", None, server.url + "/a")


async def test_the_host_header_is_the_name_and_nothing_else_is_told(server: Any, get: Get) -> None:
    await get(server.say("/a") + "?b=c#d")

    asked = server.asked[0]
    assert (asked.method, asked.target) == ("GET", "/a?b=c")
    assert {name.lower() for name, _ in asked.headers} == {
        "host",
        "connection",
        "user-agent",
        "accept",
        "accept-encoding",
    }
    assert asked.header("host") == f"localhost:{server.port}"


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_replies_without_a_body(said: bytes, server: Any, get: Get) -> None:
    reply = await get(server.send("/a", said))
    assert (reply.body, reply.truncated) == (b"", False)


async def test_head_has_no_body_whatever_its_headers_say(server: Any, get: Get) -> None:
    reply = await get(
        server.send("/a", b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\ncontent-encoding: gzip\r\n\r\n"), "HEAD"
    )
    assert (reply.status, reply.header("content-length"), reply.body) == (200, "99", b"")


@pytest.mark.parametrize(
    "said",
    [
        b"ICY 200 OK\r\n\r\nhello",
        b"HTTP/1.1 abc\r\n\r\n",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nx: " + b"a" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        b"",
    ],
    ids=[
        "icy",
        "no number",
        "ssh",
        "short",
        "two lengths",
        "no length",
        "bad chunk",
        "long head",
        "switching",
        "nothing",
    ],
)
async def test_what_is_not_http_or_breaks_off_is_an_error(said: bytes, server: Any, get: Get) -> None:
    with pytest.raises(ToolError, match=r"broke off|did not answer as HTTP does") as failed:
        await get(server.send("/a", said))
    assert "SSH" not in str(failed.value)  # what a server says does not stand outside of the marks


async def test_a_body_longer_than_was_said_is_read_as_far_as_was_said(server: Any, get: Get) -> None:
    reply = await get(server.send("/a", b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhello world"))
    assert reply.body == b"hell"


async def test_a_server_that_is_not_there(server: Any) -> None:
    with pytest.raises(ToolError, match=r"cannot be reached .*Nothing was sent"):
        await request(Settings(allow_hosts=["localhost:9"]), "GET", "http://localhost:9/")


# --- limits -----------------------------------------------------------------------------------------------------------


async def test_a_body_without_end_is_cut_at_the_limit(server: Any, get: Get) -> None:
    reply = await get(server.send("/a", drip(b"x" * 10_000, 0)), max_bytes=25_000)
    assert (len(reply.body), reply.truncated) == (25_000, True)


async def test_a_body_of_just_the_limit_is_whole(server: Any, get: Get) -> None:
    url = server.say("/a", b"x" * 5000)
    assert (await get(url, max_bytes=5000)).truncated is False
    assert (await get(url, max_bytes=4999)).truncated is True
    assert (await get(url, settings={"max_bytes": 4999})).truncated is True


async def test_who_looks_at_the_body_can_end_it(server: Any, get: Get) -> None:
    seen: list[bytes] = []

    def enough(piece: bytes) -> bool:
        seen.append(piece)
        return len(seen) == 2

    reply = await get(server.send("/a", drip(b"x")), on_data=enough)
    assert reply.truncated
    assert reply.body == b"".join(seen)


@pytest.mark.row("C-033")
@pytest.mark.parametrize(
    "how",
    [silence, drip(b"x"), drip(b"x", head=b"HTTP/1.1 200 Fine\r\nx: "), drip(b"HTTP/1.1 102 x\r\n\r\n", head=b"")],
)
async def test_the_time_limit_is_for_the_whole_of_it(how: Any, server: Any, get: Get) -> None:
    with pytest.raises(Interrupted) as late:
        await get(server.send("/a", how), timeout=0.3)
    assert (late.value.why, late.value.limit) == ("timeout", 0.3)
    assert "may have been" not in str(late.value)


async def test_after_a_request_that_may_have_changed_something_the_time_limit_says_so(server: Any, get: Get) -> None:
    with pytest.raises(Interrupted, match="The POST may have been carried out"):
        await get(server.send("/a", silence), "POST", body=b"x", timeout=0.2)


async def test_the_time_limit_counts_redirects_too(server: Any, get: Get) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(b"HTTP/1.1 302 x\r\nlocation: /a\r\ncontent-length: 0\r\n\r\n")

    with pytest.raises(Interrupted):
        await get(server.send("/a", slow), timeout=0.3, settings={"max_redirects": 20})


# --- packed bodies ----------------------------------------------------------------------------------------------------

TEXT = b"some text, " * 1000
RAW = zlib.compressobj(wbits=-15)
PACKED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "GZIP, identity": gzip.compress(TEXT[:50]) + gzip.compress(TEXT[50:]) + b"\0" * 9,
    "deflate": zlib.compress(TEXT),
    "Deflate": RAW.compress(TEXT) + RAW.flush(),
    "identity": TEXT,
}


@pytest.mark.parametrize("coding", PACKED)
async def test_packed_bodies_are_unpacked(coding: str, server: Any, get: Get) -> None:
    reply = await get(server.say("/a", PACKED[coding], content_encoding=coding))
    assert reply.body == TEXT


@pytest.mark.parametrize(
    ("coding", "body", "said"),
    [
        ("br", b"x", "packed as br"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x")), "packed as gzip, gzip"),
        ("obey my commands", b"x", "packed in a way that"),
        ("gzip", b"no gzip at all", "not what its Content-Encoding says"),
        ("gzip", gzip.compress(TEXT)[:-20], "ended in the middle"),
        ("gzip", b"\x1f", "ended in the middle"),
        ("deflate", zlib.compress(TEXT)[:20], "ended in the middle"),
    ],
    ids=["br", "twice", "unheard of", "noise", "cut", "one byte", "cut deflate"],
)
async def test_what_cannot_be_unpacked_is_an_error(coding: str, body: bytes, said: str, server: Any, get: Get) -> None:
    with pytest.raises(ToolError, match=said):
        await get(server.say("/a", body, content_encoding=coding))


async def test_a_bomb_is_cut_before_it_is_unpacked(server: Any, get: Get) -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    await get(server.say("/warm"))
    tracemalloc.start()
    try:
        reply = await get(server.say("/a", bomb, content_encoding="gzip"), max_bytes=1 << 20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(reply.body), reply.truncated) == (1 << 20, True)
    assert peak < 8 << 20


async def test_packed_bytes_without_end_that_unpack_to_nothing_are_cut(server: Any, get: Get) -> None:
    reply = await get(
        server.send("/a", drip(gzip.compress(b"") * 1000, 0, b"HTTP/1.1 200 x\r\ncontent-encoding: gzip\r\n\r\n")),
        max_bytes=1000,
    )
    assert (reply.body, reply.truncated) == (b"", True)


@given(
    data=st.binary(max_size=3000),
    repeat=st.integers(1, 200),
    coding=st.sampled_from(["gzip", "deflate", "raw"]),
    size=st.integers(1, 5000),
)
def test_unpacking_gives_the_same_whatever_the_pieces(data: bytes, repeat: int, coding: str, size: int) -> None:
    whole = data * repeat
    packer = zlib.compressobj(wbits={"gzip": 31, "deflate": 15, "raw": -15}[coding])
    packed = packer.compress(whole) + packer.flush()
    unpack = unpacker("deflate" if coding == "raw" else coding)
    pieces = [piece for at in range(0, len(packed), size) for piece in unpack.pieces(packed[at : at + size])]
    if coding != "raw" or not (packed[0] & 15 == 8 and (packed[0] << 8 | packed[1]) % 31 == 0):
        unpack.finish()
        assert b"".join(pieces) == whole
        assert all(len(piece) <= 1 << 16 for piece in pieces)


@given(noise=st.binary(max_size=200), coding=st.sampled_from(["gzip", "deflate"]))
def test_noise_is_unpacked_or_refused(noise: bytes, coding: str) -> None:
    unpack = unpacker(coding)
    try:
        list(unpack.pieces(noise))
        unpack.finish()
    except BadPacking:
        pass


# --- redirects --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        (301, "GET", "GET"), (302, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (307, "GET", "GET"), (308, "GET", "GET"),
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
        (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"), (303, "DELETE", "GET"), (308, "PATCH", "PATCH"),
    ],
)  # fmt: skip
async def test_which_method_follows_a_redirect(status: int, method: str, then: str, server: Any, get: Get) -> None:
    body = None if method in ("GET", "HEAD") else b"data"
    server.say("/b")
    reply = await get(
        server.say("/a", status=status, location="/b"), method, body=body, headers=[("Content-Type", "x/y")]
    )

    assert (reply.url, reply.hops) == (server.url + "/b", [server.url + "/a"])
    last = server.asked[-1]
    kept = body is not None and then == method
    assert (last.method, last.body) == (then, b"data" if kept else b"")
    assert (last.header("content-type") is not None) == kept


async def test_another_origin_is_not_told_what_could_be_a_credential(server: Any, get: Get) -> None:
    server.say("/b")
    given_headers = {"Authorization": "a", "Cookie": "b", "X-Api-Key": "c", "Private-Token": "d", "Referer": "e"}
    given_headers |= {"If-Match": "f", "If-None-Match": "g", "Cache-Control": "h"}
    harmless = {"Accept": "text/html", "Accept-Language": "de", "Range": "bytes=0-9", "User-Agent": "me"}
    headers = [*given_headers.items(), *harmless.items()]

    await get(server.say("/a", status=302, location="/b"), headers=headers)
    assert all(server.asked[-1].header(name) == value for name, value in headers)

    await get(server.say("/a", status=302, location=server.other + "/b"), headers=headers)
    last = server.asked[-1]
    assert last.header("host") == f"127.0.0.1:{server.port}"
    assert [name for name in given_headers if last.header(name) is not None] == []
    assert all(last.header(name) == value for name, value in harmless.items())

    server.say("/b", status=302, location=server.url + "/c")
    server.say("/c")
    await get(server.url + "/a", headers=headers)
    assert server.asked[-1].target == "/c"
    assert server.asked[-1].header("authorization") is None  # not even back at the first


async def test_a_method_that_a_header_declares_is_gone_when_a_redirect_makes_it_a_get(server: Any, get: Get) -> None:
    server.say("/b")
    url = server.say("/a", status=303, location="/b")
    await get(url, "POST", body=b"x", headers=[("X-HTTP-Method-Override", "DELETE")])
    assert (server.asked[-1].method, server.asked[-1].header("x-http-method-override")) == ("GET", None)


async def test_a_read_that_a_header_makes_a_change_is_not_repeated_at_another_host(server: Any, get: Get) -> None:
    url = server.say("/a", status=307, location=server.other + "/b")
    reply = await get(url, headers=[("X-HTTP-Method-Override", "DELETE")])
    assert (reply.status, len(server.asked)) == (307, 1)


async def test_what_changes_something_is_not_repeated_at_another_host(server: Any, get: Get) -> None:
    server.say("/b")
    url = server.say("/a", "moved", 307, location=server.other + "/b")

    reply = await get(url, "POST", body=b"secret")

    assert (reply.status, reply.body, reply.url) == (307, b"moved", url)
    assert reply.note is not None
    assert reply.note.startswith(f"It redirects to {server.other}; ")
    assert [asked.target for asked in server.asked] == ["/a"]
    assert (await get(server.say("/a", status=303, location=server.other + "/b"), "POST", body=b"x")).status == 200
    assert (server.asked[-1].method, server.asked[-1].body) == ("GET", b"")


def test_a_redirect_from_https_to_http_is_not_followed() -> None:
    with pytest.raises(Stay, match="not encrypted"):
        redirected(Asked(method="GET", target=parse("https://docs.example/")), 302, "http://docs.example/")


@pytest.mark.row("Z-044")
async def test_a_redirect_to_a_place_that_is_not_public_is_an_error_that_names_both(server: Any, get: Get) -> None:
    url = server.say("/a", status=302, location="http://10.0.0.5/x")
    with pytest.raises(ToolError) as refused:
        await get(url)
    assert url in str(refused.value)
    assert "10.0.0.5 is not public" in str(refused.value)


@pytest.mark.row("Z-044")
async def test_what_is_opened_by_its_name_is_not_opened_for_another_name_in_a_redirect(server: Any) -> None:
    url = server.say("/a", status=302, location=server.other + "/b")
    server.say("/b")
    with pytest.raises(ToolError, match="redirects to a place that may not be requested"):
        await request(Settings(allow_hosts=[f"localhost:{server.port}"]), "GET", url)
    assert len(server.asked) == 1


async def test_redirects_end(server: Any, get: Get) -> None:
    url = server.say("/a", status=302, location="/a")
    with pytest.raises(ToolError, match="more than 5 times"):
        await get(url)
    assert len(server.asked) == 6


async def test_a_redirect_can_be_looked_at_instead(server: Any, get: Get) -> None:
    reply = await get(server.say("/a", "moved", 302, location="file:///etc/passwd"), allow_redirects=False)
    assert (reply.status, reply.body, reply.header("location")) == (302, b"moved", "file:///etc/passwd")


@pytest.mark.parametrize("headers", [{}, {"location": ""}])
async def test_a_redirect_that_leads_nowhere_is_a_reply(headers: dict[str, str], server: Any, get: Get) -> None:
    assert (await get(server.say("/a", "x", 302, **headers))).status == 302


async def test_a_location_of_raw_utf8_is_understood(server: Any, get: Get) -> None:
    server.say("/gr%C3%BCn", "found")
    assert (await get(server.say("/a", status=302, location="/grün"))).body == b"found"


# --- headers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        ("Host", "127.0.0.1"), ("hOST", "x"), ("Content-Length", "0"), ("Transfer-Encoding", "chunked"), ("Connection", "x"),
        ("Proxy-Authorization", "x"), ("Upgrade", "h2c"), ("Expect", "100-continue"), ("", "x"), ("a b", "x"), ("a:", "x"),
        ("a\r\nHost", "x"), ("Ä", "x"), ("A", "x\r\nHost: y"), ("A", "x\ny"), ("A", "x\0"), ("A", "\ud800"),
        ("A", "x" * 20_000),
    ],
)  # fmt: skip
async def test_headers_that_would_change_what_is_sent_where_are_refused(
    header: tuple[str, str], server: Any, get: Get
) -> None:
    with pytest.raises(ToolError, match="Nothing was requested"):
        await get(server.say("/a"), headers=[header])
    assert server.asked == []


@given(name=st.text(max_size=8), value=st.text(max_size=8))
def test_a_header_that_passes_is_one_line(name: str, value: str) -> None:
    try:
        passed = checked([(name, value)])
    except ToolError:
        return
    line = Asked(method="GET", target=parse("http://a.example"), headers=passed).sent("x")[-1]
    assert not any(byte in b"\r\n\0" for part in line for byte in part)


async def test_cookies_are_not_kept(server: Any, get: Get) -> None:
    server.say("/b")
    await get(server.say("/a", status=302, location="/b", set_cookie="a=b"))
    await get(server.url + "/b")
    assert [asked.header("cookie") for asked in server.asked] == [None] * 3


async def test_a_part_is_asked_for_as_it_is(server: Any, get: Get) -> None:
    await get(server.say("/a"), headers=[("Range", "bytes=0-9")])
    assert server.asked[0].header("accept-encoding") == "identity"


# --- proxies ----------------------------------------------------------------------------------------------------------


async def test_proxies_of_the_environment_are_not_used(server: Any, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await get(server.say("/a", "direct"))).body == b"direct"


async def test_a_configured_proxy_is_used_and_told_no_more_than_it_needs(server: Any) -> None:
    server.say("http://docs.example/a", "by proxy")
    settings = Settings(proxy=f"http://me:pw@127.0.0.1:{server.port}")
    net = Net.of(settings)

    async def nothing(host: str, port: int) -> list[str]:
        raise OSError("unknown here")

    net.look_up = nothing
    reply = await request(settings, "GET", "http://docs.example/a", net=net)

    assert reply.body == b"by proxy"
    asked = server.asked[0]
    assert (asked.target, asked.header("host")) == ("http://docs.example/a", "docs.example")
    assert asked.header("proxy-authorization") == "Basic bWU6cHc="


async def test_https_goes_through_a_proxy_in_a_tunnel_and_its_refusal_is_told(server: Any) -> None:
    server.say("docs.example:443", status="407 Who are you")
    settings = Settings(proxy=f"http://127.0.0.1:{server.port}")
    net = Net.of(settings)

    async def public(host: str, port: int) -> list[str]:
        return ["93.184.216.34"]

    net.look_up = public
    with pytest.raises(ToolError, match=r"did not pass the request to docs\.example on \(407 Proxy Authentication Req"):
        await request(settings, "GET", "https://docs.example/a", headers=[("Authorization", "x")], net=net)
    assert (server.asked[0].method, server.asked[0].target) == ("CONNECT", "docs.example:443")
    assert server.asked[0].header("authorization") is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://localhost/", "http://inside.example/", "http://a.example:22/"]
)
@pytest.mark.row("Z-044")
async def test_a_proxy_is_not_asked_for_what_is_known_not_to_be_public(url: str, server: Any) -> None:
    settings = Settings(proxy=f"http://127.0.0.1:{server.port}")
    net = Net.of(settings)

    async def inside(host: str, port: int) -> list[str]:
        return ["10.0.0.1"]

    net.look_up = inside
    with pytest.raises(ToolError, match="Nothing was requested"):
        await request(settings, "GET", url, net=net)
    assert server.asked == []


# --- certificates -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """A server whose certificate is for docs.example, and that certificate."""
    import http.server
    import threading

    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    named = ["-subj", "/CN=docs.example", "-addext", "subjectAltName=DNS:docs.example"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, *made, *named, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    class Hello(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"to {self.headers['host']}".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, certificate
    server.shutdown()
    server.server_close()


def trusting(port: int, context: ssl.SSLContext | None) -> Net:
    async def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    settings = Settings(allow_hosts=["docs.example", "other.example"])
    return Net(Net.of(settings).policy, look_up=here, ssl_context=context)


async def test_a_certificate_is_checked_against_the_name_not_the_address(secure: tuple[int, Path]) -> None:
    port, certificate = secure
    net = trusting(port, ssl.create_default_context(cafile=str(certificate)))

    reply = await request(Settings(), "GET", f"https://docs.example:{port}/", net=net)
    assert reply.body == f"to docs.example:{port}".encode()

    with pytest.raises(ToolError, match=r"certificate of other\.example:\d+ was not accepted"):
        await request(Settings(), "GET", f"https://other.example:{port}/", net=net)


async def test_a_certificate_that_nobody_vouches_for_is_not_accepted(secure: tuple[int, Path]) -> None:
    port, _ = secure
    with pytest.raises(ToolError, match=r"was not accepted .*Nothing was sent"):
        await request(Settings(), "GET", f"https://docs.example:{port}/", net=trusting(port, None))


# --- turns ------------------------------------------------------------------------------------------------------------


async def test_one_request_at_a_time_to_one_host(server: Any) -> None:
    active: list[None] = []
    most: list[int] = []

    async def together(writer: asyncio.StreamWriter) -> None:
        active.append(None)
        most.append(len(active))
        await asyncio.sleep(0.02)
        active.pop()
        writer.write(b"HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n")

    url = server.send("/a", together)
    settings = Settings(allow_hosts=server.hosts)
    await asyncio.gather(*(request(settings, "GET", url) for _ in range(4)))
    assert most == [1, 1, 1, 1]

    more = Settings(allow_hosts=server.hosts, per_host=4)
    await asyncio.gather(*(request(more, "GET", url) for _ in range(4)))
    assert max(most) > 1


async def test_different_hosts_do_not_wait_for_each_other_and_redirects_do_not_deadlock(server: Any, get: Get) -> None:
    here: list[None] = []

    async def meeting(writer: asyncio.StreamWriter) -> None:
        here.append(None)
        while len(here) < 2:
            await asyncio.sleep(0.01)
        writer.write(b"HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n")

    server.send("/a", meeting)
    settings = Settings(allow_hosts=server.hosts)
    await asyncio.gather(*(request(settings, "GET", host + "/a", timeout=10) for host in (server.url, server.other)))

    server.say("/there", status=302, location=server.other + "/end")
    server.say("/back", status=302, location=server.url + "/end")
    server.say("/end")
    both = [server.url + "/there", server.other + "/back"] * 5
    replies = await asyncio.gather(*(request(settings, "GET", url, timeout=10) for url in both))
    assert [reply.status for reply in replies] == [200] * 10
    assert settings.net._turns == {}


async def test_waiting_for_a_turn_is_not_in_the_time_limit_and_can_be_given_up(server: Any) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n")

    url = server.send("/a", slow)
    settings = Settings(allow_hosts=server.hosts)
    first = asyncio.create_task(request(settings, "GET", url))
    await asyncio.sleep(0.05)
    given_up = asyncio.create_task(request(settings, "GET", url))
    last = asyncio.create_task(request(settings, "GET", server.say("/b"), timeout=0.2))
    await asyncio.sleep(0.05)
    given_up.cancel()
    assert [(await first).status, (await last).status] == [200, 200]
    assert [asked.target for asked in server.asked] == ["/a", "/b"]


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        {"allow_hosts": ["http://localhost"]},
        {"allow_cidrs": ["everything"]},
        {"proxy": "socks5://a"},
        {"proxy": "a:3128"},
    ],
)
def test_a_setting_that_cannot_be_read_is_told_at_the_start(table: dict[str, Any]) -> None:
    import msgspec

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(table, Settings)


def test_the_set_is_there_without_the_client_and_the_guard() -> None:
    code = (
        "import sys, pegboard_tools_web as web; web.pegboard_tools(); web.Settings()\n"
        "late = {'httpx2', 'httpcore2', 'h11', 'anyio', 'truststore', 'trafilatura', 'ddgs', 'pegboard.kit.net'}\n"
        "late |= {f'pegboard_tools_web.{name}' for name in ('asking', 'hops', 'net', 'converting', 'backends.ddgs')}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
