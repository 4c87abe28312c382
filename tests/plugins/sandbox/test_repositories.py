"""What is planted in the sandbox for git to run outside of it, later: each plant is made in the sandbox, then the person's
git runs; and once more with the plant made outside, where git does run it."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

import pytest
from sandboxed import Place, repository

MONITOR = (
    "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n"
    '\\tfsmonitor = "touch {mark};true"\\n\' > '
)
BARE = f"mkdir -p objects refs; echo 'ref: refs/heads/master' > HEAD; {MONITOR}config; "
HOOK = "mkdir -p {0}; printf '#!/bin/sh\\ntouch {{mark}}\\n' > {0}/post-commit; chmod +x {0}/post-commit"
COMMIT = "git commit -q --allow-empty -m second"


class Plant(NamedTuple):
    """before: what the person has set up. plant: what is tried in the sandbox. after: what the person does then."""

    before: str
    plant: str
    after: str = "git status"


PLANTS = {
    "settings of one worktree": Plant(
        "git config extensions.worktreeConfig true", MONITOR.replace("\\tworktree = .\\n", "") + ".git/config.worktree"
    ),
    "no .git/HEAD": Plant("true", BARE + "mv .git/HEAD .git/x"),
    "no .git/objects": Plant("true", BARE + "mv .git/objects .git/x"),
    "no .git/refs": Plant("true", BARE + "mv .git/refs .git/x"),
    "no .git/HEAD further down": Plant("true", f"cd sub/inner; {BARE} mv .git/HEAD .git/x", "cd sub/inner; git status"),
    "no .git at all": Plant("rm -rf .git", BARE),
    "settings of a repository without .git": Plant(
        "rm -rf .git; git init -q --bare .", f"{MONITOR}config", "git status"
    ),
    "settings of one further down": Plant(
        "git init -q --bare sub/b",
        f"{MONITOR.replace('worktree = .', 'worktree = ..')}sub/b/config",
        "cd sub/b; git status",
    ),
    "settings of one that lies apart": Plant(
        "rm -rf .git; git init -q --separate-git-dir apart .",
        f"{MONITOR.replace('worktree = .', 'worktree = ..')}apart/config",
    ),
    "a folder of hooks that is not there": Plant(
        "git config core.hooksPath .githooks", HOOK.format(".githooks"), COMMIT
    ),
    "a folder of hooks below ones that are not there": Plant(
        "echo '[core] hooksPath = \"tools/git/hooks\" # ours' >> .git/config", HOOK.format("tools/git/hooks"), COMMIT
    ),
    "a folder of hooks in place of one that is there": Plant(
        "mkdir -p tools/hooks; git config core.hooksPath tools/hooks",
        "mv tools t; " + HOOK.format("tools/hooks"),
        COMMIT,
    ),
    "a folder of hooks of a person's own settings": Plant(
        "git config -f ~/.gitconfig core.hooksPath .githooks",
        HOOK.format(".githooks"),
        f"export GIT_CONFIG_GLOBAL=~/.gitconfig; {COMMIT}",
    ),
    "included settings that are not there": Plant(
        "git config include.path ../more", MONITOR.replace("\\tworktree = .\\n", "") + "more"
    ),
    "a folder of hooks that included settings name": Plant(
        "git config include.path ../more; git config -f more core.hooksPath .githooks", HOOK.format(".githooks"), COMMIT
    ),
    "attributes of the repository": Plant(
        "git add a.txt; git config filter.x.clean ./f; printf '#!/bin/sh\\ntouch {mark}; cat\\n' > f; chmod +x f;"
        "rm -r .git/info",
        "mkdir -p .git/info; echo 'a.txt filter=x' > .git/info/attributes",
        "touch a.txt; git add a.txt",
    ),
}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS.keys())
def test_what_is_planted_in_it_is_not_run_by_the_persons_git(place: Place, plant: Plant) -> None:
    mark = place.home / "owned"
    before, line, after = (text.replace("{mark}", str(mark)) for text in plant)
    assert place.outside(before).exit_code == 0

    place.inside(line)
    place.outside(after)
    assert not mark.exists()

    _anew(place)
    place.outside(before)
    place.outside(line)
    place.outside(after)
    assert mark.exists(), "outside of the sandbox it would be run, or this shows nothing"


def test_while_a_program_runs_nothing_planted_is_run_either(place: Place) -> None:
    mark = place.home / "owned"
    line = (
        BARE.replace("{mark}", str(mark))
        + "mv .git/HEAD .git/x; touch planted; while test ! -e done; do sleep 0.02; done"
    )
    script = "while test ! -e planted; do sleep 0.02; done; git status >&2; code=$?; touch done; exit $code"
    person = subprocess.Popen(["bash", "-c", script], cwd=place.root, env=place.env, stderr=subprocess.PIPE)

    place.inside(line)

    assert b"commondir" in person.communicate()[1] and person.returncode != 0 and not mark.exists()


def test_what_keeps_git_from_a_planted_repository_stays_as_long_as_that_does(place: Place) -> None:
    place.inside("echo 'ref: refs/heads/master' > HEAD")
    assert (place.root / "commondir").is_dir()

    (place.root / "HEAD").unlink()
    place.inside("true")
    assert not (place.root / "commondir").exists()


def test_settings_of_a_linked_worktree_cannot_be_made(place: Place) -> None:
    worktree = place.home / "other"
    subprocess.run(["git", "-C", str(place.root), "config", "extensions.worktreeConfig", "true"], check=True)
    subprocess.run(["git", "-C", str(place.root), "worktree", "add", "-q", str(worktree)], check=True)

    for folder in (place.root / ".git", place.root / ".git/worktrees/other"):
        path = folder / "config.worktree"
        there = path.exists()
        done = place.inside(f"echo '[core] fsmonitor = x' >> {path}", root=str(worktree), cwd=str(worktree))
        assert done.exit_code != 0 and path.exists() is there


@pytest.mark.parametrize(
    "line",
    [
        "git checkout -q -b next && echo x > n && git add n && git commit -qm n && git checkout -q - && git merge -q next",
        "git switch -q -c s && git switch -q - && git branch -D s && git tag v1 && git tag -d v1",
        "git checkout -q --detach && git switch - && echo y >> a.txt && git add a.txt && git stash -q && git stash pop",
        "echo z > z && git add z && git commit -qm z && git reset -q --hard HEAD~1 && git diff HEAD && git log HEAD",
        "git gc -q",
        "git commit -q --allow-empty -m e && git rebase -q HEAD~1 && git reflog && git pack-refs --all && git fsck",
        "echo n >> .git/info/exclude && git status && git rm -q --cached -r . --ignore-unmatch && git clean -n",
    ],
)
def test_what_git_does_with_commits_and_branches_goes_on_working(place: Place, line: str) -> None:
    done = place.inside(line)

    assert done.exit_code == 0, done.stderr
    assert not {"commondir", "config.worktree"} & {*os.listdir(place.root / ".git"), *os.listdir(place.root)}


def _anew(place: Place) -> None:
    """The workspace as it was."""
    subprocess.run(["rm", "-rf", str(place.root), str(place.home / ".gitconfig")], check=True)
    for path, text in (("a.txt", "one\n"), ("sub/b.txt", "")):
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        (place.root / path).write_text(text)
    for folder in (place.root, place.root / "sub/inner"):
        repository(folder)
