"""The settings of the sandbox: the table `[sandbox]` in configuration."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Path = Annotated[str, Meta(min_length=1)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[sandbox]`. Of a project that nobody trusts nothing in it counts."""

    mode: Annotated[
        Literal["auto", "require", "off"],
        Meta(
            description="auto: what is allowed for the sandbox runs in it, where it works here. require: every program of a "
            "tool runs in it, and nothing starts where it does not work. off: it is not used."
        ),
    ] = "auto"
    network: Annotated[bool, Meta(description="Let programs in it use the network.")] = False
    write: Annotated[
        list[Path],
        Meta(
            description="Further folders that programs in it may write. `~` is your home folder.",
            examples=[["~/.cache/uv", "/srv/build"]],
        ),
    ] = []
    hide: Annotated[
        list[Path],
        Meta(description="Further files and folders that they may not read.", examples=[["~/letters", "customers.db"]]),
    ] = []
    show: Annotated[
        list[Path],
        Meta(
            description="Secrets that they may read all the same: paths that are hidden otherwise.",
            examples=[["~/.npmrc", "tests/fixtures/server.key"]],
        ),
    ] = []
    env: Annotated[
        list[str],
        Meta(
            description="Variables that they get all the same, though they look like secrets.", examples=[["CI_TOKEN"]]
        ),
    ] = []
    memory: Annotated[
        Annotated[int, Meta(ge=16)] | None, Meta(description="Megabytes of address space for each process.")
    ] = None
    processes: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Processes and threads. It does not hold for root.")
    ] = None
    cpu: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Seconds of processor time for each process.")
    ] = None
