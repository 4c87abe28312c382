"""Where things are: the workspace root, the user's configuration, the state folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pegboard.calls import Deny, TouchKind
from pegboard.errors import ConfigError

PROJECT_FOLDER = ".pegboard"
PROJECT_FILE = f"{PROJECT_FOLDER}/config.toml"
"""A project's own settings, relative to the workspace root."""
PROJECT_PLUGINS = f"{PROJECT_FOLDER}/plugins"
"""A project's own plugin files, relative to the workspace root."""


def find_root(asked: str | None, cwd: str | None = None) -> tuple[str, list[str]]:
    """The workspace root (decision 2), and notes about what was passed over.

    `asked` if given; else the nearest folder upwards that holds `.pegboard/`, else the git root, else the current folder.
    A marker that neither this user nor root owns is passed over: a shared folder must not choose the root for others.

    Raises:
        ConfigError: `asked` is not a folder.
    """
    if asked is not None:
        if not os.path.isdir(asked):
            raise ConfigError(f"--path {asked!r} is not a folder; nothing was started. Name an existing folder.")
        return os.path.abspath(asked), []
    try:
        here = Path(cwd or os.getcwd())
    except FileNotFoundError:
        raise ConfigError(
            "the current folder is not there any more; nothing was started. Go to another one, or use --path."
        ) from None
    notes: list[str] = []
    for marker in (PROJECT_FOLDER, ".git"):
        for folder in (here, *here.parents):
            try:
                owner = os.lstat(folder / marker).st_uid
            except OSError:
                continue
            if not hasattr(os, "getuid") or owner in (0, os.getuid()):
                return str(folder), notes
            notes.append(
                f"{folder / marker} belongs to someone else and was passed over; use --path to choose the root"
            )
    return str(here), notes


def config_file(environ: Mapping[str, str]) -> Path:
    """The user's own configuration file. `XDG_CONFIG_HOME` is honoured where it is an absolute path."""
    return _folder(environ, "XDG_CONFIG_HOME", "user_config_dir") / "config.toml"


def below_home(file: Path, environ: Mapping[str, str]) -> str:
    """A file as a person would write it: below the home folder with a `~`."""
    home = environ.get("HOME", "")
    return f"~/{file.relative_to(home)}" if os.path.isabs(home) and file.is_relative_to(home) else str(file)


def state_folder(environ: Mapping[str, str]) -> Path:
    """Where sessions and locks are kept. `XDG_STATE_HOME` is honoured where it is an absolute path."""
    return _folder(environ, "XDG_STATE_HOME", "user_state_dir")


def _folder(environ: Mapping[str, str], name: str, platform: str) -> Path:
    """The XDG folder; relative ones are to be ignored (XDG Base Directory Specification)."""
    given = environ.get(name, "")
    if os.path.isabs(given):
        return Path(given, "pegboard")
    home = environ.get("HOME", "")
    if sys.platform.startswith("linux") and os.path.isabs(home):  # what platformdirs says here, without its import
        return Path(home, {"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state"}[name], "pegboard")
    import platformdirs

    return Path(str(getattr(platformdirs, platform)("pegboard", appauthor=False)))


def own_files(root: str, places: Iterable[Path]) -> Callable[[TouchKind, str], Deny | None]:
    """A check for the workspace's door: Pegboard's own configuration and state are not changed by tools.

    They lie outside most workspaces; a root such as the home folder holds them, wherever the environment has put them.
    """
    real = os.path.realpath(root)
    own = [os.path.realpath(place) for place in places]
    # Names below the root are relative to it, others (with `paths.outside = "allow"`) are absolute.
    below = [os.path.relpath(place, real) for place in own if os.path.commonpath([place, real]) == real]
    folded = [name.casefold() for name in (*own, *below)]

    def check(kind: TouchKind, path: str) -> Deny | None:
        if kind != "edit":
            return None
        given = path.casefold()
        if any(given == name or given.startswith(name + "/") for name in folded):
            return Deny("paths.own", f"{path} belongs to Pegboard itself. Nothing was changed. Only a person edits it.")
        return None

    return check
