"""`delete_files`: files by name or by pattern; all or none, and exactly those that were approved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pegboard import Context, Result, ToolError, tool
from pegboard.blocks import Block, Diff, Text
from pegboard.calls import Touch
from pegboard.errors import DoorError
from pegboard.kit.aside import HIDDEN_ALIASES, PATH_ALIASES, apart, as_list
from pegboard.kit.changes import FilesChanged

if TYPE_CHECKING:
    from pegboard.kit.handles import Stamp

WILD = frozenset("*?[")
MOST = 1000
"""Files of one call."""
DIFFS = 3
"""Files whose content a preview shows; of more, the names."""


def _touched(arguments: Any, ctx: Context) -> list[Touch]:
    """Each file by its name; patterns are expanded here, so that what is judged and shown is what is deleted."""
    hidden, ignored = arguments.include_hidden, arguments.include_ignored
    found: dict[str, None] = {}
    for path in arguments.paths:
        names = [path] if WILD.isdisjoint(path) or _is_name(ctx, path) else _matching(ctx, path, hidden, ignored)
        found.update(dict.fromkeys(names))
        if len(found) > MOST:
            raise ToolError(f"That is more than {MOST:,} files. Nothing was deleted; take narrower patterns.")
    return [deletes(ctx, name) for name in found]


def deletes(ctx: Context, name: str) -> Touch:
    """What deleting touches: of a link the link alone, so that one may go wherever it leads."""
    from pegboard.kit.target import link_place

    own = link_place(ctx.workspace, name)
    return Touch("edit", name, own.at, own.outside) if own else Touch("edit", name)


def _is_name(ctx: Context, path: str) -> bool:
    """Whether a path with wildcards is the name of something, or leads to where no pattern is looked for."""
    from pegboard.kit.target import target_of

    if path.endswith("/"):
        return False
    try:
        with target_of(ctx.workspace, path, follow=False) as target:
            return target.info is not None
    except DoorError as error:
        return error.reason in ("escapes", "folder", "protected", "special", "readonly")


def _matching(ctx: Context, pattern: str, hidden: bool, ignored: bool) -> list[str]:
    """The files that a pattern names, by the rules of a search: neither links nor what is never searched."""
    names = list(islice(_walked(ctx, pattern, hidden, ignored), MOST + 1))
    if not names:
        flags = [name for name, on in (("include_hidden", hidden), ("include_ignored", ignored)) if not on]
        hint = f" Hidden or ignored files count only with {' or '.join(flags)}." if flags else ""
        raise ToolError(f'No file matches "{pattern}". Nothing was deleted.{hint}')
    return names


def _walked(ctx: Context, pattern: str, hidden: bool, ignored: bool) -> Iterator[str]:
    from pegboard.kit.names import shown
    from pegboard.kit.walk.paths import PathGlob
    from pegboard.kit.walk.place import ground, narrowed
    from pegboard.kit.walk.walker import Rules, walk

    text = pattern.removeprefix(ctx.workspace.root.rstrip("/") + "/")
    if text.endswith("/"):
        raise ToolError(f'"{pattern}" names folders, and only files are deleted. Nothing was deleted.')
    only = PathGlob(f"\\{text}" if text.startswith("!") else text, hidden=hidden, anywhere=True)
    place = narrowed(
        ground(ctx.workspace, ".", "list", require_git=ctx.config.search.require_git), only, ignored=ignored
    )
    if place is None or place.scope is None:
        return
    rules = Rules(hidden=hidden or only.names_hidden, ignored=ignored)
    for path in walk(place.top, place.start, place.scope, rules, _pass):
        name = os.fsdecode(path)
        if only.match(name):
            _check_told_apart(ctx, name)
            yield shown(name)


def _check_told_apart(ctx: Context, name: str) -> None:
    r"""Raises ToolError where a file's name as text, by which it is judged and shown, is the name of another, or of none.

    A byte that is not UTF-8 is `\xNN` there, and what is called so letter for letter goes before.
    """
    from pegboard.kit.names import given, shown

    text = shown(name)
    if text == name and given(text) is None:
        return
    if not _leads_to(ctx, text, name):
        raise ToolError(
            f"Two names are both written {text}: one has the backslash, the other a byte that is not UTF-8. Nothing was "
            "deleted. Take a pattern that finds neither, or name it, which means the one with the backslash; when that "
            "one is gone or has another name, the pattern finds the other."
        )


def _leads_to(ctx: Context, text: str, name: str) -> bool:
    """Whether a path as it is shown is that of the file with this name below the root."""
    from pegboard.kit.target import target_of

    folder, last = os.path.split(os.path.join(ctx.workspace.root, name))
    try:
        with target_of(ctx.workspace, text, follow=False) as target:
            there = os.fstat(target.folder) if target.info is not None and target.name == last else None
    except DoorError as error:
        return error.reason not in ("missing", "folder", "special")  # what it may not do is for the guards to tell
    return there is not None and os.path.samestat(there, os.stat(folder))


def _pass(path: bytes, error: OSError) -> None:
    """What cannot be listed has no file that could be deleted by name."""


class Doomed(msgspec.Struct, frozen=True, kw_only=True):
    """A file to delete. `at`: its place; `link`: it is a link, and what it leads to stays."""

    path: str
    at: str
    size: int
    link: bool
    stamp: Stamp | None
    warning: str | None = None


def _planned(ctx: Context, paths: Sequence[str], *, fresh: bool) -> list[Doomed]:
    """What is deleted, each file once, those that cannot be put back last. Raises DoorError when one cannot be."""
    found: dict[str, Doomed] = {}
    for path in paths:
        one = _looked_at(ctx, path, fresh)
        found.setdefault(one.at, one)
    return sorted(found.values(), key=lambda one: one.size > ctx.config.edit.max_bytes)


def _looked_at(ctx: Context, path: str, fresh: bool) -> Doomed:
    from pegboard.kit.seen import check_fresh
    from pegboard.kit.target import target_of

    with target_of(ctx.workspace, path, follow=False) as target:
        if target.info is None:
            raise DoorError(f"No such file: {target.at}. Nothing was deleted.", reason="missing", path=target.at)
        target.check_writable()
        one = Doomed(path=path, at=target.at, size=target.info.st_size, link=target.is_link, stamp=target.stamp)
    if one.link or not fresh:
        return one
    with ctx.workspace.open(path, "edit") as opened:
        warning = check_fresh(opened, ctx.seen.get(opened.at), ctx.config.edit, whole=False)
        return msgspec.structs.replace(one, stamp=opened.stamp, warning=warning)


async def _preview(arguments: Any, ctx: Context) -> list[Block]:
    def work() -> list[Block]:
        doomed = _planned(ctx, [touch.what for touch in ctx.touches], fresh=False)
        diffs = [_shown(ctx, one, diff=len(doomed) <= DIFFS) for one in doomed]
        lines = [f"{one.at}{' (the link itself)' if one.link else f' ({one.size:,} bytes)'}" for one in doomed]
        return [
            Text(text="\n".join(lines), title=f"Deletes {_count(len(doomed))}"),
            *(diff for diff in diffs if diff is not None),
        ]

    return await apart(work)


def _count(files: int) -> str:
    return f"{files} file{'s' if files != 1 else ''}"


def _shown(ctx: Context, one: Doomed, *, diff: bool) -> Diff | None:
    """Look at a file, so that it is kept in mind as it was shown; its content where that is short enough to be read."""
    from pegboard.kit.plan import diff_of

    if one.link:
        return None
    with ctx.workspace.open(one.path, "edit") as opened:
        if not diff or one.size > ctx.config.edit.max_bytes:
            return None
        return diff_of(opened.read(), None, one.at)


@tool(
    effect="side_effecting",
    touches=_touched,
    kinds=["edit"],
    aliases=["delete_file", "remove_files", "remove_file", "rm"],
    param_aliases={
        **dict.fromkeys(("path", *PATH_ALIASES, "files", "file_paths", "patterns", "pattern"), ("paths", as_list)),
        **HIDDEN_ALIASES,
    },
    category="write",
    glyph="x",
    verb="Delete",
    short="delete files",
    key_arg="paths",
    preview=_preview,
    examples=[
        "delete {paths}",
        "delete the file {paths}",
        "delete the files {paths}",
        "remove {paths}",
        "remove the file {paths}",
        "please delete {paths}",
        "get rid of {paths}",
        "erase {paths}",
    ],
)
async def delete_files(
    paths: Annotated[
        list[str],
        msgspec.Meta(
            description="Names, or patterns with * ? [: without / at any depth, with / from the root", min_length=1
        ),
    ],
    ctx: Context,
    include_hidden: Annotated[bool, "Patterns also name files that begin with a dot"] = False,
    include_ignored: Annotated[bool, "Patterns also name what ignore files hide"] = False,
) -> Annotated[Result, FilesChanged]:
    """Delete files, not folders: all or none."""
    from pegboard_tools_edit_plus.results import all_or_none, changed

    approved = [touch.what for touch in ctx.touches if touch.kind == "edit"]
    async with ctx.commit() as files:

        def work() -> list[str | None]:
            doomed = _planned(ctx, approved, fresh=True)
            with all_or_none(ctx, files):
                for one in doomed:
                    files.remove(one.path, before=one.stamp)
            return [one.warning for one in doomed]

        notes = await apart(work)
    count = len(files.changes)
    return changed(f"{_count(count)}:", files.changes, files.undo_id, notes, diffs=count <= DIFFS)
