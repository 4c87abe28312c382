"""An approver: it is asked before the person is, and answers by a policy that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta
from pegboard import Answer, hookimpl
from pegboard.hooks import Approver, Asked

pegboard_api = 1  # the version of Pegboard's hooks that this was written for

BY = "sample-plugin"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [sample-plugin] of a person's settings."""

    policy: Annotated[
        Literal["documents", "offline"],
        Meta(
            description="documents: yes to changes of documents alone. offline: no to the network. "
            "Everything else is left to the person."
        ),
    ] = "documents"
    endings: Annotated[tuple[str, ...], Meta(description="What names of documents end with.")] = (
        ".md",
        ".txt",
    )


def documents(asked: Asked, settings: Settings) -> Answer | None:
    """Yes, if all that the call touches are documents of the workspace that it changes."""
    fine = [
        touch.kind == "edit"
        and not touch.outside
        and (touch.at or "").endswith(settings.endings)
        and touch.what.endswith(settings.endings)
        for touch in asked.touches
    ]
    if not fine or not all(fine):
        return None
    return Answer(granted=True, by=BY, reason="it changes documents alone")


def offline(asked: Asked, settings: Settings) -> Answer | None:
    """No, if the call touches the network. The model is told the reason: say what to do instead."""
    if not any(touch.kind == "net" for touch in asked.touches):
        return None
    reason = "the policy is offline; work with what is in the workspace"
    return Answer(granted=False, by=BY, reason=reason)


Policy: TypeAlias = Callable[[Asked, Settings], Answer | None]
POLICIES: dict[str, Policy] = {"documents": documents, "offline": offline}
"""The policies by name. One that asks a service elsewhere would be awaited in `approve`."""


@hookimpl
def pegboard_approvers(settings: Settings) -> list[Approver]:
    """The approvers. The first answer that is not None counts, and a no is final."""
    policy = POLICIES[settings.policy]

    async def approve(asked: Asked) -> Answer | None:
        """None leaves it to the person; so does every question of a guard."""
        return None if asked.decision.layer == "plugin" else policy(asked, settings)

    return [approve]
