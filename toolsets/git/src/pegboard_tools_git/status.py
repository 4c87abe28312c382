"""`git status`, from `--porcelain=v2 -z` into words and data."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec
from pegboard.kit.caps import Caps
from pegboard.kit.names import printable, shown

from pegboard_tools_git.patches import quoted, room
from pegboard_tools_git.repository import Repository
from pegboard_tools_git.safely import Git

ARGUMENTS = ("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty")
WORDS = {
    "M": "modified",
    "T": "type changed",
    "A": "added",
    "D": "deleted",
    "R": "renamed",
    "C": "copied",
}
CONFLICTS = {
    "DD": "both deleted",
    "AU": "added by us",
    "UD": "deleted by them",
    "UA": "added by them",
    "DU": "deleted by us",
    "AA": "both added",
    "UU": "both modified",
}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One changed path. `index` and `worktree` say in a word what is staged and what is not; `from` is the old name."""

    path: str
    from_: str | None = msgspec.field(name="from", default=None)
    index: str | None = None
    worktree: str | None = None

    def words(self, submodule: bool) -> str:
        """`staged renamed from a.txt, modified`."""
        staged = f"staged {self.index}" if self.index else ""
        if self.from_ and self.index in ("renamed", "copied"):
            staged += f" from {quoted(self.from_)}"
        unstaged = self.worktree or ""
        if self.from_ and self.worktree in ("renamed", "copied"):
            unstaged += f" from {quoted(self.from_)}"
        said = ", ".join(filter(None, (staged, unstaged)))
        return f"submodule: {said}" if submodule else said


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get. `branch` is null when HEAD is detached; `ahead` and `behind` where there is an upstream that
    exists. `state`: what is under way (merging, rebasing, cherry-picking, reverting, bisecting, applying), unborn, or null.
    """

    branch: str | None
    upstream: str | None
    ahead: int | None
    behind: int | None
    state: str | None
    entries: list[Entry]


class Head(msgspec.Struct, kw_only=True):
    """What the `#` lines say."""

    oid: str = ""
    branch: str = ""
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None


def parsed(data: bytes, repository: Repository) -> tuple[Head, list[tuple[Entry, bool]]]:
    """The records of `--porcelain=v2 -z`, and which are submodules; those that are not understood are passed over."""
    head, entries = Head(), list[tuple[Entry, bool]]()
    records = iter(os.fsdecode(data).split("\0"))
    for record in records:
        kind, _, rest = record.partition(" ")
        match kind:
            case "#":
                _header(head, rest)
            case "1" | "2" | "u" | "?":
                entry = _entry(kind, rest, records, repository)
                if entry is not None:
                    entries.append(entry)
    return head, entries


def _header(head: Head, rest: str) -> None:
    name, _, value = rest.partition(" ")
    match name:
        case "branch.oid":
            head.oid = value
        case "branch.head":
            head.branch = shown(value)
        case "branch.upstream":
            head.upstream = shown(value)
        case "branch.ab":
            ahead, _, behind = value.partition(" ")
            head.ahead, head.behind = int(ahead), -int(behind)


_FIELDS = {"1": 7, "2": 8, "u": 9}
"""Fields between the kind of a record and its path."""


def _entry(kind: str, rest: str, records: Iterator[str], repository: Repository) -> tuple[Entry, bool] | None:
    if kind == "?":
        return Entry(path=repository.workspace_path(rest), worktree="untracked"), False
    *fields, path = rest.split(" ", _FIELDS[kind])
    if len(fields) != _FIELDS[kind]:
        return None
    old = next(records, "") if kind == "2" else None
    code, submodule = fields[0], fields[1].startswith("S")
    path = repository.workspace_path(path)
    if kind == "u":
        return Entry(path=path, worktree=f"conflict: {CONFLICTS.get(code, code)}"), submodule
    worktree = WORDS.get(code[1:])
    if submodule and code[1:] == "M":
        worktree = "new commits"
    entry = Entry(
        path=path,
        from_=repository.workspace_path(old) if old is not None else None,
        index=WORDS.get(code[:1]),
        worktree=worktree,
    )
    return entry, submodule


def state_of(repository: Repository) -> tuple[str | None, str]:
    """What is under way, and the words for it."""
    names, line = repository.names, repository.state_file
    if "rebase-merge" in names or ("rebase-apply" in names and not line("rebase-apply/applying")):
        folder = "rebase-merge" if "rebase-merge" in names else "rebase-apply"
        count = ("msgnum", "end") if folder == "rebase-merge" else ("next", "last")
        done, end = (line(f"{folder}/{name}") for name in count)
        branch = (line(f"{folder}/head-name") or "").removeprefix("refs/heads/")
        onto = line(f"{folder}/onto") or ""
        words = f"rebasing {printable(branch)}".rstrip() + (f" onto {onto[:7]}" if onto else "")
        return "rebasing", f"{words} ({done}/{end})" if done and end else words
    for name, state in (
        ("rebase-apply", "applying"),
        ("MERGE_HEAD", "merging"),
        ("CHERRY_PICK_HEAD", "cherry-picking"),
        ("REVERT_HEAD", "reverting"),
        ("BISECT_LOG", "bisecting"),
    ):
        if name in names:
            commit = (line(name) or "")[:7] if name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD") else ""
            return state, f"{state} {commit}".rstrip()
    return None, ""


def title(head: Head, state: str, total: int) -> str:
    """`On main (2 ahead of origin/main), merging 1a2b3c4, 3 changed:`"""
    detached = head.branch == "(detached)"
    words = f"Detached at {head.oid[:7]}" if detached else f"On {head.branch}"
    if head.upstream is not None:
        counts = [f"{n} {word}" for n, word in ((head.ahead, "ahead of"), (head.behind, "behind")) if n]
        if head.ahead is None:
            counts = ["upstream gone:"]
        words += f" ({', '.join(counts) or 'level with'} {head.upstream})"
    if head.oid == "(initial)":
        words += ", no commits yet"
    if state:
        words += f", {state}"
    return f"{words}, {total} changed:" if total else f"{words}, clean."


async def status(git: Git, paths: list[str], caps: Caps) -> tuple[str, Status]:
    """The words for the model, and the data."""
    repository = git.repository
    head, entries = parsed(await git.out(*ARGUMENTS, "--", *paths), repository)
    state, words = state_of(repository)
    data = Status(
        branch=None if head.branch == "(detached)" else head.branch,
        upstream=head.upstream,
        ahead=head.ahead,
        behind=head.behind,
        state=state or ("unborn" if head.oid == "(initial)" else None),
        entries=[entry for entry, _ in entries],
    )
    lines = [
        title(head, words, len(entries)),
        *(f"{quoted(entry.path)}  ({entry.words(sub)})" for entry, sub in entries),
    ]
    return _fitting(lines, caps) + _notes(repository), data


def _fitting(lines: list[str], caps: Caps) -> str:
    """The lines that fit, and how many do not."""
    text = "\n".join(lines)
    if not caps.exceeded_by(text):
        return text
    count, size = 0, 0
    most = room(caps, 300)
    while count < len(lines) and size < most and (not caps.max_lines or count < caps.max_lines - 2):
        size += len(lines[count].encode("utf-8", "replace")) + 1
        count += 1
    count = max(count - 1, 1)
    return "\n".join(lines[:count]) + f"\n... ({len(lines) - count} more; path narrows it)"


def _notes(repository: Repository) -> str:
    notes = []
    if os.path.lexists(f"{repository.top}/.gitmodules"):
        notes.append("\n(changes inside submodules are not looked for; path=SUBMODULE tells of them)")
    if repository.filters:
        names = ", ".join(sorted(printable(name) for name in repository.filters))
        notes.append(
            f"\n(filters that the repository's configuration names were not run: {names}; files that go through them may "
            "be called modified)"
        )
    if any(s.section == "core" and s.key == "worktree" for s in repository.settings) and repository.common.endswith(
        "/.git"
    ):
        notes.append("\n(the work tree that the repository's configuration names elsewhere was not looked at)")
    return "".join(notes)
