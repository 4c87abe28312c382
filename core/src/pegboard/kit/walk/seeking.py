"""One search under way: with rg where it can be used, with our own engine else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from pegboard.errors import ToolError
from pegboard.kit.names import shown
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk.engine import Command, Record, Rg, Run, find_rg, python_command, rg_command
from pegboard.kit.walk.job import Job
from pegboard.kit.walk.place import Ground
from pegboard.kit.walk.running import Answer, ask, trouble_notes

BATCH_BYTES = 100_000
"""Bytes of file names given to one rg, where files must be named."""


class Seeking:
    """A job, and how it is done. `engine` and `notes` say afterwards which engine did it, and what a reader must know.

    wanted: whether a file that an engine names is among the results.
    """

    def __init__(self, place: Ground, job: Job, wanted: Callable[[bytes], bool], run: Run, cwd: str) -> None:
        self.engine: Literal["rg", "python"] = "rg"
        self.notes: list[str] = []
        self._place = place
        self._job = job
        self._wanted = wanted
        self._run = run
        self._cwd = cwd

    async def answer(self, settings: SearchSettings, limit: int | None) -> Answer:
        """What the engine finds; when rg cannot be used or breaks down, what ours does."""
        rg = await find_rg(settings, self._run)
        if rg.path:
            answer = await self._by_rg(rg.path, limit)
            if not answer.failed or answer.records:
                if answer.failed:
                    self.notes.append(f"rg broke down ({answer.failed}): there may be more")
                return self._told(answer)
            rg = Rg(None, f"rg broke down ({answer.failed})")
        self.engine = "python"
        if rg.why:
            self.notes.append(f"{rg.why}, so the Python engine searched")
        answer = await self._ask(python_command(self._job), self._job, limit)
        if answer.failed:
            raise ToolError(f"The search failed: {answer.failed}. Nothing was changed.")
        return self._told(answer)

    def _told(self, answer: Answer) -> Answer:
        self.notes += trouble_notes(answer)
        if self._place.binary:
            name = shown(os.fsdecode(self._place.start))
            self.notes.append(f"{name} holds NUL bytes (binary): it was searched as text")
        return answer

    async def _ask(self, command: Command, job: Job, limit: int | None) -> Answer:
        return await ask(command, job, limit, self._wanted, self._run, self._cwd)

    async def _by_rg(self, rg: str, limit: int | None) -> Answer:
        scope = self._place.scope
        ruled = not self._job.ignored and scope is not None and scope.beyond_rg
        if self._place.named or not (self._job.links or ruled):
            return await self._ask(rg_command(rg, self._job), self._job, limit)
        listing = self._job._replace(mode="list")
        listed = await self._ask(python_command(listing), listing, limit if self._job.mode == "list" else None)
        if self._job.mode == "list" or listed.failed:
            return listed
        return await self._in_files(rg, listed, limit)

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
