"""The child of `backends.ddgs`: a `Task` on stdin, an `Answer` for each query on stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from pegboard_tools_web.backends.ddgs import Answer, Task
from pegboard_tools_web.results import Hit

_NOTHING = "No results found"
_REFUSALS = (202, 403, 418, 429)
"""Statuses of a page that wants to know whether a person is asking, and of a limit."""


def search(task: Task, query: str) -> Answer:
    """Ask one engine after the other, until one finds something."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException
    from lxml.etree import LxmlError  # type: ignore[import-untyped]

    errors: dict[str, str] = {}
    for engine in task.engines:
        statuses: list[int] = []
        try:
            with watched(statuses.append):
                found = DDGS(proxy=task.proxy, timeout=task.seconds).text(query, backend=engine, max_results=task.most)
        except DDGSException as error:
            refused = next((status for status in statuses if status != 200), None)
            if refused is not None:
                errors[engine] = f"HTTP {refused}" + (" (it refuses programs for now)" if refused in _REFUSALS else "")
            elif _NOTHING not in str(error):
                errors[engine] = reason(error)
            continue
        except (LxmlError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
            # The library parses what the engine answered, which may be anything.
            errors[engine] = reason(error)
            continue
        hits = [Hit(title=one.get("title", ""), url=one.get("href", ""), snippet=one.get("body", "")) for one in found]
        if hits:
            return Answer(hits=hits)
    return Answer(hits=[], errors=errors)


@contextmanager
def watched(tell: Callable[[int], object]) -> Iterator[None]:
    """Tell the status of each reply. The library takes a reply that is none for one without results."""
    from ddgs.http_client import HttpClient

    original = HttpClient.request

    def request(self: HttpClient, *args: Any, **options: Any) -> Any:
        reply = original(self, *args, **options)
        tell(reply.status_code)
        return reply

    HttpClient.request = request  # type: ignore[method-assign]
    try:
        yield
    finally:
        HttpClient.request = original  # type: ignore[method-assign]


def reason(error: Exception) -> str:
    """What went wrong with one engine, in a few words of ours: the error's own may be the engine's."""
    lower = f"{type(error).__name__}: {error}".lower()
    if "timed out" in lower or "timeout" in lower:
        return "no answer in time"
    if "proxy" in lower:
        return "the proxy does not let it through"
    if "dns" in lower or "name resolution" in lower:
        return "its name cannot be resolved; is there a network?"
    if "connect" in lower or "error sending request" in lower:
        return "no connection; is there a network?"
    return f"its answer cannot be read ({type(error).__name__})"


def main() -> None:
    """Answer the task on stdin."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what the library prints is no part of the answer
    for query in task.queries:
        out.write(msgspec.json.encode(search(task, query)) + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
