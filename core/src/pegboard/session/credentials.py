"""What credentials look like. The forms are those that their issuers document; `redacted` names the kind.

Imported once a line was found suspicious: most sessions never need it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pegboard.session.redaction import NAMES

_FORMS: tuple[tuple[tuple[str, ...], str, re.Pattern[str]], ...] = tuple(
    (begins, kind, re.compile(pattern))
    for begins, kind, pattern in (
        # No letter before it: the look back stands behind the literal beginning, which is then searched for quickly.
        (("AKIA", "ASIA"), "aws-key", r"A(?:KIA|SIA)(?<![A-Za-z0-9]....)[0-9A-Z]{16}(?![0-9A-Z])"),
        (("AIza",), "google-key", r"AIza(?<![A-Za-z0-9]....)[0-9A-Za-z_-]{35}"),
        (("gh",), "github-token", r"gh[pousr]_(?<![A-Za-z0-9]....)[A-Za-z0-9]{30,255}"),
        (("github_pat_",), "github-token", r"github_pat_[A-Za-z0-9_]{22,255}"),
        (("glpat-",), "gitlab-token", r"glpat-[A-Za-z0-9_.-]{20,300}"),
        (("xox",), "slack-token", r"xox[abeoprs]-(?<![A-Za-z0-9].....)[A-Za-z0-9-]{10,300}"),
        (("sk-ant-",), "anthropic-key", r"sk-ant-(?<![A-Za-z0-9].......)[A-Za-z0-9_-]{20,300}"),
        (("sk-",), "api-key", r"sk-(?<![A-Za-z0-9]...)(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,300}"),
        (("k_live_", "k_test_"), "stripe-key", r"[rs]k_(?:live|test)_(?<![A-Za-z0-9]........)[A-Za-z0-9]{16,255}"),
        (("npm_",), "npm-token", r"npm_(?<![A-Za-z0-9]....)[A-Za-z0-9]{36,255}"),
        (("pypi-",), "pypi-token", r"pypi-[A-Za-z0-9_-]{50,1000}"),
        (("hf_",), "hugging-face-token", r"hf_(?<![A-Za-z0-9]...)[A-Za-z0-9]{30,255}"),
        (
            ("eyJ",),
            "jwt",
            r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,16000}(?:\.[A-Za-z0-9_-]{0,4000})?",
        ),
    )
)
_AUTHORIZATION = re.compile(
    r"(?P<kept>\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token)\s{1,3})?)"
    r"(?!(?:bearer|basic|token)\b)(?P<secret>[A-Za-z0-9._~+/=:-]{12,4000})",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"(?P<kept>\b[Bb]earer\s{1,3})(?P<secret>(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{16,4000})"
)
_IN_URL = re.compile(r"(?P<kept>://[^\s/@:'\"<>]{0,200}:)(?P<secret>[^\s/'\"<>\[]{1,500})(?=@)")
_ASSIGNMENT = re.compile(
    r"""(?x) (?<![A-Z0-9_]) (?P<name>[A-Z0-9_]{2,80}) =
    (?: (?P<quote>\\?["']) (?P<quoted>[^"'\n\\]{6,4000}) (?=\\?["']) | (?P<bare>[^\s"'`$<>{}()\[\];,&|\\]{6,4000}) )"""
)
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:(?:\s|\\n){0,8}[A-Za-z0-9+/=]{16,}){0,1000}")


_ESCAPE = re.compile(
    r"(?:\x1b|\\x1b|\\u001b|\\033|\\e|\^\[)\[[0-?]{0,40}[ -/]{0,4}[@-~]|\x9b[0-?]{0,40}[@-~]", re.IGNORECASE
)
"""Sequences that colour a text, as they are and as sources and `cat -v` spell them."""


def colourless(text: str) -> str:
    """The text without colours; the same object where it has none. `grep` colours what it found, which may be the beginning
    of a credential, and the last letter of the sequence then looks like a letter of a word."""
    if "\x1b" not in text and "\x9b" not in text and "[" not in text:
        return text
    made = _ESCAPE.sub("", text)
    return text if made == text else made


def redacted(text: str) -> str:
    """The text with `[redacted: KIND]` in the place of what looks like a credential; the same object where nothing does."""
    made = text
    if "-----BEGIN " in made:
        made = _without_private_keys(made)
    for begins, kind, pattern in _FORMS:
        if any(begin in made for begin in begins):
            made = pattern.sub(f"[redacted: {kind}]", made)
    if "earer" in made:
        made = _BEARER.sub(_after("token"), made)
    if "uthorization" in made.lower():
        made = _AUTHORIZATION.sub(_after("authorization"), made)
    if "@" in made and "://" in made:
        made = _IN_URL.sub(_after("password"), made)
    if "=" in made:
        made = _ASSIGNMENT.sub(_assigned, made)
    return text if made == text else made


def _after(kind: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found['kept']}[redacted: {kind}]"


def _assigned(found: re.Match[str]) -> str:
    """`NAME=value` in the manner of an environment, where the name ends like a secret's."""
    name, quote = found["name"], found["quote"] or ""
    value = found["quoted"] or found["bare"]
    if not name.endswith(NAMES) or value.startswith(("$", "<", "%", "{", "[redacted: ")):
        return found[0]
    if name.endswith("KEY") and name not in ("KEY", "APIKEY") and not name.endswith("_KEY"):
        return found[0]  # MONKEY, TURKEY
    return f"{name}={quote}[redacted: value]"


def _without_private_keys(text: str) -> str:
    """Private keys in PEM, from their first line to their last; one that is cut off, to the end of its letters."""
    parts: list[str] = []
    at, ends = 0, True
    while begin := _BEGIN.search(text, at):
        end = _END.search(text, begin.end()) if ends else None
        ends = end is not None  # one search that finds none is enough: it went to the end of the text
        body = _BODY.match(text, begin.end())
        stop = end.end() if end else body.end() if body else begin.end()
        parts += [text[at : begin.start()], "[redacted: private-key]"]
        at = stop
    return "".join([*parts, text[at:]])
