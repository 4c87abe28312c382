"""The templates of a kind, and a new plugin's folder: written whole, or not at all."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from pegboard.errors import PegboardError

from pegboard_cli.scaffold.naming import Names, names_of

SAMPLE = names_of("sample-plugin")
"""What a plugin is called in the templates. It has a hyphen, so that each place says which of its spellings is meant."""
TEMPLATES = Path(__file__).parent / "templates"
COMMON = "common"

_MADE_BY_TOOLS = ("_cache", "__pycache__")


class CannotWrite(PegboardError):
    """Why nothing was written."""


class Exists(Exception):
    """Something stands where the folder would be."""


def rendered(kind: str, names: Names) -> dict[str, tuple[bytes, bool]]:
    """Every file of a new plugin by its path (with `/`): what is in it, and whether it is run."""
    found: dict[str, tuple[bytes, bool]] = {}
    for part in (COMMON, kind):
        for path in template_files(part):
            place = _renamed(path.relative_to(TEMPLATES / part).as_posix(), names)
            body = _renamed(path.read_text("utf-8"), names).encode()
            found[place] = body, body.startswith(b"#!")  # a wheel may lose the mode
    return dict(sorted(found.items()))


def write(folder: Path, kind: str, names: Names) -> list[str]:
    """Write a new plugin, and say which files. The folder appears when all of them are there.

    Raises:
        Exists: something is there already; nothing was written.
        CannotWrite: the folder above is missing or cannot be written to; nothing was written.
    """
    files = rendered(kind, names)
    if os.path.lexists(folder):
        raise Exists
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise CannotWrite(f"{folder} cannot be made ({error.strerror}); nothing was written") from None
    try:
        for place, (body, runs) in files.items():
            _put(made / place, body, 0o777 if runs else 0o666)
        made.chmod(0o777 & ~_umask())
        _move(made, folder)
    except OSError as error:
        raise CannotWrite(f"{folder} cannot be written ({error.strerror}); nothing of it is left") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return list(files)


def told(folder: Path, files: Sequence[str]) -> list[str]:
    """What a person is told of a new plugin: its folder, and the next three commands."""
    beside = folder.is_absolute() or folder.parts[0] == ".."
    place = shlex.quote(str(folder) if beside else f"./{folder}")
    there = "" if find_spec("pytest") else ", once pytest is there"
    rows = [
        (
            f"pegboard plugin install --editable {place}",
            "beside Pegboard; your edits count at once",
        ),
        (f"{_python()} -m pytest {place}", f"its tests{there}"),
        (f"pegboard plugin check {place}", "what a person would look for"),
    ]
    width = max(len(command) for command, _ in rows)
    return [f"Wrote {place}: {len(files)} files.", "", "Next:", *(f"  {one:{width}}   {why}" for one, why in rows)]


def _python() -> str:
    """How the interpreter that runs this is called."""
    found = shutil.which("python")
    here = os.path.dirname(os.path.abspath(sys.executable))
    return "python" if found and os.path.dirname(os.path.abspath(found)) == here else shlex.quote(sys.executable)


def _move(made: Path, folder: Path) -> None:
    """Give the finished folder its name. An empty folder that came meanwhile would be replaced, so it is looked at again."""
    if os.path.lexists(folder):
        raise Exists
    os.rename(made, folder)


def _put(path: Path, body: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(body)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _renamed(text: str, names: Names) -> str:
    return text.replace(SAMPLE.name, names.name).replace(SAMPLE.identifier, names.identifier)


def template_files(part: str) -> Iterator[Path]:
    """The files of a kind, or of what is common, without what linters and interpreters leave there."""
    return _below(TEMPLATES / part)


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.endswith(_MADE_BY_TOOLS):
            continue
        if path.is_dir():
            yield from _below(path)
        else:
            yield path
