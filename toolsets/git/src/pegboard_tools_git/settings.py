"""The settings of both sets: the tables `[git]` and `[git-write]` in configuration."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

_Elsewhere = Annotated[
    bool,
    Meta(
        description="Let a work tree in the workspace belong to a repository outside of it, if that one lists the work tree."
    ),
]
Protocol = Literal["https", "ssh", "file", "http", "git"]


class ReadSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[git]`."""

    worktree_outside: _Elsewhere = False


class WriteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[git-write]`."""

    worktree_outside: _Elsewhere = False
    push_protocols: Annotated[
        list[Protocol],
        Meta(
            description="How git_push may reach a remote repository. One on this machine (`file`) must lie outside the "
            "workspace: its hooks are run."
        ),
    ] = msgspec.field(default_factory=lambda: ["https", "ssh", "file"])
