"""What was installed after a review, by version and hash: `pegboard-lock.json` in the environment's folder.

It shows mistakes and changes, such as an upgrade past the review or a file that was edited. Whoever may write into the
environment may write this file too."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec
from pegboard.config.places import state_folder
from pegboard.entries import installed

from pegboard_cli.installing import CannotInstall
from pegboard_cli.reviewed.review import Review
from pegboard_cli.reviewed.wheel import file_sha256

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

NAME = "pegboard-lock.json"
FORMAT = 1
MOST_BYTES = 32 << 20

WHEELS = "wheels"
"""Below the state folder: wheels that pipx and uv tool read again."""

State = Literal["as reviewed", "changed", "other version", "gone", "editable"]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution. `source`: what was asked for; `by`: what installed it; `at`: when, in UTC; `kept`: where its wheel is
    kept for pipx and uv tool; `files`: the sha256 of each installed file; none of an editable one, which is to change."""

    distribution: str
    version: str
    sha256: str | None
    source: str
    by: str
    at: str
    editable: bool = False
    kept: str | None = None
    files: dict[str, str] = {}
    review: Review | None = None


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """The file."""

    format: int = FORMAT
    plugins: list[Row] = []

    def row(self, distribution: str) -> Row | None:
        """The row of a distribution."""
        return next((row for row in self.plugins if row.distribution == distribution), None)


def place(prefix: str = sys.prefix) -> Path:
    """Where it lies."""
    return Path(prefix, NAME)


def read(prefix: str = sys.prefix) -> Lock:
    """The lock; an empty one where there is none.

    Raises:
        CannotInstall: it cannot be read.
    """
    path = place(prefix)
    try:
        with open(path, "rb") as file:
            lock = msgspec.json.decode(file.read(MOST_BYTES), type=Lock)
    except FileNotFoundError:
        return Lock()
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise CannotInstall(
            f"{path}, which says what was installed after a review, cannot be read ({error}); nothing was changed. Move "
            "it away, and install the plugins again that it was about."
        ) from None
    if lock.format != FORMAT:
        raise CannotInstall(f"{path} is of a version that is not known here ({lock.format}); nothing was changed")
    return lock


def put(row: Row, prefix: str = sys.prefix) -> Row | None:
    """Write a row, in the place of the one that its distribution had, which is returned. Raises CannotInstall."""
    with _alone(prefix):
        lock = read(prefix)
        rest = [one for one in lock.plugins if one.distribution != row.distribution]
        _write(sorted([*rest, row], key=lambda one: one.distribution), prefix)
    return lock.row(row.distribution)


def drop(distribution: str, prefix: str = sys.prefix) -> Row | None:
    """Take a distribution's row away; it is returned. Raises CannotInstall."""
    with _alone(prefix):
        lock = read(prefix)
        gone = lock.row(distribution)
        if gone is not None:
            _write([row for row in lock.plugins if row.distribution != distribution], prefix)
    return gone


def forget(row: Row) -> None:
    """Remove a kept wheel that nothing reads any more, with its folder; only where wheels are kept, wherever else the file
    says it lies: it may have been written by anybody."""
    if row.kept is None:
        return
    folder = Path(os.path.abspath(row.kept)).parent
    if folder.parent == Path(os.path.abspath(state_folder(os.environ)), WHEELS):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _alone(prefix: str) -> Iterator[None]:
    """One process at a time changes the file, or rows of two installations would be lost. The lock is the environment's
    folder itself, so nothing is left behind; where it cannot be had, as on some network disks, it goes without."""
    try:
        folder = os.open(prefix, os.O_RDONLY) if fcntl is not None else None
    except OSError:
        folder = None
    try:
        if folder is not None:
            with suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        if folder is not None:
            os.close(folder)


def _write(rows: list[Row], prefix: str) -> None:
    path = place(prefix)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    data = msgspec.json.format(msgspec.json.encode(Lock(plugins=rows), order="deterministic"), indent=1)
    try:
        temporary.write_bytes(data + b"\n")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise CannotInstall(f"{path} cannot be written ({error.strerror}); the lock is as it was") from None


def state(row: Row) -> tuple[State, str]:
    """How what is installed stands to a row, and in words what differs."""
    there = installed(row.distribution)
    if there is None:
        return "gone", f"{row.distribution} {row.version} was installed, and is not there any more"
    info, version = there
    if row.editable:
        return "editable", f"{row.distribution} is installed from {row.source}, whose files may change"
    if version != row.version:
        return "other version", f"{row.distribution} {version} is installed; {row.version} was reviewed"
    wrong = list(differing(row.files, Path(info).parent))
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        return "changed", f"files of {row.distribution} are not as they were reviewed: {', '.join(wrong[:3])}{more}"
    return "as reviewed", f"{row.distribution} {version} is as it was reviewed"


def differing(files: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Files below a folder that are not those of the hashes, and modules in their packages that are not among them."""
    for name, sha256 in files.items():
        try:
            if file_sha256(folder / name) != sha256:
                yield name
        except OSError:
            yield f"{name} (missing)"
    for top in sorted({name.partition("/")[0] for name in files if name.endswith("/__init__.py")}):
        if f"{top}/__init__.py" in files:
            yield from _added(files, folder, top)


def _added(files: Mapping[str, str], folder: Path, top: str) -> Iterator[str]:
    for base, folders, names in os.walk(folder / top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.relpath(os.path.join(base, name), folder).replace(os.sep, "/")
            if name.endswith((".py", ".so", ".pyd")) and path not in files:
                yield f"{path} (added)"
