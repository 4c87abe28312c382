"""Bodies of replies as text for a model: HTML as Markdown, PDF by pages, other text as it is.

    page = await convert(ctx.run, body, "text/html; charset=utf-8", "https://docs.example/")

HTML and PDF are read by libraries in a process of their own, under limits of time and memory: a page made to that end
hangs them for minutes, and such a process can be ended, which a thread cannot. HTML that the libraries did not finish is
converted once more by a plain tokenizer.
"""

from __future__ import annotations

from functools import partial

import msgspec
from pegboard.errors import ToolError
from pegboard.kit.aside import apart

from pegboard_tools_web.children import Run, printed
from pegboard_tools_web.converting.charset import codec_of, decode
from pegboard_tools_web.converting.kinds import kind_of, parsed, readable, shown_type

MOST_CHARS = 8_000_000
"""Characters of a converted text; what lies beyond is dropped, and the note says so."""
SECONDS = {"html": 20.0, "plain": 10.0, "pdf": 45.0}
"""How long a conversion may take."""
PDF_SECONDS = 30.0
"""After this a PDF ends with the page it is at."""


class Answer(msgspec.Struct, kw_only=True):
    """What the child says. `error`: why nothing can be read."""

    title: str = ""
    text: str = ""
    encoding: str = ""
    note: str = ""
    error: str = ""


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """A body as text. `note`: what else there is to say of it, or empty."""

    title: str
    text: str
    encoding: str
    note: str = ""


async def convert(run: Run, body: bytes, content_type: str | None, url: str, *, name: str = "") -> Converted:
    """The text of a body. `run` is a context's `run`; `url` is what links are relative to, `name` what errors call it
    where it is not the caller's own words.

    Raises:
        ToolError: the type is none that text can be made of, or the body cannot be read.
    """
    main, charset = parsed(content_type)
    kind = kind_of(main, body)
    match kind:
        case None:
            raise ToolError(
                f"{name or url} {_unreadable(main, body)} ({len(body):,} bytes read), so it is not shown. HTML, PDF, JSON "
                "and plain text can be read; take another page."
            )
        case "text":
            text, encoding = await apart(partial(decode, body, charset))
            return _made(Answer(text=text, encoding=encoding))
        case "pdf":
            return _made(await _pdf(run, body, url, name or url))
    return _made(await _html(run, body, url, name or url, charset))


def _unreadable(declared: str, body: bytes) -> str:
    """Why a body is not shown."""
    if not declared:
        return "is not text, and its type is not declared"
    if readable(declared):
        return f"is declared as {shown_type(declared)}, but its bytes are not text"
    return f"is not text but {shown_type(declared)}"


async def _html(run: Run, body: bytes, url: str, name: str, charset: str | None) -> Answer:
    answer = await _child(run, "html", body, url, charset)
    if isinstance(answer, str):
        failed, answer = answer, await _child(run, "plain", body, url, charset)
        if isinstance(answer, str):
            raise ToolError(f"{name} cannot be converted to text: {answer}. Take another page.")
        answer.note = f"plain text without links: the conversion to Markdown {failed}"
    return answer


async def _pdf(run: Run, body: bytes, url: str, name: str) -> Answer:
    answer = await _child(run, "pdf", body, url, None)
    wrong = answer if isinstance(answer, str) else answer.error
    if isinstance(answer, str) or wrong:
        raise ToolError(f"{name} cannot be converted to text: {wrong}. Take another page.")
    return answer


async def _child(run: Run, kind: str, body: bytes, url: str, charset: str | None) -> Answer | str:
    """What the child made of it, or how it ended instead, as `took longer than 20 s`."""
    label = charset if charset and codec_of(charset) else ""
    said, failed = await printed(run, __name__, kind, url, label, stdin=body, seconds=SECONDS[kind])
    if failed:
        return failed
    try:
        return msgspec.json.decode(said, type=Answer)
    except msgspec.DecodeError:
        return "gave no answer"


def _made(answer: Answer) -> Converted:
    note = answer.note
    if len(answer.text) >= MOST_CHARS:
        note = "; ".join(filter(None, [note, f"what lies beyond {MOST_CHARS:,} characters was dropped"]))
    return Converted(
        title=answer.title, text=answer.text[:MOST_CHARS].replace("\r\n", "\n"), encoding=answer.encoding, note=note
    )
