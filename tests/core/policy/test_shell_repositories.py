"""What a repository, an ignore file, a link or a place outside makes of commands that would pass."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import Command, matches, read_line
from pegboard.policy.shell.repository import tracked

ME = ["-c", "user.name=a", "-c", "user.email=a@example.org"]


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *ME, *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made") / "app"
    (place / "src").mkdir(parents=True)
    (place / "src" / "a.py").write_text("x = 1\n")
    git(place, "init", "-q", "--template=")
    git(place, "add", ".")
    git(place, "commit", "-qm", "a")
    return place


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "app"))


def judged(line: str, root: Path) -> Command:
    return read_line(line, root=str(root)).commands[-1]


def looks(line: str, root: Path) -> bool:
    return judged(line, root).reads is not None


LOOKING = ["git status", "git diff", "git log -p", "git show", "git grep x", "git grep x -- src", "git blame src/a.py"]


@pytest.mark.parametrize("line", LOOKING)
def test_an_ordinary_repository_is_looked_at_unasked(line: str, root: Path) -> None:
    assert looks(line, root)


@pytest.mark.parametrize(
    "setting",
    [
        "[core]\n\tfsmonitor = touch x;true",
        "[CORE] FsMonitor=x",
        '[core]\n fsmonitor = "x" ; y',
        "[core]\n fsmon\\\nitor = x",
        "[diff]\n external = x",
        '[diff "a"]\n textconv = x',
        "[diff.a]\n command = x",
        '[filter "a]b"]\n clean = x',
        '[filter "lfs"]\n clean = evil',
        "[gpg]\n program = x",
        '[gpg "ssh"]\n program = x',
        "[core]\n pager = x",
        "[pager]\n log = x",
        "[include]\n path = x",
        '[includeIf "gitdir:/"]\n path = x',
        "[log]\n showSignature",
        "[core]\n worktree = ..",
        "[core]\n hooksPath = .hooks",
        '[remote "o"]\n url = ext::sh -c x',
    ],
)
@pytest.mark.parametrize("name", ["config", "config.worktree"])
def test_a_setting_that_names_a_program_asks(setting: str, name: str, root: Path) -> None:
    with (root / ".git" / name).open("a") as file:
        file.write(setting + "\n")
    found = judged("git status", root)
    assert found.reads is None and found.offer is None and found.risk is not None and found.risk.rule == "R8"
    assert not matches("git status", found, exactly=True)


@pytest.mark.parametrize(
    "setting",
    [
        "[core]\n fsmonitor = true",
        "[core]\n fsmonitor = false",
        "[user]\n name = core.pager",
        '[filter "lfs"]\n clean = git-lfs clean -- %f\n required = true',
        "[credential]\n helper = store",
        '[remote "o"]\n url = https://example.org/a::b',
        "[log]\n showSignature = false",
    ],
)
def test_a_setting_that_runs_nothing_for_a_look_does_not_ask(setting: str, root: Path) -> None:
    with (root / ".git" / "config").open("a") as file:
        file.write(setting + "\n")
    assert looks("git status", root)


@pytest.mark.parametrize("setting", ["[credential]\n helper = !x", "[core]\n sshCommand = x", "[alias]\n x = !y"])
def test_what_does_more_than_look_follows_more_settings(setting: str, root: Path) -> None:
    assert judged("git fetch", root).risk is None
    with (root / ".git" / "config").open("a") as file:
        file.write(setting + "\n")
    assert judged("git fetch", root).risk is not None


def test_a_configuration_that_cannot_be_read_asks(root: Path) -> None:
    (root / ".git" / "config").write_text("#" * 300_000)
    assert judged("git status", root).risk is not None


def test_a_hook_for_the_index_asks(root: Path) -> None:
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    (root / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\n")
    assert not looks("git status", root)


def test_the_folder_that_a_linked_work_tree_points_to_is_read(root: Path) -> None:
    git(root, "worktree", "add", "-q", "../tree")
    tree = root.parent / "tree"
    assert looks("git status", tree)
    with (root / ".git" / "config").open("a") as file:
        file.write("[diff]\n external = x\n")
    assert not looks("git status", tree)


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_repository_inside_asks_unless_its_settings_lie_with_the_outer_one(version: str, root: Path) -> None:
    inner = root / "sub"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-qm", "a", "--allow-empty")
    git(root, "add", "sub")
    git(root, "update-index", "--index-version", version)
    found = tracked(str(root))
    assert found is not None and found.links == ("sub",) and found.files == ("src/a.py",)
    assert judged("git status", root).risk is not None
    (root / ".gitmodules").write_text('[submodule "sub"]\n path = sub\n url = ./sub\n')
    git(root, "submodule", "absorbgitdirs")
    assert (inner / ".git").is_file() and looks("git status", root)
    with next((root / ".git" / "modules").rglob("config")).open("a") as file:
        file.write("[core]\n fsmonitor = x\n")
    assert judged("git status", root).risk is not None
    (inner / ".git").write_text("gitdir: ../elsewhere\n")
    assert judged("git status", root).risk is not None


def test_an_index_that_cannot_be_read_asks(root: Path) -> None:
    (root / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\1" + b"x" * 90)
    assert judged("git status", root).risk is not None


@pytest.mark.parametrize(
    "line",
    [
        "git grep SECRET",
        "git grep --cached SECRET",
        "git diff --cached",
        "git diff",
        "git show",
        "git log -p",
        "git status -v",
        "git cat-file -p abc",
        "git diff -- '.e*'",
        "git stash show -p",
        "git diff -- .",
    ],
)
def test_git_does_not_show_secrets_that_are_tracked(line: str, root: Path) -> None:
    (root / ".env").write_text("SECRET=1\n")
    assert looks("git grep SECRET", root)
    git(root, "add", "-f", ".env")
    assert not looks(line, root)


def test_with_a_tracked_secret_the_rest_is_shown(root: Path) -> None:
    (root / ".env").write_text("SECRET=1\n")
    git(root, "add", "-f", ".env")
    for line in ("git diff -- src", "git diff --stat", "git log --oneline", "git status", "git show --name-only"):
        assert looks(line, root), line


@pytest.mark.parametrize(
    "line",
    [
        "git log -L1,2:.env",
        "git log -L :f:.env",
        "git grep x HEAD",
        "git log --pretty=format:%GK",
        "git show --format=%G?",
        "git for-each-ref --format='%(signature:key)'",
        "git log --show-signature",
    ],
)
def test_lines_of_secrets_trees_of_the_past_and_signatures_are_asked_about(line: str, root: Path) -> None:
    assert not looks(line, root)


def test_git_diff_outside_of_a_repository_compares_anything(tmp_path: Path) -> None:
    assert not looks("git diff a b", tmp_path)


def test_diff_follows_links_so_one_in_a_folder_asks(root: Path, tmp_path: Path) -> None:
    (root / "d" / "in").mkdir(parents=True)
    (root / "e").mkdir()
    assert looks("diff -rN d e", root)
    (root / "d" / "in" / "away").symlink_to(tmp_path)
    assert not looks("diff -rN d e", root) and not looks("diff d e", root)
    (root / "d" / "in" / "away").unlink()
    (root / "d" / "in" / "near").symlink_to(root / "src")  # what lies behind it is not looked through
    assert not looks("diff -r d e", root) and not looks("grep -R x d", root) and looks("grep -r x d", root)


@pytest.mark.parametrize(
    "name", [".ignore", ".rgignore", ".gitignore", "src/.ignore", "../.ignore", ".git/info/exclude"]
)
@pytest.mark.parametrize("line", ["!.env", "!.*", " !/src/.env/", "!**/.e[n]v", "!*"])
def test_an_ignore_file_that_brings_secrets_back_is_seen(name: str, line: str, root: Path) -> None:
    (root / "src" / ".env").write_text("SECRET=1\n")
    assert looks("rg SECRET", root) and looks("rg SECRET src", root)
    (root / name).parent.mkdir(exist_ok=True, parents=True)
    (root / name).write_text(f"x\n{line}\n")
    assert not looks("rg SECRET", root) and not looks("rg SECRET src", root)


def test_an_ignore_file_that_brings_other_names_back_does_not_ask(root: Path) -> None:
    (root / ".env").write_text("SECRET=1\n")
    (root / ".gitignore").write_text("*\n!.env.example\n!src/\n")
    assert looks("rg SECRET", root)


KEPT = [
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".mylogin.cnf",
    ".config/git/credentials",
    ".config/gcloud/x",
    ".ENV~",
    "a/.ssh/b",
    "site.KEY",
    "id_xmss",
    ".env+x",
]


@pytest.mark.parametrize("path", KEPT)
def test_what_the_guard_keeps_from_tools_is_not_read_by_commands(path: str, root: Path) -> None:
    from pegboard_guard import Settings
    from pegboard_guard.protected import ProtectedPaths

    assert ProtectedPaths(Settings()).path("read", path) is not None
    assert not looks(f"cat {path}", root)


@pytest.mark.parametrize("line", ["poetry --version", "rustup --version"])
def test_a_version_told_by_code_of_the_project_is_asked_about(line: str, root: Path) -> None:
    assert not looks(line, root)


@pytest.mark.parametrize("line", ["tail -5 src/a.py", "head -20 src/a.py", "ls 2>&-", "ls 2>&1 >/dev/null"])
def test_old_spellings_of_reading_read(line: str, root: Path) -> None:
    read = read_line(line, root=str(root))
    assert read.error is None and not read.troubles and read.commands[0].reads


OUT = """
cp a ~/.bashrc
cp a .git/hooks/pre-commit
cp a .pegboard/config.toml
cp a .GIT/x
cp a .github/workflows/x.yml
cp ~/.ssh/id_rsa b
cp .env b
mv src/a.py ../x
touch /etc/x
tar xf a -C /
tar xfC a /
tar xf a -C/etc
tar -xf a --directory=..
mkdir -p src/../../x
ln -s /etc/passwd x
unzip a.zip -d /tmp
rsync -a src host:x
cp a out/x
rm -- ../x
touch out/*
cd / && touch x
""".strip().splitlines()


@pytest.mark.parametrize("line", OUT)
def test_a_program_that_writes_asks_for_what_leads_outside_whatever_allows_it(line: str, root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    found = judged(line, root)
    assert found.offer is None and found.risk is not None and found.risk.rule in ("outside", "R8")
    assert not matches(found.words[0].text, found, exactly=True)


@pytest.mark.parametrize(
    "line", ["cp src/a.py src/b.py", "touch x.txt", "tar xf a.tgz -C src", "mkdir -p build/x", "rm x"]
)
def test_a_program_that_writes_inside_passes_by_its_pattern(line: str, root: Path) -> None:
    assert matches(line.split()[0], judged(line, root), exactly=True)


def test_a_pattern_that_names_the_place_outside_holds(root: Path) -> None:
    found = judged("cp src/a.py /srv/x", root)
    assert matches("cp src/a.py /srv/x", found, exactly=True)
    assert not matches("cp src/a.py *", found, exactly=True) and not matches("cp src/a.py", found, exactly=True)


def test_reading_outside_passes_by_a_pattern_of_ones_own_but_none_is_offered(root: Path) -> None:
    for line in (
        "cat ~/.ssh/id_rsa",
        "diff src/a.py /etc/passwd",
        "cat /proc/self/environ",
        "cat < ../x",
        "pytest ../x",
    ):
        found = judged(line, root)
        assert found.offer is None and matches(found.words[0].text, found, exactly=True)
    assert judged("pytest src", root).offer == "pytest …"


PROGRAMS = [
    "tmux",
    "screen",
    "mise",
    "asdf",
    "pyenv",
    "ansible",
    "java",
    "swift",
    "openssl",
    "firejail",
    "bwrap",
    "valgrind",
    "lldb",
    "systemd-run",
    "ghci",
]


@pytest.mark.parametrize("name", [*PROGRAMS, "conda run"])
def test_programs_that_run_what_they_are_told_get_no_pattern(name: str, root: Path) -> None:
    assert judged(f"{name} x y", root).offer is None


@pytest.mark.parametrize(
    ("part", "times"),
    [("x;", 65_536), ("f() { ", 2000), ("a|", 9000), ("`", 20_001), ("eval ", 3000), ("y; ", 4000)],
)
def test_a_line_that_is_too_long_is_not_read_and_deny_rules_see_what_stands_in_it(part: str, times: int) -> None:
    read = read_line(part * times + "; A=1 nice sudo \\rm -rf x", settings=PermissionSettings(bash_max_chars=10_000))
    assert read.error is not None and read.error.rule == "R13"
    assert len(read.commands) < 600
    assert any(matches("rm -rf", one, exactly=False) for one in read.commands)
    assert not any(matches("x", one, exactly=True) for one in read.commands)


def test_with_more_than_can_be_looked_at_a_deny_rule_matches_all_the_same() -> None:
    text = ";".join(f"a{number}" for number in range(5000)) + ";rm -rf x"
    assert any(matches("rm -rf", one, exactly=False) for one in read_line(text).commands)
