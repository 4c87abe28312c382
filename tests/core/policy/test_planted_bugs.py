"""Bugs that are planted to see whether tests find them, in the judge of command lines and in the app, have their places."""

from __future__ import annotations

import planted_bugs


def test_every_bug_has_its_place_and_leaves_a_module_that_can_be_read() -> None:
    """A module that cannot be imported would be found by any test, and say nothing of them."""
    for bug in planted_bugs.BUGS:
        source = (bug.package / bug.file).read_text("utf-8")
        assert bug.old in source, bug.what
        compile(source.replace(bug.old, bug.new, 1), bug.module, "exec")
        file, _, test = bug.by.partition("::")
        assert not test or f"def {test}(" in (planted_bugs.ROOT / "tests" / "plugins" / "tui" / file).read_text("utf-8")
