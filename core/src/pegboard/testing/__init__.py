"""For plugin authors' tests: a board around functions and modules, without discovery, network or model.

fixtures   the pytest plugin (entry point `pytest11`), the one module here that needs pytest
bench      the board behind it, which stands on the others
scripted   a model that says what a script says
approvals  who answers in a person's place
writes     a detector of writes by code that should only read
network    a kill-switch for the network

What tests name can be imported from here, and is imported when it is named. docs/testing.md has the whole of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.lazily import lazily

if TYPE_CHECKING:
    from pegboard.testing.approvals import Approvals as Approvals
    from pegboard.testing.approvals import no as no
    from pegboard.testing.approvals import yes as yes
    from pegboard.testing.bench import TestBoard as TestBoard
    from pegboard.testing.called import Called as Called
    from pegboard.testing.scripted import Scripted as Scripted
    from pegboard.testing.writes import writes_detected as writes_detected

__getattr__, __all__ = lazily(
    __name__,
    {
        "approvals": ("Approvals", "no", "yes"),
        "bench": ("TestBoard",),
        "called": ("Called",),
        "scripted": ("Scripted",),
        "writes": ("writes_detected",),
    },
)
