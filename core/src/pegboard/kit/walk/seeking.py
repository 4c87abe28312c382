"""One search under way: with rg where it can be used, with our own engine else."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Literal

from pegboard.errors import ToolError
from pegboard.kit.names import shown
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk.census import Census
from pegboard.kit.walk.engine import Command, Record, Rg, Run, find_rg, python_command, rg_command
from pegboard.kit.walk.gate import Gate
from pegboard.kit.walk.job import Job
from pegboard.kit.walk.place import Ground
from pegboard.kit.walk.running import Answer, ask, trouble_notes

BATCH_BYTES = 100_000
"""Bytes of file names given to one rg, where files must be named."""


class Seeking:
    """A job, and how it is done.

    Afterwards `engine` says which engine did it, `notes` what a reader must know, and `left_out` how many protected
    files lie in its range: by their names, never by what is in them. Where a path must be judged, `gate` does.
    """

    def __init__(
        self, place: Ground, job: Job, gate: Gate, run: Run, cwd: str, told: Callable[[Record], None] | None = None
    ) -> None:
        """`told` is given each thing as it is found, in its order."""
        self.engine: Literal["rg", "python"] = "rg"
        self.notes: list[str] = []
        self.left_out = 0
        self._place = place
        self._job = job
        self._gate = gate
        self._run = run
        self._cwd = cwd
        self._told = told

    async def answer(self, settings: SearchSettings, limit: int | None) -> Answer:
        """What the engine finds; when rg cannot be used or breaks down, what ours does."""
        self.notes = []
        rg = await find_rg(settings, self._run)
        if rg.path:
            answer = await self._by_rg(rg.path, limit)
            if not answer.failed or answer.records:
                if answer.failed:
                    self.notes.append(f"rg broke down ({answer.failed}): there may be more")
                return answer
            rg = Rg(None, f"rg broke down ({answer.failed})")
        self.engine = "python"
        if rg.why:
            self.notes.append(f"{rg.why}, so the Python engine searched")
        answer = await self._by_python(limit)
        if answer.failed:
            raise ToolError(f"The search failed: {answer.failed}. Nothing was changed.")
        return answer

    def told(self, answer: Answer) -> list[str]:
        """The notes, with those on what was not searched, or not wholly."""
        notes = self.notes + trouble_notes(answer)
        if self._place.binary:
            name = shown(os.fsdecode(self._place.start))
            notes.append(f"{name} holds NUL bytes (binary): it was searched as text")
        return notes

    @property
    def _judging(self) -> bool:
        """Whether protected files must be looked for by name before or beside the search."""
        return self._gate.checked and self._job.mode != "list" and not self._place.named

    async def _ask(self, command: Command, job: Job, limit: int | None) -> Answer:
        wanted = self._gate.listed if job.mode == "list" else self._gate
        told = self._told if job.mode == self._job.mode else None
        return await ask(command, job, limit, (lambda path: True) if job.named else wanted, self._run, self._cwd, told)

    async def _listed(self) -> Answer:
        """The files to search, by our own walk, protected ones left out and counted."""
        listing = self._job._replace(mode="list")
        listed = await self._ask(python_command(listing), listing, None)
        self.left_out = len(self._gate.protected)
        return listed

    async def _by_python(self, limit: int | None) -> Answer:
        """Our own engine. It is not given protected files: one that it takes too long on would tell of its content."""
        if not self._judging:
            return await self._ask(python_command(self._job), self._job, limit)
        listed = await self._listed()
        if listed.failed or not listed.records:
            return listed
        job = self._job._replace(files=tuple(record.path for record in listed.records))
        answer = await self._ask(python_command(job), job, limit)
        answer.trouble[:0] = listed.trouble
        return answer

    async def _by_rg(self, rg: str, limit: int | None) -> Answer:
        scope = self._place.scope
        ruled = not self._job.ignored and scope is not None and scope.beyond_rg
        if self._place.named or not (self._job.links or ruled):
            return await self._counted(rg, self._ask(rg_command(rg, self._job), self._job, limit))
        if self._job.mode == "list":
            return await self._ask(python_command(self._job), self._job, limit)
        listed = await self._listed()
        return listed if listed.failed else await self._in_files(rg, listed, limit)

    async def _counted(self, rg: str, search: Coroutine[Any, Any, Answer]) -> Answer:
        """A search by rg, while a second one lists the names in its range."""
        if not self._judging:
            return await search
        census = Census(self._gate, self._job.before)
        listing = rg_command(rg, self._job._replace(mode="list"), ordered=False)
        answer = await census.beside(search, listing, self._run, self._cwd)
        self.left_out = census.number
        return answer

    async def _in_files(self, rg: str, listed: Answer, limit: int | None) -> Answer:
        """What rg finds in the files that our own walk listed."""
        total = Answer(records=[], nuls=[], trouble=listed.trouble)
        plain = self._job._replace(names=(), outer=b"")
        for files in _batches(listed.records):
            left = None if limit is None else limit - len(total.records)
            part = await self._ask(rg_command(rg, plain, files), plain, left)
            found = {record.path for record in part.records}
            total.records += part.records
            total.nuls += [path for path in part.nuls if path in found]
            total.trouble += part.trouble
            total.failed = total.failed or part.failed
            total.more = part.more
            if total.more:
                break
        return total


def _batches(files: Sequence[Record]) -> Iterator[list[bytes]]:
    batch, size = list[bytes](), 0
    for record in files:
        batch.append(record.path)
        size += len(record.path) + 3
        if size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
