"""`web_search`: results for one query or several, with ids that web_fetch takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
from pegboard import Context, Result, ToolError, tool
from pegboard.calls import Touch
from pegboard.kit.caps import Caps

from pegboard_tools_web.backends import Failed, backend_of
from pegboard_tools_web.outside import untrusted
from pegboard_tools_web.results import Found, Searched, cleaned, kept
from pegboard_tools_web.settings import Settings

MOST_QUERIES = 10
MOST_RESULTS = 50
NOTHING = "No search results found."


class Searches(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a search, by query. `backend`: who searched."""

    searches: list[Searched]
    backend: str


class CutSearches(Searches, frozen=True, kw_only=True):
    """The text holds fewer results than `searches`."""

    @property
    def truncated(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


def _wanted(query: str | None, queries: Sequence[str] | None) -> list[str]:
    """What a call searches for, each once."""
    texts = (" ".join(text.split()) for text in [query or "", *(queries or ())])
    return list(dict.fromkeys(filter(None, texts)))


def _summary(arguments: dict[str, Any]) -> str:
    return ", ".join(_wanted(arguments.get("query"), arguments.get("queries")))


def _engines(arguments: Any, ctx: Context) -> Iterator[Touch]:
    """Where the queries go."""
    if not _wanted(arguments.query, arguments.queries):
        raise ToolError("Neither `query` nor `queries` says what to search for. Nothing was requested.")
    for url in backend_of(ctx.settings or Settings()).urls:
        yield Touch("net", url)


@tool(
    effect="read_only",
    touches=_engines,
    replay="safe",
    overlap="parallel",
    category="search",
    aliases=["search", "web"],
    param_aliases={
        "q": "query",
        "search_query": "query",
        "searchQuery": "query",
        "search_queries": "queries",
        "searchQueries": "queries",
        "maxResults": "max_results",
        "num_results": "max_results",
        "numResults": "max_results",
        "limit": "max_results",
        "count": "max_results",
    },
    short="search the web",
    key_arg="query",
    pages=True,
    summary=_summary,
    examples=[
        "search the web for {query}",
        "look {query} up online",
        "look up {query} online",
        "google {query}",
        "find web pages about {query}",
        "what does the internet say about {query}",
        "do a web search for {query}",
        "search online for {query}",
        "search the internet for {query}",
        "find {max_results} websites about {query}",
    ],
)
async def web_search(
    ctx: Context,
    query: Annotated[str | None, msgspec.Meta(description="Needed, unless `queries` is given")] = None,
    queries: Annotated[list[str], msgspec.Meta(description="Several at once", max_length=MOST_QUERIES)] | None = None,
    max_results: Annotated[int, msgspec.Meta(description="For each query", ge=1, le=MOST_RESULTS)] | None = None,
) -> Result:
    """Search the web: id, title, URL and snippet of each result. Read one with web_fetch, by its id. For files use grep."""
    settings: Settings = ctx.settings or Settings()
    wanted = _wanted(query, queries)
    most = max_results or settings.search_results
    answers = await backend_of(settings).find(ctx, wanted, most)
    hits = [[] if isinstance(answer, Failed) else cleaned(answer.hits, most) for answer in answers]
    told = [
        Searched(query=text, results=found, error=answer.reason if isinstance(answer, Failed) else None)
        for text, answer, found in zip(wanted, answers, kept(ctx, hits), strict=True)
    ]
    if all(one.error for one in told):
        reasons = list(dict.fromkeys(one.error or "" for one in told))
        raise ToolError("The search failed. " + " ".join(reasons))
    bad = sum(answer.bad for answer in answers if not isinstance(answer, Failed))
    return _told(told, settings.search_backend, ctx.output.caps, bad)


def _told(searches: Sequence[Searched], backend: str, caps: Caps, bad: int) -> Result:
    """A block for each query. Results that do not fit, and `bad` ones that could not be read, are counted."""
    blocks: list[str] = []
    left_out = 0
    for one in searches:
        head = f"# {one.query}\n" if len(searches) > 1 else ""
        if one.error:
            blocks.append(f"{head}(failed: {one.error})")
        elif not one.results:
            blocks.append(head + NOTHING)
        else:
            source = f"a web search for {one.query}"
            used = "\n\n".join(blocks) + head + untrusted("", source)
            rows = _fitting(one.results, caps.less(used, lines=used.count("\n") + 6))
            left_out += len(one.results) - len(rows)
            blocks.append(head + (untrusted("\n".join(rows), source) if rows else "(no room for its results)"))
    if bad:
        entries = "1 entry" if bad == 1 else f"{bad} entries"
        blocks.append(f"({entries} of the answer could not be read, and {'is' if bad == 1 else 'are'} left out)")
    if left_out:
        blocks.append(f"({left_out} results did not fit; ask for fewer queries or a smaller max_results)")
    kind = CutSearches if left_out else Searches
    return Result(text="\n\n".join(blocks), data=kind(searches=list(searches), backend=backend))


def _fitting(results: Sequence[Found], caps: Caps) -> list[str]:
    """The results as text, as many as fit."""
    rows: list[str] = []
    for result in results:
        lines = [f"{result.id}. {result.title}", f"   {result.url}"]
        if result.snippet:
            lines.append(f"   {result.snippet}")
        if caps.exceeded_by("\n".join([*rows, *lines])):
            break
        rows.append("\n".join(lines))
    return rows
