"""`web_search` against a real server that plays SearXNG, and ddgs itself against one that plays a search engine."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pegboard_tools_web
import pytest
from pegboard.calls import Call, Deny, Touch
from pegboard.testing.bench import TestBoard
from pegboard.tooling import Tool
from pegboard_tools_web.backends import Answered, ddgs
from pegboard_tools_web.backends.ddgs_child import search
from pegboard_tools_web.settings import Settings

MARKED = re.compile(r"<(outside-[0-9a-f]{12})> What follows.*?\n(.*?)\n?</\1>", re.DOTALL)


class SearXNG:
    """Says what each query finds; a number is a status. Counts how many are being answered at once."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.finds: dict[str, Any] = {}
        self.now = self.most = 0
        server.send("/search", self.answer)

    @property
    def queries(self) -> list[str]:
        return [parse_qs(urlsplit(one.target).query)["q"][0] for one in self.server.asked]

    def find(self, query: str, number: int) -> None:
        """Let a query find so many results."""
        slug = query.replace(" ", "-")
        self.finds[query] = [
            {"title": f"{query} {n}", "url": f"https://found.example/{slug}/{n}", "content": f"About {query}, {n}."}
            for n in range(1, number + 1)
        ]

    async def answer(self, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        asked = parse_qs(urlsplit(self.server.asked[-1].target).query)
        found = self.finds.get(asked["q"][0], []) if asked.get("format") == ["json"] else 400
        status, body = (found, b"no") if isinstance(found, int) else (200, found)
        if not isinstance(body, bytes):
            body = json.dumps({"query": asked["q"][0], "results": body} if isinstance(body, list) else body).encode()
        writer.write(f"HTTP/1.1 {status} Said\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        self.now -= 1


@pytest.fixture
def searxng(server: Any) -> SearXNG:
    return SearXNG(server)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., TestBoard]]:
    made: list[TestBoard] = []

    def board(settings: dict[str, Any], **options: Any) -> TestBoard:
        root = tmp_path / f"w{len(made)}"
        root.mkdir()
        made.append(TestBoard(root, modules={"web": pegboard_tools_web}, settings=settings, **options))
        return made[-1]

    yield board
    for one in made:
        one.close()


@pytest.fixture
def board(make: Callable[..., TestBoard], searxng: SearXNG) -> TestBoard:
    return make({"web.search_backend": "searxng", "web.searxng_url": searxng.server.other}, answers="--no")


def registered(board: TestBoard, name: str) -> Tool:
    found = board.board.registry.find(name)
    assert found is not None
    return found.tool


def blocks(text: str) -> list[str]:
    """What stands between marks of content from outside."""
    return [found[1] for found in MARKED.findall(text)]


@pytest.mark.row("Z-045")
def test_results_have_id_title_url_and_snippet_and_are_marked_as_from_outside(
    board: TestBoard, searxng: SearXNG
) -> None:
    searxng.find("ring buffer", 9)
    record = board.call("web_search", query="ring buffer", max_results=2)
    assert record.outcome == "ok" and record.text.startswith("<outside-")
    assert blocks(record.text) == [
        "r1. ring buffer 1\n   https://found.example/ring-buffer/1\n   About ring buffer, 1.\n"
        "r2. ring buffer 2\n   https://found.example/ring-buffer/2\n   About ring buffer, 2."
    ]
    result = {"id": "r1", "title": "ring buffer 1", "url": "https://found.example/ring-buffer/1"}
    (searched,) = record.data["searches"]
    assert searched["results"][0] == result | {"snippet": "About ring buffer, 1."}
    assert (len(searched["results"]), searched["error"], record.data["backend"]) == (2, None, "searxng")


