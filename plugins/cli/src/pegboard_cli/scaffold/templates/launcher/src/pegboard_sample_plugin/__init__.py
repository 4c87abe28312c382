"""A launcher: what a tool wants to start goes in, what is started in its place comes out.

This one runs programs through a wrapper, and keeps secrets out of their environment. It does not
confine what they may read, write or reach: rules with `sandbox = true` allow things because a
launcher does that, so name a wrapper that does before you write such rules.
"""

from __future__ import annotations

import os
import shutil
from fnmatch import fnmatchcase
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from pegboard import ToolError
from pegboard.kit.launch import Launch


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [sample-plugin] of a person's settings."""

    mode: Annotated[
        Literal["auto", "require", "off"],
        Meta(description="require: programs of tools run so, or not at all. Pegboard reads it."),
    ] = "auto"
    wrapper: Annotated[
        tuple[str, ...],
        Meta(min_length=1, description="The program, and its arguments, that each is run through."),
    ] = ("nice", "-n", "10")
    drop: Annotated[
        tuple[str, ...], Meta(description="Patterns of variables that programs do not get.")
    ] = ("*TOKEN*", "*SECRET*", "*PASSWORD*", "*_KEY")
    set: Annotated[dict[str, str], Meta(description="Variables that programs get beside.")] = {}


class Wrapped:
    """Made once for a board, with its settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def missing(self) -> str | None:
        """Why it does not work here, in words for a person; None where it does."""
        program = self.settings.wrapper[0]
        return None if shutil.which(program) else f"{program} is not on PATH"

    def __call__(self, launch: Launch, /) -> Launch:
        """What is started instead. Whatever is raised here, the program is not run.

        Raises:
            ToolError: the program is not there; the wrapper would say so in words of its own.
        """
        given = os.environ if launch.env is None else launch.env
        env = {name: value for name, value in given.items() if not self._drops(name)}
        env |= self.settings.set
        program = launch.argv[0]
        if os.sep not in program and shutil.which(program, path=env.get("PATH")) is None:
            raise ToolError(
                f"{program} is not on PATH. Nothing was run. Install it, or name another"
            )
        return msgspec.structs.replace(launch, argv=(*self.settings.wrapper, *launch.argv), env=env)

    def _drops(self, name: str) -> bool:
        return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in self.settings.drop)
