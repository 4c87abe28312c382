"""Pages that were fetched a moment ago, so that reading on does not fetch and convert them anew. In memory only."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

SECONDS = 900.0
MOST_PAGES = 16
MOST_CHARS = 16_000_000


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page as text. `asked`: the URL that was asked for. `url`: where it came from, after redirects. `notes`: what a
    reader should know of it."""

    asked: str
    url: str
    status: int
    content_type: str
    title: str
    text: str
    notes: tuple[str, ...] = ()


class Pages:
    """The last few pages of one board, by the URL that was asked for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Page]] = OrderedDict()

    def get(self, url: str) -> Page | None:
        """The page, if it is here and not older than `SECONDS`."""
        at, page = self._kept.get(url, (0.0, None))
        if page is None or self._clock() - at > SECONDS:
            self._kept.pop(url, None)
            return None
        self._kept.move_to_end(url)
        return page

    def put(self, url: str, page: Page) -> None:
        """Keep a page; those used longest ago give way."""
        self._kept.pop(url, None)
        self._kept[url] = (self._clock(), page)
        while len(self._kept) > MOST_PAGES or sum(len(page.text) for _, page in self._kept.values()) > MOST_CHARS:
            self._kept.popitem(last=False)
