"""The files of the throw-away workspace that tools are called in."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

_LINES = 6_000
"""Of the large file: more than what fits into a result."""
_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_AUTHOR = ("-c", "user.name=Sample", "-c", "user.email=sample@example.org", "-c", "init.defaultBranch=main")
_SAMPLES = {
    "notes.txt": "alpha beta\nTODO: water the plants\ngamma\n",
    "README.md": "# Sample\n\nalpha is described here.\n",
    "src/main.py": "def alpha() -> int:\n    return 1\n",
    "src/beta.txt": "beta\n",
    "data.json": '{"alpha": [1, 2, 3]}\n',
    "table.csv": "name,number\nalpha,1\nbeta,2\n",
    "empty.txt": "",
}


def template(files: tuple[tuple[str, str], ...]) -> Path:
    """A folder with sample files of several kinds, a large one among them, in a repository where there is git; made once
    for the same further `files`, and gone when the process ends."""
    return Path(_made(files).name)


@cache
def _made(files: tuple[tuple[str, str], ...]) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="pegboard-check-files-", ignore_cleanup_errors=True)
    root = Path(folder.name).resolve()
    for name, text in {**_SAMPLES, **dict(files)}.items():
        path = (root / name).resolve()
        if path.is_relative_to(root):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    if (git := shutil.which("git")) is not None:
        for words in (
            ["init", "--quiet", "--template="],
            ["add", "."],
            ["commit", "--quiet", "--message", "sample files"],
        ):
            subprocess.run(
                [git, *_AUTHOR, *words], cwd=root, env={**os.environ, **_GIT}, capture_output=True, timeout=30
            )
        with (
            suppress(OSError),
            open(root / ".git" / "config", "a", encoding="utf-8") as settings,
        ):  # for tools that commit
            settings.write("[user]\n\tname = Sample\n\temail = sample@example.org\n")
    (root / "large.txt").write_text("".join(f"line {number} of many\n" for number in range(_LINES)), "utf-8")
    with open(root / "notes.txt", "a", encoding="utf-8") as notes:  # a change that is not committed
        notes.write("delta\n")
    return folder
