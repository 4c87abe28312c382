"""The provider's own keys of `[providers.NAME]`, beside those that every provider has."""

from __future__ import annotations

from typing import Any

import msgspec

KEY = "OPENAI_API_KEY"
"""The variable that holds the key of the endpoint that nobody configured."""
URL = "OPENAI_BASE_URL"
"""The variable that may hold another address for it."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """stream_usage: ask for token counts while streaming (`stream_options`); off for servers that refuse it.

    api_version: Azure's `api-version` query, for its older addresses. extra_body: fields added to every request."""

    stream_usage: bool = True
    api_version: str | None = None
    extra_body: dict[str, Any] = {}
