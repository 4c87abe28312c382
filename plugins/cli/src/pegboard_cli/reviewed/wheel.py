"""A wheel as a file that a stranger made: its names are checked and its sizes limited, and nothing of it runs."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import sysconfig
import unicodedata
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from pegboard.entries import normal
from pegboard.manifest import LARGE, digest_of
from pegboard.terminal import visible

from pegboard_cli.installing import CannotInstall

MOST_FILES = 20_000
MOST_BYTES = 1 << 30
"""Of all files together, unpacked."""
MOST_TEXT = 1 << 20
"""Of one file of metadata."""
PACKAGES = ("purelib", "platlib")
"""Folders of a wheel's .data that are put among packages."""
_CHUNK = 1 << 20
_ENDS = re.compile(r"\r\n|\n|\r")
_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What ends a line for Python, and not for others."""
_SECTION = re.compile(r"\[([^\s\[\]](?:.*[^\s\[\]])?)\]")
_DRIVE = re.compile(r"[A-Za-z]:")


class Wheel:
    """An open wheel. `headers`: its METADATA; `info`: the folder of its metadata; `sha256`: of the file."""

    def __init__(self, path: Path) -> None:
        """Raises CannotInstall: it is no wheel, or one that would be dangerous to unpack."""
        self.path = path
        try:
            self.sha256 = file_sha256(path)
            self._zip = ZipFile(path)
            self.sizes = {item.filename: item.file_size for item in _checked(path, self._zip.infolist())}
            self.info = self._info()
            self.headers = HeaderParser().parsestr(self.text(f"{self.info}/METADATA") or "")
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise unfit(path, f"it cannot be read as a wheel ({error})") from None
        self.distribution = normal(str(self.headers.get("Name") or ""))
        self.version = str(self.headers.get("Version") or "")
        stem = self.info.removesuffix(".dist-info").partition("-")
        if not self.distribution or (normal(stem[0]), stem[2]) != (self.distribution, self.version):
            raise unfit(path, "its name and version are not those of its metadata")

    def _info(self) -> str:
        found = {name.partition("/")[0] for name in self.sizes if name.partition("/")[0].endswith(".dist-info")}
        if len(found) != 1:
            raise unfit(self.path, f"a wheel has one folder of metadata, and this one has {len(found)}")
        return found.pop()

    def text(self, name: str) -> str | None:
        """A file of text; None: there is none. Raises ValueError: it is larger than metadata are."""
        data = self.data(name, MOST_TEXT)
        return None if data is None else data.decode("utf-8", "replace")

    def data(self, name: str, most: int) -> bytes | None:
        """The bytes of a file; None: there is none. Raises ValueError: there are more than `most`."""
        if name not in self.sizes:
            return None
        with self._zip.open(name) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise ValueError(f"{visible(name)} is larger than {most} bytes")
        return data

    def requires(self) -> list[str]:
        """What it depends on, as it says it."""
        return [" ".join(str(line).split()) for line in self.headers.get_all("Requires-Dist") or []]

    def entry_points(self) -> list[tuple[str, str, str]]:
        """(group, name, object) of every entry point, whosever group it is. Raises ValueError: the file has a line that
        one reader takes for another thing than the next, so that what is shown might not be what is used."""
        section, found = "", []
        text = (self.data(f"{self.info}/entry_points.txt", MOST_TEXT) or b"").decode()
        if _BREAKS.search(text):
            raise ValueError("entry_points.txt has lines that end for some readers only")
        for line in map(str.strip, _ENDS.split(text)):
            header, sign = _SECTION.fullmatch(line), line.find("=")
            if header is not None:
                section = header[1]
            elif section and sign > 0 and line[0] not in "[#;":
                found.append((section, line[:sign].strip(), line[sign + 1 :].strip()))
            elif line and line[0] != "#" and (line[0] != ";" or sign > 0):
                raise ValueError(f"entry_points.txt has a line that is no entry: {visible(line[:100])}")
        return found

    def top(self, module: str) -> str | None:
        """The folder of the package that a module stands in, as it is in the wheel; None: it is a single module."""
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            folder = "/".join(parts[:count])
            if f"{folder}/__init__.py" in self.sizes:
                return folder
        return None

    def digest(self, folder: str) -> str:
        """Of the sources below a folder, as `manifest.digest` has it of the installed ones."""
        names = (name for name in self.sizes if name.startswith(f"{folder}/") and name.endswith(".py"))
        return digest_of((name.removeprefix(f"{folder}/"), self._source(name)) for name in names)

    def _source(self, name: str) -> bytes:
        if self.sizes[name] > LARGE:
            return str(self.sizes[name]).encode()
        return self.data(name, LARGE) or b""

    def hashes(self) -> dict[str, str]:
        """The sha256 of every file that is installed where packages are, by where it comes to lie; not of the list of files
        itself, which the installer writes anew, nor of what goes elsewhere."""
        found = {}
        for name in self.sizes:
            lies = placed(name)
            if name != f"{self.info}/RECORD" and not lies.startswith("\0") and (lies == name or _one_folder()):
                found[lies] = self._sha256(name)
        return found

    def _sha256(self, name: str) -> str:
        seen, left = hashlib.sha256(), self.sizes[name]
        with self._zip.open(name) as file:
            while chunk := file.read(_CHUNK):
                seen.update(chunk)
                left -= len(chunk)
                if left < 0:
                    raise unfit(self.path, f"{name} is larger than it says")
        return seen.hexdigest()


def same(name: str) -> str:
    """A name as the most forgiving disk compares it: without case, in one form of Unicode."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def placed(name: str) -> str:
    """Where a file of a wheel comes to lie, among packages; a name with \\0 in front where it lies elsewhere."""
    top, _, rest = name.partition("/")
    if not same(top).endswith(".data"):
        return name
    scheme, _, inner = rest.partition("/")
    return inner if scheme in PACKAGES else f"\0{rest}"


def _one_folder() -> bool:
    """Whether there is one folder for packages here, as nearly everywhere."""
    return len({os.path.realpath(sysconfig.get_path(scheme)) for scheme in PACKAGES}) == 1


def unfit(path: Path, why: str) -> CannotInstall:
    """What is said of a file that is not installed."""
    return CannotInstall(f"{visible(path.name)}: {visible(why)}; nothing was installed")


def file_sha256(path: Path) -> str:
    """Raises OSError: it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(path: Path, items: list[zipfile.ZipInfo]) -> Iterator[zipfile.ZipInfo]:
    """The files of an archive, when all of them stay in the folder that they are unpacked into."""
    if len(items) > MOST_FILES or sum(item.file_size for item in items) > MOST_BYTES:
        raise unfit(path, f"it holds more than {MOST_FILES} files, or more than {MOST_BYTES >> 20} MB")
    seen: set[str] = set()
    for item in items:
        name = item.filename
        parts = PurePosixPath(name).parts
        spelled = name.removesuffix("/") == posixpath.normpath(name)  # ./a and a//b are other names for a place
        if not spelled or name.startswith("/") or "\\" in name or "\0" in name or ".." in parts or _DRIVE.match(name):
            raise unfit(path, f"it holds a file that would lie elsewhere: {name}")
        if (item.external_attr >> 16) & 0o170000 == 0o120000:
            raise unfit(path, f"it holds a link: {name}")
        if name in seen:
            raise unfit(path, f"it holds {name} twice")
        seen.add(name)
        if not item.is_dir():
            yield item