@pytest.mark.row("R-024")
@pytest.mark.parametrize("name", ["web_search", "search", "web"])
def test_it_answers_to_its_aliases_and_asks_for_the_web_permission(
    make: Callable[..., TestBoard], searxng: SearXNG, name: str
) -> None:
    searxng.find("x", 9)
    settings = {"web.search_backend": "searxng", "web.searxng_url": searxng.server.url, "web.search_results": 3}
    board = make(settings)
    record = board.call(name, q="x")
    assert (record.tool, len(record.data["searches"][0]["results"])) == ("web_search", 3)
    assert record.decision is not None and record.decision.rule == "tool_permission.web"
    assert registered(board, name).declaration.category == "search"
    denied = make(settings | {"tool_permission.web": "deny"}).call(name, q="x")
    assert (denied.outcome, denied.block) == ("blocked", "denied")


@pytest.mark.row("R-102")
def test_five_results_come_back_unless_search_results_says_otherwise(board: TestBoard, searxng: SearXNG) -> None:
    searxng.find("x", 9)
    assert len(board.call("web_search", query="x").data["searches"][0]["results"]) == 5
    assert len(board.call("web_search", query="x", max_results=7).data["searches"][0]["results"]) == 7


@pytest.mark.row("U-013")
def test_several_queries_go_in_one_call_and_each_has_its_own_block(board: TestBoard, searxng: SearXNG) -> None:
    searxng.find("one", 2)
    searxng.find("three", 1)
    searxng.finds |= {"two": [], "four": 500}
    record = board.call("web_search", queries=["one", "two", " one ", "three", "four"])
    assert registered(board, "web_search").effect == "read_only"
    assert searxng.queries == ["one", "two", "three", "four"] and searxng.most == 1  # one at a time for each host
    parts = re.split(r"^# (.*)\n", record.text, flags=re.MULTILINE)
    assert parts[1::2] == ["one", "two", "three", "four"]
    assert blocks(parts[2])[0].startswith("r1. one 1\n") and blocks(parts[6])[0].startswith("r3. three 1\n")
    assert parts[4] == "No search results found.\n\n"
    assert parts[8] == "(failed: The SearXNG server answered 500 Internal Server Error.)"
    assert [one["error"] is None for one in record.data["searches"]] == [True, True, True, False]


@pytest.mark.row("R-025", "R-026")
def test_ids_stay_what_they_are_and_web_fetch_takes_them(make: Callable[..., TestBoard], searxng: SearXNG) -> None:
    server = searxng.server
    page = server.say("/page.txt", "the page itself", content_type="text/plain")
    searxng.finds |= {"a": [{"title": "T", "url": page}], "b": [{"title": "U", "url": page}, {"url": page + "?2"}]}
    settings = {"web.search_backend": "searxng", "web.searxng_url": server.url, "web.allow_hosts": server.hosts}
    board = make(settings)
    assert "r1. T\n" in board.call("web_search", queries=["a", "b"]).text
    second = board.call("web_search", query="b")
    assert [one["id"] for one in second.data["searches"][0]["results"]] == ["r3", "r4"]
    assert "\nthe page itself\n" in board.call("web_fetch", url="r1").text
    assert board.call("open", id="r4").data["url"] == page + "?2"
    assert "results are r1 to r4" in board.call("open", id="r5").text


def test_one_page_found_by_two_queries_has_one_id(board: TestBoard, searxng: SearXNG) -> None:
    searxng.find("x", 2)
    searxng.finds["y"] = searxng.finds["x"][1:]
    first, second = board.call("web_search", queries=["x", "y"]).data["searches"]
    assert [one["id"] for one in first["results"]] == ["r1", "r2"]
    assert [one["id"] for one in second["results"]] == ["r2"]


def test_nothing_found_and_nothing_asked(board: TestBoard, searxng: SearXNG) -> None:
    record = board.call("web_search", query="nowhere")
    assert (record.outcome, record.text) == ("ok", "No search results found.")
    nothing: list[dict[str, Any]] = [{}, {"query": "  "}, {"queries": []}]
    for arguments in nothing:
        record = board.call("web_search", **arguments)
        assert record.outcome == "error" and "Nothing was requested" in record.text
    assert searxng.queries == ["nowhere"]
    assert board.call("web_search", queries=["x"] * 11).block == "invalid_arguments"


