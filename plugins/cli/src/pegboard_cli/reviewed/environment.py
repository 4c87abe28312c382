"""The environment that Pegboard runs from, and what installs into it: pip, uv, and the tools that keep an environment for
one program, pipx and uv tool. These know which packages they added, and forget others at an upgrade: so they are asked to.

pipx keeps that in `pipx_metadata.json` and uv tool in `uv-receipt.toml`, in the environment's folder. What they are given
has to stay where it is: they read it again when they upgrade."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from pegboard_cli.installing import CannotInstall, installer

Kind = Literal["pip", "uv", "pipx", "uv tool"]
PIPX, RECEIPT = "pipx_metadata.json", "uv-receipt.toml"
_URLS = ("url", "path", "directory", "editable", "git")
_KNOWN = frozenset({"name", "extras", "specifier", "marker", "rev", *_URLS})


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """An environment. `before` and `after`: the words around `install` of pip or uv pip. `program`: pipx or uv, where one
    of them keeps the environment; `name`: how it calls it. `note`: what a person should know of the way that is taken."""

    kind: Kind
    prefix: str
    before: list[str]
    after: list[str]
    program: str = ""
    name: str = ""
    receipt: dict[str, Any] = {}
    note: str | None = None

    @property
    def by_pip(self) -> bool:
        """Whether wheels come through pip; else through uv pip."""
        return self.before[-2:] == ["-m", "pip"]

    @property
    def alone(self) -> list[str]:
        """`before` for a step that may run nothing of anybody: uv is told so by --no-build, and pip cannot be told."""
        return [*self.before[:-1], "pegboard_cli.reviewed.pip_alone"] if self.by_pip else self.before

    @property
    def keeps(self) -> bool:
        """Whether it reads a package's file again later, so that the file has to stay."""
        return self.kind in ("pipx", "uv tool")

    def installs(self, wheel: str, distribution: str, *, again: bool, more: Sequence[str] = ()) -> list[list[str]]:
        """The commands that install this wheel. `again`: the same version is there; for pipx, any. `more`: options of pip
        and uv pip."""
        if self.kind == "pipx":
            return [[self.program, "inject", *(["--force"] if again else []), *self._pip_args(), self.name, wheel]]
        if self.kind == "uv tool":
            return [self._tool([*self._others(distribution), "--with", wheel])]
        if not self.by_pip:
            over = ["--reinstall-package", distribution] if again else []
            return [[*self.before, "install", *self.after, *over, *more, wheel]]
        install = [*self.before, "install", "--quiet", *self.after, *more]
        over = [*self.before, "install", "--quiet", "--force-reinstall", "--no-deps", wheel]
        # With --force-reinstall alone pip would put in every dependency anew as well.
        return [*([over] if again else []), *([] if again and "--no-deps" in more else [[*install, wheel]])]

    def installs_folder(self, folder: str, distribution: str) -> list[list[str]]:
        """The commands that install a folder so that its edits count."""
        if self.kind == "pipx":
            return [[self.program, "inject", "--force", "--editable", *self._pip_args(), self.name, folder]]
        if self.kind == "uv tool":
            return [self._tool([*self._others(distribution), "--with-editable", folder])]
        return [[*self.before, "install", *self.after, "--editable", folder]]

    def uninstalls(self, distribution: str) -> list[str]:
        """The command that uninstalls a distribution."""
        if self.kind == "pipx" and distribution in self.receipt.get("injected_packages", {}):
            return [self.program, "uninject", self.name, distribution]
        if self.kind == "uv tool" and distribution in _names(self.receipt):
            return self._tool(self._others(distribution))
        return [*self.before, "uninstall", *self.after, *(["--yes", "--quiet"] if self.by_pip else []), distribution]

    def _pip_args(self) -> list[str]:
        """What pipx passed to pip for the program itself: an index, for one."""
        main = self.receipt.get("main_package")
        words = main.get("pip_args") if isinstance(main, dict) else None
        said = shlex.join(str(word) for word in words) if isinstance(words, list) and words else ""
        return [f"--pip-args={said}"] if said else []

    def _others(self, distribution: str) -> list[str]:
        """The packages beside the program that the receipt names: uv takes away those that are not named again."""
        rest = [row for row in _requirements(self.receipt) if row["name"] not in (self.name, distribution)]
        return [word for row in rest for word in _asked(row)]

    def _tool(self, more: Sequence[str]) -> list[str]:
        main = next((row for row in _requirements(self.receipt) if row["name"] == self.name), {"name": self.name})
        option, word = _asked(main)
        editable = ["--editable"] if option == "--with-editable" else []
        # Its own Python in the environment goes when the environment is made anew.
        python = str(self.receipt["tool"].get("python") or os.path.realpath(sys.executable))
        options = _options(self.receipt) or []
        return [self.program, "tool", "install", "--python", python, *options, *editable, word, *more]


