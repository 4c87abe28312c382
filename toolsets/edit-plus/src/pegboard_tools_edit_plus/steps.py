"""What a patch makes of files, planned before the first is written: a step a file."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from pegboard import Context, ToolError
from pegboard.blocks import Diff
from pegboard.errors import DoorError
from pegboard.kit.handles import OpenFile, Stamp
from pegboard.kit.plan import Plan, diff_of
from pegboard.kit.seen import check_fresh
from pegboard.kit.target import target_of
from pegboard.kit.writer import Writer

from pegboard_tools_edit_plus.hunking import patched
from pegboard_tools_edit_plus.patch_parser import Hunk, PatchError, Section


class Step(msgspec.Struct, kw_only=True):
    """What becomes of one file. `at`: its real place, or, of a link to delete, the link's own.

    content: what a new file holds. data, stamp: what is there, as it was planned for; no data where it need not be read.
    to, to_at: the new name and place of one that is moved. plan: what the hunks of `updates` make of it, if there are any.
    lost: it is too large to be put back, so it is deleted last.
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
    lost: bool = False

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
            raise _at_line(section, error) from error
    for step in planner.steps:
        if step.updates:
            assert step.data is not None
            try:
                step.plan = patched(step.data, step.updates, path=step.at, settings=ctx.config.edit)
            except PatchError:
                raise
            except ToolError as error:
                raise _at_line(step.section, error) from error
    return sorted(planner.steps, key=lambda step: step.lost)  # stable: else in the patch's order


def _at_line(section: Section, error: ToolError) -> PatchError:
    text = str(error) if str(error).endswith((".", "?", "!")) else f"{error}."
    return PatchError(f"patch line {section.line}: {text}" + ("" if "othing was" in text else " Nothing was changed."))


class _Planner:
    """Looks at each file that a patch names, once."""

    def __init__(self, ctx: Context, fresh: bool) -> None:
        self.steps: list[Step] = []
        self._ctx = ctx
        self._fresh = fresh
        self._claimed: dict[str, Section] = {}

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
        at = self._free(section.path, "change it with *** Update File")
        self._claim(at, section)
        self.steps.append(Step(section=section, at=at, content=data))

    def _delete(self, section: Section) -> None:
        workspace = self._ctx.workspace
        with target_of(workspace, section.path, follow=False) as target:
            if target.info is None:
                raise DoorError(f"No such file: {target.at}", reason="missing", path=target.at)
            target.check_writable()
            step = Step(section=section, at=target.at, stamp=target.stamp)
            linked = target.is_link
        if not linked:
            with workspace.open(section.path, "edit") as opened:
                step.warning = self._check(opened)
                step.stamp = opened.stamp
                step.lost = opened.size > self._ctx.config.edit.max_bytes
                step.data = None if step.lost else opened.read()
        self._claim(step.at, section)
        self.steps.append(step)

    def _update(self, section: Section) -> None:
        workspace = self._ctx.workspace
        with workspace.open(section.path, "edit") as opened:
            step = self._again(opened.at)
            if step is None:
                step = Step(section=section, at=opened.at, stamp=opened.stamp, warning=self._check(opened))
                self._claim(step.at, section)
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
            step.to, step.to_at = section.to, self._free(section.to, "take another name")
            self._claim(step.to_at, section)

    def _again(self, at: str) -> Step | None:
        """The step of a file that was updated above, and is not moved: a further update goes on from what that made."""
        return next((s for s in self.steps if s.at == at and s.section.action == "update" and s.to is None), None)

    def _check(self, opened: OpenFile) -> str | None:
        if not self._fresh:
            return None
        return check_fresh(opened, self._ctx.seen.get(opened.at), self._ctx.config.edit, whole=False)

    def _free(self, path: str, otherwise: str) -> str:
        """The place of a name that must not be taken."""
        workspace = self._ctx.workspace
        with target_of(workspace, path, follow=False) as target:
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

    def _claim(self, at: str, section: Section) -> None:
        other = self._claimed.setdefault(at, section)
        if other is not section:
            raise ToolError(
                f"{at} is in the patch twice (first on line {other.line}). Nothing was changed. Say all of it in one "
                "section, or in two calls."
            )
