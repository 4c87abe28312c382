"""`ctx.commit()`: the workspace's edit lock, held from compare to rename, and what is written down when it is released."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.context import Commit
from pegboard.editlock import EditLock
from pegboard.errors import Interrupted, SessionError, ToolError

if TYPE_CHECKING:
    from pegboard.contexts import RunContext
    from pegboard.kit.writer import Writer
    from pegboard.running import Grant, Runner

T = TypeVar("T")


def here(function: Callable[[], T]) -> T:
    """Call on this thread; worker threads have another way to the loop."""
    return function()


class EditCommit(Commit):
    """The workspace's edit lock, from compare to rename; on leaving, undo spans and own edits are written down."""

    def __init__(self, context: RunContext, runner: Runner, grant: Grant) -> None:
        self.on_loop: Callable[[Callable[[], Any]], Any] = here
        self._context = context
        self._runner = runner
        self._grant = grant
        outside = [
            touch.at for touch in grant.touches if touch.kind == "edit" and touch.outside and touch.at is not None
        ]
        self._lock = EditLock(runner.locks, context.workspace.root, outside, alive=self._alive)
        self._writer: Writer | None = None

    def __enter__(self) -> Writer:
        with self._or_let_go():
            self._begin()
            self._lock.__enter__()
            return self._open()

    async def __aenter__(self) -> Writer:
        with self._or_let_go():
            self._begin()
            await self._lock.__aenter__()
            return self._open()

    @contextmanager
    def _or_let_go(self) -> Iterator[None]:
        """What does not come to be entered is never left: the lock must not stay with it."""
        try:
            yield
        except BaseException:
            self._let_go()
            raise

    def _begin(self) -> None:
        effects = self._grant.effects
        effects.commits, effects.open = True, effects.open + 1

    def _let_go(self) -> None:
        self._grant.effects.open -= 1
        self._context.committing = False
        self._lock.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._note(writer)
        try:
            if writer is not None and (writer.changes or writer.all_there_is):
                self.on_loop(lambda: self._write_down(writer))
        except (OSError, SessionError) as lost:
            if writer is None or not writer.changes:
                return
            names = ", ".join(change.path for change in writer.changes)
            reason = getattr(lost, "strerror", None) or lost
            raise ToolError(
                f"{names}: changed, but what undoes that could not be kept ({reason}). Do not repeat it."
            ) from None
        finally:
            self._let_go()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.__exit__(kind, error, trace)

    def _open(self) -> Writer:
        from pegboard.kit.writer import Writer

        self._alive()
        self._context.committing = True
        grant = self._grant
        places = frozenset(touch.at for touch in grant.touches if touch.kind == "edit" and touch.at is not None)
        self._writer = Writer(
            self._context.workspace, expect=grant.shown, places=places, noted=grant.noted, alive=self._alive
        )
        self._writer.undo_id = grant.call.id if self._runner.session.folder is not None else None
        return self._writer

    def _alive(self) -> None:
        if not self._grant.running.check():
            raise Interrupted(self._grant.running.why or "person", "The call was stopped; nothing more was changed.")

    def _note(self, writer: Writer) -> None:
        """What the call did, for when it does not come to its end."""
        effects = self._grant.effects
        changed = (change.to or change.path for change in writer.changes if change.matters)
        effects.files = list(dict.fromkeys([*effects.files, *changed]))
        effects.put_back = effects.put_back or writer.put_back

    def _write_down(self, writer: Writer) -> None:
        self._runner.session.save_undo(self._grant.call.id, writer.changes)
        for seen in writer.seen(self._context.seen.get):
            self._context.seen.put(seen)
