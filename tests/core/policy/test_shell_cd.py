"""`cd` to a place inside the workspace reads; anywhere else, or where it is not sure, it is a command like any other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import Line, read_line

READS = "cd inside the workspace"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CDPATH", raising=False)
    root = tmp_path / "app"
    for folder in ("web/src", "a b", "-x", "deep/er", "nest/in", "bare/objects", "bare/refs", "bare/in"):
        (root / folder).mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "nest" / ".git").write_text("gitdir: elsewhere\n")
    (root / "bare" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "file").write_text("")
    (root / "inward").symlink_to("deep/er")
    (root / "outward").symlink_to("..")
    (tmp_path / "other").mkdir()
    return root


def read(text: str, root: Path, cwd: str = ".") -> Line:
    return read_line(text, settings=PermissionSettings(), root=str(root), cwd=cwd)


def cds(line: Line) -> list[bool]:
    """Of each `cd` of a line, whether it reads."""
    return [command.reads == READS for command in line.commands if command.words and command.words[0].text == "cd"]


@pytest.mark.parametrize(
    "text",
    ["cd web", "cd web/src", "cd ./web", "cd 'a b'", "cd a\\ b", "cd -- -x", "cd -- web", "cd .", "cd web/..",
    "cd inward", "cd {root}", "cd {root}/web",
     "cd web && cd src", "cd web; cd ..", "cd web && ls && cd ../deep", "cd web\ncd src", "cd inward && cd ."],
)  # fmt: skip
def test_a_place_inside_the_workspace_is_recognised(text: str, root: Path) -> None:
    found = cds(read(text.replace("{root}", str(root)), root))
    assert found and all(found)


@pytest.mark.parametrize(
    "text",
    ["cd", "cd ..", "cd ~", "cd ~/x", "cd -", "cd /", "cd /tmp", "cd ../other", "cd web/../..", "cd nosuch",
    "cd file", "cd outward",  "cd -P web",
     "cd -x", "cd w*", "cd $HOME", "cd \"$PWD\"", "cd web src", "cd ''", "cd ../app", "cd {root}/../other",
     "cd {root}/../app", "\\cd web", "c'd' web", "X=1 cd web",
     "pushd web", "popd", "cd web | cat", "cat | cd web", "(cd web)", "{ cd web; }", "nice cd web",
     "command cd web", "cd -- -", "cd -- --", "cd web/$(x)"],
)  # fmt: skip
def test_any_other_place_is_asked_about(text: str, root: Path) -> None:
    line = read(text.replace("{root}", str(root)), root)
    assert READS not in [command.reads for command in line.commands]


@pytest.mark.parametrize(
    "text",
    [
        "cd nosuch; cd web",
        "cd ..; cd app",
        "cd nosuch || ls; cd web",
        "cd web || cd web",
        "cd web | ls; cd web",
        "cd inward && cd ..",
        "pushd /; cd web",
        "nice cd web; cd web",
        "(cd /); cd web; cd /; cd web",
    ],
)
def test_once_it_is_not_known_where_one_is_no_further_cd_is_recognised(text: str, root: Path) -> None:
    assert cds(read(text, root))[-1] is False
    assert read(text, root).commands[-1].reads != READS


def test_search_paths_of_cd_are_seen_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDPATH", str(root.parent))
    assert cds(read("cd web", root)) == [False]
    assert cds(read("cd ./web", root)) == [True]


def test_without_a_workspace_no_cd_is_recognised(root: Path) -> None:
    os.chdir(root)
    assert cds(read_line("cd web")) == [False]


@pytest.mark.parametrize("text",
["cd nest && git status", "cd nest/in; git status", "cd bare && git log", "cd bare/in && git diff",
"cd outward && git status",
                                  "cd nosuch; git status", "cd nest && time git status", "cd .. || ls; git status",
                                  "git -C nest status", "git -C web -C ../nest status", "git --no-pager -C nest log",
                                  "git -C nosuch status", "git -C .. status", "git -C n* status",
                                  "ls && cd nest; git status",
                                  "ls || cd nest; git status", "hg -R nest status",
                                  "cd nest && gh pr list"])  # fmt: skip
def test_git_in_another_repository_may_not_pass(text: str, root: Path) -> None:
    last = [command for command in read(text, root).commands if not command.nested][-1]
    assert last.risk is not None and last.risk.rule == "R8"
    assert last.reads is None


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "git -C web status",
        "ls || ls; git status",
        "ls && cd web || ls; git status",
        "cd web && git status",
        "cd web/src; git status; cd ..; git log",
        "cd nest && cd .. && git status",
    ],
)
def test_git_in_the_workspaces_own_repository_may(text: str, root: Path) -> None:
    assert all(command.risk is None for command in read(text, root).commands)


def test_a_workspace_that_was_made_to_look_like_a_repository_arms_git(root: Path) -> None:
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "objects").mkdir()
    (root / "refs").mkdir()
    assert read("git status", root).commands[0].risk is not None
    assert read("cd web && git status", root).commands[-1].risk is not None


def test_where_a_line_starts_counts_too(root: Path) -> None:
    assert read("git status", root, "nest/in").commands[0].risk is not None
    assert read("git status", root, "web").commands[0].risk is None
    assert cds(read("cd ../deep", root, "web")) == [True]
    assert cds(read("cd src", root, str(root / "web"))) == [True]


def test_after_a_cd_reading_is_judged_from_there(root: Path) -> None:
    inside, outside = read("cd web && cat ../file", root), read("cd web && cat ../../other/x", root)
    assert inside.commands[-1].reads is not None
    assert outside.commands[-1].reads is None
    assert read("cd nosuch; cat file", root).commands[-1].reads is None
    assert read("cat < ../other/x", root).commands[-1].reads is None
    assert read("cat < file", root).commands[-1].reads is not None


@pytest.mark.parametrize(
    "text",
    [
        "false && cd web; cat ../../other/x",
        "false && cd web; cat ../file",
        "false && cd web\ncat ../file",
        "ls nosuch && cd web | cat; cat ../file",
        "true && cd web && false || cat ../file",
        "true || cd web; cat ../file",
        "true && cd web; cd src; cat ../../file",
        "cd web && false && cd src; cat ../../file",
        "false || cd web && cat ../file",
        "false && cd web; echo <../file",
        "false && cd web; cat src/../../file",
    ],
)
def test_a_cd_that_may_not_be_reached_moves_nothing_for_certain(text: str, root: Path) -> None:
    assert read(text, root).commands[-1].reads is None


@pytest.mark.parametrize(
    "text",
    [
        "true && cd web && cat ../file",
        "true && cd web; cat {root}/file",
        "true && cd web && ls; ls",
        "cd web; true && cat ../file",
        "ls || true; cat file",
        "grep foo file || true",
        "test -d web || echo no",
        "cat file 2>/dev/null || cat file",
        "ls | cat || cat file",
        "cd web && false || cat ../file",
    ],
)
def test_what_reads_from_wherever_it_may_be_run_is_recognised(text: str, root: Path) -> None:
    assert all(command.reads for command in read(text.replace("{root}", str(root)), root).commands)
