"""Get the wheel of a target without installing it, so that it can be looked at.

pip downloads or builds one. uv has no word for that: it unpacks into a folder that nothing imports from, and what lies
there is packed again; the bytes of the files are the same, and what is installed afterwards is what was looked at."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pegboard_cli.installing import CannotInstall
from pegboard_cli.reviewed.environment import Place

_WRITTEN = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"})
"""Files of metadata that an installer writes of itself."""


def is_wheel(target: str) -> bool:
    """Whether it is a wheel on this machine."""
    return target.endswith(".whl") and os.path.isfile(target)


def is_source(target: str) -> bool:
    """Whether it has to be built, by code of its own: a folder, an archive of sources, a repository."""
    plain = re.split(r"[?#]", target)[0]
    if "git+" in target or "://" in target or " @ " in target:
        return not plain.endswith(".whl")
    return os.path.exists(target) and not is_wheel(target)


def fetch(target: str, place: Place, folder: Path, *, build: bool) -> Path:
    """The wheel of a target, in `folder`; a copy, so that it is the same until it is installed. `build`: sources may be
    built, which runs code of the package.

    Raises:
        CannotInstall: there is none.
    """
    if is_wheel(target):
        try:
            return Path(shutil.copyfile(target, folder / Path(target).name))
        except OSError as error:
            raise CannotInstall(f"{target} cannot be read ({error.strerror}); nothing was installed") from None
    if place.by_pip:
        word = ["wheel", "--wheel-dir"] if build else ["download", "--only-binary", ":all:", "--dest"]
        before = place.before if build else place.alone
        _quietly([*before, *word, str(folder), "--no-deps", "--quiet", target], target, build=build)
        found = list(folder.glob("*.whl"))
        if len(found) != 1:
            raise CannotInstall(f"{len(found)} wheels came of {target} where one was expected; nothing was installed")
        return found[0]
    unpacked = folder / "unpacked"
    no = [] if build else ["--no-build"]
    into = ["--target", str(unpacked), "--no-deps", "--quiet", *no]
    _quietly([*place.before, "install", *place.after, *into, target], target, build=build)
    return packed(unpacked, folder)


def _quietly(command: list[str], target: str, *, build: bool) -> None:
    """Run an installer; what it says is shown when it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise CannotInstall(f"{command[0]} cannot be run ({error}); nothing was installed") from None
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-2000:]
        hint = "" if build else "\nWhere there is only a source of it, --build builds that, which runs code of it."
        raise CannotInstall(
            f"no wheel of {target} could be had; nothing was installed. The installer said:\n{said}{hint}"
        )


def packed(unpacked: Path, folder: Path) -> Path:
    """A wheel of the one distribution that is unpacked in a folder.

    Raises:
        CannotInstall: there is not one, or it put files where packages do not lie.
    """
    infos = list(unpacked.glob("*.dist-info"))
    if len(infos) != 1:
        raise CannotInstall(f"{len(infos)} packages were unpacked where one was expected; nothing was installed")
    info = infos[0].name
    tags = [line[5:].strip() for line in _text(infos[0] / "WHEEL").splitlines() if line.startswith("Tag: ")]
    wheel = folder / f"{info.removesuffix('.dist-info')}-{_tag(tags)}.whl"
    rows = []
    with ZipFile(wheel, "w", ZIP_DEFLATED) as archive:
        for name in _listed(unpacked, info):
            data = (unpacked / name).read_bytes()
            archive.writestr(_member(name), data)
            seen = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append((name, f"sha256={seen}", str(len(data))))
        record = io.StringIO()
        csv.writer(record, lineterminator="\n").writerows([*rows, (f"{info}/RECORD", "", "")])
        archive.writestr(_member(f"{info}/RECORD"), record.getvalue())
    return wheel


def _member(name: str) -> ZipInfo:
    """A file of an archive without a time, so that the same files make the same archive."""
    member = ZipInfo(name)
    member.external_attr, member.compress_type = 0o644 << 16, ZIP_DEFLATED
    return member


def _tag(tags: list[str]) -> str:
    """The tags of a wheel, joined as they stand in its name."""
    parts = [tag.split("-") for tag in tags if tag.count("-") == 2]
    if not parts:
        return "py3-none-any"
    return "-".join(".".join(dict.fromkeys(part[index] for part in parts)) for index in range(3))


def _listed(unpacked: Path, info: str) -> Iterator[str]:
    made = _scripts(_text(unpacked / info / "entry_points.txt"))
    with open(unpacked / info / "RECORD", encoding="utf-8", newline="") as file:
        for row in sorted(csv.reader(file)):
            name = row[0]
            top, _, rest = name.partition("/")
            if (top == info and rest in _WRITTEN) or (top in ("bin", "Scripts") and rest in made):
                continue
            if name.startswith("/") or ".." in name.split("/") or top in ("bin", "Scripts", "share", "etc", "include"):
                raise CannotInstall(
                    f"it puts {name} outside of its packages, which uv does not show beforehand; nothing was installed. "
                    "Download its wheel and name that file."
                )
            yield name


def _scripts(entry_points: str) -> set[str]:
    """The programs that the installer makes of entry points."""
    section, found = "", set()
    for line in entry_points.splitlines():
        if line.startswith("["):
            section = line.strip().strip("[]")
        elif section in ("console_scripts", "gui_scripts") and "=" in line:
            found.add(line.partition("=")[0].strip())
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
