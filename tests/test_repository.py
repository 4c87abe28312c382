"""What no file of the repository may hold: a registry's host, or a path of the machine it was written on."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# In pieces, so that this file does not name them either.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("rubygems", "org"),
        ("repo", "maven", "apache", "org"),
        ("repo1", "maven", "org"),
        ("anaconda", "org"),
    )
]
REGISTRY = re.compile("|".join(rf"(?<![\w-]){re.escape(host)}(?![\w-])" for host in REGISTRIES), re.IGNORECASE)
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|root)(?=/|\b(?![\w-]))")
EXEMPT = ("tests/shared/",)  # byte-for-byte copies of what is not ours to change
URL_OR_PATH = re.compile(r"://|@ |file:|(?<!\S)[./~]")


def repository_files() -> list[Path]:
    """Every file that is tracked, or would be by `git add .`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    names = {name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name}
    return [ROOT / name for name in sorted(names) if not name.startswith(EXEMPT) and (ROOT / name).is_file()]


def matches(pattern: re.Pattern[str]) -> Iterator[str]:
    for path in repository_files():
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if found := pattern.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {found[0]}"


def test_no_file_names_a_registry() -> None:
    assert list(matches(REGISTRY)) == []


def test_no_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    assert list(matches(MACHINE_PATH)) == []


@pytest.mark.parametrize("text", ["https://{}/simple", "index: {}", "//files.{}/x"])
def test_the_search_would_find_a_registry(text: str) -> None:
    assert all(REGISTRY.search(text.format(host)) for host in REGISTRIES)


@pytest.mark.parametrize("path", ["/{}/main", "cd /{}", '"/{}/x"', "--path=/{}/a"])
def test_the_search_would_find_a_machine_path(path: str) -> None:
    assert all(MACHINE_PATH.search(path.format(name)) for name in ("work", "root"))
    assert not MACHINE_PATH.search("src/work/x.py and /workspace and ./root/y")


def test_constraints_are_pins_without_urls_or_paths() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        requirement = line.partition(";")[0].strip()
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", requirement), line
        assert not URL_OR_PATH.search(requirement), line
        assert not requirement.startswith("pegboard"), line
