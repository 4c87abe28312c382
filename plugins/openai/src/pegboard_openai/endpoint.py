"""Where requests go and what opens the door: address, key, headers. Keys are kept out of every text."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from pegboard.errors import ConfigError, ModelError
from pegboard.models import ProviderSettings
from pegboard.providers import key_variable

from pegboard_openai.options import KEY, URL, Options

BASE_URL = "https://api.openai.com/v1"
COMMAND_LIMIT = 20.0
"""Seconds that `api_key_command` may take: it may ask a password manager."""

_FROM_ENVIRONMENT = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_SHORTEST_SECRET = 6


@dataclass(kw_only=True)
class Endpoint:
    """One endpoint. `key_source`: what a person would look at when the key is refused. `secrets`: never shown.

    `query`: what stood behind a `?` in its address, and goes out behind every path."""

    name: str
    base_url: str
    host: str
    loopback: bool
    official: bool
    key: str | None
    key_command: list[str] | None
    key_source: str
    headers: dict[str, str]
    query: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: set[str] = field(default_factory=set, repr=False)

    def clean(self, text: str) -> str:
        """A text without this endpoint's secrets."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            for form in (secret, repr(secret)[1:-1], repr(secret.encode("utf-8", "replace"))[2:-1]):
                text = text.replace(form, "[secret]")
        return text

    async def api_key(self) -> str | None:
        """The key; a command for it runs once.

        Raises:
            ModelError: the command failed. What it printed is not repeated.
        """
        if self.key is None and self.key_command:
            self.key = await _run(self.key_command, self.name)
            self.secrets.add(self.key)
        return self.key


def endpoint(settings: ProviderSettings, environ: Mapping[str, str]) -> Endpoint:
    """Where `[providers.NAME]` leads; without a table, OpenAI itself or what OPENAI_BASE_URL says.

    Raises:
        ConfigError: an address that is none, a variable that is not set, a key that cannot be sent.
    """
    name = settings.name
    base_url = settings.base_url or (environ.get(URL) if name == "openai" else None)
    if not base_url and name != "openai":
        raise ConfigError(f"[providers.{name}]: base_url is missing; nothing was started. Set the endpoint's address.")
    base_url = base_url or BASE_URL
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment:
        raise ConfigError(
            f"[providers.{name}]: base_url {_without_login(base_url)!r} is no address like {BASE_URL}; nothing was started"
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"[providers.{name}]: base_url holds a login; nothing was started. Use api_key_env or headers."
        )
    base_url, query = base_url.partition("?")[0].rstrip("/"), dict(parse_qsl(parts.query, keep_blank_values=True))
    loopback = is_loopback(parts.hostname)
    variable = settings.api_key_env
    if variable is None:
        variable = KEY if name == "openai" else key_variable(name)
    key = None if settings.api_key_command else (environ.get(variable) or "").strip() or None if variable else None
    if key is not None and not _sendable(key):
        raise ConfigError(
            f"{name}: the variable {variable} holds more than a key (a line break, or characters beyond ASCII); nothing "
            "was started. Set it anew."
        )
    headers, secrets = _headers(settings, environ)
    secrets |= set(query.values())
    secrets.add(urlsplit(settings.proxy or "").password or "")
    has_own_login = any(header.lower() in ("authorization", "api-key", "x-api-key") for header in headers)
    if not (key or settings.api_key_command or loopback or has_own_login) and variable:
        raise ConfigError(
            f"{name}: the variable {variable} is not set, and {parts.hostname} wants a key; nothing was started. "
            f'Set it, or api_key_env or api_key_command in [providers.{name}] (api_key_env = "" where no key is needed), '
            "or use --model offline."
        )
    return Endpoint(
        name=name,
        base_url=base_url,
        host=parts.netloc,
        loopback=loopback,
        official=parts.hostname == "api.openai.com"
        or parts.hostname.endswith((".openai.azure.com", ".api.openai.com")),
        key=key,
        key_command=settings.api_key_command,
        key_source=f"api_key_command of [providers.{name}]" if settings.api_key_command else variable or "the key",
        headers=headers,
        query=query,
        secrets={secret for secret in {*secrets, key or ""} if len(secret) >= _SHORTEST_SECRET},
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its letters alone: nothing is looked up."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def proxy_of(endpoint: Endpoint, settings: ProviderSettings) -> str | None:
    """The host of the proxy that requests go through: the table's, else the environment's, as the client takes them."""
    from urllib.request import getproxies, proxy_bypass

    found = settings.proxy
    if not found and not endpoint.loopback:
        scheme, host = endpoint.base_url.partition("://")[0], endpoint.host.rpartition("@")[2]
        known = getproxies()
        found = None if proxy_bypass(host) else known.get(scheme) or known.get("all")
    return urlsplit(found if "://" in found else f"//{found}").netloc.rpartition("@")[2] if found else None


def own_options(settings: ProviderSettings) -> Options:
    """The provider's own keys."""
    return settings.options if isinstance(settings.options, Options) else Options()


def _without_login(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url).partition("?")[0]


def _sendable(value: str) -> bool:
    """Whether a header can hold it."""
    return value.isascii() and value.isprintable()


def _headers(settings: ProviderSettings, environ: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """The headers of the table with `{env:NAME}` filled in, and what was filled in."""
    secrets: set[str] = set()

    def fill(found: re.Match[str]) -> str:
        value = environ.get(found[1])
        if not value:
            raise ConfigError(
                f"[providers.{settings.name}]: a header needs the variable {found[1]}, which is not set; nothing was started"
            )
        secrets.add(value.strip())
        return value.strip()

    filled = {name: _FROM_ENVIRONMENT.sub(fill, value) for name, value in settings.headers.items()}
    for name, value in filled.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not _sendable(value.replace("\t", " ")):
            raise ConfigError(
                f"[providers.{settings.name}]: {name!r} is no header that can be sent; nothing was started"
            )
    return filled, secrets


async def _run(command: list[str], name: str) -> str:
    """What the command prints, trimmed. It gets a group of its own, so that all of it can be ended."""
    what = f"api_key_command of [providers.{name}]"
    nothing = "Nothing was sent. Run it yourself to see why."
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ModelError(f"{what} cannot be run ({type(error).__name__}). {nothing}") from None
    try:
        out, _ = await asyncio.wait_for(child.communicate(), COMMAND_LIMIT)
    except (TimeoutError, asyncio.CancelledError) as error:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
        if isinstance(error, asyncio.CancelledError):
            raise
        raise ModelError(f"{what} took longer than {COMMAND_LIMIT:g} s and was stopped. {nothing}") from None
    key = out.decode("utf-8", "replace").strip()
    if child.returncode or not key:
        ended = f"ended with {child.returncode}" if child.returncode else "printed nothing"
        raise ModelError(f"{what} {ended}. {nothing}")
    if not _sendable(key):
        raise ModelError(f"{what} printed more than a key. {nothing}")
    return key
