"""One repository with every trap, every tool traced: nothing but git and its own helpers is run."""

from __future__ import annotations

import json
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
PROGRAM = """\
import json, sys
from pathlib import Path
from pegboard.testing.bench import TestBoard
from pegboard_tools_git import reads, writes
root, calls = Path(sys.argv[1]), json.loads(sys.argv[2])
board = TestBoard(root, modules={"git": reads, "git-write": writes}, state=Path(sys.argv[3]))
print(json.dumps([[name, record.outcome, record.text] for name, arguments in calls
                  for record in [board.call(name, **arguments)]]))
board.close()
"""


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


def traced(
    root: Path, calls: list[tuple[str, dict[str, Any], str]], tmp_path: Path, environ: dict[str, str]
) -> tuple[Any, set[str]]:
    """The answers, and the programs that were run: their paths, and of a shell its command."""
    trace = tmp_path / "trace"
    sent = json.dumps([[name, arguments] for name, arguments, _ in calls])
    command = [sys.executable, "-c", PROGRAM, str(root), sent, str(tmp_path / "state")]
    done = subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", "trace=execve", "-o", str(trace), *command],
        env=dict(os.environ) | environ,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    programs = set()
    for found in re.finditer(r'execve\("([^"]+)", \[(.*?)\],? .* = 0$', trace.read_text("utf-8"), re.MULTILINE):
        shell = os.path.basename(found[1]) in ("sh", "bash", "dash")
        programs.add(f"{found[1]} {found[2]}" if shell else found[1])
    return json.loads(done.stdout), programs


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.row("C-049")
def test_nothing_that_a_repository_or_the_environment_names_is_run(trapped: Path, tmp_path: Path, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tname = Person\n\temail = person@example.com\n")
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

    answers, programs = traced(trapped, CALLS, tmp_path, environ)

    assert not (tmp_path / "pwned").exists(), (tmp_path / "pwned").read_text()
    assert [[name, outcome] for name, outcome, _ in answers] == [[name, want] for name, _, want in CALLS], answers
    helpers = subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip()
    own = {shutil.which("git"), os.path.realpath(sys.executable), sys.executable}
    strange = {
        program
        for program in programs
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


def outside(tmp_path: Path, git: Git) -> Path:
    """A repository outside of the workspace, with something to hide."""
    folder = tmp_path / "private"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "secret.txt").write_text("hush\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "evil commit")
    return folder


@pytest.mark.parametrize(
    "how", ["file", "link", "commondir", "objects", "packs", "refs", "alternates", "index", "include"]
)
def test_nothing_outside_the_workspace_is_shown(tools: Any, repo: Path, git: Git, tmp_path: Path, how: str) -> None:
    private = outside(tmp_path, git)
    own, theirs = repo / ".git", private / ".git"
    commit = git(private, "rev-parse", "HEAD").strip()
    match how:
        case "file":
            shutil.rmtree(own)
            own.write_text(f"gitdir: {theirs}\n")
        case "link":
            shutil.rmtree(own)
            own.symlink_to(theirs)
        case "commondir":
            (own / "commondir").write_text("../../private/.git\n")
        case "objects" | "refs":
            shutil.rmtree(own / how)
            (own / how).symlink_to(theirs / how)
        case "packs":
            git(private, "repack", "-q", "-a", "-d")
            shutil.rmtree(own / "objects" / "pack")
            (own / "objects" / "pack").symlink_to(theirs / "objects" / "pack")
        case "alternates":
            (own / "objects" / "info" / "alternates").write_text(f"{theirs}/objects\n")
        case "index":
            (own / "index").unlink()
            (own / "index").symlink_to(theirs / "index")
        case "include":
            (own / "config").write_text((own / "config").read_text() + f"[core]\n\tworktree = {private}\n")
    for name, arguments in (
        ("git_log", {}),
        ("git_status", {}),
        ("git_diff", {}),
        ("git_show", {"ref": commit}),
        ("git_show", {"ref": f"{commit}:secret.txt"}),
        ("git_blame", {"path": "a.txt"}),
    ):
        record = tools(name, **arguments)
        assert "hush" not in record.text and "evil commit" not in record.text and "secret.txt  " not in record.text
        assert record.outcome == "error" or how == "include"


def test_a_forged_index_shows_nothing_from_outside(tools: Any, repo: Path, tmp_path: Path, git: Git) -> None:
    (tmp_path / "hush.txt").write_text("hush\n")
    (repo / "aa").mkdir()
    (repo / "aa" / "hush.txt").write_text("x\n")
    git(repo, "add", "-A")
    index = (repo / ".git" / "index").read_bytes()[:-20].replace(b"aa/hush.txt", b"../hush.txt")
    import hashlib

    (repo / ".git" / "index").write_bytes(index + hashlib.sha1(index, usedforsecurity=False).digest())

    for arguments in ({}, {"ref": "HEAD"}):
        assert "hush\n" not in tools("git_diff", **arguments).text + "\n"


def test_a_repository_of_another_user_is_refused_unless_the_person_calls_it_safe(
    tools: Any, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 4711)
    record = tools("git_log")
    assert record.outcome == "error" and "dubious ownership" in record.text and "safe.directory" in record.text
    for value, allowed in ((repo, True), ("/elsewhere", False), ("*", True), (f"{repo.parent}/*", True)):
        (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {value}\n")
        assert (tools("git_log").outcome == "ok") is allowed, value
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n\tdirectory =\n")
    assert tools("git_log").outcome == "error"


@pytest.mark.parametrize("where", [".git/HEAD", ".gitignore", ".git/refs/x"])
def test_a_fifo_is_not_waited_for(tools: Any, repo: Path, where: str) -> None:
    (repo / where).unlink(missing_ok=True)
    os.mkfifo(repo / where)
    assert tools("git_status").outcome == "error"
    assert "Git was not run" in tools("git_status").text or "not a git repository" in tools("git_status").text


def test_a_folder_that_looks_like_a_bare_repository_is_not_entered(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "init", "-q", "--bare", "vendored")
    assert tools("git_log", path="vendored").text == "No commits."  # of the repository around it
    assert tools("git_status", path="vendored").text == "On main, 1 changed:\nvendored/  (untracked)"
