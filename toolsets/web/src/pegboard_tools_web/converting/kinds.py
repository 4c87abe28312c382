"""What a body is: by its declared type, and by its first bytes where that says nothing or cannot be."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["html", "pdf", "text"]

_VAGUE = {
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-download",
    "unknown/unknown",
    "text/plain",
}
_TEXTS = re.compile(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|typescript|x-sh|sql|"
    r"graphql|rtf|x-ndjson|ndjson|jsonl|x-httpd-php|x-python|x-tex|x-latex|xml-dtd|x-www-form-urlencoded)|"
    r"(?:image/svg|model/.+)\+xml|message/.+"
)
_TYPE = re.compile(
    r"(?:application|audio|chemical|example|font|haptics|image|message|model|multipart|text|video)/[a-z0-9][a-z0-9!#$&^_.+-]*"
)
_HTML = re.compile(
    rb"(?>\s*<!--(?:(?!-->).)*-->)*+\s*<(?:!doctype\s+html|html|head|body|title)\b", re.IGNORECASE | re.DOTALL
)
_HEAD = 1024


def parsed(content_type: str | None) -> tuple[str, str | None]:
    """The type in lower case, and the charset, of a Content-Type header; both may be wrong."""
    main, _, rest = (content_type or "").partition(";")
    found = re.search(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", rest, re.IGNORECASE)
    return main.strip().lower(), found[1] if found else None


def shown_type(content_type: str) -> str:
    """A declared type, as `parsed` gives it, if it reads like one: it is a server's text."""
    return content_type if len(content_type) <= 80 and _TYPE.fullmatch(content_type) else "an unreadable content type"


def readable(content_type: str) -> bool:
    """Whether a body of this type would be text, if its bytes were."""
    return content_type in ("text/html", "application/xhtml+xml") or _TEXTS.fullmatch(content_type) is not None


def kind_of(content_type: str, body: bytes) -> Kind | None:
    """What can be made text of, and how; None: nothing can. `content_type` as `parsed` gives it."""
    head = body[:_HEAD]
    if b"%PDF-" in head[:64]:
        return "pdf"
    if content_type in ("text/html", "application/xhtml+xml"):
        return "html" if _is_text(head) else None
    if content_type in _VAGUE:
        if not _is_text(head):
            return None
        return "html" if content_type != "text/plain" and _HTML.match(_narrow(head)) else "text"
    return "text" if _TEXTS.fullmatch(content_type) and _is_text(head) else None


def _is_text(head: bytes) -> bool:
    """Whether bytes can be text: no NUL, but for UTF-16, and hardly any control characters."""
    plain = _narrow(head)
    odd = sum(plain.count(bytes([code])) for code in range(32) if code not in (9, 10, 12, 13, 27))
    return odd * 50 <= len(plain)


def _narrow(head: bytes) -> bytes:
    """UTF-16 and marks taken away, as far as it takes to see ASCII; everything else as it is."""
    from pegboard_tools_web.converting.charset import decode

    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or b"\0" in head:
        text, name = decode(head)
        if name.startswith("utf-"):
            return text.encode("utf-8", "replace")
    return head
