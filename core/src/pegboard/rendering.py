"""Plugins' renderers: a tool's data in, blocks out. Front ends pull them; nothing here is ever on the road of a call.

A renderer is chosen by the type that the tool declares to return, so the same one serves every tool that returns it.
Events carry plain data; it is read back as that type, afresh for each drawing, so a renderer can change nothing but its
own copy. It runs in a thread of its own under 250 ms (decision 64). One that raises, hangs or returns nonsense costs its
picture: the front end shows the result's text as it would without it, and a note names the plugin, once.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import msgspec

from pegboard.blocks import AnyBlock
from pegboard.calls import Result
from pegboard.plugins.loaded import log_failure
from pegboard.wire import clean, encode

if TYPE_CHECKING:
    from pegboard.entries import Entry
    from pegboard.hooks import Renderer
    from pegboard.tooling import Tool

LIMIT = 0.25
"""Seconds that a renderer may take."""
MOST_BYTES = 4 * 1024 * 1024
"""What the blocks of one result may come to, as JSON."""

_read = msgspec.json.Decoder(list[AnyBlock]).decode


def to_json(blocks: Sequence[AnyBlock]) -> bytes:
    """Blocks as a JSON list of objects, each with its name under `block`: as events and records carry them, valid UTF-8."""
    return encode(blocks)


def from_json(body: bytes) -> list[AnyBlock]:
    """Blocks read back.

    Raises:
        msgspec.ValidationError: something else than blocks; the text says where.
    """
    return _read(body)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Seat:
    """One renderer, what it draws, and whose it is."""

    kind: Any
    render: Renderer
    entry: Entry


class Renderers:
    """Every renderer of a board.

    A set's renderers draw what its own tools return; those of the group `pegboard.renderers` draw for any tool. Where two
    draw the same type, the tool's own set comes first, then plugins in the order in which they were loaded."""

    def __init__(self, given: Iterable[tuple[Entry, Mapping[Any, Renderer]]] = (), *, limit: float = LIMIT) -> None:
        self._seats = [
            _Seat(kind=kind, render=render, entry=entry) for entry, table in given for kind, render in table.items()
        ]
        self._limit = limit
        self._choices: dict[Tool, list[tuple[Any, _Seat]]] = {}
        self._hung: dict[str, Future[_Drawn]] = {}
        self._failed: set[str] = set()
        self._off: set[str] = set()
        self._notes: list[str] = []

    async def blocks(self, tool: Tool | None, data: Any) -> list[AnyBlock] | None:
        """What a renderer makes of a tool's data, as `call_finished` and records carry it.

        None where there is nothing better than the result's text: no renderer for what the tool returns, no data, a
        renderer that declines (None or no blocks) or fails."""
        if tool is None or data is None or not self._seats:
            return None
        choices = [one for one in self.choices(tool) if not self._hangs(one[1].entry.name)]
        if not choices:
            return None
        job = _Job(choices, encode(data))
        done = job.start()
        try:
            async with asyncio.timeout(self._limit):
                drawn = await asyncio.wrap_future(done)
        except TimeoutError:
            self._hung[job.at.entry.name] = done
            drawn = _Drawn(problem=f"took longer than {self._limit * 1000:g} ms")
        if drawn.problem:
            self._fail(tool, job.at.entry, drawn.problem)
        return drawn.blocks or None

    def choices(self, tool: Tool) -> list[tuple[Any, Any]]:
        """(type, renderer's seat) for what a tool returns, in the order in which they are tried."""
        if tool not in self._choices:
            seats = sorted(
                (s for s in self._seats if s.entry.name not in self._off and _draws(s, tool)),
                key=lambda seat: seat.entry.name != tool.owner,
            )
            found = [(kind, _seat_for(kind, seats)) for kind in returned_types(tool.signature.result)]
            self._choices[tool] = [(kind, seat) for kind, seat in found if seat is not None]
        return self._choices[tool]

    def switch(self, name: str, *, on: bool) -> None:
        """Draw nothing with a plugin's renderers from now on, or do so again."""
        (self._off.discard if on else self._off.add)(name)
        self._choices.clear()

    def told(self) -> list[str]:
        """What went wrong since this was last asked, a line for each plugin that had not failed before."""
        notes, self._notes = self._notes, []
        return notes

    def _hangs(self, name: str) -> bool:
        return name in self._hung and not self._hung[name].done()

    def _fail(self, tool: Tool, entry: Entry, problem: str) -> None:
        if entry.name in self._failed:
            return
        self._failed.add(entry.name)
        self._notes.append(
            f"the renderer of plugin {entry.name!r} ({entry.distribution} {entry.version}) {problem} "
            f"when it was to draw what {tool.name} returned; the text is shown instead, and nothing else is changed. "
            f'Update or uninstall it, or put "{entry.name}" in plugins.disable'
        )


