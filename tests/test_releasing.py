"""What a release goes through: fragments become a changelog, wheels are checked; and what runs before a commit."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import check_dist
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
KINDS = [
    one["directory"] for one in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]["type"]
]
GOOD = """\
Metadata-Version: 2.4
Name: pegboard-words
Version: 1.0
Summary: Counts.
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.11
Description-Content-Type: text/markdown

# words
"""


def test_every_fragment_has_a_kind_and_a_text() -> None:
    fragments = [path for path in (ROOT / "changes").iterdir() if path.name != "README.md"]
    for fragment in fragments:
        name, kind, ending = fragment.name.rsplit(".", 2)
        assert name and kind in KINDS and ending == "md", fragment.name
        assert fragment.read_text("utf-8").strip(), fragment.name


def test_a_release_writes_the_fragments_into_the_changelog_and_removes_them(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/12.added.md").write_text("A thing.\n")
    (tmp_path / "changes/+words.breaking.md").write_text("Another is gone; write `x`.\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    command = [
        Path(sys.executable).with_name("towncrier"),
        "build",
        "--yes",
        "--version",
        "9.9",
        "--date",
        "2026-12-01",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    text = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    assert text.startswith("# Changelog\n")
    order = ["## 9.9 (2026-12-01)", "### Breaking", "- Another is gone; write `x`.", "### Added", "- A thing. (#12)"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert not list((tmp_path / "changes").glob("*.md"))


@pytest.mark.parametrize(
    "change, problem",
    [
        (("", ""), None),
        (("Summary: Counts.\n", ""), "has no summary"),
        (("Requires-Python: >=3.11", "Requires-Python: three"), "'three' is invalid for 'requires-python'"),
        (("text/markdown", "text/plain"), "its readme is text/plain, not text/markdown"),
        (("License-File: LICENSE", "Requires-Dist: x @ file:///y"), "asks for x from an address"),
    ],
)
def test_what_is_wrong_with_a_wheel_s_metadata_is_told(
    tmp_path: Path, change: tuple[str, str], problem: str | None
) -> None:
    wheel = tmp_path / "pegboard_words-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("pegboard_words-1.0.dist-info/METADATA", GOOD.replace(*change) if change[0] else GOOD)
        archive.writestr("pegboard_words-1.0.dist-info/licenses/LICENSE", "Apache")
    found = list(check_dist.metadata_problems(wheel))
    assert found == [] if problem is None else any(problem in one for one in found), found


def test_what_runs_before_a_commit_is_there_and_local() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [one["repo"] for one in repositories] == ["local"]
    for hook in repositories[0]["hooks"]:
        program = hook["entry"].split()[0]
        assert (Path(sys.executable).with_name(Path(program).name)).exists(), hook["entry"]


def test_the_first_thing_of_a_release_is_to_register_the_names() -> None:
    text = (ROOT / "RELEASING.md").read_text("utf-8")
    first = re.search(r"^1\. (.*)$", text, re.MULTILINE)
    assert first is not None and "register the names" in first[1]
