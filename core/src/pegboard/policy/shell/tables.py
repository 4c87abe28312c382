"""What the tables say of one command: whether it may pass at all, whether it only reads, and what "always" would offer.

The tables are data (`data/*.toml`); people add to them with `tool_permission.bash_reads` and `bash_words`. Each answer
fails towards being asked: what a table does not know is no reading and has no offer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pegboard.config.schema import PermissionSettings
    from pegboard.policy.shell.budget import Budget
    from pegboard.policy.shell.line import Word


def risk_of(words: Sequence[Word]) -> tuple[str, str] | None:
    """Why no pattern and no table may pass the command: the rule (`R8`, `R9`) and the reason. None: nothing known.

    R8: an option that makes it run another program, load code named on the line, or write or delete a file named on
    the line. R9: a glob that may expand into such an option. It knows no more programs than `risky.toml` names."""
    from pegboard.policy.shell.table_risks import found

    return found(words) if words else None


def looks(words: Sequence[Word]) -> bool:
    """Whether the subcommand is one that may only look, whatever its options."""
    from pegboard.policy.shell.table_data import names, reads
    from pegboard.policy.shell.table_names import base, subcommands

    places, _ = subcommands(words, names().between)
    return any(f"{base(words[0].text)} {words[at].text}" in reads() for at in places[1:2])


def reads_by(
    words: Sequence[Word],
    settings: PermissionSettings | None = None,
    *,
    root: str | None = None,
    cwd: str = ".",
    budget: Budget | None = None,
) -> str | None:
    """The name of the entry by which the command only reads, and inside the workspace; None: it may do more.

    `cwd` is where the command starts, relative to `root` or absolute. With `root` links are followed; without it only
    what is spelled counts, and recursion is never known to be harmless."""
    from pegboard.policy.shell.table_places import Place
    from pegboard.policy.shell.table_reads import entry

    return entry(words, settings, Place(root, cwd, budget)) if words else None


def pattern_for(words: Sequence[Word], settings: PermissionSettings | None = None) -> str | None:
    """What "always" offers to remember: the words that name the command, then ` …`. None: nothing that broad is offered."""
    from pegboard.policy.shell.table_names import count

    if not words or risk_of(words):
        return None
    named = count(words, settings)
    if named is None or not all(word.plain and not word.glob and word.text for word in words[:named]):
        return None
    return " ".join(word.text for word in words[:named]) + " …"
