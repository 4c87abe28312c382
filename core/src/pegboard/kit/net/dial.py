"""Look a name up, judge every address, connect to one that was judged.

Between the verdict and the connection no name is looked up again: a name that answers differently the second time (DNS
rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pegboard.kit.net.guard import Policy
from pegboard.kit.net.urls import Refused, Target

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""(name, port) -> addresses, in the order to try them. Raises OSError."""
T = TypeVar("T")


async def resolve(host: str, port: int) -> list[str]:
    """The addresses the system gives a name, in the order it advises (RFC 6724).

    Raises:
        OSError: there is none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def addresses(target: Target, policy: Policy, look_up: Resolve = resolve) -> list[str]:
    """The addresses that may be dialled for a URL, each judged.

    Raises:
        Refused: the URL, or one of its addresses, may not be requested; or the name is unknown.
    """
    policy.check(target)
    if target.address is not None:
        return policy.judged(target, [target.host])
    try:
        answers = await look_up(target.host, target.port)
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise Refused(target.url, f"the name {target.host} cannot be found ({said})", reason="unknown") from None
    return policy.judged(target, answers)


async def dial(
    target: Target,
    policy: Policy,
    connect: Callable[[str, int], Awaitable[T]],
    *,
    look_up: Resolve = resolve,
    failures: tuple[type[Exception], ...] = (OSError,),
) -> T:
    """Connect to the first judged address of a URL that answers; `connect` is given an address, never a name.

    `failures`: what `connect` raises for an address that does not answer; the next one is tried, and the last one's
    failure is raised.

    Raises:
        Refused: as `addresses` does; nothing was dialled.
    """
    judged = await addresses(target, policy, look_up)
    for address in judged[:-1]:
        try:
            return await connect(address, target.port)
        except failures:
            continue
    return await connect(judged[-1], target.port)
