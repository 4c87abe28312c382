"""Whatever a server says stands between marks: one hostile server says the same word everywhere, to every tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pegboard_tools_web
import pytest
from pegboard.testing.bench import TestBoard
from pegboard_tools_web.backends.ddgs_child import reason
from pegboard_tools_web.children import _last

WORD = "zqobey"
BLOCK = re.compile(r"(<(outside-[0-9a-f]{12})> What follows[^\n]*\n)(.*?)(</\2>)", re.DOTALL)
HEADERS = dict.fromkeys(
    ("server", "etag", "link", "retry_after", "www_authenticate", "content_disposition", "x_other"),
    f"{WORD} {WORD}/x; charset={WORD}",
)
PAGE = f"<html><head><title>{WORD}</title></head><body><h1>{WORD}</h1><p><a href='/{WORD}'>{WORD}</a></p></body></html>"


def outside_of_marks(text: str) -> str:
    """A text without what stands between marks; the line that explains them counts as outside."""
    return BLOCK.sub(r"\1\4", text)


@pytest.fixture
def board(tmp_path: Path, server: Any) -> Iterator[TestBoard]:
    settings = {
        "web.allow_hosts": server.hosts,
        "web.search_backend": "searxng",
        "web.searxng_url": server.url,
        "web.max_redirects": 2,
    }
    with_server = TestBoard(tmp_path, modules={"web": pegboard_tools_web}, settings=settings, answers="--yes")
    yield with_server
    with_server.close()


def _page(server: Any) -> None:
    server.say("/a", PAGE, f"200 {WORD}", content_type=f"text/html; charset={WORD}", **HEADERS)


def _odd_type(server: Any) -> None:
    server.say("/a", "words", content_type=f"{WORD} {WORD}", **HEADERS)


def _binary(server: Any) -> None:
    server.say("/a", b"\0\1\2", content_type=f"text/{WORD} {WORD}", **HEADERS)


def _error(server: Any) -> None:
    server.say("/a", PAGE, f"404 {WORD}", content_type="text/html", **HEADERS)


def _unknown_status(server: Any) -> None:
    server.say("/a", PAGE, f"799 {WORD}", content_type="text/html", **HEADERS)


def _bad_pdf(server: Any) -> None:
    body = f"%PDF-1.4\n1 0 obj << /Type /{WORD} >>\nstartxref\n{WORD}\n%%EOF".encode()
    server.say("/a", body, content_type="application/pdf", **HEADERS)


def _packed(server: Any) -> None:
    server.say("/a", "words", content_encoding=WORD, **HEADERS)


def _redirect(server: Any) -> None:
    server.say("/a", status=f"302 {WORD}", location=f"/{WORD}?{WORD}", **HEADERS)
    server.say(f"/{WORD}", PAGE, f"200 {WORD}", content_type="text/html", **HEADERS)


def _redirect_to_an_error(server: Any) -> None:
    server.say("/a", status=f"302 {WORD}", location=f"/{WORD}?{WORD}", **HEADERS)
    server.say(f"/{WORD}", PAGE, f"500 {WORD}", content_type="text/html", **HEADERS)


def _redirect_to_what_is_no_page(server: Any) -> None:
    server.say("/a", status=302, location=f"/{WORD}")
    server.say(f"/{WORD}", b"\0\0\1", content_type="image/png")


def _redirect_to_what_breaks_off(server: Any) -> None:
    server.say("/a", status=302, location=f"/{WORD}")
    server.send(f"/{WORD}", f"{WORD}\r\n\r\n".encode())


def _redirect_to_what_cannot_be_unpacked(server: Any) -> None:
    server.say("/a", status=302, location=f"/{WORD}")
    server.say(f"/{WORD}", "words", content_encoding="gzip")


def _refused_redirects(location: str) -> Callable[[Any], None]:
    return lambda server: server.say("/a", status=f"302 {WORD}", location=location, **HEADERS) and None


def _circle(server: Any) -> None:
    server.say("/a", status=302, location=f"/{WORD}")
    server.say(f"/{WORD}", status=302, location=f"/{WORD}")


def _not_http(server: Any) -> None:
    server.send("/a", f"HTTP/1.1 {WORD} {WORD}\r\n{WORD}\r\n\r\n{WORD}".encode())


SAYS: dict[str, Callable[[Any], None]] = {
    "a page": _page,
    "a type that is none": _odd_type,
    "bytes": _binary,
    "an error": _error,
    "an unknown status": _unknown_status,
    "a damaged PDF": _bad_pdf,
    "an odd packing": _packed,
    "a redirect": _redirect,
    "a redirect to an error": _redirect_to_an_error,
    "a redirect to bytes": _redirect_to_what_is_no_page,
    "a redirect to what is not HTTP": _redirect_to_what_breaks_off,
    "a redirect to what cannot be unpacked": _redirect_to_what_cannot_be_unpacked,
    "a redirect inside": _refused_redirects(f"http://10.0.0.1/{WORD}?{WORD}#{WORD}"),
    "a redirect to another scheme": _refused_redirects(f"{WORD}:{WORD}"),
    "a redirect with a name": _refused_redirects(f"http://{WORD}:{WORD}@a.example/{WORD}"),
    "a redirect to a port": _refused_redirects(f"http://a.example:99/{WORD}"),
    "a redirect to no host": _refused_redirects(f"http://{WORD} {WORD}/"),
    "redirects in a circle": _circle,
    "what is not HTTP": _not_http,
}


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("tool", ["web_fetch", "http_request"])
def test_no_word_of_a_server_stands_outside_of_the_marks(says: str, tool: str, board: TestBoard, server: Any) -> None:
    SAYS[says](server)
    record = board.call(tool, url=server.url + "/a")
    assert server.asked and record.text
    assert WORD not in outside_of_marks(record.text), record.text


def test_a_change_that_is_not_repeated_elsewhere_tells_no_word_of_the_server(board: TestBoard, server: Any) -> None:
    url = server.say("/a", status=f"307 {WORD}", location=f"{server.other}/{WORD}?{WORD}", **HEADERS)
    record = board.call("http_request", url=url, method="POST", body="x")
    assert WORD in record.text and WORD not in outside_of_marks(record.text)
    assert f"It redirects to {server.other}; " in outside_of_marks(record.text)


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"title": WORD, "url": f"https://a.example/{WORD}", "content": WORD}, {"title": [WORD]}]},
        {"results": [], "unresponsive_engines": [[WORD, WORD]], WORD: WORD},
        {"results": WORD},
    ],
)
def test_a_search_tells_no_word_of_the_server_outside(answer: dict[str, Any], board: TestBoard, server: Any) -> None:
    server.say("/search", json.dumps(answer), f"200 {WORD}", **HEADERS)
    assert WORD not in outside_of_marks(board.call("web_search", query="x").text)
    server.say("/search", WORD, f"500 {WORD}", **HEADERS)
    assert WORD not in outside_of_marks(board.call("web_search", query="x").text)


@pytest.mark.parametrize("path", [WORD, f"{WORD}\u00fc'{WORD}"])
def test_a_result_is_told_by_its_id_and_host(path: str, board: TestBoard, server: Any) -> None:
    """The URL of a result is the search engine's text, whether the page behind it can be read or not."""
    for url in (
        f"{server.url}/{path}",
        f"http://u@localhost/{path}",
        f"http://10.0.0.1/{path}",
        f"http://127.1/{path}",
    ):
        answer = {"results": [{"title": "t", "url": url}]}
        server.say("/search", json.dumps(answer))
        found = board.call("web_search", query="x").data["searches"][0]["results"]
        record = board.call("web_fetch", url=found[0]["id"])
        assert WORD not in outside_of_marks(record.text), record.text
        assert found[0]["id"] in record.text


def test_errors_of_libraries_are_told_by_their_kind_alone() -> None:
    assert WORD not in reason(ValueError(f"{WORD} in the answer"))
    assert WORD not in _last(f"Traceback\nValueError: a page said\n{WORD} {WORD}".encode())
    assert _last(b"Traceback\nlxml.etree.ParserError: Document is empty") == "lxml.etree.ParserError"
