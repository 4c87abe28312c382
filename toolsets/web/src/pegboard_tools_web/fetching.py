"""`web_fetch`: a page as text, a window of it at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import msgspec
from pegboard import Context, Result, ToolError, tool
from pegboard.calls import Touch
from pegboard.kit.aside import apart
from pegboard.kit.caps import Caps, head_of

from pegboard_tools_web.client import Reply, request
from pegboard_tools_web.outside import origin_of, status_of, untrusted
from pegboard_tools_web.pages import Page
from pegboard_tools_web.results import address, name_of
from pegboard_tools_web.settings import Settings

_ACCEPT = "text/html,application/xhtml+xml,text/markdown,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5"
_ERROR_BYTES = 20_000
_ERROR_CHARS = 600


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a page. `url`: after redirects. `chars`: of its whole text, of which `first` to `last` were
    shown: offsets, the last one exclusive."""

    url: str
    status: int
    content_type: str
    title: str
    chars: int
    first: int
    last: int


class CutFetched(Fetched, frozen=True, kw_only=True):
    """More of the page follows."""

    @property
    def truncated(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


def _page(arguments: Any, ctx: Context) -> Iterator[Touch]:
    """The URL that is fetched, also where the call names a result."""
    yield Touch("net", address(ctx, arguments.url))


@tool(
    effect="read_only",
    touches=_page,
    kinds=["net"],
    replay="safe",
    overlap="parallel",
    category="read",
    aliases=["open", "fetch_page", "webfetch"],
    param_aliases={
        "id": "url",
        "uri": "url",
        "link": "url",
        "href": "url",
        "page": "url",
        "result": "url",
        "result_id": "url",
        "ref_id": "url",
        "cursor": "offset",
        "start": "offset",
        "start_index": "offset",
        "startIndex": "offset",
    },
    short="read a web page",
    key_arg="url",
    pages=True,
    examples=[
        "fetch the page {url}",
        "read the web page {url}",
        "get the page at {url}",
        "download the page {url}",
        "retrieve {url}",
        "what does the page {url} say",
        "visit {url}",
        "summarise {url}",
        "load the site {url}",
        "read {url} from character {offset}",
        "fetch the result {url}",
    ],
)
async def web_fetch(
    url: Annotated[
        str, msgspec.Meta(description="URL, or id of a web_search result (r1)", extra_json_schema={"format": "uri"})
    ],
    ctx: Context,
    offset: Annotated[int, msgspec.Meta(description="Characters to skip", ge=0)] = 0,
) -> Result:
    """Read a web page, PDF or text file as text. For an API's raw reply, or another method, use http_request."""
    settings: Settings = ctx.settings or Settings()
    wanted = address(ctx, url)
    name = name_of(url, wanted)
    page = settings.pages.get(wanted) if offset else None
    if page is None:
        page = await _fetched(ctx, settings, wanted, name)
        settings.pages.put(wanted, page)
    return _shown(page, offset, ctx.output.caps, name)


async def _fetched(ctx: Context, settings: Settings, url: str, name: str) -> Page:
    from pegboard_tools_web.converting import convert
    from pegboard_tools_web.converting.kinds import parsed

    reply = await request(settings, "GET", url, headers=[("Accept", _ACCEPT)], name=name or None)
    name = name or (reply.hops or [reply.url])[0]
    notes = [f"redirected to {origin_of(reply.url)}"] if reply.hops else []
    where = f"{name} ({notes[0]})" if notes else name
    if not 200 <= reply.status < 300:
        raise ToolError(await _refusal(reply, where))
    content_type = reply.header("content-type")
    made = await convert(ctx.run, reply.body, content_type, reply.url, name=where) if reply.body else None
    if made and made.encoding not in ("", "utf-8"):
        notes.append(made.encoding)
    if made and made.note:
        notes.append(made.note)
    if reply.truncated:
        notes.append(f"cut: only the first {len(reply.body):,} bytes were taken (web.max_bytes)")
    return Page(
        url=reply.url,
        asked=(reply.hops or [reply.url])[0],
        status=reply.status,
        content_type=parsed(content_type)[0],
        title=made.title if made else "",
        text=made.text if made else "",
        notes=tuple(notes),
    )


def _shown(page: Page, offset: int, caps: Caps, name: str) -> Result:
    """A window of the page from `offset` on, and how to go on. `name`: see `name_of`; a URL that is not the caller's stands
    inside of the marks."""
    from pegboard_tools_web.converting.kinds import shown_type

    total = len(page.text)
    told = name or page.asked
    kind = f", {shown_type(page.content_type)}" if page.content_type else ""
    header = f"{told} - {page.status}{kind}, {total:,} chars"
    notes = "".join(f"\n({note})" for note in page.notes)
    where = f"URL: {page.url}\n\n" if page.url != told else ""
    around = f"{header} (showing {total}-{total}){notes}{untrusted(where, told)}... (more: offset={total})"
    room = caps.less(around, lines=len(page.notes) + 8)
    shown = head_of(page.text[offset : offset + (room.max_chars or total) + 1], room)
    last = offset + len(shown)
    more = last < total
    if not shown:
        parts = [header + notes, "(end of content)" if offset else "(no content)"]
    else:
        window = f" (showing {offset}-{last})" if offset or more else ""
        parts = [header + window + notes, untrusted(where + shown, told)]
        if more:
            parts.append(f"... (more: offset={last})")
    data = (CutFetched if more and shown else Fetched)(
        url=page.url,
        status=page.status,
        content_type=page.content_type,
        title=page.title,
        chars=total,
        first=min(offset, total),
        last=min(last, total),
    )
    return Result(text="\n".join(parts), data=data)


async def _refusal(reply: Reply, where: str) -> str:
    """What a reply that is no page says, and the beginning of its body."""
    said = f"{where} answered {status_of(reply.status)}."
    if reply.note:
        said += f" {reply.note[:1].upper()}{reply.note[1:]}."
    said += " " + _ADVICE.get(reply.status, "Try another page.")
    text = await apart(partial(_beginning, reply))
    if reply.note and (location := reply.header("location")):
        text = f"location: {location}\n\n{text}"
    return f"{said}\n{untrusted(text, where)}" if text else said


_ADVICE = {
    401: "It wants a login; http_request can send headers.",
    403: "It does not let this be read; try another page.",
    404: "There is no such page; check the URL, or search for it.",
    410: "The page was removed; search for another.",
    429: "Too many requests: wait before asking this host again.",
    503: "The server is busy: try again later.",
}


def _beginning(reply: Reply) -> str:
    """The first words of an error page."""
    from pegboard_tools_web.converting.charset import decode
    from pegboard_tools_web.converting.kinds import kind_of, parsed
    from pegboard_tools_web.converting.plain import plain_text

    main, charset = parsed(reply.header("content-type"))
    body = reply.body[:_ERROR_BYTES]
    kind = kind_of(main, body) if body else None
    if kind is None or kind == "pdf":
        return ""
    text = decode(body, charset)[0]
    text = plain_text(text)[1] if kind == "html" else text.strip()
    return text if len(text) <= _ERROR_CHARS else text[:_ERROR_CHARS].rstrip() + "…"
