"""Other names (hard links) of files that a writer took a name from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pegboard.kit.handles import Stamp
from pegboard.kit.target import Target


class Siblings:
    """What a writer did to files by another of their names. Taking a name away changes the time of change in a file's stamp,
    so that its other names would look changed by somebody else."""

    def __init__(self) -> None:
        self._after: dict[tuple[int, int], Stamp] = {}

    @contextmanager
    def followed(self, target: Target) -> Iterator[None]:
        """While the target's name is taken away, by deleting it or by putting another file there."""
        if target.info is None or target.is_link or target.info.st_nlink < 2:
            yield
            return
        with target.open() as opened:
            yield
            after = Stamp.of(os.fstat(opened.fd))
            self._after[after.device, after.inode] = after

    def unchanged(self, before: Stamp | None, now: Stamp | None) -> bool:
        """Whether a file whose stamp was `before` differs from then only by what was done here."""
        return before == now or (
            before is not None and now is not None and self._after.get((before.device, before.inode)) == now
        )
