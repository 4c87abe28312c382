"""Which files of a work tree may be staged as git stores them here."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pegboard.errors import Pointless
from pegboard.kit.names import shown

from pegboard_tools_git.places import may_not_read
from pegboard_tools_git.safely import Git


async def check_storable(git: Git, names: Sequence[str]) -> None:
    """Refuse files that may not be read, and files that are stored through a program that only the repository names.

    Without that program they would be stored as they lie there: for an encrypting one, in the clear.

    Raises:
        Pointless: one is such a file. Nothing was staged.
    """
    refused = [name for name in names if may_not_read(git.ctx.workspace, git.repository, name)]
    if refused:
        raise Pointless(f"{shown(refused[0])} may not be read, so it is not staged. Nothing was staged. Leave it out.")
    if names and git.repository.unread:
        raise Pointless(
            f"the repository's configuration names a file by {' and '.join(git.repository.unread)} that lies outside the "
            "workspace or may not be read: what is ignored, or stored through a filter, is not known. Nothing was staged. "
            "Ask the person to stage it, or to name that file in their own git configuration."
        )
    if not names or not (git.repository.filters or git.repository.includes):
        return
    stdin = os.fsencode("\0".join(names))
    answered = os.fsdecode(await git.out("check-attr", "-z", "--stdin", "filter", stdin=stdin)).split("\0")
    drivers = {
        name: driver
        for name, driver in zip(answered[::3], answered[2::3], strict=False)
        if driver not in ("unspecified", "unset", "set")
    }
    own = await _own_filters(git) if drivers else frozenset()
    for name, driver in drivers.items():
        if driver not in own and (driver in git.repository.filters or git.repository.includes):
            raise Pointless(
                f"{shown(name)} is stored through the filter {shown(driver)!r}, a program that the repository's own "
                "configuration names, which is not run here; without it something else would be stored. Nothing was "
                "staged. Ask the person to stage it, or to name the filter in their own git configuration."
            )


async def _own_filters(git: Git) -> frozenset[str]:
    """Filters that the person's own configuration names."""
    done = await git.run("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$")
    keys = os.fsdecode(done.stdout).split("\0")
    return frozenset(key.removeprefix("filter.").rpartition(".")[0] for key in keys if key)
