"""Install and uninstall with the installer of the environment that Pegboard runs from: pip, or uv where there is no pip.

Nothing of any plugin is imported before: a broken one must be removable.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Collection, Sequence
from importlib.util import find_spec

from pegboard.entries import Entry, normal, own_distributions, scan
from pegboard.errors import PegboardError

_ARCHIVES = (".whl", ".tar.gz", ".zip")


class CannotInstall(PegboardError):
    """Why nothing was run, or what became of it."""


def target_of(text: str) -> str:
    """What to install: a name (with a version, if any), or the absolute path of a folder or an archive.

    Raises:
        CannotInstall: it is a path, and nothing is there.
    """
    if text.startswith("-") or not text.strip():
        raise CannotInstall(f"{text!r} is no name or path; nothing was run")
    if os.sep not in text and not text.startswith(".") and not text.endswith(_ARCHIVES):
        return text
    if "://" in text or " @ " in text:
        return text
    path = os.path.abspath(os.path.expanduser(text))
    if not os.path.exists(path):
        raise CannotInstall(f"{text} is not there; nothing was run. Name a package, a folder or a wheel.")
    return path


def insist_on_strangers(target: str, ours: Collection[str]) -> None:
    """Refuse what would replace a part of Pegboard. `target`: as `target_of` has it; `ours`: distributions of ours.

    Raises:
        CannotInstall: it is one of ours, by its name; nothing was run.
    """
    name = normal(_name_of(target))
    if name in ours:
        raise CannotInstall(
            f"{name} is part of Pegboard itself and is not installed as a plugin; nothing was run. To update it, update "
            "pegboard with the installer that you installed it with."
        )


def _name_of(target: str) -> str:
    """The distribution that a target names: a requirement, a folder's project, or an archive's file name."""
    if " @ " in target or "@" in target.partition("://")[0]:
        return target.partition("@")[0].partition("[")[0].strip()
    if os.path.isdir(target):
        try:
            with open(os.path.join(target, "pyproject.toml"), "rb") as file:
                return str(tomllib.load(file)["project"]["name"])
        except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError):
            return ""
    last = re.split(r"[?#]", target)[0].rstrip("/").rpartition("/")[2]
    if (egg := re.search(r"#.*\begg=([\w.-]+)", target)) is not None:
        return egg[1]
    if last.endswith(_ARCHIVES):
        return last.partition("-")[0] if last.endswith(".whl") else re.sub(r"-\d.*$", "", last)
    return re.split(r"[^\w.-]", last.strip().removesuffix(".git"))[0]


def installer() -> tuple[list[str], list[str]]:
    """The words before `install` or `uninstall`, and those after it.

    Raises:
        CannotInstall: there is none, or this Python is the system's to manage.
    """
    managed = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if sys.prefix == sys.base_prefix and os.path.exists(managed):
        raise CannotInstall(
            f"{sys.executable} belongs to the operating system, which manages what is installed there; nothing was run. "
            "Put Pegboard into an environment of its own (python -m venv, pipx or uv tool), and plugins with it."
        )
    if find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"], []
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip"], ["--python", sys.executable]
    raise CannotInstall(
        f"there is neither pip in {sys.prefix} nor uv on PATH; nothing was run. "
        f"`{shlex.quote(sys.executable)} -m ensurepip` brings pip; or install uv."
    )


def to_uninstall(name: str, entries: Sequence[Entry]) -> str:
    """The distribution of this name, if it may be uninstalled.

    Raises:
        CannotInstall: it is part of Pegboard, is not installed, or brings no plugin.
    """
    wanted = normal(name.strip())
    if wanted in own_distributions(entries):
        raise CannotInstall(
            f"{wanted} is part of Pegboard itself and stays; nothing was run. Sets are switched off by `toolSets`, other "
            "plugins by `plugins.disable`."
        )
    if wanted not in {entry.distribution for entry in entries}:
        of = sorted({entry.distribution for entry in entries if entry.name == wanted})
        hint = f"The plugin {wanted!r} comes with {' and '.join(of)}. " if of else ""
        raise CannotInstall(
            f"no installed package {wanted!r} brings a plugin; nothing was run. {hint}`pegboard plugins` lists them."
        )
    return wanted


def run(command: Sequence[str]) -> None:
    """Run an installer; what it prints goes where ours goes.

    Raises:
        CannotInstall: it failed.
    """
    try:
        code = subprocess.run(command).returncode
    except OSError as error:
        raise CannotInstall(f"{command[0]} cannot be run ({error}); nothing was changed") from None
    if code:
        raise CannotInstall(f"it ended with exit {code}; what it did, and did not, stands above")


def known() -> set[tuple[str, ...]]:
    """The entries that are installed now."""
    return {(e.group, e.name, e.distribution, e.version) for e in scan()}
