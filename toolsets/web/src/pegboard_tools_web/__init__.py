"""The tool set web: search the web, fetch pages as text, make HTTP requests.

Importing this costs nothing: the HTTP client comes in with the first request. `Settings` is the table `[web]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.hooks import hookimpl

from pegboard_tools_web.settings import Settings as Settings


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order the model is told of them."""
    from pegboard_tools_web.fetching import web_fetch
    from pegboard_tools_web.requesting import http_request
    from pegboard_tools_web.searching import web_search

    return [web_search, web_fetch, http_request]