def _draws(seat: _Seat, tool: Tool) -> bool:
    return seat.entry.name == tool.owner or seat.entry.group != "pegboard.toolsets"


def returned_types(hint: Any) -> list[Any]:
    """The types of data that a return annotation names: members of unions apart, `None` left out.

    A tool that returns a `Result` says the type of its data as `Annotated[Result, Report]`."""
    origin = get_origin(hint)
    if origin is Annotated:
        base, *metadata = get_args(hint)
        return [kind for kind in metadata if isinstance(kind, type)] if base is Result else returned_types(base)
    if origin in (Union, UnionType):
        return [kind for member in get_args(hint) for kind in returned_types(member)]
    return [] if hint is None or hint in (Any, type(None), str, Result) else [hint]


def _seat_for(kind: Any, seats: Sequence[_Seat]) -> _Seat | None:
    """The renderer for a type: its own, else that of the nearest class it derives from."""
    bases = (
        [one for one in inspect.getmro(kind) if one not in (object, msgspec.Struct)] if inspect.isclass(kind) else []
    )
    return next((seat for base in bases or [kind] for seat in seats if _same(seat.kind, base)), None)


def _same(one: Any, other: Any) -> bool:
    """Whether two types are the same; `list[Hit]` is made anew each time it is written."""
    return one is other or (get_origin(one) is not None and get_origin(other) is not None and bool(one == other))


class _Drawn(msgspec.Struct, gc=False):
    """How a drawing ended: blocks, or what went wrong, or neither (the renderer leaves it to the text)."""

    blocks: list[AnyBlock] | None = None
    problem: str = ""


class _Job:
    """One drawing, in a daemon thread: one that never ends keeps nobody from leaving. `at`: the renderer it has come to."""

    def __init__(self, choices: Sequence[tuple[Any, _Seat]], body: bytes) -> None:
        self.at = choices[0][1]
        self._choices = choices
        self._body = body
        self._done: Future[_Drawn] = Future()

    def start(self) -> Future[_Drawn]:
        """Begin; the future is never cancelled from within and always ends when the thread does."""
        self._done.set_running_or_notify_cancel()
        threading.Thread(target=self._run, name="renderer", daemon=True).start()
        return self._done

    def _run(self) -> None:
        try:
            drawn = self._draw()
        except BaseException as error:  # noqa: BLE001 - isolates plugins: nothing a renderer raises may kill the thread
            log_failure("a renderer raised", error)
            drawn = _Drawn(problem=_said(error))
        self._done.set_result(drawn)

    def _draw(self) -> _Drawn:
        misfit = ""
        for kind, seat in self._choices:
            self.at = seat
            try:
                value = msgspec.json.decode(self._body, type=kind)
            except msgspec.ValidationError as error:
                misfit = f"was given data that is no {getattr(kind, '__name__', kind)} ({error})"
                continue
            returned: Any = seat.render(value)
            if inspect.isawaitable(returned):
                returned = asyncio.run(_awaited(returned))
            return _checked(returned)
        return _Drawn(problem=misfit)


async def _awaited(value: Any) -> Any:
    return await value


def _checked(returned: Any) -> _Drawn:
    """Blocks as values of ours: written and read back, so that each field is of its type, valid UTF-8 and nobody else's."""
    if returned is None:
        return _Drawn()
    if not isinstance(returned, list | tuple):
        return _Drawn(problem=f"returned {type(returned).__name__} where a list of blocks was expected")
    body = to_json(returned)
    if len(body) > MOST_BYTES:
        return _Drawn(problem=f"returned blocks of more than {MOST_BYTES // 1024**2} MiB")
    try:
        return _Drawn(blocks=from_json(body))
    except msgspec.ValidationError as error:
        return _Drawn(problem=f"returned what are no blocks ({error})")


def _said(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - isolates plugins: an exception of theirs that cannot even be shown
        text = "(an error without a text)"
    first = clean(text).strip().split("\n", 1)[0][:200]
    return f"raised {type(error).__name__}{f': {first}' if first else ''}"
