"""Git, run so that nothing of a repository's own choosing runs with it.

- The repository's configuration is not read by git at all: `GIT_COMMON_DIR` is a folder of ours, whose entries are links
  to the repository's and whose `config` holds only what `config.kept` lets through. Programs that it names (monitors,
  filters, external diffs, hooks, pagers, signatures, transports, helpers) do not exist for git, whatever their keys.
- Of the environment no `GIT_` variable is passed on, and git is not looked for inside the workspace.
- Options and paths are fixed words of an argument list; no shell is started.

The person's own configuration (system and user files) counts, as it does for them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial

from pegboard import Context, ToolError
from pegboard.kit.names import shown
from pegboard.kit.process import Finished

from pegboard_tools_git.config import OURS, kept, written
from pegboard_tools_git.inside import check, waits_at
from pegboard_tools_git.repository import Repository

_LINKED = ("objects", "refs", "packed-refs", "reftable", "info", "logs", "shallow", "worktrees", "lfs")
"""What the work trees of a repository share and git needs; not `config`, `hooks` and `modules`."""
_DROPPED = frozenset(
    ("PAGER", "LESS", "LV", "EDITOR", "VISUAL", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "BASH_ENV", "ENV")
)
_IDENTITY = tuple(f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE"))
_MOST_MESSAGE = 4000
_FOLDER = "pegboard-git-"
_STALE_SECONDS = 3600.0
"""A folder of a process that is gone is left alone for so long: another container may number its processes anew."""
_OLD_SECONDS = 86_400.0
_SLOW_SECONDS = 5.0
"""After so long it is asked what git may be waiting for."""
MOST_PRINTED = 32 << 20
DIFF = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
"""Options of everything that shows a diff."""


def environment(root: str, *, identity: bool = False) -> dict[str, str]:
    """The environment that git gets. `identity`: who commits may come from it, as plain words."""
    passed = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name not in _DROPPED}
    if identity:
        passed |= {name: os.environ[name] for name in _IDENTITY if name in os.environ}
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    if root != "/":
        folders = [folder for folder in folders if not any(map(partial(within, root), _programs(folder)))]
    passed["PATH"] = os.pathsep.join(folders)
    return passed | {
        "LC_ALL": "C",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": ":",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }


def _programs(folder: str) -> tuple[str, ...]:
    """A folder of `PATH`, and what git may be run from it: each may be a link."""
    return folder, f"{folder}/git", f"{folder}/ssh"


def within(root: str, path: str) -> bool:
    """Whether a path leads into the workspace, whatever links it goes through."""
    return f"{os.path.realpath(path)}/".startswith(f"{root.rstrip('/')}/")


class Git:
    """Runs git in one repository."""

    def __init__(self, ctx: Context, repository: Repository, program: str, env: dict[str, str], stand_in: str) -> None:
        self.repository = repository
        self.ctx = ctx
        self.env = env
        self._program = program
        self._stand_in = stand_in

    async def run(
        self,
        *argv: str,
        stdin: bytes = b"",
        each: Callable[[str, bytes], bool | None] | None = None,
        protocols: str | None = None,
    ) -> Finished:
        """Run git to its end, whatever its exit code. `protocols`: what it may speak to other repositories."""
        env = self.env if protocols is None else self.env | {"GIT_ALLOW_PROTOCOL": protocols}
        command = [self._program, "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *argv]
        running = asyncio.ensure_future(
            self.ctx.run(command, cwd=self.repository.at, env=env, stdin=stdin, each=each, quiet=True)
        )
        try:
            if not (await asyncio.wait((running,), timeout=_SLOW_SECONDS))[0]:
                await self._check_waits(argv[0])
            return await running
        finally:  # whatever ended this ends git, and what it began with it
            if not running.done():
                running.cancel()
                await asyncio.wait((running,))

    async def _check_waits(self, command: str) -> None:
        """Of a run that takes long: whether it waits at a FIFO, which it would for ever."""
        if self.repository.bare:
            return
        path = await asyncio.to_thread(waits_at, self.repository.top)
        if path is not None:
            raise ToolError(
                f"git {command} waits at {shown(path)}, which is no regular file, and was stopped. Nothing was changed. "
                "Ask the person to remove it."
            )

    async def out(self, *argv: str, stdin: bytes = b"") -> bytes:
        """All that git prints.

        Raises:
            ToolError: it failed; the text is git's own. Or it is more than is of use to anyone.
        """
        printed = bytearray()

        def each(stream: str, data: bytes) -> bool:
            if stream == "stdout":
                printed.extend(data)
            return len(printed) > MOST_PRINTED

        done = await self.run(*argv, stdin=stdin, each=each)
        if done.stopped:
            raise ToolError(
                f"git {argv[0]} has more than {MOST_PRINTED >> 20} MiB to say. Name a path. Nothing was changed."
            )
        if done.exit_code != 0:
            raise self.failed(done)
        return bytes(printed)

    def message(self, done: Finished) -> str:
        """What git said of a failure, in its own words."""
        text = os.fsdecode(done.stderr[:_MOST_MESSAGE]).replace(self._stand_in, self.repository.common)
        return shown(text).strip() or f"git ended with {done.signal or f'exit code {done.exit_code}'} and said nothing."

    def failed(self, done: Finished, after: str = "Nothing was changed.") -> ToolError:
        """git's own message as an error, and what is to be known of the repository now."""
        return ToolError(f"{self.message(done)}\n{after}")


