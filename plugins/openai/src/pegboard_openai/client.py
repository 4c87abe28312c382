"""The SDK's client for one endpoint: certificates, proxies, headers. Imported with the first request: the SDK is heavy."""

from __future__ import annotations

import logging
import ssl

import httpx2
import openai
from pegboard.errors import ConfigError
from pegboard.models import ProviderSettings

from pegboard_openai.endpoint import Endpoint, own_options

READ = 300.0
"""Seconds of silence after which an endpoint counts as lost: models that think may say nothing for minutes."""

CONNECT = 15.0

_SENT = frozenset(
    ["host", "accept", "accept-encoding", "connection", "user-agent", "content-type", "content-length", "authorization"]
)
"""Headers that go out besides the configured ones: the SDK's own would tell of the machine, and of other accounts."""


_TALKERS = ("httpx2", "httpcore2", "openai")
"""Loggers whose debug lines hold whole addresses, headers of answers, and requests: what endpoints hand out as secrets."""


def client(endpoint: Endpoint, settings: ProviderSettings, key: str | None) -> openai.AsyncOpenAI:
    """A client that dials this endpoint and nothing else: no redirects, no retries of its own.

    Raises:
        ConfigError: the proxy or the certificates cannot be used.
    """
    for talker in map(logging.getLogger, _TALKERS):
        if talker.level == logging.NOTSET:  # a program that has set it has chosen
            talker.setLevel(logging.WARNING)
    ours = {name.lower() for name in endpoint.headers}
    accounts = {"openai-organization", "openai-project"} if endpoint.official else set()

    async def strip(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _SENT | ours | accounts]:
            del request.headers[name]
        if key is None and "authorization" not in ours:
            request.headers.pop("authorization", None)

    direct = endpoint.loopback and not settings.proxy  # a proxy of the environment is for the world outside
    try:
        http = httpx2.AsyncClient(
            verify=_certificates(settings, trust_env=not direct),
            proxy=settings.proxy,
            trust_env=not direct,
            follow_redirects=False,
            timeout=httpx2.Timeout(settings.timeout or READ, connect=min(CONNECT, settings.timeout or CONNECT)),
            event_hooks={"request": [strip]},
        )
    except (ValueError, ImportError, OSError) as error:
        raise ConfigError(
            f"[providers.{endpoint.name}]: the proxy or certificates cannot be used ({type(error).__name__}: "
            f"{endpoint.clean(str(error))}); nothing was sent"
        ) from None
    version = own_options(settings).api_version
    query = endpoint.query | ({"api-version": version} if version else {})
    return openai.AsyncOpenAI(
        api_key=key or "none",
        admin_api_key="",
        base_url=endpoint.base_url,
        default_headers=endpoint.headers,
        default_query=query or None,
        max_retries=0,
        http_client=http,
    )


def _certificates(settings: ProviderSettings, *, trust_env: bool) -> ssl.SSLContext:
    """The system's certificates, and those of the file `ca` besides."""
    context = httpx2.create_ssl_context(trust_env=trust_env)
    if settings.ca:
        context.load_verify_locations(cafile=settings.ca)
    return context
