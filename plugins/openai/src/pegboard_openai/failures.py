"""What went wrong at an endpoint, read off its answer: whether to try again, and what to tell.

Message texts were taken from the servers' own sources and issue trackers; a code is believed before a text.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.errors import ContextFull, ModelError

from pegboard_openai.endpoint import Endpoint

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may well succeed."""

NEVER_AGAIN = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
SHOWN = 300
"""Characters of an endpoint's own words that are repeated."""

READ = 5_000
"""Characters of them that are looked at."""

_FULL = re.compile(
    r"context[ _-]?(?:length|size|window|limit)|maximum context|(?:prompt|input)(?: is)? too (?:long|large)"
    r"|too many tokens"
    r"|longer than the model|input token count|reduce the length of the (?:messages|prompt|input)"
    r"|exceeds? the maximum number of tokens",
    re.IGNORECASE,
)
_LIMITS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"context (?:length|size|window|limit)[^.]{0,60}> ([\d,]+)",
        r"context (?:length|size|window|limit)(?: is| of)?(?: only| about)?:? \(?([\d,]+)",
        r"> ([\d,]+) maximum",
        r"tokens allowed \(?([\d,]+)",
        r"limit of ([\d,]+) tokens",
    )
]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """error: what is raised in the end. again: whether trying again may help. wait: seconds the endpoint asked for.

    what: in a few words, for the note. status, text: for the provider to adapt its requests."""

    error: ModelError
    what: str
    again: bool = False
    wait: float | None = None
    status: int | None = None
    text: str = ""


def from_answer(endpoint: Endpoint, model: str, status: int | None, body: Any, headers: Mapping[str, str]) -> Failure:
    """The failure that an endpoint's own answer tells of; `status` None: it came within a stream."""
    told = _told(body)
    code, text = str(told.get("code") or ""), endpoint.clean(_shown(told.get("message"), body))
    if status is None and code.isdecimal():
        status = int(code)
    said = f" ({text[:SHOWN]}{'…' if len(text) > SHOWN else ''})" if text else ""
    where = f"the endpoint {endpoint.host}"
    answered = f"{where} answered {status or 'with an error'}"

    def failure(next_step: str, *, again: bool = False, repeat: bool = True) -> Failure:
        error = ModelError(f"{answered}{said if repeat else ''}. Nothing was changed. {next_step}")
        wait = wait_asked(headers)
        return Failure(error=error, what=answered, again=again, wait=wait, status=status, text=text)

    if (full := context_full(status, told, text)) is not None:
        limit = full or None
        size = f" of {limit} tokens" if limit else ""
        error = ContextFull(
            f"the conversation no longer fits the context{size} of {model}{said}. Nothing was changed.", limit=limit
        )
        return Failure(error=error, what=answered, status=status, text=text)
    if status == 401:
        return failure(f"Check the key: it comes from {endpoint.key_source}.", repeat=False)
    if status == 403:
        return failure(f"The key from {endpoint.key_source} does not allow this; check it and the account's rights.")
    if code in NEVER_AGAIN or told.get("type") in NEVER_AGAIN or status == 402:
        return failure("The account has nothing left to spend: see its billing page, or choose another model.")
    if status is not None and 300 <= status < 400:
        return failure(
            "Redirects are not followed, since they would take the request elsewhere: correct base_url.", repeat=False
        )
    again = (status in AGAIN or status is None) and headers.get("x-should-retry") != "false"
    if again:
        return failure("Ask again later, or choose another model.", again=True)
    return failure(f"Check the model's name ({model}) and [providers.{endpoint.name}].")


def lost(
    endpoint: Endpoint, reason: str, *, again: bool = True, reached: bool = True, proxy: str | None = None
) -> Failure:
    """No answer, or half of one. `reached`: there was a connection. `proxy`: the host that it was to go through."""
    became = f"the connection to {endpoint.host} was lost" if reached else f"{endpoint.host} cannot be reached"
    through = f" through the proxy {proxy}" if proxy else ""
    what = f"{became}{through} ({endpoint.clean(reason)})"
    rest = "Nothing was changed. Check that the endpoint runs and can be reached, or choose another model."
    return Failure(error=ModelError(f"{what}. {rest}"), what=what, again=again)


def broken_off(endpoint: Endpoint, reason: str) -> ModelError:
    """A stream that ended in the middle of a reply."""
    return ModelError(
        f"the endpoint {endpoint.host} broke off in the middle of its reply ({endpoint.clean(reason)}). What it had said is "
        "kept, and no unfinished call was run. Ask again to go on."
    )


def context_full(status: int | None, told: Mapping[str, Any], text: str) -> int | None:
    """The context's size where the answer says that it is full (0: it does not say how large it is); else None."""
    kind = f"{told.get('code')} {told.get('type')}"
    rate = "rate_limit" in kind or status == 429
    named = "context_length_exceeded" in kind or "exceed_context_size" in kind
    read = status in (None, 400, 413, 422, 500) and (_FULL.search(text) is not None or status == 413)
    if not named and (rate or not read):
        return None
    if isinstance(size := told.get("n_ctx"), int):
        return size
    found = next((found for pattern in _LIMITS if (found := pattern.search(text))), None)
    return int(found[1].replace(",", "")) if found else 0


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` asks for: a number, or a date."""
    try:
        if exact := headers.get("retry-after-ms"):
            return max(0.0, float(exact) / 1000)
        asked = headers.get("retry-after")
        if not asked:
            return None
        if re.fullmatch(r"\d+(\.\d+)?([eE]\d{1,2})?", asked.strip()):
            return float(asked)
        return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def span(seconds: float) -> str:
    """A time to wait, in words."""
    for most, unit, name in ((7_200, 1, "s"), (172_800, 3_600, "hours"), (31_536_000, 86_400, "days")):
        if seconds < most:
            return f"{seconds / unit:.0f} {name}"
    return "more than a year"


def _told(body: Any) -> Mapping[str, Any]:
    """The error object of an answer: under `error` (a mapping or a text), `detail`, or the answer itself."""
    if isinstance(body, list) and body:
        body = body[0]  # Gemini
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error", body)
    if isinstance(inner, str):
        return {"message": inner}
    return inner if isinstance(inner, Mapping) else {}


def _shown(message: Any, body: Any) -> str:
    """The endpoint's own words, on one line; a page of HTML is not repeated."""
    text = message if isinstance(message, str) else body if isinstance(body, str) and "<" not in body else ""
    return " ".join(text[:READ].split())
