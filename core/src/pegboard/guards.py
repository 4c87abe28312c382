"""Ask every guard, each with its own copy of the call: Deny beats Ask beats None, and anything else is Deny.

Our own plain guards run inline. A stranger's plain guard runs in a worker thread, an `async def` one on the loop, both
under `plugins.guard_timeout`; one that overran refuses every later call until it has ended.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from msgspec.structs import replace

from pegboard.arguments import Shaped
from pegboard.calls import Ask, Call, Deny, Touch, TouchKind
from pegboard.hooks import Guard
from pegboard.plugins.loaded import log_failure, place_in

Concern = Deny | Ask | None


class GuardSeat:
    """One guard, with its owner and the way it is called. acts: asking it may do something, so nobody asks it to explain."""

    __slots__ = ("_overrun", "_pool", "acts", "guard", "inline", "is_async", "owner", "timeout")

    def __init__(self, guard: Guard, *, owner: str, own: bool, timeout: float) -> None:
        self.guard = guard
        self.owner = owner
        self.timeout = timeout
        self.is_async = inspect.iscoroutinefunction(guard) or inspect.iscoroutinefunction(type(guard).__call__)
        self.inline = own and not self.is_async
        self.acts = False
        self._pool: ThreadPoolExecutor | None = None
        self._overrun: Future[Any] | asyncio.Future[Any] | None = None

    async def slow(self, call: Call, touches: list[Touch], made_as: str = "") -> object:
        """A stranger's guard, or an async one, under the time limit. One that does not end in time is left behind: nothing
        that it says later, or while it is being stopped, counts. made_as: the name that the call was made by.

        Raises:
            TimeoutError: it did not answer in time.
        """
        if self._overrun is not None and not self._overrun.done():
            return Deny(f"{self.owner}", "an earlier check by this guard has not ended yet")
        answer: asyncio.Future[Any]
        if self.is_async:
            answer = self._overrun = asyncio.create_task(_asked(self.guard, call, touches))
        else:
            self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix=f"guard-{self.owner}")
            self._overrun = self._pool.submit(_called, self.guard, call, touches)
            answer = asyncio.wrap_future(self._overrun)
        try:
            done, _ = await asyncio.wait([answer], timeout=self.timeout)
        except asyncio.CancelledError:
            answer.cancel()
            raise
        if not done:
            _leave_behind(answer)
            raise TimeoutError
        return answer.result()

    def close(self) -> None:
        """Let go of the thread; one that never ends is left behind."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


class Guards:
    """Every guard of a board, in order of owner."""

    def __init__(self, seats: Iterable[GuardSeat]) -> None:
        self.seats = list(seats)
        self.inline = [seat for seat in self.seats if seat.inline]
        self.slow = [seat for seat in self.seats if not seat.inline]

    def beside(self, seat: GuardSeat) -> Guards:
        """The same guards, and one more that is asked last."""
        return Guards([*self.seats, seat])

    def judge_inline(self, call: Call, shaped: Shaped, touches: list[Touch]) -> tuple[str, Concern]:
        """What our own plain guards say of a call with these arguments: (owner, strictest concern)."""
        owner, worst = "", None
        arguments, copied = call.arguments, shaped.copied
        for seat in self.inline:
            try:
                said: object = seat.guard(replace(call, arguments=copied(arguments)), touches.copy())
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a guard that fails refuses
                return seat.owner, _failed(seat, error)
            if said is None:
                continue
            concern = _concern(seat, said)
            if isinstance(concern, Deny):
                return seat.owner, concern
            owner, worst = (owner, worst) if worst else (seat.owner, concern)
        return owner, worst

    async def judge_slow(
        self, call: Call, shaped: Shaped, touches: list[Touch], *, made_as: str = "", rehearsed: bool = False
    ) -> tuple[str, Concern]:
        """The same for strangers' guards and those that wait. made_as: the name that the call was made by. rehearsed: it
        will not run, so who `acts` is left out."""
        owner, worst = "", None
        for seat in self.slow:
            if rehearsed and seat.acts:
                continue
            own_copy = replace(call, arguments=shaped.mapping())
            try:
                said = await seat.slow(own_copy, touches.copy(), made_as)
            except TimeoutError:
                return seat.owner, Deny(
                    f"{seat.owner}: no answer", f"the guard did not answer within {seat.timeout:g} s"
                )
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a guard that fails refuses
                return seat.owner, _failed(seat, error)
            concern = _concern(seat, said)
            if isinstance(concern, Deny):
                return seat.owner, concern
            owner, worst = (owner, worst) if worst else (seat.owner if concern else owner, concern)
        return owner, worst

    def path(self, kind: TouchKind, path: str) -> Deny | None:
        """What the guards say of a file the door opened; raising is Deny."""
        for seat in self.seats:
            check = getattr(seat.guard, "path", None)
            if check is None:
                continue
            try:
                said = check(kind, path)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a check that fails refuses
                return _failed(seat, error)
            if said is not None:
                return said if isinstance(said, Deny) else Deny(f"{seat.owner}: nonsense", "the guard gave no Deny")
        return None

    def close(self) -> None:
        """Let go of all threads."""
        for seat in self.seats:
            seat.close()


def _leave_behind(answer: asyncio.Future[Any]) -> None:
    """Stop waiting for a guard. One that will not be stopped must not keep the loop from closing either."""
    answer.cancel()
    if isinstance(answer, asyncio.Task):
        asyncio.tasks._unregister_task(answer)  # "Extending asyncio": what ends a loop waits for registered tasks
        answer._log_destroy_pending = False  # type: ignore[attr-defined]


_ENDING = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration)


class _Ended(Exception):
    """A guard raised what would end a task, or the program: here it is one more failure."""


async def _asked(guard: Guard, call: Call, touches: list[Touch]) -> object:
    """Ask an async guard in a task of its own; what it raises by itself to end that task is a failure like any other."""
    own = asyncio.current_task()
    try:
        return await guard(call, touches)  # type: ignore[misc]
    except asyncio.CancelledError as error:
        if own is not None and own.cancelling():
            raise
        raise _Ended("CancelledError") from error
    except GeneratorExit as error:
        if not _runs(own):
            raise  # it was left behind, and is thrown away now
        raise _Ended("GeneratorExit") from error
    except (KeyboardInterrupt, SystemExit, StopIteration) as error:  # isolates plugins: they cannot end the program
        raise _Ended(type(error).__name__) from error


def _runs(task: asyncio.Task[Any] | None) -> bool:
    """Whether a task is the one that runs now."""
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no loop runs
        return False


def _called(guard: Guard, call: Call, touches: list[Touch]) -> object:
    """The same for a plain guard, in its thread."""
    try:
        return guard(call, touches)
    except _ENDING as error:  # isolates plugins: they cannot end the program
        raise _Ended(type(error).__name__) from error


def _failed(seat: GuardSeat, error: BaseException) -> Deny:
    if isinstance(error, _Ended) and error.__cause__ is not None:
        error = error.__cause__
    log_failure(f"the guard {seat.owner!r} raised", error)
    place = place_in(error, getattr(seat.guard, "__module__", ""))
    return Deny(f"{seat.owner}: failed", f"the guard raised {type(error).__name__}: {error}{place}")


def _concern(seat: GuardSeat, said: object) -> Concern:
    match said:
        case None | Deny() | Ask():
            return said
        case _:
            return Deny(f"{seat.owner}: nonsense", f"the guard returned {type(said).__name__}")
