"""The settings of the set web: the table `[web]` in configuration. Plain data; nothing here opens a connection."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from pegboard_tools_web.net import Net
    from pegboard_tools_web.pages import Pages

MIB = 1024 * 1024
Engine = Literal["duckduckgo", "brave", "mojeek", "startpage", "yahoo", "wikipedia"]
Port = Annotated[int, Meta(ge=1, le=65535)]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The table `[web]`. It counts in a person's own file only; a project that came with a clone changes nothing here."""

    allow_hosts: Annotated[
        list[str],
        Meta(
            description="Hosts of yours that may be reached though their address is loopback or private, by the name "
            "written here: with a port only that port, without one every port.",
            examples=[["localhost:8000", "nas.home"]],
        ),
    ] = []
    allow_cidrs: Annotated[
        list[str],
        Meta(
            description="Blocks of addresses that may be reached though they are not public, whatever the name. Loopback "
            "and a cloud's metadata services are among what this can open.",
            examples=[["198.18.0.0/15"]],
        ),
    ] = []
    ports: Annotated[tuple[Port, ...], Meta(description="Ports that may be requested.")] = (80, 443)
    proxy: Annotated[
        str | None,
        Meta(
            description="An HTTP proxy for every request, which then looks names up itself. Left out: none; proxies named "
            "in the environment are not used.",
            examples=["http://proxy.home:3128"],
        ),
    ] = None
    timeout: Annotated[float, Meta(description="Seconds for a whole request, redirects included.", gt=0, le=600)] = 30.0
    max_bytes: Annotated[
        int, Meta(description="Bytes of a body that are taken, unpacked; what lies beyond is not downloaded.", ge=1)
    ] = 5 * MIB
    max_redirects: Annotated[int, Meta(description="Redirects that are followed.", ge=0, le=20)] = 5
    per_host: Annotated[int, Meta(description="Requests at a time to one host.", ge=1, le=64)] = 1
    user_agent: Annotated[str, Meta(description="How requests name their sender.", min_length=1)] = (
        "Mozilla/5.0 (compatible; Pegboard/0.1)"
    )
    search_results: Annotated[int, Meta(description="Results of a search, where a call does not say.", ge=1, le=50)] = 5
    search_backend: Annotated[
        Literal["ddgs", "searxng"], Meta(description="Who searches; searxng needs `searxng_url`.")
    ] = "ddgs"
    searxng_url: Annotated[
        str | None,
        Meta(description="Address of a SearXNG server that answers in JSON.", examples=["http://localhost:8888"]),
    ] = None

    search_engines: Annotated[
        tuple[Engine, ...],
        Meta(
            description="Engines that the backend ddgs asks, in this order: one is sent the query only if those before it "
            "found nothing.",
            min_length=1,
        ),
    ] = ("duckduckgo", "brave", "mojeek")

    def __post_init__(self) -> None:
        """Raises ValueError for a host, block or proxy that cannot be read: a wrong line stops the set, not a request."""
        if self.allow_hosts or self.allow_cidrs or self.proxy:
            self.net  # noqa: B018 - reads them all

    @cached_property
    def net(self) -> Net:
        """The door to the network under these settings, and who is using it: one for the life of a board."""
        from pegboard_tools_web.net import Net

        return Net.of(self)

    @cached_property
    def searxng_net(self) -> Net:
        """The same for the SearXNG server: whoever names it in `searxng_url` opens that host and port."""
        from pegboard.kit.net import parse

        from pegboard_tools_web.net import Net

        server = parse(self.searxng_url or "")
        here = f"{server.host}:{server.port}" if ":" not in server.host else f"[{server.host}]:{server.port}"
        return Net.of(msgspec.structs.replace(self, allow_hosts=[*self.allow_hosts, here]))

    @cached_property
    def pages(self) -> Pages:
        """The pages that were fetched last, for reading on: one for the life of a board."""
        from pegboard_tools_web.pages import Pages

        return Pages()
