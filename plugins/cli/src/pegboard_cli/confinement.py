"""What `pegboard doctor` says of the sandbox and of Landlock."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pegboard_cli.places import place_of
from pegboard_cli.versions import program_version

if TYPE_CHECKING:
    from pegboard_cli.plugin_list import Installed

_MOST = 8


def confinement(installed: Installed) -> Iterator[tuple[str, bool, str, str | None]]:
    """Whether programs can be confined here, and who wants that: (id, whether it is well, what is so, what to do). Nothing
    is started but the launcher's own try."""
    from pegboard.kit import landlock
    from pegboard.launchers import Launchers

    if installed.broken:
        return
    launchers = Launchers(installed.entries, installed.loaded)
    wanted = list(_wanting(installed))
    if launchers.mode == "require":
        wanted.insert(0, f'{launchers.name}.mode = "require"')
    by = f"; it is wanted by {', '.join(wanted[:_MOST])}" if wanted else "; no rule and no mode that is on wants it"
    why = 'it is switched off (mode = "off")' if launchers.mode == "off" else launchers.missing()
    if why is None:
        path = shutil.which("bwrap") if sys.platform == "linux" else None
        yield "sandbox", True, f"the sandbox works{f' ({program_version(path)})' if path else ''}{by}", None
    else:
        comes = "nothing starts" if launchers.mode == "require" else "what is allowed in it alone is asked about"
        text = f"there is no sandbox: {why}{by}" + (f": {comes}" if wanted else "")
        yield "sandbox", not wanted, text, "mend that, or take those out" if wanted else None
    version = landlock.version()
    if landlock.available():
        text = f"Landlock, version {version}: it holds tools and commands that only read"
    else:
        there = f"Landlock here is of version {version}" if version else "there is no Landlock here"
        text = f"{there}; version {landlock.LEAST} is needed to hold tools and commands that only read"
    yield "landlock", True, text, None


def _wanting(installed: Installed) -> Iterator[str]:
    """The rules that are on and allow in the sandbox alone, each with its line."""
    from pegboard.policy import mode_of
    from pegboard.policy.compiling import rules_of

    for rule in rules_of(installed.loaded, mode=mode_of(installed.loaded)):
        if rule.wants_sandbox:
            yield rule.name + (f" ({place_of(rule.source)})" if rule.source is not None else "")
