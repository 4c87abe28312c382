"""What a patch makes of files, planned before the first is written: a step a file."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from pegboard import Context, ToolError
from pegboard.blocks import Diff
from pegboard.errors import DoorError
from pegboard.kit.handles import OpenFile, Stamp
from pegboard.kit.names import printable
from pegboard.kit.plan import Plan, diff_of
from pegboard.kit.seen import check_fresh
from pegboard.kit.target import target_of
from pegboard.kit.writer import Writer

from pegboard_tools_edit_plus.claims import Claims
from pegboard_tools_edit_plus.hunking import patched
from pegboard_tools_edit_plus.patch_parser import Hunk, PatchError, Section


class Step(msgspec.Struct, kw_only=True):
    """What becomes of one file. `at`: its real place, or, of a link to delete, the link's own.

    content: what a new file holds. data, stamp: what is there, as it was planned for; no data where it need not be read.
    to, to_at: the new name and place of one that is moved. plan: what the hunks of `updates` make of it, if there are any.
    last: how late it is done: a link is deleted after all that is changed through it, and at the very end what is too large
    to be put back.
    """

    section: Section
    at: str
    content: bytes = b""
    data: bytes | None = None
    stamp: Stamp | None = None
    to: str | None = None
    to_at: str | None = None
    updates: list[list[Hunk]] = []
    plan: Plan | None = None
    warning: str | None = None
    last: int = 0

    def diff(self) -> Diff:
        """What is shown of it."""
        match self.section.action:
            case "add":
                return diff_of(None, self.content, self.at)
            case "delete" if self.data is None:
                return Diff(path=self.at, change="deleted", added=0, removed=0, text="\\ Its content is not shown\n")
            case "delete":
                return diff_of(self.data, None, self.at)
        if self.plan is None:
            return Diff(path=self.at, change="moved", added=0, removed=0, text="", to=self.to_at)
        made = self.plan.diff()
        return made if self.to is None else msgspec.structs.replace(made, change="moved", to=self.to_at)

    def notes(self) -> Sequence[str]:
        """What should be known of how the hunks matched."""
        return [f"{self.at}: {note}" for note in self.plan.notes] if self.plan is not None else []

    def write(self, files: Writer) -> None:
        """Do it. Raises DoorError."""
        path = self.section.path
        match self.section.action:
            case "add":
                files.write(path, self.content, overwrite=False)
            case "delete":
                files.remove(path, before=self.stamp)
            case "update" if self.to is not None:
                files.move(path, self.to, self.plan.after if self.plan is not None else None, before=self.stamp)
            case "update":
                assert self.plan is not None and self.stamp is not None
                files.splice(path, self.plan, self.stamp)


def planned(ctx: Context, sections: Sequence[Section], *, fresh: bool) -> list[Step]:
    """The steps of a patch, all of them possible as things stand now.

    `fresh`: what the session was shown must still be there. Raises PatchError, with the line of the patch.
    """
    planner = _Planner(ctx, fresh)
    for section in sections:
        try:
            planner.add(section)
        except ToolError as error:
            raise _at_line(section, _blanks_told(ctx, section, error)) from error
    for step in planner.steps:
        if step.updates:
            assert step.data is not None
            try:
                step.plan = patched(step.data, step.updates, path=step.at, settings=ctx.config.edit)
            except PatchError:
                raise
            except ToolError as error:
                raise _at_line(step.section, error) from error
    return sorted(planner.steps, key=lambda step: step.last)  # stable: else in the patch's order


def _at_line(section: Section, error: ToolError) -> PatchError:
    text = str(error) if str(error).endswith((".", "?", "!")) else f"{error}."
    return PatchError(f"patch line {section.line}: {text}" + ("" if "othing was" in text else " Nothing was changed."))


def _blanks_told(ctx: Context, section: Section, error: ToolError) -> ToolError:
    """The error where a file is missing that is there without the white space around its name: no other is taken for it."""
    name, workspace = section.path.strip(), ctx.workspace
    missing = isinstance(error, DoorError) and error.reason == "missing" and section.action != "add"
    if not missing or name == section.path or workspace.refuses("edit", name) or workspace.stat(name) is None:
        return error
    sent, there = printable(section.path), printable(name)
    return ToolError(f'No file is called "{sent}". Nothing was changed. There is "{there}": name it without blanks.')


class _Planner:
    """Looks at each file that a patch names, once."""

    def __init__(self, ctx: Context, fresh: bool) -> None:
        self.steps: list[Step] = []
        self._ctx = ctx
        self._fresh = fresh
        self._claims = Claims(ctx.workspace.root)

    def add(self, section: Section) -> None:
        match section.action:
            case "add":
                self._add(section)
            case "delete":
                self._delete(section)
            case "update":
                self._update(section)

    def _add(self, section: Section) -> None:
        content = "".join(line + "\n" for line in section.content)
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise ToolError("a line holds a character that a text file cannot hold. Nothing was changed.") from None
        limit = self._ctx.config.edit.max_bytes
        if len(data) > limit:
            raise ToolError(f"{section.path} would be larger than the limit of {limit:,} bytes. Nothing was changed.")
        at = self._free(section.path, section, "change it with *** Update File")
        self.steps.append(Step(section=section, at=at, content=data))

    def _delete(self, section: Section) -> None:
        workspace = self._ctx.workspace
        with target_of(workspace, section.path, follow=False) as target:
            if target.info is None:
                raise DoorError(f"No such file: {target.at}", reason="missing", path=target.at)
            target.check_writable()
            step = Step(section=section, at=target.at, stamp=target.stamp, last=int(target.is_link))
            linked = target.is_link
        if not linked:
            with workspace.open(section.path, "edit") as opened:
                step.warning = self._check(opened)
                step.stamp = opened.stamp
                lost = opened.size > self._ctx.config.edit.max_bytes
                step.data = None if lost else opened.read()
                step.last = 2 if lost else 0
        self._claims.take(step.at, section.line)
        self.steps.append(step)

    def _update(self, section: Section) -> None:
        workspace = self._ctx.workspace
        with workspace.open(section.path, "edit") as opened:
            step = self._again(opened.at)
            if step is None:
                step = Step(section=section, at=opened.at, stamp=opened.stamp, warning=self._check(opened))
                self._claims.take(step.at, section.line)
                self.steps.append(step)
            limit = self._ctx.config.edit.max_bytes
            if (section.hunks and step.data is None) or opened.size > limit:
                step.data = opened.read(limit)
        with target_of(workspace, section.path, follow=section.to is None) as target:
            target.check_writable()
            if target.is_link:
                raise ToolError(f"{target.at} is a link; move the file it leads to. Nothing was changed.")
        if section.hunks:
            step.updates = [*step.updates, section.hunks]
        if section.to is not None:
            step.to, step.to_at = section.to, self._free(section.to, section, "take another name")

    def _again(self, at: str) -> Step | None:
        """The step of a file that was updated above, and is not moved: a further update goes on from what that made."""
        return next((s for s in self.steps if s.at == at and s.section.action == "update" and s.to is None), None)

    def _check(self, opened: OpenFile) -> str | None:
        if not self._fresh:
            return None
        return check_fresh(opened, self._ctx.seen.get(opened.at), self._ctx.config.edit, whole=False)

    def _free(self, path: str, section: Section, otherwise: str) -> str:
        """The place of a name that must not be taken."""
        workspace = self._ctx.workspace
        if path != path.strip():
            name = printable(path)
            raise ToolError(
                f'the new name "{name}" begins or ends with white space. Nothing was changed; leave it out.'
            )
        with target_of(workspace, path, follow=False) as target:
            self._claims.make(target.at, section.line)
            if target.info is not None:
                raise ToolError(f"{target.at} exists already. Nothing was changed; {otherwise}.")
            at = target.at
        try:
            with workspace.open(path, "edit"):  # so that a preview keeps in mind that it was not there
                raise ToolError(f"{at} appeared meanwhile. Nothing was changed.")
        except DoorError as error:
            if error.reason != "missing":
                raise
        return at
