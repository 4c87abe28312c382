"""Who may do what on a board, as its settings say it: the mode that is on, the policy in it, what confines programs, and
what a person answered for longer than a session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pegboard.config.layers import is_listed
from pegboard.config.load import Loaded
from pegboard.config.remembering import Home
from pegboard.entries import Entry
from pegboard.launchers import Launchers
from pegboard.policy import Mode, Policy, Rule, mode_of, policy_of


class Standing:
    """Of one board. home: where answers that outlast a session are written. lasting: those given since the settings were
    read. mode: the one that a session begins in. notes: grows by what a person must be told once."""

    def __init__(
        self,
        loaded: Loaded,
        entries: Sequence[Entry],
        *,
        user_file: Path,
        root: str,
        state: Path | None,
        notes: list[str],
    ) -> None:
        """Raises PluginError where programs must be confined and cannot be."""
        self.home = Home(file=user_file, root=root)
        self.lasting: list[Rule] = []
        hidden = [os.fspath(folder) for folder in (user_file.parent, state) if folder]
        self.launchers = Launchers(entries, loaded, hidden=hidden, state=state)
        self.launchers.insist()
        self.has_lists = any(is_listed(said.key) and said.key[0] != "hooks" for said in loaded.stated)
        self._loaded = loaded
        self._notes = notes
        self.mode = mode_of(loaded)
        self.policy = self.policy_in(self.mode)

    def policy_in(self, mode: Mode | None) -> Policy:
        """The policy while a mode is on (`policy.mode_of` has it by its name); None: none is."""
        return policy_of(self._loaded, mode=mode, confined=self._holds)

    def _holds(self) -> bool:
        """Whether a sandbox holds, for rules that want one; where none does, that is said once."""
        confined = self.launchers.confined
        if not confined and (note := self.launchers.note()) and note not in self._notes:
            self._notes.append(note)
        return confined
