"""`git log`, `git show`, `git blame`, branches and revisions, from output made for programs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial

import msgspec
from pegboard.errors import ToolError
from pegboard.kit.caps import Caps
from pegboard.kit.names import shown

from pegboard_tools_git.patches import Page, decoded, room
from pegboard_tools_git.places import may_not_read, path_in_ref
from pegboard_tools_git.safely import DIFF, Git

QUIET = ("--no-show-signature", "--no-decorate", "--no-notes", "--no-color")
_WHOLE = "--format=tformat:commit %H%nauthor %an <%ae>%ndate   %aI%n%n%w(0,4,4)%B"
"""A message is indented, so that no line of it looks like the beginning of anything."""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One commit; `date` is the author's, in ISO 8601."""

    hash: str
    date: str
    author: str
    subject: str


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_log, newest first."""

    commits: list[Commit]


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A branch; of a remote one `remote` is true. `upstream`: what it follows."""

    name: str
    hash: str
    current: bool
    remote: bool
    upstream: str | None


class Branches(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_branch."""

    branches: list[Branch]


class BlamedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line and the commit it is from; `hash` is null for a line that is not committed."""

    line: int
    hash: str | None
    date: str
    author: str
    text: str


class Blame(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_blame."""

    path: str
    lines: list[BlamedLine]


class CutBlame(Blame, frozen=True, kw_only=True):
    """There is more."""

    @property
    def more(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


async def log(git: Git, limit: int, ref: str | None, paths: Sequence[str]) -> tuple[str, Log]:
    """A line a commit: hash, date, author, subject."""
    form = "--format=tformat:%H%x00%h%x00%aI%x00%an%x00%s"
    done = await git.run("log", "-z", f"--max-count={limit}", *QUIET, form, *([ref] if ref else []), "--", *paths)
    if done.exit_code != 0:
        if ref is None and b"does not have any commits yet" in done.stderr:
            return "No commits yet.", Log(commits=[])
        raise git.failed(done)
    fields = [decoded(field) for field in done.stdout.split(b"\0")]
    commits, lines = [], []
    for full, short, date, author, subject in zip(*(fields[at::5] for at in range(5)), strict=False):
        subject = subject.replace("\n", " ")
        commits.append(Commit(hash=full, date=date, author=author, subject=subject))
        lines.append(f"{short} {date[:16].replace('T', ' ')} {author}: {subject}")
    return "\n".join(lines) or "No commits.", Log(commits=commits)


async def log_patches(git: Git, limit: int, ref: str | None, paths: Sequence[str], page: Page) -> None:
    """Commits with their diffs, into a page."""
    argv = ["log", "--patch", f"--max-count={limit}", *QUIET, *DIFF, _WHOLE, *([ref] if ref else []), "--", *paths]
    await paged(git, argv, page)


async def show(git: Git, ref: str, paths: Sequence[str], page: Page, *, content: bool) -> None:
    """One commit (or tag) with its diff into a page; with `content` what a revision with a path names.

    Raises:
        ToolError: git knows no such thing, or it is a file's or folder's content without a commit and the path in it.
    """
    if content:
        commit = ref[: -len(path_in_ref(ref) or "") or None].removesuffix(":")
        if commit.strip(":0123"):  # else of the index
            await check_commits(git, commit)
    else:
        await check_commits(git, ref)
    await paged(git, ["show", *QUIET, *DIFF, _WHOLE, ref, "--", *paths], page)


async def check_commits(git: Git, ref: str) -> None:
    """What is shown by a revision, or by each side of a range, is a commit or a tag of one. The hash of a file or a folder
    would show what its name might not.

    Raises:
        ToolError: it is none. Nothing was changed.
    """
    plain = re.sub(r"\^(?:[!@]|-[0-9]*)$", "", ref)  # of a commit: it without, or only, its parents
    sides = re.split(r"\.{2,3}", plain)
    if await _are_commits(git, sides) or (
        len(sides) > 1 and not ref.startswith(":/") and await _are_commits(git, [plain])
    ):
        return  # as a range, which git tries first, or as one word that holds dots
    done = await git.run("rev-parse", ref, "--")
    if done.exit_code != 0 and b"not a commit" not in done.stderr:
        raise ToolError(f"{ref} is no revision that git knows: {git.message(done)}\nNothing was changed.")
    raise ToolError(
        f"{ref} is no commit; it may be the content of a file. Nothing was changed. Name commits, branches or tags of "
        "commits; a file with its commit, as in HEAD:path."
    )


async def _are_commits(git: Git, names: Sequence[str]) -> bool:
    """Whether each is one, or a tag of one; empty it is HEAD, and a search (`:/text`) finds nothing else."""
    stdin = "".join(f"{name}^{{commit}}\n" for name in names if name and not name.startswith(":/"))
    found = await git.out("cat-file", "--batch-check=%(objecttype)", stdin=os.fsencode(stdin)) if stdin else b""
    return found.splitlines() == [b"commit"] * stdin.count("\n")


async def paged(git: Git, argv: Sequence[str], page: Page) -> None:
    """Run git into a page, and end it when the page is full."""
    done = await git.run(*argv, each=page.feed)
    if done.exit_code != 0 and not page.more:
        raise git.failed(done)
    page.close()


def page_of(git: Git, caps: Caps, offset: int = 1, *, files: bool = True) -> Page:
    """A page under the caps. `files`: it is a diff, whose files are looked at."""
    refused = partial(may_not_read, git.ctx.workspace, git.repository) if files else None
    return Page(caps, max(offset, 1), refused)


async def blame(
    git: Git, path: str, at: str, ref: str | None, first: int, last: int | None, caps: Caps
) -> tuple[str, Blame]:
    """Who last changed each line: `hash date author N: text`."""
    lines = ["-L", f"{first},{last or ''}"] if first > 1 or last else []
    options = ("--porcelain", "--no-textconv", "--ignore-revs-file=", *lines)
    blamed = Blamed(caps)
    done = await git.run("blame", *options, *([ref] if ref else []), "--", path, each=blamed.feed)
    if done.exit_code != 0 and not blamed.more:
        raise git.failed(done)
    if not blamed.lines:
        return f"{at} is empty.", Blame(path=at, lines=[])
    texts = blamed.texts
    if blamed.more:
        texts.append(f"... (more: start_line={blamed.lines[-1].line + 1})")
    kind = CutBlame if blamed.more else Blame
    return "\n".join(texts), kind(path=at, lines=blamed.lines)


class Blamed:
    """Reads `git blame --porcelain` as it comes, until the caps."""

    def __init__(self, caps: Caps) -> None:
        self.lines: list[BlamedLine] = []
        self.texts: list[str] = []
        self.more = False
        self._caps = caps
        self._rest = b""
        self._size = 0
        self._commits: dict[str, dict[str, str]] = {}
        self._hash, self._number = "", 0

    def feed(self, stream: str, data: bytes) -> bool:
        """Take a piece; True when there is no room for more."""
        if stream == "stdout":
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if self.more:
                    break
                self._line(line)
        return self.more

    def _line(self, line: bytes) -> None:
        if line.startswith(b"\t"):
            self._add(decoded(line[1:]))
        elif head := re.match(rb"([0-9a-f]{40,64}) \d+ (\d+)", line):
            self._hash, self._number = head[1].decode(), int(head[2])
            self._commits.setdefault(self._hash, {})
        else:
            key, _, value = decoded(line).partition(" ")
            self._commits.setdefault(self._hash, {})[key] = value

    def _add(self, text: str) -> None:
        about = self._commits[self._hash]
        committed = self._hash.strip("0") != ""
        date = _day(about.get("author-time", "0"), about.get("author-tz", "+0000"))
        author = about.get("author", "") if committed else "not committed"
        row = (
            f"{self._hash[:7]} {date} {author} {self._number}: {text}"
            if committed
            else f"{author} {self._number}: {text}"
        )
        self._size += len(row.encode("utf-8", "replace")) + 1
        if self.lines and (self._size > room(self._caps, 100) or 0 < self._caps.max_lines - 1 <= len(self.lines)):
            self.more = True
            return
        self.texts.append(row)
        self.lines.append(
            BlamedLine(line=self._number, hash=self._hash if committed else None, date=date, author=author, text=text)
        )


def _day(seconds: str, zone: str) -> str:
    """The day in the author's own zone, `2026-01-02`."""
    from datetime import UTC, datetime, timedelta

    try:
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) * (-1 if zone.startswith("-") else 1)
        return (datetime.fromtimestamp(int(seconds), UTC) + offset).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "????-??-??"


MOST_BRANCHES = 200


async def branches(git: Git) -> tuple[str, Branches]:
    """Local branches, the newest first, then those of remotes."""
    form = "%(HEAD)%00%(refname)%00%(objectname)%00%(upstream:short)%00%(upstream:track)%00%(contents:subject)%00"
    count = f"--count={MOST_BRANCHES + 1}"
    found, lines = [], []
    for refs in ("refs/heads", "refs/remotes"):
        data = await git.out("for-each-ref", f"--format={form}", "--sort=-committerdate", count, refs)
        fields = [os.fsdecode(field) for field in data.split(b"\0")]
        rows = list(zip(*(fields[at::6] for at in range(6)), strict=False))
        for head, name, full, upstream, track, subject in rows[:MOST_BRANCHES]:
            short = shown(name).removeprefix(f"{refs}/")
            if refs == "refs/remotes" and short.endswith("/HEAD"):
                continue
            branch = Branch(
                name=short,
                hash=full,
                current=head.strip() == "*",
                remote=refs == "refs/remotes",
                upstream=shown(upstream) or None,
            )
            found.append(branch)
            follows = f" -> {branch.upstream} {track}".rstrip() if branch.upstream else ""
            mark = "*" if branch.current else " "
            where = " (remote)" if branch.remote else ""
            lines.append(f"{mark} {short}{where} {full[:7]}{follows} {decoded(os.fsencode(subject))}")
        if len(rows) > MOST_BRANCHES:
            lines.append(f"... (more than {MOST_BRANCHES} in {refs})")
    return "\n".join(lines) or "No branches: there is no commit yet.", Branches(branches=found)


async def resolve(git: Git, ref: str) -> str:
    """The full hash that a revision means."""
    return (await git.out("rev-parse", "--verify", ref)).decode("ascii", "replace").strip()


async def commit_at(git: Git, name: str) -> str | None:
    """The commit that a name stands for; None where it stands for none."""
    done = await git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return done.stdout.decode("ascii", "replace").strip() if done.exit_code == 0 else None
