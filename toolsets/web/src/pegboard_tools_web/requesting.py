"""`http_request`: one HTTP request, and its reply as it came."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from pegboard.calls import Result, Touch
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.kit.aside import apart
from pegboard.kit.caps import Caps, head_of
from pegboard.kit.ran import LONGEST_MS, milliseconds

from pegboard_tools_web.client import Header, Reply, request
from pegboard_tools_web.outside import origin_of, untrusted
from pegboard_tools_web.settings import Settings

_FIRST = frozenset(
    {"accept-ranges", "allow", "cache-control", "content-disposition", "content-language", "content-length"}
    | {"content-range", "content-type", "date", "etag", "last-modified", "link", "location", "retry-after", "server"}
    | {"www-authenticate"}
)
"""Headers that are told before the others, should there be too many."""
_MOST_HEADERS = 100
_LONGEST_HEADER = 300
_NEVER_TEXT = ("image/", "audio/", "video/", "font/")


class Replied(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a reply. bytes: of the body, unpacked, as far as it was taken."""

    status: int
    reason: str
    url: str
    headers: list[Header]
    bytes: int


class CutReply(Replied, frozen=True, kw_only=True):
    """The text holds less than the body."""

    @property
    def truncated(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


def _sending(arguments: Any, ctx: Context) -> Iterator[Touch]:
    """The URL, without blanks around it. Every method but GET and HEAD may change something there, also one that a header
    declares, and a body is sent whatever the method. What will be refused by its URL alone is refused now: nobody is asked
    about it."""
    from pegboard.kit.net import parse

    from pegboard_tools_web.asking import reads

    url, sends = arguments.url.strip(), False
    if not reads(arguments.method, (arguments.headers or {}).items(), arguments.body):
        (ctx.settings or Settings()).net.policy.check(parse(url))
        sends = True
    yield Touch("net", url, sends=sends)


@tool(
    effect="side_effecting",
    touches=_sending,
    kinds=["net"],
    param_aliases={
        "uri": "url",
        "data": "body",
        "content": "body",
        "timeout_ms": "timeout",
        "timeoutMs": "timeout",
        "timeout_s": ("timeout", milliseconds),
        "timeout_secs": ("timeout", milliseconds),
        "timeout_seconds": ("timeout", milliseconds),
    },
    category="web",
    glyph="⇄",
    verb="Request",
    short="make an HTTP request",
    key_arg="url",
    pages=True,
    examples=[
        "send a {method} request to {url}",
        "make a {method} request to {url}",
        "send a {method} to {url}",
        "make an HTTP request to {url}",
        "{method} {url} with the body {body}",
        "post {body} to {url}",
        "put {body} to {url}",
        "call the API at {url} with {method}",
        "which status code does {url} return",
        "which response headers does {url} send",
        "check the HTTP status of {url}",
    ],
)
async def http_request(
    url: Annotated[str, msgspec.Meta(description="http or https", extra_json_schema={"format": "uri"})],
    ctx: Context,
    method: Literal["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"] = "GET",
    headers: Annotated[dict[str, str] | None, msgspec.Meta(description="As {name: value}, e.g. Range")] = None,
    body: Annotated[str | None, msgspec.Meta(description="JSON or text, sent as it is")] = None,
    timeout: Annotated[int, msgspec.Meta(description="Milliseconds; default 30000", ge=1, le=LONGEST_MS)] | None = None,
) -> Result:
    """Make an HTTP request; the reply as it came, with status and headers. For APIs; to read a page use web_fetch."""
    settings: Settings = ctx.settings or Settings()
    given = list((headers or {}).items())
    sent = body.encode() if body is not None else None
    if sent and not any(name.lower() == "content-type" for name, _ in given):
        given.append(("Content-Type", _type_of(sent)))
    seconds = timeout / 1000 if timeout is not None else None
    reply = await request(settings, method, url.strip(), headers=given, body=sent, timeout=seconds)
    return _result(reply, await apart(partial(_text, reply)), method, ctx.output.caps)


def _result(reply: Reply, text: str | None, method: str, caps: Caps) -> Result:
    """Status and URL are ours; everything else is the server's, and marked so, the URL that it redirected to as well.
    `text`: the body, None: it is binary."""
    asked = (reply.hops or [reply.url])[0]
    top = [f"HTTP {reply.status}", _short(asked)]
    if reply.hops:
        top.append(f"(redirected to {origin_of(reply.url)})")
    if reply.note:
        top.append(f"({reply.note})")
    told = [f"status: {reply.status} {_short(reply.reason)}".rstrip()]
    if reply.hops:
        told.append(f"url: {_short(reply.url)}")
    ordered = sorted(reply.headers, key=lambda pair: pair[0].lower() not in _FIRST)
    told += [f"{_short(name.lower())}: {_short(value)}" for name, value in ordered[:_MOST_HEADERS]]
    head = head_of("\n".join(told), caps.halved())
    left = len(reply.headers) - max(0, len(head.splitlines()) - (2 if reply.hops else 1))
    if left:
        top.append(f"({left} of {len(reply.headers)} headers are not shown; programs find them in `data`)")
    source = asked.partition("?")[0]
    frame = "\n".join([*top, untrusted(head, source)])
    shown = "" if text is None else head_of(text, caps.less(frame + " " * 200, lines=frame.count("\n") + 6))
    parts, cut = [head], reply.truncated
    if text is None:
        parts.append(f"\n(binary: {len(reply.body):,} bytes{_kind(reply)}; not shown)")
    elif shown:
        parts.append("\n" + shown)
    elif method != "HEAD":
        parts.append("\n(no body)")
    said = [*top, untrusted("\n".join(parts), source)]
    if text is not None and len(shown) < len(text):
        cut = True
        said.append(f"(cut: {len(shown):,} of {len(text):,} chars shown; a Range header asks for another part)")
    elif reply.truncated:
        said.append(f"(cut: the body is longer than the {len(reply.body):,} bytes that were taken)")
    kind = CutReply if cut else Replied
    data = kind(status=reply.status, reason=reply.reason, url=reply.url, headers=reply.headers, bytes=len(reply.body))
    return Result(text="\n".join(said), data=data)


def _type_of(body: bytes) -> str:
    """The Content-Type of a body that came without one."""
    if body.lstrip()[:1] in (b"{", b"["):
        try:
            msgspec.json.decode(body)
        except msgspec.DecodeError:
            pass
        else:
            return "application/json"
    return "text/plain; charset=utf-8"


def _text(reply: Reply) -> str | None:
    """The body as text, as it came; None: it is none. A type that is not known is text if it looks like text."""
    from pegboard_tools_web.converting.charset import decode
    from pegboard_tools_web.converting.kinds import kind_of, parsed

    main, charset = parsed(reply.header("content-type"))
    kind = kind_of(main, reply.body)
    if kind is None and not main.startswith(_NEVER_TEXT):
        kind = kind_of("", reply.body)
    return None if kind in (None, "pdf") else decode(reply.body, charset)[0]


def _kind(reply: Reply) -> str:
    from pegboard_tools_web.converting.kinds import parsed

    kind = parsed(reply.header("content-type"))[0]
    return f", {_short(kind)}" if kind else ""


def _short(text: str) -> str:
    """One line of a sensible length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_HEADER else line[:_LONGEST_HEADER] + "..."
