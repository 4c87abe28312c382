"""Models behind any endpoint that speaks OpenAI's chat completions.

Importing this costs nothing: the SDK comes in with the first reply. Nothing but the endpoint is ever dialled.
"""

from __future__ import annotations

from pegboard.models import Provider, ProviderKind, ProviderSettings

from pegboard_openai.options import KEY, URL, Options

__all__ = ["Options", "provider"]


def _make(settings: ProviderSettings) -> Provider:
    from pegboard_openai.chat import OpenAIProvider  # a module named as the entry would take its place

    return OpenAIProvider(settings)


provider = ProviderKind(make=_make, key_env=KEY, url_env=URL, default_model="gpt-5", loopback=True, options=Options)
"""What the entry point names."""
