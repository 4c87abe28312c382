"""Check what `make dist` built, as who installs it would find it: `check_dist.py FOLDER`.

Of each wheel the metadata is validated, and it is installed alone into a fresh environment, with what it asks for: ours from
the folder, others as pip's and uv's settings say, at the versions of constraints.txt. There every entry point and every
package that it brings is imported. Exit 1 when something is wrong; each is printed with the file's name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from packaging.metadata import InvalidMetadata, Metadata

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("description", "license_expression", "requires_python", "summary")
IMPORTS = """
import importlib, sys
from importlib.metadata import distribution
found = distribution(sys.argv[1])
for entry in found.entry_points:
    if not entry.extras and entry.group != "pytest11":  # pytest alone loads those, and brings itself
        entry.load()
for file in found.files or ():
    if file.parent.name and file.name == "__init__.py" and len(file.parts) == 2:
        importlib.import_module(file.parent.name)
"""
"""What is done with a distribution in its own environment."""


def metadata_problems(wheel: Path) -> Iterator[str]:
    """What a package index, or somebody who reads about it there, would miss in a wheel."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        inside = next(name for name in names if name.endswith(".dist-info/METADATA"))
        try:
            found = Metadata.from_email(archive.read(inside))
        except ExceptionGroup as group:
            yield from (str(error) for error in group.exceptions if isinstance(error, InvalidMetadata))
            return
    for name in NEEDED:
        if not getattr(found, name):
            yield f"has no {name.replace('_', ' ')}"
    if found.description_content_type != "text/markdown":
        yield f"its readme is {found.description_content_type}, not text/markdown"
    if not any(".dist-info/licenses/" in name for name in names):
        yield "carries no licence"
    for line in found.requires_dist or []:
        if line.url:
            yield f"asks for {line.name} from an address"


def alone(wheel: Path, uv: str) -> str | None:
    """Why a wheel cannot be used alone; None: it can."""
    name = wheel.name.partition("-")[0].replace("_", "-")
    constraints = ROOT / "constraints.txt"
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "venv", "bin", "python")
        install = [uv, "pip", "install", "--quiet", "--python", str(python), "--find-links", str(wheel.parent)]
        commands = (
            [uv, "venv", "--quiet", str(python.parents[1])],
            [*install, "--constraint", str(constraints), str(wheel)],
            [str(python), "-c", IMPORTS, name],
        )
        for command in commands:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                last = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
                return f"{Path(command[0]).name} {command[1]}: {last}"
    return None


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]).resolve()
    wheels = sorted(folder.glob("*.whl"))
    uv = shutil.which(ROOT / ".tools/bin/uv") or shutil.which("uv")
    if not wheels or uv is None:
        print(
            f"{'there is no wheel in ' + str(folder) if uv else 'uv is missing'}; nothing was checked", file=sys.stderr
        )
        return 1
    problems: list[str] = []
    for wheel in wheels:
        found = list(metadata_problems(wheel))
        if not found and (why := alone(wheel, uv)) is not None:
            found = [why]
        problems += [f"{wheel.name}: {problem}" for problem in found]
        print(f"{'x' if found else 'ok':2} {wheel.name}", flush=True)
    print("\n".join([*problems, f"{len(wheels)} wheels, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(main(sys.argv[1:]))
