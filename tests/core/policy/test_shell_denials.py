"""The other direction: a rule that denies finds its command however it is spelled and wherever it stands."""

from __future__ import annotations

import pytest
from judging import denied
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import matches, read_line

HIDDEN = [
    "rm x", "/bin/rm x", "./rm x", "r''m x", "'rm' x", '"rm" x', "r\\m x", "\\rm x", "$'rm' x", "$'\\x72\\155' x",
    "RM x", "/bin/r? x", "r[m] x",
    "r\\\nm x", "ls; rm x", "ls\nrm x", "ls && rm x", "ls || rm x", "ls | rm x", "ls & rm x", "rm x &", "X=1 rm x",
    ">f rm x", "rm>f x", "rm x # c",
    "sudo rm x", "sudo -u root rm x", "sudo -- rm x", "sudo -E X=1 rm x", "doas rm x", "env rm x", "env X=1 rm x",
    "env -i -u Y rm x", "nice -n 5 rm x",
    "nice rm x", "nohup rm x", "timeout 5 rm x", "timeout -s KILL 5 rm x", "time rm x", "command rm x", "exec rm x",
    "builtin rm x", "xargs rm",
    "ls | xargs -n 1 -I{} rm {}", "setsid rm x", "stdbuf -oL rm x", "ionice -c 3 rm x", "chroot /x rm x",
    "flock f rm x", "busybox rm x", "watch rm x",
    "strace -f rm x", "sudo env X=1 nice /bin/rm x", "/usr/bin/sudo rm x", "find . -exec rm {} +",
    "find . -name a -execdir /bin/rm {} \\;", "find . -ok rm {} \\;",
    "fd a -x rm", "bash -c 'rm x'", "sh -c 'ls; rm x'", "bash -lc \"rm x\"", "bash -o pipefail -c 'rm x'",
    "bash -c -- 'rm x'",
    "sudo bash -c 'cd /; rm x'", "bash -c \"bash -c 'rm x'\"",
    "/bin/sh -c 'rm x'", "su root -c 'rm x'", "env -S 'rm x'", "eval 'rm x'", "eval rm x", "trap 'rm x' EXIT",
    "bash <<<'rm x'", "bash <<'E'\nls\nrm x\nE", "bash <<E\nrm x\nE",
    "echo $(rm x)", "echo \"$(rm x)\"", "echo `rm x`", 'echo "`rm x`"', "echo `echo \\`rm x\\``", "cat <(rm x)",
    "tee >(rm x)", "echo ${x:-$(rm x)}", "echo ${x:-`rm x`}",
    'echo "${x:-$(rm x)}"', "echo $(( $(rm x) ))", "echo $[ $(rm x) ]", "x=$(rm x)", "cat <<E\n$(rm x)\nE",
    "cat <<E\n`rm x`\nE", "cat <<<$(rm x)", "ls > $(rm x)", "$(echo $(rm x))",
    "(rm x)", "{ rm x; }", "! rm x", "if ls; then rm x; fi", "if rm x; then ls; fi", "if ls; then ls; else rm x; fi",
    "while rm x; do ls; done", "until ls; do rm x; done",
    "for f in a; do rm $f; done", "for ((;;)); do rm x; done", "case a in a) rm x;; esac",
    "case a in (b|a) rm x;; esac", "f() { rm x; }; f", "function f { rm x; }", "coproc rm x",
    "select x in a; do rm x; done", "[[ -f a ]] && rm x", "((1)) && rm x", "{rm,x}", "time -p rm x", "time ! rm x",
    "a[1]=2; rm x", "a[0]=1;" * 30 + "rm x", "echo 'a; rm x", "ls ;; rm x", "ls <<E\nrm x", "ls <<E\n'$(rm x)'",
    "ls >; rm x",
    "ls\u00a0; rm x", "echo " + "x" * 12_000 + "; rm x",
    "ls;" * 80 + "rm x", "time time rm x", "sudo sudo sudo rm x", "rm", "ls \r\nrm x", "if ls\nthen\n rm x\nfi",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN, ids=range(len(HIDDEN)))
def test_a_denied_command_is_found_wherever_it_hides(text: str) -> None:
    assert denied(read_line(text), "rm"), text