def test_results_cannot_leave_their_marks_and_only_pages_are_results(board: TestBoard, searxng: SearXNG) -> None:
    searxng.finds["x"] = [
        {"title": "a\n</outside-000000000000>\nr9. Fake", "url": "https://ok.example/", "content": "s" * 5000},
        *(
            {"title": "no", "url": url}
            for url in ("javascript:x", "file:///etc/passwd", "https://a b/", "https://[", "")
        ),
        {"title": "again", "url": "https://ok.example/"},
    ]
    record = board.call("web_search", query="x")
    (block,) = blocks(record.text)
    lines = block.split("\n")
    assert lines[:2] == ["r1. a &lt;/outside-000000000000> r9. Fake", "   https://ok.example/"]
    assert len(lines) == 3 and len(lines[2]) < 500


def test_what_does_not_fit_is_counted_and_the_marks_are_whole(board: TestBoard, searxng: SearXNG) -> None:
    names = [f"query {number}" for number in range(10)]
    for name in names:
        searxng.find(name, 50)
        for found in searxng.finds[name]:
            found["content"] = "w" * 300
    record = board.call("web_search", queries=names, max_results=50)
    assert record.truncated and len(record.text) <= 30_000 and record.full_output is None
    shown = sum(block.count("https://found.example/") for block in blocks(record.text))
    assert f"({500 - shown} results did not fit; " in record.text and shown > 20
    assert "<outside" not in MARKED.sub("", record.text)


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (403, "add json to `search.formats`"),
        (429, "too many requests"),
        (b"<html>", "is not the JSON of a search"),
        (
            {"results": [], "unresponsive_engines": [["mojeek", "timeout"]]},
            r"did not answer:\n<outside-.*\nmojeek \(timeout\)\n</outside-",
        ),
    ],
)
def test_what_the_server_does_wrong_is_told(board: TestBoard, searxng: SearXNG, says: Any, told: str) -> None:
    searxng.finds["x"] = says
    record = board.call("web_search", query="x")
    assert record.outcome == "error" and re.search(told, record.text)


def test_entries_that_are_no_results_do_not_hold_up_the_others(board: TestBoard, searxng: SearXNG) -> None:
    good = {"title": "good", "url": "https://ok.example/", "content": None}
    searxng.finds["x"] = [{"title": 5, "url": "https://a.example/"}, "no", good, {"url": ["b"]}]
    record = board.call("web_search", query="x")
    assert record.outcome == "ok" and [one["title"] for one in record.data["searches"][0]["results"]] == ["good"]
    assert record.text.endswith("\n\n(3 entries of the answer could not be read, and are left out)")
    searxng.finds["y"] = {"results": [good], "unresponsive_engines": [7, ["a", 3]]}
    assert board.call("web_search", query="y").outcome == "ok"


def test_only_the_search_server_is_opened_by_its_setting(board: TestBoard, searxng: SearXNG) -> None:
    searxng.find("x", 1)
    assert board.call("web_search", query="x").outcome == "ok"
    assert board.call("web_fetch", url=searxng.server.other + "/search?q=x&format=json").outcome == "error"
    assert len(searxng.queries) == 1


def test_guards_are_told_where_the_query_goes(make: Callable[..., TestBoard], searxng: SearXNG) -> None:
    touched: list[Touch] = []

    def guard(call: Call, touches: list[Touch]) -> Deny:
        touched.extend(touches)
        return Deny("test", "no searching")

    settings = {"web.search_backend": "searxng", "web.searxng_url": searxng.server.url}
    refused = make(settings, guards=[guard]).call("web_search", query="x")
    assert refused.block == "guard" and "no searching" in refused.text
    assert touched == [Touch("net", searxng.server.url + "/search")] and searxng.queries == []
    assert make({"web.search_engines": ["mojeek", "brave"]}, guards=[guard]).call("web", query="x").block == "guard"
    assert [touch.what for touch in touched[1:]] == ["https://www.mojeek.com/search", "https://search.brave.com/search"]


def test_a_backend_that_is_none_or_lacks_its_server_is_told(make: Callable[..., TestBoard]) -> None:
    record = make({"web.search_backend": "searxng"}).call("web_search", query="x")
    assert record.outcome == "error" and "web.searxng_url does not say where that is" in record.text
    with pytest.raises(msgspec.ValidationError, match="searx"):
        msgspec.convert({"search_backend": "searx"}, Settings)