@asynccontextmanager
async def opened(ctx: Context, repository: Repository, *, writes: bool = False) -> AsyncIterator[Git]:
    """Git for one repository, for as long as its stand-in folder exists.

    Raises:
        ToolError: there is no git, or the repository is somebody else's. Nothing was run.
    """
    check(ctx, repository, writes=writes)
    env = environment(ctx.workspace.root, identity=writes)
    program = shutil.which("git", path=env["PATH"])
    if program is None:
        raise ToolError("no program git is on PATH. Nothing was run. Ask the person to install git.")
    stand_in = _new_folder()
    try:
        _fill(stand_in, repository, writes)
        env |= {"GIT_DIR": repository.gitdir, "GIT_COMMON_DIR": stand_in}
        if not repository.bare:
            env["GIT_WORK_TREE"] = repository.top
        git = Git(ctx, repository, program, env, stand_in)
        if not repository.owned:
            await _check_owner(git)
        yield git
    finally:
        _drop(stand_in)


def _new_folder() -> str:
    """A folder of the person's alone; in memory where there is one: it lives for a few milliseconds."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), "/dev/shm", None):
        if parent is None or (os.path.isabs(parent) and os.access(parent, os.W_OK | os.X_OK)):
            with suppress(OSError):
                made = tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-", dir=parent)
                swept(os.path.dirname(made))
                return made
    raise ToolError("there is no folder for temporary files. Nothing was run.")


@cache
def swept(parent: str) -> None:
    """Remove, once in a process, the folders in `parent` of processes that were killed before they could."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_FOLDER) and _is_left(entry):
                _drop(entry.path)


def _is_left(entry: os.DirEntry[str]) -> bool:
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    age, pid = time.time() - info.st_mtime, entry.name.removeprefix(_FOLDER).partition("-")[0]
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid() or age < _STALE_SECONDS:
        return False
    return age > _OLD_SECONDS or (pid.isdecimal() and not _is_alive(int(pid)))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _drop(stand_in: str) -> None:
    """Remove a stand-in: a file and links, none of which is followed."""
    with suppress(OSError):
        for name in os.listdir(stand_in):
            os.unlink(f"{stand_in}/{name}")
        os.rmdir(stand_in)


def _fill(stand_in: str, repository: Repository, writes: bool) -> None:
    if writes:  # git makes it when it is missing; through a link that leads nowhere it cannot
        os.makedirs(f"{repository.common}/logs", exist_ok=True)
    for name in _LINKED:
        if name in repository.shared or (writes and name in ("logs", "packed-refs")):
            os.symlink(f"{repository.common}/{name}", f"{stand_in}/{name}")
    with open(f"{stand_in}/config", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(written([*kept(repository.settings), *repository.patterns]) + OURS)


async def _check_owner(git: Git) -> None:
    """Somebody else's repository is opened only where the person's own configuration names it safe, as git has it."""
    done = await git.run("config", "--get-all", "-z", "safe.directory")
    safe, top = False, git.repository.top
    for value in os.fsdecode(done.stdout).split("\0")[:-1]:
        value = os.path.expanduser(value)
        if not value:  # an empty one takes back those before it
            safe = False
        elif value == "*" or (value.endswith("/*") and top.startswith(value[:-1])) or os.path.realpath(value) == top:
            safe = True
    if not safe:
        raise ToolError(
            f"detected dubious ownership in repository at '{shown(top)}': another user owns it, and could make git run "
            "programs. Nothing was run. The person can allow it: "
            f"git config --global --add safe.directory {shown(top)}"
        )


def checked_ref(ref: str) -> str:
    """A revision that cannot be taken for an option; git says whether there is one.

    Raises:
        ToolError: it is empty, begins with a dash or holds a control character. Nothing was run.
    """
    if not ref.strip():
        raise ToolError("ref is empty. Nothing was run. Name a commit, branch or tag, such as HEAD.")
    if ref.startswith("-"):
        raise ToolError(f"ref {ref!r} begins with a dash, which no revision does. Nothing was run.")
    if any(letter < " " or letter == "\x7f" for letter in ref):
        raise ToolError("ref holds a control character, which no revision does. Nothing was run.")
    return ref