def here(prefix: str = sys.prefix) -> Place:
    """The environment of this process.

    Raises:
        CannotInstall: nothing can be installed into it.
    """
    pipx, receipt = Path(prefix, PIPX), Path(prefix, RECEIPT)
    if receipt.is_file():
        return _kept("uv tool", prefix, "uv", _read_receipt(receipt), os.path.basename(prefix))
    if pipx.is_file():
        return _kept("pipx", prefix, "pipx", _read_pipx(pipx), os.path.basename(prefix))
    before, after = installer()
    kind: Kind = "pip" if before[-2:] == ["-m", "pip"] else "uv"
    return Place(kind=kind, prefix=prefix, before=before, after=after)


def _kept(kind: Kind, prefix: str, program: str, receipt: dict[str, Any] | None, name: str) -> Place:
    """An environment of pipx or uv tool; as a plain one, and told so, where that program cannot be used."""
    found = shutil.which(program)
    before, after = _around(found if kind == "uv tool" else None)
    why = None
    if found is None:
        why = f"{program} is not on PATH"
    elif receipt is None:
        why = f"its notes on this environment ({PIPX if kind == 'pipx' else RECEIPT}) say what is not understood here"
    if why is None and found is not None and receipt is not None:
        return Place(kind=kind, prefix=prefix, before=before, after=after, program=found, name=name, receipt=receipt)
    plain: Kind = "pip" if before[-2:] == ["-m", "pip"] else "uv"
    note = (
        f"{prefix} is kept by {kind}, and {why}: so this goes into it past {kind}, which takes it away when it "
        "reinstalls or upgrades"
    )
    return Place(kind=plain, prefix=prefix, before=before, after=after, note=note)


def _around(uv: str | None) -> tuple[list[str], list[str]]:
    if uv is not None:
        return [uv, "pip"], ["--python", sys.executable]
    return installer()


def _read_pipx(path: Path) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return None
    return found if isinstance(found.get("injected_packages"), dict) else None


def _read_receipt(path: Path) -> dict[str, Any] | None:
    """The receipt, if every requirement in it can be said again on a command line; a lost one would be uninstalled."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
        rows = found["tool"]["requirements"]
        plain = not any(found["tool"].get(key) for key in ("constraints", "overrides", "excludes", "build-constraints"))
        known = all(isinstance(row, dict) and isinstance(row["name"], str) and set(row) <= _KNOWN for row in rows)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if plain and known and _options(found) is not None else None


def _options(receipt: Mapping[str, Any]) -> list[str] | None:
    """The options that the tool was installed with, such as an index, as they are said on the command line; None: one of
    them is not understood. uv keeps those of the last time alone."""
    said: list[str] = []
    for key, value in receipt.get("tool", {}).get("options", {}).items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool):
                said += [f"--{key}"] if one else []
            elif isinstance(one, str):
                said += [f"--{key}", one]
            elif isinstance(one, dict) and key == "index" and isinstance(one.get("url"), str):
                name = f"{one['name']}=" if isinstance(one.get("name"), str) else ""
                said += ["--default-index" if one.get("default") else "--index", f"{name}{one['url']}"]
            else:
                return None
    return said


def _requirements(receipt: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = receipt.get("tool", {}).get("requirements", [])
    return rows


def _names(receipt: Mapping[str, Any]) -> set[str]:
    return {row["name"] for row in _requirements(receipt)}


def _asked(row: Mapping[str, Any]) -> list[str]:
    """A requirement of the receipt as it is said on the command line: an option and its word."""
    if "editable" in row:
        return ["--with-editable", str(row["editable"])]
    extras = f"[{','.join(row['extras'])}]" if row.get("extras") else ""
    name = f"{row['name']}{extras}"
    marker = f" ; {row['marker']}" if row.get("marker") else ""
    if "git" in row:
        at = f"@{row['rev']}" if row.get("rev") else ""
        return ["--with", f"{name} @ git+{row['git']}{at}{marker}"]
    place = row.get("path") or row.get("directory")
    if place is not None:
        return ["--with", f"{name} @ {Path(str(place)).absolute().as_uri()}{marker}"]
    if "url" in row:
        return ["--with", f"{name} @ {row['url']}{marker}"]
    return ["--with", f"{name}{row.get('specifier') or ''}{marker}"]


def insist_on_writing(prefix: str) -> None:
    """Raises CannotInstall: the environment is not this user's to change."""
    packages = [sysconfig.get_path("purelib")] if prefix == sys.prefix else []
    for folder in (prefix, *packages):
        if not os.access(folder, os.W_OK):
            raise CannotInstall(
                f"{folder} cannot be written by you; nothing was installed. Put Pegboard into an environment of your own "
                "(pipx, uv tool or python -m venv)."
            )