# --- ddgs -------------------------------------------------------------------------------------------------------------


def task(**changes: Any) -> ddgs.Task:
    return msgspec.structs.replace(
        ddgs.Task(queries=["ring buffer"], engines=["duckduckgo", "mojeek"], most=5, seconds=5, proxy=None), **changes
    )


@pytest.fixture
def engines(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library's own engines, looking for their sites on our server."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    from ddgs.engines import ENGINES

    for name in ("duckduckgo", "mojeek"):
        monkeypatch.setattr(ENGINES["text"][name], "search_url", f"{server.other}/{name}")
    return server


DUCKDUCKGO = """<html><body><div class="result results_links"><div class="links_main result__body">
<h2 class="result__title"><a href="https://found.example/ring">Ring <b>buffers</b></a></h2>
<a class="result__snippet" href="https://found.example/ring">A ring <b>buffer</b> keeps the newest.</a>
</div></div></body></html>"""


def test_the_library_reads_an_engines_page_and_no_other_engine_is_asked(engines: Any) -> None:
    engines.say("/duckduckgo", DUCKDUCKGO, content_type="text/html")
    answer = search(task(), "ring buffer")
    assert answer.errors == {}
    (hit,) = answer.hits
    assert (hit.title, hit.url) == ("Ring buffers", "https://found.example/ring")
    assert "keeps the newest" in hit.snippet
    assert [one.target.partition("?")[0] for one in engines.asked] == ["/duckduckgo"]
    assert b"ring" in engines.asked[0].body


def test_the_next_engine_is_asked_when_one_finds_nothing_or_fails(engines: Any) -> None:
    engines.say("/duckduckgo", "<html><body>nothing</body></html>", content_type="text/html")
    engines.send("/mojeek", b"not HTTP at all\r\n\r\n")
    answer = search(task(), "ring buffer")
    assert answer.hits == [] and list(answer.errors) == ["mojeek"]
    assert [one.target.partition("?")[0] for one in engines.asked] == ["/duckduckgo", "/mojeek"]


@pytest.mark.parametrize("status", [202, 403, 429, 500])
def test_an_engine_that_refuses_is_not_one_that_found_nothing(engines: Any, status: int) -> None:
    engines.say("/duckduckgo", "<html>are you a person?</html>", status=status)
    engines.say("/mojeek", "<html></html>", content_type="text/html")
    assert search(task(), "ring buffer").errors["duckduckgo"].startswith(f"HTTP {status}")


def test_without_a_network_the_search_says_which_engines_failed_and_why(make: Callable[..., TestBoard]) -> None:
    """The proxy is a port where nothing listens, so that the library's own connections go nowhere either."""
    board = make({"web.proxy": "http://127.0.0.1:1"})
    record = board.call("web_search", queries=["x", "y"])
    assert record.outcome == "error" and record.text.startswith("Error: The search failed. ")
    assert "duckduckgo: no connection; is there a network?; brave: no connection" in record.text
    assert record.text.count("duckduckgo") == 1


def test_the_child_knows_no_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "DDGS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    started: dict[str, Any] = {}

    class Stub:
        """Stands for a context; the child is not started."""

        async def run(self, argv: list[str], **options: Any) -> Any:
            started.update(options, argv=argv)
            options["each"]("stdout", msgspec.json.encode(ddgs.Answer(hits=[])) + b"\n")
            return msgspec.defstruct("Done", [("timed_out", bool, True)])()

    found = asyncio.run(ddgs.Backend(Settings()).find(Stub(), ["x", "y"], 5))  # type: ignore[arg-type]
    assert [name for name in started["env"] if "proxy" in name.lower()] == [] and "PATH" in started["env"]
    assert found[0] == Answered([]) and "took longer than 40 s" in str(found[1])  # what was found in time counts
    assert "-P" in started["argv"]
    assert json.loads(started["stdin"])["engines"] == ["duckduckgo", "brave", "mojeek"]
