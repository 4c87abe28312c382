"""Search by ddgs, a library that reads the result pages of public search engines: no account, no key.

It makes its own connections, to the engines' fixed addresses and where they redirect, and takes proxies from the
environment. So it runs in a child (`backends.ddgs_child`), which can be ended, in an environment that names none; it is
told of `web.proxy` alone. Engines are asked in the order of `web.search_engines`, each only if those before it found
nothing, so that a query goes to no more services than it must.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec
from pegboard.context import Context

from pegboard_tools_web.backends import Answered, Failed
from pegboard_tools_web.children import printed
from pegboard_tools_web.results import Hit
from pegboard_tools_web.settings import Settings

_HOMES = {
    "duckduckgo": "https://html.duckduckgo.com/html/",
    "brave": "https://search.brave.com/search",
    "mojeek": "https://www.mojeek.com/search",
    "startpage": "https://www.startpage.com/sp/search",
    "yahoo": "https://search.yahoo.com/search",
    "wikipedia": "https://en.wikipedia.org/w/api.php",
}
_EACH_SECONDS = 10
"""For one request to one engine."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the child is told, as JSON on stdin."""

    queries: list[str]
    engines: list[str]
    most: int
    seconds: int
    proxy: str | None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the child says of one query, a line of JSON each. `errors`: by engine; one that has none found nothing."""

    hits: list[Hit]
    errors: dict[str, str] = {}


class Backend:
    """See the module."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def urls(self) -> list[str]:
        """The result pages of the engines."""
        return [_HOMES[engine] for engine in self._settings.search_engines]

    async def find(self, ctx: Context, queries: Sequence[str], most: int) -> list[Answered | Failed]:
        """One child for all queries; what it had found when the time was over counts."""
        engines: list[str] = list(self._settings.search_engines)
        task = Task(
            queries=list(queries), engines=engines, most=most, seconds=_EACH_SECONDS, proxy=self._settings.proxy
        )
        said, failed = await printed(
            ctx.run,
            "pegboard_tools_web.backends.ddgs_child",
            stdin=msgspec.json.encode(task),
            seconds=2 * _EACH_SECONDS * len(queries),
            env=without_proxies(os.environ),
        )
        answers: list[Answered | Failed] = [_judged(line) for line in said.splitlines()[: len(queries)]]
        missing = Failed(f"The search {failed or 'gave no answer'}. Try again later.")
        answers += [missing] * (len(queries) - len(answers))
        return answers


def without_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables that name proxies."""
    return {name: value for name, value in environ.items() if not name.lower().endswith("_proxy")}


def _judged(line: bytes) -> Answered | Failed:
    try:
        answer = msgspec.json.decode(line, type=Answer)
    except msgspec.DecodeError:
        return Failed("The search library's answer cannot be read.")
    if answer.hits or not answer.errors:
        return Answered(answer.hits)
    reasons = "; ".join(f"{engine}: {reason}" for engine, reason in answer.errors.items())
    return Failed(f"The search engines could not be asked ({reasons[:400]}). Try again later.")
