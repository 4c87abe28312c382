"""What wheels are built from: `manifests.py FOLDER` copies each distribution there, and writes its pegboard.json into it.

A manifest holds a digest of the sources that it was made from, so it is made where they no longer change
(docs/decisions/0048). Exit 1 when one cannot be made; each is printed with why.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace
from pegboard.checking.child import run
from pegboard.checking.target import NothingToCheck, found

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ("load.import", "load.hooks", "manifest.fresh")
"""The checks that are made: that it loads, and the writing."""
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*_cache")
_TOP = ("pyproject.toml", "README.md", "LICENSE", ".gitignore")


def staged(folder: Path) -> list[Path]:
    """Copies of all distributions, laid out as here; what was there before is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _TOP:
        shutil.copy2(ROOT / name, folder)
    projects = [
        ROOT / "core",
        *(path.parent for kind in ("toolsets", "plugins") for path in ROOT.glob(f"{kind}/*/pyproject.toml")),
    ]
    copies = [shutil.copytree(one, folder / one.relative_to(ROOT), ignore=_LEFT_OUT) for one in projects]
    return [folder, *copies]


def write(projects: Iterable[Path]) -> list[str]:
    """A manifest into each project that has entries of Pegboard's, all loaded in one child. Why some are not made."""
    with ExitStack() as stack:
        targets = []
        for project in projects:
            try:
                targets.append(stack.enter_context(found(f"{project}/")))
            except NothingToCheck:  # the core, and what hangs on a board from the other side
                continue
        reports = run([replace(target, only=list(WRITTEN), write=True) for target in targets])
        return [
            f"{report.distribution}: {one.subject}: {one.text}"
            for report in reports
            for one in report.checks
            if one.status in ("fail", "skip")
        ]


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]).resolve()
    problems = write(staged(folder))
    print("\n".join(problems) or f"{len(list(folder.glob('*/*/src/*/pegboard.json')))} manifests")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
