"""Which strangers may be imported in this process (decision 63).

The first time an entry's files are met they are looked at in a child process, and what was seen is kept. What hung, died
or raised there is not imported here until its files change or a person asks again (`pegboard doctor --retry`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pegboard.entries import Entry
from pegboard.plugins.contained import QUIET
from pegboard.plugins.kept import Kept, LoadingNote, Verdict, key_of
from pegboard.plugins.loaded import Failure, log_failure, switch_off, whose
from pegboard.plugins.stamps import Stamps, around, digest_of

FORKS = "forks"
"""A remark that begins so is told at every start: what a copy does is put back by nobody."""
FOLDER = "plugins"
"""Below the state folder."""
PATIENCE = 1.0
"""Seconds of looking after which it is said that we do."""
HELD = 2.0
"""Seconds that an import in this process may take before a person is told."""
MOST_TABLES = 8
"""Different settings of one plugin that are kept as known to load."""
_LEFT = "an earlier start of Pegboard ended while it was being imported"
_LASTING = ("hang", "crash")


class Vetting:
    """What is known of strangers. `state`: the state folder; None: nothing is kept, and all is looked at every time."""

    def __init__(self, state: Path | None) -> None:
        self._kept = Kept(state / FOLDER if state else None)
        self._stamps = Stamps()
        self._note: LoadingNote | None = None

    def known(self, entry: Entry, table: Mapping[str, Any]) -> Verdict | None:
        """What was seen of an entry's present files with these settings, if it was looked at. Nothing is imported."""
        verdict = self.of_files(entry)
        if verdict is not None and verdict.what in (None, "settings") and digest_of(table) not in verdict.tables:
            return None
        return verdict

    def of_files(self, entry: Entry) -> Verdict | None:
        """What was seen of an entry's present files, with whatever settings."""
        verdict = self._kept.verdicts.get(key_of(entry))
        return verdict if verdict is not None and verdict.stamp == self._stamps.of(entry) else None

    def refused(
        self,
        entries: Sequence[Entry],
        tables: Mapping[str, Mapping[str, Any]],
        where: Mapping[str, str],
        notes: list[str],
        *,
        retry: bool = False,
    ) -> dict[Entry, Failure]:
        """The entries that must not be imported in this process, and why. New ones are looked at now.

        `retry`: look again at those that failed. `notes` gets what a person should be told."""
        self._take_left_over(entries)
        verdicts = {entry: self._standing(entry, tables.get(entry.name, {}), retry=retry) for entry in entries}
        unknown = [entry for entry, verdict in verdicts.items() if verdict is None]
        if unknown:
            verdicts |= self._look(unknown, tables, where, notes)
        for entry, verdict in verdicts.items():
            forks = [remark for remark in verdict.remarks if remark.startswith(FORKS)] if verdict else []
            if forks and entry not in unknown:  # a new look tells of it by itself
                notes.append(f"{whose(entry)} {'; '.join(forks)}. To switch it off, {switch_off(entry)}")
        bad = {entry: verdict for entry, verdict in verdicts.items() if verdict is not None and not verdict.good}
        for entry, verdict in bad.items():
            log_failure(f"{whose(entry)} did not load when it was looked at: {verdict.error}", trace=verdict.trace)
        return {
            entry: Failure(entry=entry, what=verdict.what or "import", error=verdict.error or "it failed")
            for entry, verdict in bad.items()
        }

    def _standing(self, entry: Entry, table: Mapping[str, Any], *, retry: bool) -> Verdict | None:
        """The kept verdict, while it holds: what other settings did says nothing of these, and a failure that may have
        come from elsewhere ends with a change there."""
        verdict = self.known(entry, table)
        if verdict is None or verdict.good:
            return verdict
        if retry or (verdict.around is not None and verdict.around != around(table)):
            return None
        return verdict

    def _look(
        self,
        entries: Sequence[Entry],
        tables: Mapping[str, Mapping[str, Any]],
        where: Mapping[str, str],
        notes: list[str],
    ) -> dict[Entry, Verdict | None]:
        from pegboard.plugins.probe import CannotLook, probe

        first = [entry for entry in entries if key_of(entry) not in self._kept.verdicts]
        stamps = {entry: self._stamps.of(entry) for entry in entries}
        try:
            with said_after(PATIENCE, f"looking at new plugins: {', '.join(entry.name for entry in entries)}"):
                seen = probe(entries, tables, where)
        except CannotLook as reason:
            notes.append(f"new plugins are imported without having been looked at: {reason}")
            return dict.fromkeys(entries)
        verdicts: dict[Entry, Verdict | None] = {}
        for entry, one in seen.items():
            lasting = one.what is None or one.what in _LASTING
            verdicts[entry] = Verdict(
                good=one.what is None,
                stamp=stamps[entry],
                around=None if lasting else around(tables.get(entry.name, {})),
                tables=self._tables(entry, stamps[entry], tables.get(entry.name, {}), good=one.what is None),
                what=one.what,
                error=one.error,
                trace=one.trace,
                hooks=one.hooks,
                tools=one.tools,
                aliases=one.aliases,
                left_out=one.left_out,
                import_ms=one.import_ms,
                remarks=one.remarks,
            )
            quiet = [remark for remark in one.remarks if remark.startswith((QUIET, FORKS))]
            if quiet:
                notes.append(f"{whose(entry)}: {'; '.join(quiet)}. To switch it off, {switch_off(entry)}")
        if first:
            names = dict.fromkeys(f"{entry.name} ({entry.version})" for entry in first)
            notes.insert(0, f"new: {', '.join(names)}")
        if not self._kept.put({key_of(entry): verdict for entry, verdict in verdicts.items()}):
            notes.append("the state folder cannot be written: plugins are looked at again at every start")
        return verdicts

    def _tables(self, entry: Entry, stamp: str, table: Mapping[str, Any], *, good: bool) -> list[str]:
        """The settings that a new verdict holds for: workspaces may differ in them, and none is to be looked at in turn."""
        before = self._kept.verdicts.get(key_of(entry))
        others = before.tables if good and before is not None and before.good and before.stamp == stamp else []
        return [*others[1 - MOST_TABLES :], digest_of(table)]

    def _take_left_over(self, entries: Sequence[Entry]) -> None:
        """An import that did not come back is a crash, whatever was seen before."""
        left = self._kept.left_over()
        found = [entry for entry in entries if key_of(entry) in left]
        if found:
            self._kept.put({key_of(entry): self._crashed(entry) for entry in found})

    def _crashed(self, entry: Entry) -> Verdict:
        return Verdict(good=False, stamp=self._stamps.of(entry), what="crash", error=_LEFT)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Imports are about to be made in this process."""
        with self._kept.under_way() as self._note:
            yield
        self._note = None

    @contextmanager
    def noted(self, entry: Entry) -> Iterator[None]:
        """One import: a start that finds it written down knows what ended the process. One that a person ended, who had
        been told that it takes long, is the last: else each start would hang."""
        if self._note:
            self._note.write(key_of(entry))
        began = time.monotonic()
        told = f"{whose(entry)} holds up this start. Ctrl-C, twice, ends it, and the next start leaves that plugin out"
        try:
            with said_after(HELD, told):
                yield
        except KeyboardInterrupt:
            if time.monotonic() - began >= HELD:
                self._kept.put({key_of(entry): self._crashed(entry)})
            raise
        finally:
            if self._note:
                self._note.write("")


@contextmanager
def said_after(seconds: float, text: str) -> Iterator[None]:
    """Log a text (level info, `pegboard.plugins`) when what happens inside takes longer than this."""
    import logging
    from threading import Timer

    timer = Timer(seconds, logging.getLogger("pegboard.plugins").info, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
