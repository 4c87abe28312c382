"""Programs that go on in the background of a session, and what is kept of them in its folder.

A job is drained by whoever owns it: a thread of the process that started it, or, for one that is to outlive that, a process
of its own (`keeper`). Its record and its output are files, so that every process on the session can look after it.
"""

from __future__ import annotations

from pegboard.kit.jobs.jobs import Jobs
from pegboard.kit.jobs.output import Piece
from pegboard.kit.jobs.states import Job, described, line_of, news_of, those_there

__all__ = ["Job", "Jobs", "Piece", "described", "line_of", "news_of", "those_there"]
