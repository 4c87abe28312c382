"""Reading what a project brings: its settings file and its plugin files. They came with a clone, so nothing in them may
stop, hang or crash a start.

Every file is read once. What is parsed, hashed, shown and run are the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from pegboard.config.layers import Said
from pegboard.config.lines import Lines
from pegboard.config.places import PROJECT_FILE, PROJECT_PLUGINS

LARGEST = 64 * 1024
"""The largest project file that is read, in bytes."""
LARGEST_PLUGIN = 1024 * 1024
"""The largest plugin file that is read, in bytes."""
MOST_PLUGINS = 50
"""How many plugin files a project may have, and names in their folder that are looked at are four times as many."""
_DOTS = 200
"""tomllib takes quadratic time over the parts of one key: a line may have this many dots."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_ODD = "it is no regular file"
_NONE = (errno.ENOENT, errno.ENOTDIR)
_PYTHON = re.compile(r"[^\x00-\x1f\x7f/]{1,100}\.py")


class Unfit(Exception):
    """Why a project's file is ignored as a whole."""


class PluginFile(msgspec.Struct, frozen=True):
    """One file of `.pegboard/plugins`: its path below the root, where it stands, and its bytes as they were read once."""

    path: str
    file: str
    data: bytes

    @property
    def name(self) -> str:
        """What the plugin is called: the file's name without its ending."""
        return os.path.basename(self.path).removesuffix(".py")

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes, in hex."""
        return hashlib.sha256(self.data).hexdigest()


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """What a project brings, read once. root: the real path; inode: of the root folder. file: where its settings stand;
    config: their bytes, None where there are none, or where they are the person's own. said: what they say. unfit: why they
    cannot be used; plugins_unfit: the same of the plugin files, none of which is kept then."""

    root: str
    inode: int
    file: str
    config: bytes | None = None
    said: Said | None = None
    plugins: tuple[PluginFile, ...] = ()
    unfit: str | None = None
    plugins_unfit: str | None = None

    @property
    def fit(self) -> bool:
        """Whether all of it could be read, so that a person can be asked about it."""
        return self.unfit is None and self.plugins_unfit is None

    @property
    def nothing(self) -> bool:
        """Whether there is nothing that anybody could be asked about."""
        return self.fit and self.config is None and not self.plugins

    def parts(self) -> dict[str, str]:
        """Every file with the SHA-256 of its bytes."""
        own = {} if self.config is None else {PROJECT_FILE: hashlib.sha256(self.config).hexdigest()}
        return own | {plugin.path: plugin.digest for plugin in self.plugins}

    @property
    def digest(self) -> str:
        """SHA-256 over the names and contents of all of it."""
        rows = (f"{len(name.encode())}:{name}={digest}\n" for name, digest in sorted(self.parts().items()))
        return hashlib.sha256("".join(rows).encode()).hexdigest()


def brought(root: str, user_file: Path) -> Brought:
    """Read all that the project brings. Never raises: what cannot be used is said in the result."""
    real = os.path.realpath(root)
    file = os.path.join(root, PROJECT_FILE)
    try:
        inode = os.stat(real).st_ino
    except OSError as error:
        return Brought(root=real, inode=0, file=file, unfit=_unreadable(error))
    config, said, unfit = None, None, None
    plugins: tuple[PluginFile, ...] = ()
    plugins_unfit = None
    try:
        config = _read(file, root, LARGEST, user_file)
        if config is not None:
            said = said_of(_text(config), file)
    except Unfit as why:
        unfit, config = str(why), None
    try:
        plugins = tuple(_plugins(root))
    except Unfit as why:
        plugins_unfit = str(why)
    return Brought(
        root=real,
        inode=inode,
        file=file,
        config=config,
        said=said,
        plugins=plugins,
        unfit=unfit,
        plugins_unfit=plugins_unfit,
    )


def said_of(text: str, file: str) -> Said:
    """What a project's settings say with this text.

    Raises:
        Unfit: it cannot be used; in words.
    """
    return Said(layer="project", values=_parsed(text), file=file, lines=Lines(text))


def _plugins(root: str) -> Iterator[PluginFile]:
    """The Python files of the project's plugin folder, by name. What else lies there is nothing of ours.

    Raises:
        Unfit: one cannot be used, and so none is; names it.
    """
    folder = os.path.join(root, PROJECT_PLUGINS)
    try:
        with os.scandir(folder) as found:
            names = sorted(one.name for one, _ in zip(found, range(4 * MOST_PLUGINS + 1), strict=False))
    except OSError as error:
        if error.errno == errno.ENOENT and not os.path.islink(folder):
            return
        raise Unfit(_unreadable(error)) from None
    if len(names) > 4 * MOST_PLUGINS:
        raise Unfit(f"it holds more than {4 * MOST_PLUGINS} names")
    names = [name for name in names if name.endswith(".py")]
    if len(names) > MOST_PLUGINS:
        raise Unfit(f"it holds more than {MOST_PLUGINS} Python files")
    for name in names:
        if not _PYTHON.fullmatch(name) or not name.isprintable():
            raise Unfit(f"{name[:100]!r} is no name for a file in it")
        try:
            data = _read(os.path.join(folder, name), root, LARGEST_PLUGIN)
        except Unfit as why:
            raise Unfit(f"of {name}, {why}") from None
        if data is None:
            raise Unfit(f"{name} went away while it was read")
        yield PluginFile(path=f"{PROJECT_PLUGINS}/{name}", file=os.path.join(folder, name), data=data)


def _read(path: str, root: str, largest: int, user_file: Path | None = None) -> bytes | None:
    """The bytes of a regular file of the project's; None when there is none, or it is `user_file`.

    Raises:
        Unfit: it cannot be used; in words, without the file's name.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a device may do something when it is opened
            raise Unfit(_ODD)
        fd = os.open(path, _FLAGS)  # not blocking, should it be a FIFO by now
    except OSError as error:
        if error.errno in _NONE and not os.path.islink(path):
            return None
        raise Unfit(_unreadable(error)) from None
    try:
        return _bytes(fd, path, root, largest, user_file)
    finally:
        os.close(fd)


