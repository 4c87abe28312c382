"""A rule that denies is not avoided by what a line hands on: it finds the command, or is not ruled out."""

from __future__ import annotations

import pytest
from judging import denied
from pegboard.policy.shell import Line, matches, read_line
from pegboard.policy.shell.line import Command

FOUND = [
    'echo "git push" | bash', "echo git push | sh", "printf 'git push' | sh", "printf '%s\\n' 'git push' | bash",
    "printf 'git %s' push | sh", "cat <<E | bash\ngit push\nE", "echo 'git push' | cat | bash",
    "echo 'git push' | sudo bash",
    "echo 'git push' | bash -s x", "echo 'git push' | bash -", "echo 'git push' | bash /dev/stdin",
    "echo 'ls; git push' | nice bash -x", 'source /dev/stdin <<< "git push"', ". /dev/fd/0 <<< 'git push'",
    "source <(echo git push)", "bash <(printf 'git push')", "bash < <(echo git push)", "bash -o pipefail <<< 'git push'",
    "echo push | xargs git", "xargs git <<< push", "echo 'git push' | xargs -I{} sh -c '{}'",
    "echo 'git push' | xargs -I X bash -c X", "echo push origin | xargs -n1 git", "echo -- push | xargs -t git",
    "git -c alias.x=push x", "git -c alias.x='!git push' x", "git -c color.ui=never -c alias.p='push -f' p",
    'env -S"git push"', "env -vS 'git push'", "env -iS'git push'", "env -S git push", "env --split-string='git push'",
    "env -S'git\\_push'", "env A=1 -S 'git push'",
    'script -qc "git push" x', "script x -c 'git push'", "su -c'git push'", "flock f -c 'git push'",
    "parallel git ::: push", "parallel ::: 'git push'", "parallel git {} x ::: pull push", "echo 'git push' | parallel",
    "echo push | parallel git", "trap -- 'git push' EXIT", "trap 'git push' EXIT",
    "uv run git push", "uv run --with x git push", "uv --quiet run -- git push", "poetry run git push",
    "bundle exec git push", "npx git push", "npx -c 'git push'", "pnpm exec git push", "yarn run git push", "bun x git push",
    "npm exec -- git push", "conda run -n x git push", "docker exec -it c git push", "tmux new -d 'git push'",
    "git submodule foreach git push", "git submodule foreach --recursive 'git push'", "git bisect run git push",
    "git rebase -x 'git push' main", "git rebase --exec='git push'", "git rebase -i --exec 'git push'",
    "git filter-branch --tree-filter 'git push'", "git difftool -x 'git push'",
    "ssh h 'git push'", "ssh h git push", "ssh -p 22 h git push", "ssh -o ProxyCommand='git push' h", "alias g='git push'",
    "awk 'BEGIN{system(\"git push\")}'", "awk '{print | \"git push\"}' x", "/usr/lib/git-core/git-push", "git-push origin",
    "jobs -x git push", "mapfile -C 'git push' -c 1 x", "tar --to-command='git push' -xf x",
    "tar --checkpoint-action=exec='git push' -cf x y", "tar --checkpoint=1 --checkpoint-action 'exec=git push'",
    "env A=1 B=2 C=3 D=4 E=5 F=6 G=7 H=8 I=9 J=10 K=11 git push", "sudo -E -H -n -k -S -b -A -P -i -s -K git push",
    "watch -n 5 'git push'", "watch -d git push", "bash -c -o pipefail 'git push'", "hg x; sh -c 'x' || npx -y git push",
]  # fmt: skip

DOUBTED = [
    "curl x | bash", "bash", "cat x | sh", "bash < x", "(echo git; echo push) | bash", "echo -e 'git\\x20push' | bash",
    "echo 'git qush' | tr q p | bash", "{ echo a; } | sh", "source /dev/stdin", "source <(cat x)",
    "while read x; do bash; done",
    "cat x | xargs git", "xargs -a x git", "ls | xargs -I{} sh -c {}", "printf '%b' 'git\\x20push' | sh",
    "echo() { cat x; }; echo hi | bash", "parallel < x", "parallel git :::: x", "find . -name push -exec git {} \\;",
    "GIT_CONFIG_COUNT=1 git x", "git --config-env=alias.x=V x", "hash -p /usr/bin/git g; g push", "at now < x",
    "cat x | sudo -s",
    "echo $x | bash", "bash -c \"$x\"", "ssh h < x",
]  # fmt: skip

INNOCENT = [
    "echo git push", "git log | xargs -n 1 echo", "ls | xargs grep push", "echo 'git push' > x", "echo 'git push' | cat",
    "uv run pytest -k 'git push'", "npm run push", "git commit -m 'git push'", "bash x.sh", "cat x | bash y.sh",
    "bash --version", "echo ls | bash", "printf 'ls\\n' | sh", "awk '/git push/ {print}' x", "docker build -t push .",
    "env -u git ls", "git stash push", "ssh -V", "trap - EXIT", "echo 'a' | xargs git add",
]  # fmt: skip


def doubted(line: Line) -> bool:
    """Whether there is a command of which nobody knows the program, or git with words that nobody knows."""

    def unsure(command: Command) -> bool:
        first, *rest = command.judged
        return not first.inert or (first.text == "git" and any(not word.inert for word in rest))

    return line.error is not None or any(unsure(command) for command in line.commands if command.judged)


@pytest.mark.parametrize("text", FOUND, ids=range(len(FOUND)))
def test_a_denied_command_is_found_in_what_another_is_given_or_fed(text: str) -> None:
    assert denied(read_line(text), "git push"), text


@pytest.mark.parametrize("text", DOUBTED, ids=range(len(DOUBTED)))
def test_where_nobody_knows_what_is_run_no_rule_is_ruled_out(text: str) -> None:
    line = read_line(text)
    assert denied(line, "git push") or doubted(line), text


@pytest.mark.parametrize("text", INNOCENT, ids=range(len(INNOCENT)))
def test_a_line_that_only_names_it_is_neither(text: str) -> None:
    line = read_line(text)
    assert not denied(line, "git push") and not doubted(line), text


@pytest.mark.parametrize(
    ("text", "rule"),
    [("jobs -x touch p", "R8"), ("jobs -lx touch p", "R8"), ("wait -np 'a[$(x)]'", "R8"), ("wait -fnp x", "R8")],
)
def test_builtins_that_run_or_set_something_pass_by_no_pattern(text: str, rule: str) -> None:
    command = read_line(text).commands[0]
    assert command.risk is not None and command.risk.rule == rule
    assert not matches(text.split()[0], command, exactly=True)


@pytest.mark.parametrize("text", ["cat < 2>&1", "echo x<<<2>&1", "cat <{a}>x", "cat < 12<x"])
def test_a_target_that_looks_like_a_descriptor_is_not_read(text: str) -> None:
    error = read_line(text).error
    assert error is not None and error.rule == "R0"
