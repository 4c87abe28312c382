"""What the tables of commands say: what only reads, what no pattern may pass, what "always" offers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import Command, Word, read_line
from pegboard.policy.shell import table_data as data
from pegboard.policy.shell.scripts import awk_only_prints, sed_only_prints
from pegboard.policy.shell.tables import pattern_for, reads_by, risk_of

OWN = PermissionSettings(bash_reads=["kubectl get", "just --list"], bash_words={"just": 2, "tool sub": 3})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables") / "app"
    for name, text in {
        "README.md": "b 1\na 2\n",
        "src/a.py": "import os\n",
        "src/b.py": "x = 1\n",
        "web/package.json": "{}",
        "keys/.env": "K=1\n",
        "keys/notes.txt": "n\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, timeout=60)
    (root.parent / "outside.txt").write_text("o\n")
    (root / "out.txt").symlink_to(root.parent / "outside.txt")
    (root / "secret.txt").symlink_to(root / "keys" / ".env")
    return root


def command(line: str, root: Path | None = None) -> Command:
    """The one command of a line, as the judge gives it."""
    read = read_line(line, root=None if root is None else str(root), settings=OWN)
    assert read.error is None
    return read.commands[0]


READS = r"""
ls -la src
cat README.md
cat src/*.py
cat -- README.md
head -20 README.md
head -n -5 README.md
tail -n +2 README.md
wc -l src/*.py
sort -t, -k2,2n README.md
sort -rn README.md
uniq -c README.md
cut -d / -f 1 README.md
grep -rn "/api/x" src
grep -rn foo --include=*.py .
grep -e -5 README.md
grep -n 'a\|b' src/a.py
rg -n foo
rg foo -g '*.py' -g '!web/**'
find . -name '*.py' -not -path './web/*'
find . -name '-delete'
find src web -type f -newer README.md -printf '%p\n'
sed -n '1,20p' README.md
sed -n '/a/,/b/p;5q' README.md
sed 's|a|b|g; s/x/y/2p' README.md
awk '{print $1}' README.md
awk -F: '$3 > 5 {print $1}' README.md
jq '.scripts.test' web/package.json
git status --short
git log --oneline -10 -- src
git log --grep=--output
git log -n 5 --format='%h %an'
git diff HEAD~1..HEAD -- src/a.py
git diff --no-ext-diff --output-indicator-new=+
git show HEAD:src/a.py
git branch -a
git branch --list 'a*'
git --no-pager log
git -c core.pager=cat diff
git -C src log
git stash list
git config --get user.name
git rev-parse --abbrev-ref HEAD
xxd -b -l 4 README.md
tree -aL 2 src
jq --arg x y '.[$x]' web/package.json
awk '/a|b/ {print $1}' README.md
awk '{print $1 "filesystem" 1}' README.md
hexdump -C README.md
git shortlog -sn
git config user.name
git symbolic-ref HEAD
git --help
grep -rn foo --include='*.py' .
find -H src -name '*.py'
echo src/*
sha256sum README.md
date +%F
printf '%s\n' a
command -v git
test -f README.md
python --version
node --version
git --version
pip list
kubectl get pods -o yaml
just --list
""".strip().splitlines()

NOT_READS = r"""
cat ../outside.txt
cat /etc/passwd
cat ~/notes
cat .env
cat keys/.env
cat keys/.e*
cat out.txt
cat secret.txt
cat /proc/1/environ
head --lines=5 keys/.env
grep -f /etc/passwd README.md
grep -rn foo keys
grep -rn foo .
grep -rn foo --include='.env' .
grep -d recurse foo keys
rg x -g '.env'
rg x -g '.e*' .
rg x -g 'keys/*'
rg x --hidden
rg x keys -g '*'
diff keys web
grep -R foo .
git show HEAD:.env
git show HEAD:keys/id_rsa
git diff /etc/passwd README.md
git -C /etc log
git branch new
git branch -d new
git tag new
git remote add x y
git stash
git reflog expire --all
git config user.name x
git config --list
git log --show-signature
find . -newer /etc/passwd
find /etc -name x
env
printenv
ps auxe
tee README.md
awk 'BEGIN { while (getline line < "/etc/passwd") print line }'
awk '{print ENVIRON["HOME"]}' README.md
jq 'env' web/package.json
sed -n 'r /etc/passwd' README.md
curl example.org
less README.md
npm ls
python -m pip list
./ls
/bin/ls
hostname evil
date -s tomorrow
tree -o x
xxd -r README.md x
kubectl get -f /etc/passwd
kubectl delete pod x
awk 'BEGIN{print 1ENVIRON["HOME"]}'
awk 'BEGIN{1getline}'
grep -r --include='[^a]env' SECRET .
grep -r --include='[[:punct:]]env' SECRET .
rg -g '[^a]env' SECRET
strings @args
strings -- @args
jq -n '$ ENV'
jq -n '1|ENV'
jq -n '"a"|modulemeta'
echo /etc/*
echo ~/.ssh/*
echo ../*
echo src/../../*
tree -l
find -L .
find . -follow
md5sum -c list
cat .git/config
cat web/../.git/config
xxd -l4 README.md
cat .*
echo src/*/../../*
git log --format=%G?
git symbolic-ref HEAD refs/heads/x
python --version x
""".strip().splitlines()

RISKY = r"""
git diff --output=x
git diff --output x
git diff --out=x
git log -p --ext-diff
git log --textconv
git -c alias.status='!x' status
git -c core.pager=x -p log
git --config-env=a=b log
git --exec-path=. status
git --namespace x -c core.pager=y log
git grep -O x
git grep --open-files-in-pager=x y
git fetch --upload-pack x
git rebase -x 'make'
git submodule foreach x
git difftool --extcmd=x
find . -exec x \;
find . -delete
find . -fprintf x y
rg --pre ./x y
rg y --pre=./x
rg --hostname-bin=x y
rg -nz x
sort -o x README.md
sort -ox README.md
sort -no x README.md
sort README.md --out x
sort --compress-program=x README.md
uniq README.md x
xxd README.md x
sed -i s/a/b/ x
sed -n 's/a/b/w out' x
sed 's/a/b/e' x
sed -e p -f x y
sed '1e x' y
awk 'BEGIN{system("x")}'
awk '{print > "x"}' y
awk '{print | "x"}' y
awk -f x y
tar xf a --to-command=x
tar xIf x a
tar --checkpoint-action=exec=x -cf a b
tar -xf a --use-comp x
rsync -e x a b
pytest -p evil
pytest -pevil
pytest -qp evil
pytest -co
pytest -c /tmp/x.ini
pytest --rootdir=x
pytest --rootd=x
pytest -o addopts=-pevil
pytest --junitxml=x
python -c x
python -Ic x
python -m pytest -p evil
python -mpytest -p evil
python -W ignore -c x
python -X dev -m pytest -p evil
python -
uv run pytest -p evil
uv run --with evil pytest
uv run python -c x
node -e x
node --require ./x y.js
node --conditions a -e x
perl -e x
ruby -rx y
make -f x
make -C x
make --eval=x
make SHELL=x test
make test CC=x
npm --script-shell=x test
npm test --script-shell x
cargo test --config x
cargo --config x test
go test -exec x ./...
go build -toolexec=x
go vet -vettool x
mypy --config-file x src
ruff check --config 'a=b' src
xargs rm
env x
sudo x
npx x
ssh -o ProxyCommand=x h
curl -o x example.org
curl -sOL example.org
curl -K x
wget -O x example.org
tee x
dd of=x
bash -c x
bash
eval x
docker run x
docker --foo run x
gcc -wrapper x a.c
gcc -o .git/hooks/x a.c
kubectl exec p -- x
printf -v x y
awk 'BEGIN{x=1system("touch x")}'
awk 'BEGIN{0xfsystem("x")}'
awk 'BEGIN{1esystem("x")}'
awk '/a/ {print | "x"}' y
awk '!/a|b/ {"x" | getline}' y
xxd -bc README.md out
xxd -al README.md out
tree -Po x out.txt
tree -Io x out.txt
find -D -name -delete
find -D -path -fprint p
npm test -script-shell=./evil
npm test ---script-shell x
npm test -prefix=other
npm test -pre=evil
npm test -cache=x
pnpm test -script-shell=x
strings @args
nm @args
git log --format=%G?
git show -s --format=%GG
git log --pretty=format:%GK
git log --pretty='format:%h %+GS'
git log --show-sig
pytest @pargs
pytest -q -- @pargs
uv run pytest @pargs
mypy @x
ruff check @x
pytest --alluredir=x
pytest --tap-outdir x
pytest --output=x
git log --help
git status --help
git --help log
jq -nf prog README.md
jq -L. x
""".strip().splitlines()

NOT_RISKY = r"""
git commit -m '--output=x'
git log -n 5 -- README.md
git checkout -b topic
git push origin main
git -c color.ui=never status
rg TODO -- *
rg -n 'a|b' src
find . -name '-exec' -print
grep -rn -- '-exec' src
sort -k2 -t, README.md
pytest -x tests/a.py
pytest -p no:cacheprovider
pytest -k 'a and not (b or c)' 'tests/x.py::y[p-1]'
pytest --co
pytest --cov=src --durations=5
python tools/x.py -c y
python -m pytest -q
uv run pytest -q
node app.js -e x
make -j4 test
npm run build -- --config x
cargo test --release
go test ./... -run TestX
gcc -o build/prog a.c
tar xzf a.tgz
curl -s example.org
unknown --exec x
npm run build -- -script-shell=x
npm test -silent
hexdump -C x
git commit -m 'about %GS'
""".strip().splitlines()


@pytest.mark.parametrize("line", READS)
def test_a_program_that_only_reads_in_the_workspace_is_known(line: str, project: Path) -> None:
    assert reads_by(command(line).words, OWN, root=str(project))


@pytest.mark.parametrize("line", NOT_READS)
def test_what_may_do_more_or_leads_out_or_to_a_secret_is_not_reading(line: str, project: Path) -> None:
    assert reads_by(command(line).words, OWN, root=str(project)) is None


@pytest.mark.parametrize("line", RISKY)
def test_options_that_run_load_or_write_are_found_as_the_program_parses_them(line: str, project: Path) -> None:
    found = risk_of(command(line).words)
    assert found is not None and found[0] == "R8"
    assert pattern_for(command(line).words) is None
    assert reads_by(command(line).words, OWN, root=str(project)) is None


@pytest.mark.parametrize("line", NOT_RISKY)
def test_what_only_looks_like_such_an_option_is_none(line: str) -> None:
    assert risk_of(command(line).words) is None


@pytest.mark.parametrize(
    "line", ["find *", "find . -name *.py", "rg x *", "sort *", "git diff *", "pytest *.py", "make *"]
)
def test_a_glob_that_may_become_an_option_is_found(line: str) -> None:
    found = risk_of(command(line).words)
    assert found is not None and found[0] == "R9"


@pytest.mark.parametrize(
    ("line", "offer"),
    [
        ("git status", "git status …"),
        ("git log -n 5 -- x", "git log …"),
        ("git stash list", "git stash list …"),
        ("git --no-pager log -3", "git --no-pager log …"),
        ("npm run build", "npm run build …"),
        ("npm test -- -x", "npm test …"),
        ("uv run pytest -x", "uv run pytest …"),
        ("uv run -q python -m pytest x", "uv run -q python -m pytest …"),
        ("python -m pytest -q", "python -m pytest …"),
        ("python3 -u tools/x.py a", "python3 -u tools/x.py …"),
        (".venv/bin/pytest x", ".venv/bin/pytest …"),
        ("docker compose up -d", "docker compose up …"),
        ("cargo test --release", "cargo test …"),
        ("make test", "make test …"),
        ("kubectl get pods", "kubectl get …"),
        ("pytest -x tests/a.py", "pytest …"),
        ("just build", "just build …"),
        ("tool sub one two", "tool sub one …"),
        ("tool other", "tool …"),
    ],
)
def test_always_offers_the_words_that_name_the_command(line: str, offer: str) -> None:
    assert pattern_for(command(line).words, OWN) == offer


@pytest.mark.parametrize(
    "line",
    [
        *(
            "bash x.sh",
            "sh x",
            "env",
            "xargs",
            "sudo ls",
            "ssh host",
            "eval x",
            "npx x",
            "python",
            "python -i x.py",
            "node",
        ),
        *(
            "make",
            "npm",
            "npm run",
            "git",
            "git push",
            "rm x",
            "rm -rf x",
            "curl x",
            "docker run x",
            "uv run",
            "npm exec x",
        ),
        *(
            "'git' status",
            "git 'status'",
            "pytest -p evil",
            "npm --prefix x run y",
            "find . -delete",
            "uv run bash x",
            "just",
        ),
    ],
)
def test_nothing_is_offered_that_would_cover_anything(line: str) -> None:
    assert pattern_for(command(line).words, OWN) is None


def test_without_a_root_only_spelling_counts_and_recursion_is_never_sure() -> None:
    assert reads_by(command("cat src/x").words)
    assert reads_by(command("cat ../x").words) is None
    assert reads_by(command("cat ../x").words, cwd="src")
    assert reads_by(command("cat *.pem").words) is None
    assert reads_by(command("grep -r x src").words) is None


def test_the_judge_uses_the_tables(project: Path) -> None:
    line = read_line("cd src && cat a.py | sort -o x", root=str(project))
    looks, sorts = line.commands[1:]
    assert looks.reads == "cat"
    assert sorts.reads is None and sorts.risk is not None and sorts.risk.rule == "R8"


def test_the_data_is_in_the_package() -> None:
    from importlib.resources import files

    found = {path.name for path in files("pegboard.policy.shell").joinpath("data").iterdir()}
    assert {"names.toml", "reads.toml", "risky.toml"} <= found
    assert len(data.reads()) > 90 and len(data.risks()) > 100 and len(data.names().words) > 80


LISTED = sorted(name for name, row in data.reads().items() if " " not in name and row.kinds and name != "command")


@pytest.mark.parametrize("name", LISTED)
def test_what_a_row_says_of_long_options_is_what_the_program_says(name: str) -> None:
    """A value that we took for none, or none for one, would let an option hide: each `--name` is held against `--help`."""
    row = data.reads()[name]
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed here")
    said = subprocess.run(
        [name, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    help_text = said.stdout + said.stderr
    for option, kind in row.kinds.items():
        found = re.search(rf"{re.escape(option)}(?![\w-])(\[=|=| <)?", help_text)
        if option.startswith("--") and found is not None:
            takes = {"[=": {"maybe"}, "=": {"text", "path", "maybe"}, " <": {"text", "path"}}.get(
                found[1], {"flag", "maybe", "pair"}
            )
            assert kind in takes, option


NASTY = [
    *("-o", "-oREADME.md", "--output=x", "--out", "x", "-i", "-delete", "-exec", "touch", ";", "-w", "README.md"),
    *(
        "src/a.py",
        "-n",
        "p",
        "w x",
        "s/a/b/w x",
        "1e touch x",
        "-e",
        "-f",
        "-r",
        "--",
        "-s",
        "-c",
        "2",
        "-T.",
        "-fprint",
    ),
    *("-name", ".", "-S1", "-k1", '{print > "x"}', "{print}", "-v", "-z", "-u", "-t", "-in", "-ni", "--in-place", "-R"),
    *("-C", "-m", "+%F"),
]
RUN = ["sort", "uniq", "sed", "awk", "find", "xxd", "date", "diff", "head", "cat", "file", "cut"]


@pytest.mark.parametrize("program", RUN)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(NASTY), max_size=6))
def test_what_is_said_to_read_changes_nothing_when_it_really_runs(
    program: str, words: list[str], tmp_path: Path
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here")
    root = tmp_path / "root"
    shutil.rmtree(root, ignore_errors=True)
    (root / "src").mkdir(parents=True)
    (root / "README.md").write_text("b\na\n")
    (root / "src" / "a.py").write_text("x\n")
    given_words = [Word(text, 0, 0) for text in (program, *words)]
    if reads_by(given_words, root=str(root)) is None:
        return
    subprocess.run([program, *words], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    there = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
    assert there == {"README.md": "b\na\n", "src/a.py": "x\n"}


PART = r"(?:[^/\\\[\n]|\\.|\[[^]\\\n/]+\])*"


@given(st.text("pdw es/\\[]x;\n{}1,$!rqa", max_size=12))
def test_a_sed_script_with_a_command_that_writes_or_runs_is_never_taken(script: str) -> None:
    if sed_only_prints(script):
        without = re.sub(rf"s/{PART}/{PART}/|/{PART}/", "", script)
        assert not set("wera{}") & set(without)


@pytest.mark.parametrize(
    "program", ['{print|"x"}', '{print >"x"}', "@load 'x'", 'BEGIN{printf "a" > "b"}', '{print\n>"x"}', '"x"|getline']
)
def test_an_awk_program_that_reaches_out_is_never_taken(program: str) -> None:
    assert not awk_only_prints(program)
