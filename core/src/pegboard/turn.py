"""One turn: fold the log into a request, take the reply, make its calls, until a reply has none.

It names no tool, no provider and no front end.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pegboard import events, port
from pegboard.asking import Asking, Loop
from pegboard.dispatch import Dispatch
from pegboard.errors import ModelError, PegboardError, SessionError
from pegboard.events import Status, TurnEnded, WireCall
from pegboard.limits import Stop, check_budget, out_of_steps, out_of_time
from pegboard.repeats import TOLD, Repeats, told_text
from pegboard.reply import Nonsense
from pegboard.session.deeds import told
from pegboard.wire import clean

if TYPE_CHECKING:
    from pegboard.kit.jobs import Job

EMPTY = "Your reply was empty. Answer, or make a call."
BROKEN = "Your reply was broken off in the middle. What came of it stands above; go on from there."


class Turn:
    """One turn. Its session's turn lock is held by whoever runs it."""

    def __init__(self, loop: Loop, prompt: port.Prompt) -> None:
        self.number = loop.session.fold.turn + 1
        self._loop = loop
        self._session = loop.session
        self._prompt = prompt
        self._asking = Asking(loop, self.number)
        self._answer = ""  # what was said of an answer before its stream broke
        self._repeats = Repeats()
        self._empty = False
        self._timed_out = False

    async def run(self) -> TurnEnded:
        """Whatever becomes of it, `turn_ended` is its last event.

        Raises:
            SessionError: the log cannot be written, so neither can the end of the turn.
        """
        self._begin()
        timer = self._time()
        try:
            status, error = await self._outcome()
        except SessionError:
            raise
        except BaseException as problem:
            self._end("error", f"the program was ended by {type(problem).__name__} in the middle of the turn")
            raise
        finally:
            if timer is not None:
                timer.cancel()
            self._loop.lane.ending("person")
        return self._end(status, error)

    def _begin(self) -> None:
        loop = self._loop
        started = events.TurnStarted(
            turn=self.number,
            session=loop.session.id,
            model=loop.model,
            sets=loop.sets,
            not_loaded=loop.not_loaded,
            offered=len(self._asking.offers),
            mode=loop.mode,
        )
        notice = self._notice()
        news = loop.road.runner.news()
        self._session.append(started, *self._undone())  # what was undone first: what is asked comes last
        self._session.append(events.Prompt(turn=self.number, text=clean(self._prompt.text), by=self._prompt.by))
        if notice:
            self._asking.tell(notice)
        if news:
            self._tell_of_jobs(news)

    def _tell_of_jobs(self, jobs: list[Job]) -> None:
        """Tell the model what became of jobs; and a person of those that a killed Pegboard left, who saw nothing of it."""
        from pegboard.kit.jobs import news_of

        self._asking.tell("\n".join(["Of what ran in the background:", *map(news_of, jobs)]))
        for job in jobs:
            if job.state in ("left", "lost") and not job.cancelled:
                self._asking.note(news_of(job))

    def _undone(self) -> list[events.Prompt]:
        """What the model should know of files that it believes changed. Once is enough: the fold forgets it then."""
        undone, self._session.fold.undone = self._session.fold.undone, []
        return [events.Prompt(turn=self.number, text=clean(told(undone)), by=events.LOOP)] if undone else []

    def _notice(self) -> str | None:
        """What the model should know of turns before this one that did not come to their end (decision 47)."""
        fold = self._session.fold
        if not fold.unsure:
            return None
        calls = ", ".join(f"{name} ({id})" for id, name in fold.unsure.items())
        return (
            f"Before this request a turn ended in the middle of a call that had been started: {calls}. What it did is "
            "not known. Look at the state of things before you do anything like it again. "
            f"This is attempt {fold.failed + 1}, counted from the last turn that came to its end."
        )

    def _time(self) -> asyncio.TimerHandle | None:
        task = asyncio.current_task()
        assert task is not None

        def over() -> None:
            self._timed_out = True
            self._loop.lane.ending("turn_ended")
            task.cancel()

        seconds = self._loop.limits.timeout
        return asyncio.get_running_loop().call_later(seconds, over) if seconds is not None else None

    async def _outcome(self) -> tuple[Status, str | None]:
        try:
            return await self._steps(), None
        except Stop as stop:
            return "stopped", str(stop)
        except asyncio.CancelledError:
            self._asking.keep()
            return self._cut_off()
        except SessionError:
            raise
        except PegboardError as problem:
            self._asking.keep()
            return "error", str(problem)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - isolates plugins: a provider may raise anything
            self._asking.keep()
            return "error", self._failed(problem)

    def _cut_off(self) -> tuple[Status, str | None]:
        """What a cancelled turn ends as: its time is over, or a person ended it, or the provider raised that itself."""
        task = asyncio.current_task()
        assert task is not None
        if self._timed_out and task.uncancel() == 0:
            return "stopped", str(out_of_time(self._loop.limits))
        if not self._timed_out and not task.cancelling():
            return "error", self._failed(asyncio.CancelledError("it cancelled itself"))
        return "interrupted", None

    def _failed(self, problem: BaseException) -> str:
        what = str(problem) if isinstance(problem, Nonsense) else f"{type(problem).__name__}: {problem}"
        return (
            f"the model {self._loop.model} failed ({what}). What it had said is kept, and no unfinished call was run. "
            "Ask again, or choose another model."
        )

    def _end(self, status: Status, error: str | None) -> TurnEnded:
        spent = self._asking.spent
        text = self._answer + self._asking.reply.text
        ended = TurnEnded(
            turn=self.number, status=status, text=text, usage=spent.as_dict(), error=clean(error or "") or None
        )
        usage = events.Usage(
            turn=self.number,
            input=spent.input,
            output=spent.output,
            cached=spent.cached,
            cost=spent.cost,
            context=spent.last,
        )
        self._session.append(usage, ended)
        return ended

    # -- step by step

    async def _steps(self) -> Status:
        limits = self._loop.limits
        for _ in range(limits.max_steps):
            await self._breathe()
            check_budget(limits, self._asking.spent)
            if self._session.fold.undone:
                self._session.append(*self._undone())
            self._take_steering()
            await self._asking.ask()
            calls = self._asking.keep()
            if calls:
                await self._make(calls)
                self._answer = ""
            elif (status := self._over()) is not None:
                return status
        raise out_of_steps(limits)

    async def _breathe(self) -> None:
        """Let others run, for models and tools that never wait, and see whether the turn is over: a tool or a provider may
        have swallowed the cancellation that should have ended it."""
        await asyncio.sleep(0)
        if self._timed_out:
            raise out_of_time(self._loop.limits)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError

    def _take_steering(self) -> None:
        for text in self._loop.steered:
            self._session.append(events.Prompt(turn=self.number, text=clean(text)))
            self._repeats.reset()
        self._loop.steered.clear()

    async def _make(self, calls: list[WireCall]) -> None:
        """The calls of a reply.

        Raises:
            Stop: one of them was made too often.
        """
        loop = self._loop
        dispatch = Dispatch(loop.road, loop.lane, self.number, self._repeats, self._breathe)
        await dispatch.make(calls)
        third = dispatch.third
        if third:
            self._asking.tell(told_text(third))
            names = ", ".join(dict.fromkeys(call.name for call in third))
            self._asking.note(f"the model made the very same call of {names} for the {TOLD}rd time; it was told so")

    def _over(self) -> Status | None:
        """What the turn ends as after a reply without calls; None: the model is asked again.

        Raises:
            ModelError: it had nothing to say, twice.
        """
        reply = self._asking.reply
        if reply.broken is not None:
            self._answer += reply.text
            if reply.text:
                self._asking.tell(BROKEN)
            return None
        if not reply.text.strip():
            if self._empty:
                raise ModelError(
                    f"the model {self._loop.model} gave an empty reply, also when it was asked once more. What was done "
                    "before stands. Ask in other words, or choose another model."
                )
            self._empty = True
            self._asking.tell(EMPTY)
            self._asking.note("the model gave an empty reply; it was asked once more")
            return None
        if self._loop.steered:
            self._answer = ""
            return None  # said while the model gave its last reply: it is answered in this turn
        return "asked_back" if reply.end is not None and reply.end.asks_back else "done"
