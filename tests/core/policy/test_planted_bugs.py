"""Bugs that are planted in the judge of command lines, to see whether its tests find them, can still be planted."""

from __future__ import annotations

import planted_bugs


def test_every_bug_has_its_place_and_leaves_a_module_that_can_be_read() -> None:
    """A module that cannot be imported would be found by any test, and say nothing of them."""
    for bug in planted_bugs.BUGS:
        source = (planted_bugs.PACKAGE / "policy" / "shell" / f"{bug.module}.py").read_text("utf-8")
        assert bug.old in source, bug.what
        compile(source.replace(bug.old, bug.new, 1), bug.module, "exec")
