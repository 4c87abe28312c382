"""The files of a test's workspace, as a mapping: `{"notes/a.txt": "one", "b.bin": b"\\0", "link.txt": Path("notes/a.txt")}`.

A text and bytes are a file's content, a `Path` is a link that leads there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

Content: TypeAlias = str | bytes | Path


def write_files(root: Path, files: Mapping[str, Content]) -> Path:
    """Write files below a folder, with the folders that they need; returns the folder.

    Raises:
        ValueError: a name leads out of it. What came before is written.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"{name!r} does not lie in the workspace; write it yourself where it is to lie")
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case Path():
                place.symlink_to(content)
            case bytes():
                place.write_bytes(content)
            case _:
                place.write_bytes(content.encode())  # line ends as they are
    return root


def read_files(root: Path) -> dict[str, Content]:
    """Every file below a folder, by its path from there, in order. What is no UTF-8 is bytes; links are not followed."""
    found: dict[str, Content] = {}
    for place in sorted(root.rglob("*")):
        name = place.relative_to(root).as_posix()
        if place.is_symlink():
            found[name] = place.readlink()
        elif place.is_file():
            content = place.read_bytes()
            try:
                found[name] = content.decode()
            except UnicodeDecodeError:
                found[name] = content
    return found
