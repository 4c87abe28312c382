"""`ctx.commit()`: the workspace's edit lock, held from compare to rename, and what is written down when it is released."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.context import Commit
from pegboard.editlock import EditLock
from pegboard.errors import Interrupted, SessionError, ToolError
from pegboard.keeping import seen_event
from pegboard.session import records

if TYPE_CHECKING:
    from pegboard.contexts import RunContext
    from pegboard.grant import Grant
    from pegboard.kit.changes import Change
    from pegboard.kit.writer import Writer
    from pegboard.running import Runner

T = TypeVar("T")
_FULL = (errno.ENOSPC, errno.EDQUOT)


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
        except BaseException as error:
            self._let_go()
            self._say_nothing_changed(error)
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
        try:
            if writer is not None and (writer.changes or writer.all_there_is):
                self._keep(writer, error)
        finally:
            if writer is not None:
                self._note(writer)
            self._let_go()
            self._say_nothing_changed(error)

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
        changed = _names(change for change in writer.changes if change.matters)
        effects.files = list(dict.fromkeys([*effects.files, *changed]))
        effects.put_back = effects.put_back or writer.put_back

    def _keep(self, writer: Writer, error: BaseException | None) -> None:
        """Write down what undoes the changes; where that cannot be, they are put back. `error`: what ended the block.

        Raises:
            ToolError: that they were put back, or not all of them; not in the place of a stop.
        """
        try:
            self.on_loop(lambda: self._write_down(writer))
        except (OSError, SessionError) as lost:
            done = [change for change in writer.forget((0, 0)) if change.matters]
            if not done:
                return
            text = self._take_back(writer, done, lost)
            if not _is_stop(error):
                raise ToolError(f"{error} {text}" if error is not None else text) from (error or lost)

    def _write_down(self, writer: Writer) -> None:
        """Keep what undoes the changes, and what the session knows of the files now: both or neither."""
        session, call = self._runner.session, self._grant.call.id
        seen = [seen_event(seen, self._grant.turn) for seen in writer.seen(self._context.seen.get)]
        session.save_undo(call, writer.changes)
        try:
            if seen:
                session.append(*seen)
        except (OSError, SessionError):
            if session.folder is not None and writer.changes:
                records.cut(session.folder, call, len(writer.changes))
            raise

    def _take_back(self, writer: Writer, done: list[Change], lost: Exception) -> str:
        """Put back what was done, as far as it can be; what is to be said of it.

        What the session has seen of the files holds for them again: it goes by content where stamps differ."""
        from pegboard.kit.undo import put_back, staying

        session, call, made = self._runner.session, self._grant.call.id, len(done)
        names = _names(done)
        problem = put_back(self._context.workspace, done)
        writer.put_back = writer.put_back or len(done) < made
        cause = lost if isinstance(lost, OSError) else lost.__cause__
        reason = (cause.strerror if isinstance(cause, OSError) else None) or lost
        text, effects = f"What undoes this could not be kept ({reason})", self._grant.effects
        if done:
            writer.changes += done
            with suppress(OSError, SessionError):  # there may be room for what is left of it
                self.on_loop(lambda: session.save_undo(call, done))
            why = str(problem).removesuffix(" Nothing was changed.").removesuffix(".")
            text += f", and of what was to be put back {staying(done)} ({why}). Look at that before you go on."
        elif effects.files or effects.beyond:
            text += f", so this was put back: {', '.join(names)}."
        else:
            text += ", so it was put back: nothing is changed."
        if effects.files:
            text += f" What this call changed before that stays: {', '.join(effects.files)}."
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return f"{text} Free space in {session.folder}{'' if done else ', then call it again'}."
        return f"{text} The person has to look at {session.folder}."

    def _say_nothing_changed(self, error: BaseException | None) -> None:
        """Keep of a call that was stopped that there is nothing to undo, where that is known, so that it does not stand in
        the way of older ones. On this thread: nobody else keeps anything of this call any more."""
        effects = self._grant.effects
        if _is_stop(error) and effects.known(self._grant.touches) and not effects.files:
            with suppress(OSError, SessionError):
                self._runner.session.save_undo(self._grant.call.id, [])


def _is_stop(error: BaseException | None) -> bool:
    """Whether it stopped the call, rather than failed."""
    return error is not None and (isinstance(error, Interrupted) or not isinstance(error, Exception))


def _names(changes: Iterable[Change]) -> list[str]:
    return list(dict.fromkeys(change.to or change.path for change in changes))