def _bytes(fd: int, path: str, root: str, largest: int, user_file: Path | None) -> bytes | None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise Unfit(_ODD)
    if user_file is not None and _is(found, user_file):
        return None
    real = os.path.realpath(path)
    if os.path.commonpath([real, os.path.realpath(root)]) != os.path.realpath(root):
        raise Unfit("it is a link that leads out of the project")
    try:
        if not os.path.samestat(found, os.stat(real)):
            raise Unfit("it was exchanged while it was read")
    except OSError as error:
        raise Unfit(_unreadable(error)) from None
    if hasattr(os, "getuid") and found.st_uid not in (0, os.getuid()):
        raise Unfit("it belongs to someone else")
    if found.st_size > largest:
        raise Unfit(f"it is larger than {largest // 1024} KiB")
    data = b""
    try:
        while len(data) <= largest and (piece := os.read(fd, largest + 1 - len(data))):
            data += piece
    except OSError as error:
        raise Unfit(_unreadable(error)) from None
    if len(data) > largest:
        raise Unfit(f"it is larger than {largest // 1024} KiB")
    return data


def _is(found: os.stat_result, file: Path) -> bool:
    try:
        return os.path.samestat(found, os.stat(file))
    except OSError:
        return False


def _unreadable(error: OSError) -> str:
    return f"it cannot be read ({error.strerror})"


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unfit("it is not UTF-8 text") from None


def _parsed(text: str) -> dict[str, object]:
    if any(line.count(".") > _DOTS for line in text.splitlines()):
        raise Unfit("a line of it is too intricate to be read")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Unfit("it is nested too deeply") from None
    except ValueError as error:
        raise Unfit(f"it is not valid TOML: {str(error)[:120]}") from None
