"""The only thing that changes files: every write is atomic, and leaves a record that can be undone.

A `Writer` is made for one commit, under the edit lock of the workspace. What was approved is what is written: files
whose preview was shown are compared with it first (`expect`), and right before the rename with what was read.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

import msgspec

from pegboard.errors import DoorError
from pegboard.kit import knowledge
from pegboard.kit.atomic import Beside, drop, move_new
from pegboard.kit.changes import KEPT_ATTRIBUTES, Change, not_kept
from pegboard.kit.handles import Opened, Stamp
from pegboard.kit.hunks import Hunk, Span, difference, spans_of
from pegboard.kit.nature import Nature
from pegboard.kit.plan import Plan, diff_of, plan_whole
from pegboard.kit.refusals import changed_error, meanwhile_error, write_error
from pegboard.kit.seen import Seen
from pegboard.kit.settings import EditSettings
from pegboard.kit.siblings import Siblings
from pegboard.kit.target import Target, as_shown, target_of
from pegboard.kit.workspace import Workspace


class Writer:
    """Writes files of one workspace. `changes` lists what was done so far, in order; `put_back`: of more, it was undone.

    `expect`: files whose preview was approved, as they were then. `places`: where the call was decided to write, by real
    path; what is not there, or below it, is not written (empty: anywhere). `alive` raises once the call was cancelled.
    `noted`: what the preview put into `Workspace.notes`; empty where nobody was asked. `keep`: the largest old content that
    is kept for undoing, in bytes. `undo_id`: the name under which whoever made the writer keeps the changes; None where
    they are not kept. `all_there_is`: set by a call that starts programs, though `changes` is all that it does to files.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        expect: Mapping[str, Opened] | None = None,
        places: Collection[str] = (),
        noted: Mapping[str, str] | None = None,
        alive: Callable[[], None] = lambda: None,
        keep: int = EditSettings().max_bytes,
    ) -> None:
        self._workspace = workspace
        self._expect = expect or {}
        self._places = places
        self._alive = alive
        self._keep = keep
        self.noted: Mapping[str, str] = noted or {}
        self._known: list[knowledge.Learn] = []
        self._siblings = Siblings()
        self.changes: list[Change] = []
        self.undo_id: str | None = None
        self.put_back = self.all_there_is = False

    def write(self, path: str, data: bytes, *, overwrite: bool = True, before: Stamp | None = None) -> Change:
        """Make `data` the whole content of a file; parents are made. `before`: the state the caller looked at.

        Raises DoorError (exists) when there is one and `overwrite` is false.
        """
        with self._target(path, before) as target:
            if target.info is None:
                return self._create(target, data)
            if not overwrite:
                text = f"{target.at} exists already and overwrite is false. Nothing was changed."
                raise DoorError(text, reason="exists", path=target.at)
            if target.info.st_size > self._keep:
                return self._overwrite(target, data)
            old = self._content(target)
            return self._replace(target, plan_whole(target.at, old, data), whole=True)

    def append(self, path: str, data: bytes, *, before: Stamp | None = None) -> Change:
        """Put `data` after the end of a file, or make it."""
        with self._target(path, before) as target:
            if target.info is None:
                return self._create(target, data)
            if target.info.st_size + len(data) > self._keep:
                text = f"{target.at} would be larger than the limit of {self._keep:,} bytes. Nothing was changed."
                raise DoorError(text, reason="too_large", path=target.at)
            old = self._content(target)
            end = Hunk(len(old), len(old), len(old), len(old) + len(data))
            return self._replace(target, Plan(target.at, old, old + data, [end], replaced=1))

    def splice(self, path: str, plan: Plan, before: Stamp) -> Change:
        """Write what edits made of a file whose content and stamp the caller read for the plan."""
        with self._target(path, before) as target:
            if target.info is None:
                raise meanwhile_error(target.at)
            return self._replace(target, plan)

    def remove(self, path: str, *, before: Stamp | None = None) -> Change:
        """Delete a file. Of a link, the link itself."""
        with self._target(path, before, follow=False) as target:
            info = self._existing(target)
            kept = info.st_size <= self._keep
            link = os.readlink(target.name, dir_fd=target.folder) if target.is_link else None
            old = self._content(target) if kept and link is None else b""
            was = target.nature() if kept and link is None else None
            was = was.within(KEPT_ATTRIBUTES) if was else Nature(mode=stat.S_IMODE(info.st_mode))
            self._last_look(target)
            with self._siblings.followed(target):
                os.unlink(target.name, dir_fd=target.folder)
            diff = diff_of(old, None, target.at)
            change = Change(
                path=target.at, change="deleted", removed=diff.removed, before=target.stamp, link=link,
                mode=was.mode, owner=was.owner, attributes=was.attributes, spans=[Span(0, 0, old)], diff=diff,
                note=_notes(target.names_note, None if kept else not_kept(target.at), target.said(was.left)),
                undoable=kept, escaped=target.escaped,
            )  # fmt: skip
            return self._done(change)

    def move(
        self, path: str, to: str, data: bytes | None = None, *, before: Stamp | None = None, escaped: bool = False
    ) -> Change:
        """Give a file another name, which must be free, and new content where `data` is given; all else it keeps."""
        with self._target(path, before, follow=False) as source, self._target(to, escaped=escaped) as target:
            info = self._existing(source)
            if source.is_link:
                text = f"{source.at} is a link; move the file it leads to. Nothing was changed."
                raise DoorError(text, reason="special", path=source.at)
            if target.info is not None:
                text = f"{target.at} exists already, so {source.at} was not moved there. Nothing was changed."
                raise DoorError(text, reason="exists", path=target.at)
            old = self._content(source)
            new = old if data is None else data
            with target.folders():
                after, note = self._place_moved(source, target, data)
            diff = msgspec.structs.replace(diff_of(old, new, source.at), change="moved", to=target.at)
            change = Change(
                path=source.at, change="moved", to=target.at, added=diff.added, removed=diff.removed,
                before=source.stamp, after=Stamp.of(after), spans=spans_of(old, new, difference(old, new)),
                mode=stat.S_IMODE(info.st_mode), folders=target.made_places(), diff=diff, check=zlib.crc32(new), note=note,
                escaped=source.escaped,
            )  # fmt: skip
            self._known.append(knowledge.moved(source.at, target.at, Stamp.of(after), old, new))
            return self._done(change)

    def _place_moved(self, source: Target, target: Target, data: bytes | None) -> tuple[os.stat_result, str | None]:
        if data is None:
            self._last_look(source, target)
            with self._siblings.followed(source):
                move_new(source.folder, source.name, target.folder, target.name)
            return os.lstat(target.name, dir_fd=target.folder), None
        with Beside(target.folder, source.nature()) as beside:
            beside.write(data)
            self._last_look(source, target)
            after = beside.create(target.name)
        with self._siblings.followed(source):
            drop(source.folder, source.name, target.folder, target.name)
        return after, target.said(beside.note)

    def restore(self, path: str, data: bytes, nature: Nature | None, *, escaped: bool = False) -> Change:
        """Make a file that was deleted again, with what it was beside its content."""
        with self._target(path, escaped=escaped) as target:
            if target.info is not None:
                text = f"{target.at} exists again, so the deleted one was not put back. Nothing was changed."
                raise DoorError(text, reason="exists", path=target.at)
            return self._create(target, data, nature, knowledge.restored)

    def restore_link(self, path: str, link: str, *, escaped: bool = False) -> Change:
        """Make a link that was deleted again."""
        with self._target(path, escaped=escaped) as target:
            with target.folders():
                self._last_look(target)
                os.symlink(link, target.name, dir_fd=target.folder)
            return self._done(Change(path=target.at, change="created", link=link, folders=target.made_places()))

    def seen(self, get: Callable[[str], Seen | None]) -> Iterator[Seen]:
        """What the session knows of the files now: its own edits are not stale. `get`: what it had seen before.

        A file that it had never seen, and only edited, stays unseen.
        """
        known: dict[str, Seen] = {}
        for make in self._known:
            seen = make(lambda path: known.get(path) or get(path))
            if seen is not None:
                known[seen.path] = seen
        yield from known.values()

    def mark(self) -> tuple[int, int]:
        """How far it has come, for `forget`."""
        return len(self.changes), len(self._known)

    def forget(self, mark: tuple[int, int]) -> list[Change]:
        """Take what was done since `mark` off the record, and return it: whoever does so puts it back."""
        done = self.changes[mark[0] :]
        del self.changes[mark[0] :], self._known[mark[1] :]
        return done

    def check_shown(self) -> None:
        """Raise DoorError (changed) unless every file that was shown to the person is as it was shown."""
        for at, shown in self._expect.items():
            if not as_shown(self._workspace, at, shown):
                raise changed_error(at)
        self._alive()

    @contextmanager
    def _target(
        self, path: str, before: Stamp | None = None, *, follow: bool = True, escaped: bool = False
    ) -> Iterator[Target]:
        self._alive()
        with target_of(self._workspace, path, follow=follow, escaped=escaped) as target:
            if self._siblings.unchanged(before, target.stamp):
                before = None
            target.compare(self._expect, self._places, before)
            try:
                target.check_writable()
                yield target
            except FileExistsError:
                raise meanwhile_error(target.at) from None
            except OSError as error:
                raise write_error(error, target.at) from error

    def _existing(self, target: Target) -> os.stat_result:
        if target.info is None:
            raise DoorError(f"No such file: {target.at}. Nothing was changed.", reason="missing", path=target.at)
        return target.info

    def _content(self, target: Target) -> bytes:
        with target.open() as opened:
            return opened.read()

    def _last_look(self, *targets: Target) -> None:
        for target in targets:
            target.check_unchanged()
        self._alive()

    def _create(
        self,
        target: Target,
        data: bytes,
        nature: Nature | None = None,
        learn: Callable[[str, Stamp, bytes], knowledge.Learn] = knowledge.written,
    ) -> Change:
        with target.folders(), Beside(target.folder, nature) as beside:
            beside.write(data)
            self._last_look(target)
            after = beside.create(target.name)
        diff = diff_of(None, data, target.at)
        change = Change(
            path=target.at, change="created", added=diff.added, after=Stamp.of(after), diff=diff,
            spans=spans_of(b"", data, difference(b"", data)), folders=target.made_places(), check=zlib.crc32(data),
            note=target.said(beside.note),
        )  # fmt: skip
        self._known.append(learn(target.at, Stamp.of(after), data))
        return self._done(change)

    def _replace(self, target: Target, plan: Plan, *, whole: bool = False) -> Change:
        diff, note, stamp = plan.diff(), None, target.stamp
        if plan.before == plan.after:
            note = f"{target.at} holds exactly this already, so it was not written."
        else:
            stamp, owner = self._put(target, plan.after)
            note = _notes(target.names_note, owner)
        assert stamp is not None and target.stamp is not None
        whole_known = knowledge.written(target.at, stamp, plan.after)
        self._known.append(whole_known if whole else knowledge.spliced(plan, target.at, target.stamp, stamp))
        change = Change(
            path=target.at, change="changed", added=diff.added, removed=diff.removed, before=target.stamp,
            after=stamp, spans=plan.spans, note=note, diff=diff, check=zlib.crc32(plan.after),
        )  # fmt: skip
        return self._done(change)

    def _overwrite(self, target: Target, data: bytes) -> Change:
        """In place of a file too large to be kept: neither undo nor diff."""
        stamp, owner = self._put(target, data)
        self._known.append(knowledge.written(target.at, stamp, data))
        note = _notes(target.names_note, owner, not_kept(target.at))
        change = Change(path=target.at, change="changed", before=target.stamp, after=stamp, note=note, undoable=False)
        return self._done(change)

    def _put(self, target: Target, data: bytes) -> tuple[Stamp, str | None]:
        with Beside(target.folder, target.nature()) as beside:
            beside.write(data)
            self._last_look(target)
            with self._siblings.followed(target):
                return Stamp.of(beside.replace(target.name)), target.said(beside.note)

    def _done(self, change: Change) -> Change:
        self.changes.append(change)
        return change


def _notes(*notes: str | None) -> str | None:
    return " ".join(note for note in notes if note) or None