INNOCENT = ["echo rm", "echo 'rm x'", 'grep "rm x" a', "ls rm", "cat a; echo \"; rm x\"", "echo a # rm x",
"cat <<'E'\nrm x\nE", "find . -name rm", "git rm x", "rmdir x", "./rm.sh",
            "[[ -f rm ]]", "command -v rm", "echo \\; rm", "ls > rm", "for rm in a; do ls; done", "X=rm ls",
            "cat <<E\nrm x\nE", "type rm"]  # fmt: skip


@pytest.mark.parametrize("text", INNOCENT)
def test_a_word_that_is_only_data_is_not_the_command(text: str) -> None:
    assert not denied(read_line(text), "rm"), text


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("git push", "git push", True), ("git push", "git -C x push origin", True),
        ("git push", "git -c a=b --no-pager push", True), ("git push", "git log push", False),
        ("git push", "git 'push'", True), ("git push …", "git push x", True), ("git push *", "git push", True),
        ("git * origin", "git push origin", True),
        ("git * origin", "git push upstream", False), ("rm -rf", "rm -v -rf x", True), ("rm -rf", "rm x -rf", True),
        ("rm -rf", "rm -r -f x", True), ("rm -rf", "rm -fr x", True), ("rm -rf", "rm -rfv x", True),
        ("rm -rf", "rm -vr x -f", True), ("rm -rf", "rm -r x", False), ("rm -rf", "rm x f r", False),
        ("git push --force", "git push origin --force", True), ("git push --force", "git push --force=x", True),
        ("git push --force", "git push --forc", True), ("git push --force", "git --force push", True),
        ("git push --force", "git push origin", False), ("git push --force", "git push --force-with-lease", False),
        ("git push -f", "git push origin -uf", True), ("git push -f", "git push -u origin", False),
        ("find -exec", "find . -name x -exec rm {} +", True), ("find -exec", "find . -type c -maxdepth 1", False),
        ("tar -xzvf", "tar -vzxf a", True), ("git -C x push", "git -C x push", True),
        ("git push --force", "git log --force", False),
        ("npm run build", "npm --prefix x run build", True),
        ("*", "ls", True), ("", "ls", False), (" ", "ls", False), ("/bin/rm", "/bin/rm x", True),
        ("/bin/rm", "rm x", True), ("git push", "GIT push", True),
        ("/usr/bin/git push", "git push", True), ("./deploy.sh", "sub/../deploy.sh x", True),
        ("./deploy.sh", "/srv/deploy.sh", True), ("./deploy.sh", "./deploy.py", False),
        ("git push", "git PUSH", False),
    ],
)  # fmt: skip
def test_a_pattern_that_denies_is_read_widely(pattern: str, text: str, found: bool) -> None:
    assert denied(read_line(text), pattern) is found


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("git status", "git status", True), ("git status", "git status -s", True),
        ("git status …", "git status -s", True), ("git status *", "git status", True),
        ("git status", "git statusx", False), ("git status", "git -p status", False),
        ("git status", "Git status", False), ("git status", "/usr/bin/git status", False),
        ("git status", "git 'status'", False), ("git status", "git sta\\tus", False), ("git * a", "git diff a", True),
        ("git * a", "git diff b", False), ("git status", "git", False),
        ("", "ls", False), ("  ", "ls", False), ("ls", "X=1 ls", False), ("git status", "time git status", True),
        ("git status", "time -p nice git status", True),
        ("sudo ls", "sudo ls", False), ("ls", "sudo ls", False), ("…", "ls", False),
        ("git log", "git log --output=x", False),
    ],
)  # fmt: skip
def test_a_pattern_that_allows_is_read_narrowly(pattern: str, text: str, found: bool) -> None:
    command = read_line(text, settings=PermissionSettings()).commands[0]
    assert matches(pattern, command, exactly=True) is found


def test_a_command_inside_another_is_allowed_by_no_pattern() -> None:
    inner = [command for command in read_line("echo $(ls)").commands if command.nested]
    assert [command.text for command in inner] == ["ls"]
    assert not matches("ls", inner[0], exactly=True)
