"""The settings of the guard: the table `[guard]` in configuration."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Pattern = Annotated[str, Meta(min_length=1)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[guard]`. A project that came with a clone may add to `protected` and switch `destructive` on; the
    rest is the person's own."""

    read_secrets: Annotated[bool, Meta(description="Let tools read secrets. Writing them stays refused.")] = False
    allow: Annotated[
        list[Pattern],
        Meta(
            description="Patterns of protected files that may be read and written all the same, as in an ignore file. "
            "Counts in the user's own file only.",
            examples=[["/.env", "fixtures/**/*.pem"]],
        ),
    ] = []
    protected: Annotated[
        list[Pattern],
        Meta(
            description="Further patterns of files that no tool may write, as in an ignore file.",
            examples=[["migrations/", "*.sql"]],
            extra={"tightens": True},
        ),
    ] = []
    destructive: Annotated[
        bool,
        Meta(
            description="Refuse plainly destructive commands: removal of the system's folders, a home, the workspace root "
            "or `.git`; writing to disks; fork bombs.",
            extra={"tightens": True},
        ),
    ] = True
