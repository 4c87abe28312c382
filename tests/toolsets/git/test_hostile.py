"""One repository with every trap, every tool traced: nothing but git and its own helpers is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]

TRAPS = {
    "core.fsmonitor": "{evil}",
    "core.pager": "{evil}",
    "pager.log": "{evil}",
    "pager.status": "{evil}",
    "pager.diff": "{evil}",
    "core.editor": "{evil}",
    "core.sshCommand": "{evil}",
    "core.gitProxy": "{evil}",
    "core.askPass": "{evil}",
    "core.alternateRefsCommand": "{evil}",
    "core.hooksPath": "{hooks}",
    "core.attributesFile": "{attributes}",
    "diff.external": "{evil}",
    "diff.x.textconv": "{evil}",
    "diff.x.command": "{evil}",
    "diff.x.cachetextconv": "true",
    "filter.x.clean": "{evil}",
    "filter.x.smudge": "{evil}",
    "filter.x.process": "{evil}",
    "filter.x.required": "true",
    "merge.x.driver": "{evil}",
    "alias.status": "!{evil}",
    "alias.log": "!{evil}",
    "log.showSignature": "true",
    "commit.gpgSign": "true",
    "push.gpgSign": "true",
    "gpg.program": "{evil}",
    "gpg.ssh.program": "{evil}",
    "gpg.format": "openpgp",
    "credential.helper": "!{evil}",
    "sequence.editor": "{evil}",
    "trailer.x.command": "{evil}",
    "trailer.x.key": "X",
    "uploadpack.packObjectsHook": "{evil}",
    "interactive.diffFilter": "{evil}",
    "status.submoduleSummary": "true",
    "diff.submodule": "log",
    "submodule.recurse": "true",
    "push.recurseSubmodules": "on-demand",
    "blame.ignoreRevsFile": "{evil}",
    "log.diffMerges": "on",
    "log.follow": "true",
    "color.ui": "always",
    "column.ui": "always",
    "format.pretty": "%G?",
    "core.quotePath": "true",
    "extensions.worktreeConfig": "true",
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "away",
    "remote.away.url": "ext::{evil} %S",
    "remote.away.promisor": "true",
    "remote.origin.receivepack": "{evil}",
    "remote.origin.uploadpack": "{evil}",
    "remote.origin.proxy": "http://127.0.0.1:9",
    "remote.origin.url": "{remote}",
    "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
    "url.ext::{evil} .insteadOf": "/",
    "maintenance.auto": "true",
    "gc.auto": "1",
    "include.path": "{include}",
}


@pytest.fixture
def trapped(repo: Path, git: Git, tmp_path: Path) -> Path:
    """The repository, its configuration, attributes, hooks, submodule and objects all set with traps that write a file."""
    evil, hooks = tmp_path / "evil.sh", repo / "hooks"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/pwned\ncat 2>/dev/null\nexit 0\n')
    evil.chmod(0o755)
    git(tmp_path, "clone", "-q", "--bare", str(repo), "remote.git")
    sub = repo / "sub"
    git(repo, "init", "-q", "-b", "main", "sub")
    (sub / "s.txt").write_text("s\n")
    git(sub, "add", "-A")
    git(sub, "commit", "-q", "-m", "sub")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    (repo / ".gitattributes").write_text("*.txt filter=x diff=x merge=x\n")
    (repo / "plain").write_text("plain\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "with traps")
    (repo / ".git" / "info" / "attributes").write_text("* diff=x\n*.txt filter=x\n")
    (repo / "attributes").write_text("*.txt filter=x\n")
    (repo / "include").write_text(f'[core]\n\tfsmonitor = {evil}\n[filter "y"]\n\tclean = {evil}\n')
    (repo / ".git" / "config.worktree").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    body = git(repo, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n", 1
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=repo, input=body.encode(), capture_output=True
    )
    git(repo, "update-ref", "HEAD", made.stdout.decode().strip())
    for folder in (hooks, repo / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in (
            "pre-commit",
            "commit-msg",
            "post-commit",
            "pre-push",
            "reference-transaction",
            "post-index-change",
        ):
            shutil.copy(evil, folder / name)
    names = {
        "evil": evil,
        "hooks": hooks,
        "attributes": repo / "attributes",
        "include": repo / "include",
        "remote": tmp_path / "remote.git",
    }
    for folder in (sub, repo):
        lines = []
        for key, value in TRAPS.items():
            section, _, rest = key.format(**names).partition(".")
            inner, _, name = rest.rpartition(".")
            head = f'[{section} "{inner}"]' if inner else f"[{section}]"
            lines.append(f'{head}\n\t{name} = "{value.format(**names)}"\n')
        with (folder / ".git" / "config").open("a") as file:
            file.write("".join(lines))
    (repo / "a.txt").write_text("one\ntwo\nmore\n")
    (repo / "plain").write_text("changed\n")
    (sub / "s.txt").write_text("changed\n")
    os.utime(repo / "d" / "b.txt", (1, 1))
    return repo


CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("git_status", {}, "ok"),
    ("git_status", {"path": "sub"}, "ok"),
    ("git_diff", {}, "ok"),
    ("git_diff", {"ref": "HEAD"}, "ok"),
    ("git_log", {}, "ok"),
    ("git_log", {"path": "a.txt", "patch": True}, "ok"),
    ("git_show", {}, "ok"),
    ("git_show", {"ref": "HEAD:a.txt"}, "ok"),
    ("git_show", {"ref": "1" * 40}, "error"),  # not here, and not fetched
    ("git_blame", {"path": "a.txt"}, "ok"),
    ("git_branch", {}, "ok"),
    ("git_rev_parse", {}, "ok"),
    ("git", {"action": "status"}, "ok"),
    ("git_add", {"paths": ["a.txt"]}, "error"),  # through a filter of the repository's: not without it
    ("git_commit", {"message": "all", "all": True}, "error"),
    ("git_add", {"paths": ["plain", "sub"]}, "ok"),
    ("git_commit", {"message": "own"}, "ok"),
    ("git_branch_create", {"name": "topic"}, "ok"),
    ("git_push", {"set_upstream": True}, "ok"),
    ("git_push", {"remote": "away"}, "error"),
]


def programs_in(trace: str) -> set[str]:
    """The programs that were run: their paths, and of a shell its command."""
    programs = set()
    for found in re.finditer(r'execve\("([^"]+)", \[(.*?)\],? .* = 0$', trace, re.MULTILINE):
        shell = os.path.basename(found[1]) in ("sh", "bash", "dash")
        programs.add(f"{found[1]} {found[2]}" if shell else found[1])
    return programs


@pytest.mark.row("C-049")
@pytest.mark.usefixtures("person")
def test_nothing_that_a_repository_or_the_environment_names_is_run(trapped: Path, traced: Any, tmp_path: Path) -> None:
    evil = str(tmp_path / "evil.sh")
    planted = trapped / "bin"
    planted.mkdir()
    shutil.copy(evil, planted / "git")
    (tmp_path / "gc").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    environ = {
        "PATH": f"{planted}:bin:{os.environ['PATH']}",
        "PAGER": evil,
        "EDITOR": evil,
        "SSH_ASKPASS": evil,
        "GIT_EXTERNAL_DIFF": evil,
        "GIT_SSH_COMMAND": evil,
        "GIT_ASKPASS": evil,
        "GIT_PAGER": evil,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": evil,
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={evil}'",
        "GIT_CONFIG_GLOBAL": str(tmp_path / "gc"),
        "GIT_TRACE": str(tmp_path / "pwned"),
        "GIT_EXEC_PATH": str(planted),
        "GIT_DIR": str(tmp_path / "remote.git"),
    }

    answers, trace = traced(trapped, [call[:2] for call in CALLS], environ)

    assert not (tmp_path / "pwned").exists(), (tmp_path / "pwned").read_text()
    assert [[name, outcome] for name, outcome, _ in answers] == [[name, want] for name, _, want in CALLS], answers
    helpers = subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip()
    own = {shutil.which("git"), os.path.realpath(sys.executable), sys.executable}
    strange = {
        program
        for program in programs_in(trace)
        if program not in own
        and os.path.dirname(program) != helpers
        and not re.fullmatch(r'\S*/sh "\S*sh", "-c", "git-receive-pack .*', program)  # how git reaches a local remote
    }
    assert strange == set()
    by_name = {name: text for name, _, text in answers}
    assert "plain  (modified)" in answers[0][2] and "not run: x" in answers[0][2]
    assert "\x1b" not in "".join(text for _, _, text in answers)
    assert "'ext'" in by_name["git_push"]
    assert "the filter 'x'" in answers[13][2] and "Nothing was staged." in answers[13][2]
