"""Work beside what is shown: it may fail, and then it is told of and ends nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from pegboard.terminal import visible
from textual.dom import DOMNode
from textual.worker import Worker

_LONGEST = 400


def work(
    node: DOMNode,
    do: Callable[[], Awaitable[object]],
    name: str,
    *,
    group: str = "default",
    exclusive: bool = False,
    told: Callable[[str], object] | None = None,
) -> Worker[None]:
    """Do something beside the messages of a node, and as long as there is that. A worker of Textual's that raises ends the
    app; of this one it is told what failed.

    name: what is done, as it is told of. group, exclusive: it ends what else runs in the node's group. told: takes what
    there is to say; None: it is shown over the screen."""
    return node.run_worker(
        partial(_isolated, node, do, name, told), name=name, group=group, exclusive=exclusive, exit_on_error=False
    )


async def _isolated(
    node: DOMNode, do: Callable[[], Awaitable[object]], name: str, told: Callable[[str], object] | None
) -> None:
    try:
        await do()
    except Exception as error:  # noqa: BLE001 - isolates work in the background: the session is more than a step of it
        text = f"{name} failed: {type(error).__name__}: {error}."
        if told is not None:
            told(text)
        else:
            node.app.notify(visible(text[:_LONGEST]), severity="error", markup=False)
