"""The profile for macOS, as a text: which rule is the last that fits a path. It is read here as sandbox-exec reads it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pegboard.kit.launch import Launch
from pegboard_sandbox import Sandbox, Settings, seatbelt
from sandboxed import repository

_RULE = re.compile(r"^\((allow|deny) ([\w* -]+?)((?: \((?:literal|subpath|regex) .*)?)\)$")
_FILTER = re.compile(r'\((literal|subpath) "((?:\\.|[^"\\])*)"\)|\(regex #"([^"]*)"\)')


class Profile:
    """Whether a profile lets something be done."""

    def __init__(self, root: Path, *, network: bool = False, view: str = "workspace") -> None:
        self.root = str(root)
        writes = view == "workspace"
        plan = Sandbox(Settings()).plan(self.root, Launch(argv=("true",), cwd=self.root, root=self.root), writes=writes)
        self.text = seatbelt.profile(plan, root=self.root, tmp="/private/tmp/ours", network=network, writes=writes)

    def lets(self, action: str, name: str) -> bool:
        path, held = name if name.startswith("/") else f"{self.root}/{name}", True
        for line in self.text.splitlines():
            rule = _RULE.match(line)
            if rule and any(
                action == one or (one[-1] == "*" and action.startswith(one[:-1])) for one in rule[2].split()
            ):
                filters = list(_FILTER.finditer(rule[3]))
                if not filters or any(_fits(one, path) for one in filters):
                    held = rule[1] == "allow"
        return held


def _fits(one: re.Match[str], path: str) -> bool:
    if one[3] is not None:
        return re.search(one[3], path) is not None
    named = re.sub(r"\\(.)", r"\1", one[2])
    return path == named or (one[1] == "subpath" and path.startswith(f"{named}/"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("seatbelt").resolve() / 'wo"rk (1)'
    repository(made)
    repository(made / "sub/inner")
    (made / ".env").write_text("x")
    return made


@pytest.mark.parametrize(
    "name",
    [
        ".git/config", ".git/config.worktree", ".git/hooks/pre-commit", ".git/commondir", ".git/info/attributes",
        ".GIT/Hooks/x", ".git/modules/x/config", "sub/inner/.git/hooks/x", "new/.git/config", ".envrc", ".EnvRC",
        "sub/.pegboard/config.toml", "HEAD", "sub/inner/HEAD", "/etc/hosts", "/private/tmp/other", ".env",
    ],
)  # fmt: skip
def test_it_may_not_be_written(root: Path, name: str) -> None:
    assert not Profile(root).lets("file-write-create", name)


@pytest.mark.parametrize(
    "name", [".git", ".git/objects", ".git/refs", ".git/info", "sub", "sub/inner", "sub/inner/.git"]
)
def test_what_protected_paths_lie_in_may_not_be_moved(root: Path, name: str) -> None:
    assert not Profile(root).lets("file-write-unlink", name)


@pytest.mark.parametrize(
    "name",
    [
        "a.txt",
        "sub/b.txt",
        ".git/HEAD",
        ".git/index.lock",
        ".git/refs/heads/x",
        ".git/objects/ab/c",
        ".git/info/exclude",
    ],
)
def test_work_goes_on(root: Path, name: str) -> None:
    profile = Profile(root)

    assert profile.lets("file-write-create", name) and profile.lets("file-write-unlink", name)
    assert profile.lets("file-write-data", "/private/tmp/ours/x") and profile.lets("file-write-data", "/dev/null")


def test_secrets_may_not_be_read_and_the_rest_may(root: Path) -> None:
    assert not Profile(root).lets("file-read-data", ".env") and Profile(root).lets("file-read-data", "a.txt")


def test_the_network_is_there_where_it_is_let_in(root: Path) -> None:
    assert not Profile(root).lets("network-outbound", "/") and Profile(root, network=True).lets("network-outbound", "/")


def test_what_only_reads_writes_nothing(root: Path) -> None:
    profile = Profile(root, view="read_only")

    assert not profile.lets("file-write-create", "a.txt") and not profile.lets(
        "file-write-create", "/private/tmp/ours/x"
    )
