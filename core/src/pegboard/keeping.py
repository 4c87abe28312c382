"""What tools keep in the session: which parts of files were shown, and values of their own. Durable, folded from the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard import events
from pegboard.context import State

if TYPE_CHECKING:
    from pegboard.grant import Grant
    from pegboard.kit.seen import Seen, SeenFiles
    from pegboard.running import Runner


class SessionSeen:
    """What the session was shown of files, folded from its log (`kit.seen.SeenFiles`)."""

    def __init__(self, runner: Runner, grant: Grant) -> None:
        self._runner = runner
        self._grant = grant

    def get(self, path: str) -> Seen | None:
        """What was shown of a file, if anything."""
        return seen_of(self._runner.session.fold.seen.get(path))

    def put(self, seen: Seen) -> None:
        """Write down what was shown."""
        self._runner.session.append(seen_event(seen, self._grant.turn))


def seen_of(event: events.Seen | None) -> Seen | None:
    """What was shown of a file, from its event in the log."""
    from pegboard.kit.handles import Stamp
    from pegboard.kit.seen import Seen

    if event is None:
        return None
    return Seen(path=event.path, stamp=Stamp(*event.stamp), ranges=list(event.ranges), digest=event.digest)


def seen_event(seen: Seen, turn: int | None = None) -> events.Seen:
    """The same as an event."""
    stamp = list(msgspec.structs.astuple(seen.stamp))
    return events.Seen(turn=turn, path=seen.path, stamp=stamp, ranges=list(seen.ranges), digest=seen.digest)


class ThreadSeen:
    """The same from a worker thread."""

    def __init__(self, inner: SeenFiles, on_loop: Callable[[Callable[[], Any]], Any]) -> None:
        self._inner = inner
        self._on_loop = on_loop

    def get(self, path: str) -> Seen | None:
        """What was shown of a file, if anything."""
        return self._inner.get(path)

    def put(self, seen: Seen) -> None:
        """Write down what was shown."""
        self._on_loop(lambda: self._inner.put(seen))


class SessionState:
    """A durable value in the session's log."""

    def __init__(self, runner: Runner, grant: Grant, key: str) -> None:
        self._runner = runner
        self._grant = grant
        self._key = key

    def get(self, default: Any = None) -> Any:
        """The value, or the default where none was set."""
        return self._runner.session.fold.state.get(self._key, default)

    def set(self, value: Any) -> None:
        """Set it from here on."""
        self._runner.session.append(events.StateChanged(turn=self._grant.turn, key=self._key, value=value))


class ThreadState:
    """The same from a worker thread."""

    def __init__(self, inner: State, on_loop: Callable[[Callable[[], Any]], Any]) -> None:
        self._inner = inner
        self._on_loop = on_loop

    def get(self, default: Any = None) -> Any:
        """The value, or the default where none was set."""
        return self._inner.get(default)

    def set(self, value: Any) -> None:
        """Set it from here on."""
        self._on_loop(lambda: self._inner.set(value))
