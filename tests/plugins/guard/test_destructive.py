"""The guard of destructive commands: what is refused wherever it stands in a line, and what is text or asked about."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import Ask, Call, Deny, Touch
from pegboard_guard import Settings, pegboard_guards
from pegboard_guard.destructive import DestructiveCommands
from pegboard_guard.walk import LONGEST

GUARD = DestructiveCommands(home="/home/me", here="/projects/ws", environ={"TMPDIR": "/tmp/x"})
CALL = Call(id="c1", name="some_tool")

# A line that ends in a backslash, or opens a here-document, goes on in the next.
REFUSED = r"""
rm -rf /
rm -rf /*
rm -fr ~
rm -rf ~/
rm -rf ~/*
rm -rf $HOME
rm -rf "$HOME"/*
rm -rf ${HOME}
rm -rf ~root
rm -rf /home/x
rm -rf /home/*
rm -rf .
rm -rf ./
rm -rf *
rm -rf ./*
rm -rf $PWD
rm -rf "$(pwd)"
rm -rf ..
rm -rf ../..
rm -rf .git
rm -rf ./.git/
rm -rf .git/*
rm -rf .g*
rm -rf .*
rm -rf src/../.git
rm -rf /projects/ws
rm -rf /projects
rm -rf /usr
rm -rf /usr/
rm -rf //
rm -rf /./
rm -rf /usr/..
rm -rf /u*
rm -rf {/,x}
rm --recursive --force /
rm / -rf
rm -r -- /
\rm -rf /
"rm" -rf /
/bin/rm -rf /
sudo rm -rf /
sudo -u root rm -rf /
env FOO=1 rm -rf /
nice -n 5 rm -rf /
timeout 5 rm -rf ~
xargs rm -rf /
bash -c 'rm -rf /'
bash -lc "cd x; rm -rf ~"
sudo bash -c 'rm -rf /'
sh -c "sh -c 'rm -rf /'"
eval 'rm -rf /'
echo $(rm -rf ~)
echo `rm -rf ~`
ls; rm -rf / # x
ls && rm -rf /
true | rm -rf /
if true; then rm -rf /; fi
for i in 1; do rm -rf /; done
(rm -rf /)
{ rm -rf /; }
f() { rm -rf /; }; f
cd / && rm -rf *
cd .. && rm -rf *
cd ~ && rm -rf *
cd build && rm -rf ..
rm -rf / )
rm -rf / "
rm -rf / $(
rm -rf /; echo 'x
find . -delete
find / -delete
find . -type f -delete
find -delete
find . -exec rm -rf {} +
find . -name '*' -delete
find .git -delete
rmdir /
unlink .git
shred .git
shred -u /dev/sda
mv / x
mv ~ x
mv .git x
mv . /tmp/x
chmod -R 777 /
chown -R me /
chmod -R 000 ~
chmod --recursive 777 /etc
dd if=/dev/zero of=/dev/sda
dd of=/dev/nvme0n1 if=x
cat x > /dev/nvme0n1
echo x >/dev/sda
echo x >| /dev/sda
echo x >>/dev/sda
bash -c 'cat x > /dev/sda'
cp x /dev/sda
tee /dev/sdb
sudo tee /dev/sdb < x
mkfs.ext4 /dev/sda1
mkfs -t ext4 /dev/sda1
sudo mkfs.ext4 /dev/vg/x
wipefs -a /dev/sda
fdisk /dev/sda
:(){ :|:& };:
:(){ :|: & };:
bomb() { bomb | bomb & }; bomb
function f { f|f& }; f
bash -c ':(){ :|:& };:'
fish -c 'rm -rf /'
rsync -a --delete empty/ /
rm -rf /proc/self/root
rm -rf /proc/self/cwd
sh <<X
rm -rf /
X
rm -rf \
  /
mkfs.ext4 -v /dev/sda1
mke2fs -v /dev/sda1
mkfs -V -t ext4 /dev/sda1
mkfs.vfat -n EFI /dev/sda1
mkfs.btrfs -d raid1 /dev/sda /dev/sdb
mkfs.xfs -d agcount=4 -f /dev/sda1
mkfs.ext4 -l bad /dev/sda1
sgdisk -Z -v /dev/sda
parted /dev/sda mklabel gpt print
mkntfs /dev/sda1
mkexfatfs /dev/sda1
cryptsetup luksFormat /dev/sda1
nvme format /dev/nvme0n1
wipefs -af /dev/sda
echo 'rm -rf /' | bash
printf 'rm -rf /\n' | sudo sh
echo / | xargs rm -rf
xargs rm -rf <<< /
printf '/\0' | xargs -0 -I{} rm -rf {}
source /dev/stdin <<< "rm -rf /"
source <(echo rm -rf /)
bash <(echo 'rm -rf /')
x=/; rm -rf $x
x=/ && rm -rf "$x"
x="*"; rm -rf $x
export x=/; rm -rf $x*
x='-rf /'; rm $x
for d in build /; do rm -rf $d; done
bash -c 'rm -rf $0' /
set -- /; rm -rf "$1"
rm -rf $x/
rm -rf "${X}/"
rm -rf "${X}/"*
rm -rf $UNSET/*
rm -rf "${X:-/}"
rm -rf ${HOME%/}
rm -rf $(echo /)
rm -rf "$(printf %s /)"
rm -rf `echo ~`
rm -rf $(git rev-parse --git-dir)
d=$(git rev-parse --git-dir); rm -rf "$d"
$(echo rm) -rf /
r=rm; $r -rf /
/bin/r? -rf /
rm${IFS}-rf${IFS}/
{rm,-rf,/}
rm -rf $"/"
rm -rf $'\x2f'
rm -rf $'/'
rm -rf /*/*
rm -rf ~/*/*
rm -rf ./**
rm -rf ../ws
rm -rf $PWD/../ws
cd ..; rm -rf ws
cd ../..; rm -rf projects
rm -rf ../../../etc
rm -rf /{usr,etc}
rm -rf /{{u,v}sr,x}
trap -- 'rm -rf /' EXIT
uv run rm -rf /
uv run --with x rm -rf /
npx rm -rf /
ssh h rm -rf /
ssh -p 22 h 'rm -rf /'
git submodule foreach 'rm -rf /'
git submodule foreach --recursive rm -rf /
git bisect run rm -rf /
git rebase -x 'rm -rf /' main
git -c 'alias.x=!rm -rf /' x
env -S"rm -rf /"
script -qc 'rm -rf /' out
alias g='rm -rf /'
eval -- 'rm -rf /'
find . -name '?*' -delete
find . -path './*' -delete
find . -size +0 -delete
find . -delete -name x
find $X/ -delete
find . -name x -o -delete
find . -exec sh -c 'rm -rf "$@"' x {} +
find . -exec sudo rm -rf {} +
find . -print0 | xargs -0 rm -rf
find . -type f | sort | xargs rm
find . -print | grep -v x; find . | xargs rm -f
ls | xargs rm -rf
rm .git/HEAD
rm -r .git/refs
rm -rf .git/objects/pack
rm .git/packed-refs
> .git/HEAD
: > .git/config
truncate -s 0 .git/HEAD
cp /dev/null .git/HEAD
echo x | tee .git/HEAD
mv .git/HEAD x
rm ~/*
cat x >'/dev'/sda
cat x > /dev/s\da
x=/dev/sda; cat y > $x
dd of=/dev/sd{a,b}
dd of=/dev/sd{a..c}
dd of=/dev/sd?
dd of=/proc/self/root/dev/sda
cp -t /dev sda
curl -o /dev/sda x
curl -o/dev/sda x
wget --output-document=/dev/sda x
f() { (f|f)& };f
f() ( f|f& );f
b(){ b & b & };b
f(){ f|f;};f
f(){ f $1|f $1& };f
f(){ "f"|f& };f
f(){ f>/dev/null|f& };f
"""
PASSED = r"""
echo "rm -rf /"
echo rm -rf /
grep mkfs notes
grep -rn "rm -rf /" .
git commit -m "rm -rf /"
git commit -m "fix :(){ :|:& };:"
echo ":(){ :|:& };:"
printf 'x > /dev/sda\n'
echo "x > /dev/sda" > notes
git reset --hard
rm -rf node_modules
rm -rf build/*
rm -rf ./dist
rm -f .git/index.lock
rm x
rm *.pyc
rm -f *.o
rm -rf src/*.pyc
rm -rf /projects/ws/build
rm -rf ~/.cache/x
rm -rf /tmp/x
rm -rf .pytest_cache
rm -rf .gitignore
find . -name '*.pyc' -delete
find . -type d -name __pycache__ -exec rm -rf {} +
find build -delete
cd build && rm -rf *
cd build && rm -rf ./*
mv * sub
mv a b
chmod -R 755 .
chown -R me src
chmod 600 ~/.ssh
dd if=/dev/zero of=file bs=1M count=1
dd if=/dev/sda of=file
cat x > /dev/null
echo x > /dev/stderr
cp /dev/sda x
fdisk -l
fdisk -l /dev/sda
mkfs.ext4 --help
man mkfs
which mkfs
git rm -r src
git clean -fdx
rm -r "$BUILD"
ls /
ls ~
ls .git
rm -rf a.git
rm -rf "rm -rf /x"
cat <<X
rm -rf /
X
sudo echo "x > /dev/sda"
# rm -rf /
python -c "print('rm -rf /')"
docker run x
rm -rf -- build
rm -rf node_modules dist build/
rm -rf "$TMPDIR/x"
rm -rf "${BUILD_DIR}/cache"
rm -rf "$ROOT"/build/*
x=build; rm -rf $x/
x=build; rm -rf "$x"/*
d=$(mktemp -d) && cd "$d" && rm -rf "$d/"
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
for d in build dist; do rm -rf "$d/"; done
for d in */; do rm -rf "$d/node_modules"; done
(cd build && rm -rf *)
cd $(mktemp -d) && rm -rf *
find . -path ./node_modules -prune -o -name '*.pyc' -print
find . -name '*.pyc' -o -name '*.pyo' -delete
find . \( -name '*.pyc' -o -name '*.pyo' \) -delete
find . -name '*.log' -size +10M -delete
find . -name '*.pyc' -print0 | xargs -0 rm -f
find . -type d -name dist -exec sh -c 'rm -rf "$1"' _ {} \;
find . | xargs grep rm
find . -type f -exec grep -q x {} \; -delete
git ls-files -d | xargs git rm
git clean -fd
rm .git/index.lock
rm -f .git/refs/heads/x.lock
rm -f .git/index
rm -rf '*'
rm -rf '~'
echo x >> .git/info/exclude
git config user.name x
echo '/' | cat
echo 'rm -rf /' | tee notes
echo 'rm -rf /' > notes
cat > notes <<'X'
rm -rf / and :(){ :|:& };:
X
dd if=/dev/zero of=disk.img
truncate -s 1G disk.img
wipefs /dev/sda
parted /dev/sda print
sfdisk -d /dev/sda
mkfs.ext4 -n /dev/sda1
cryptsetup luksDump /dev/sda1
curl -o out https://x
rm -rf ../other
rm -rf packages/*/dist
rm -rf */node_modules
f() { f "$1"; }; f x
build() { lint & check & wait; }; build
walk() { ls "$1" | while read -r x; do walk "$x"; done; }
f() { ls; }; f | f &
npm run clean
uv run pytest
ssh h uptime
trap - EXIT
printf -- | sh
"""
ASKED = r"""
rm -rf $x
rm -rf "$BUILD"
rm -fr -- "$x"
rm -r -f "$@"
rm -rf "$(cat list)"
rm -rf $(which rm)
rm -rf "${X:?}/"
rm -rf "$TMPDIR/"*
rm -rf ~/"$x"
f() { rm -rf "$1"; }; f build
$x -rf /
cd "$d" && rm -rf *
find "$DIR" -delete
mkfs.ext4 disk.img
mkswap swapfile
mkfs.ext4 "$DISK"
"""


def lines(text: str) -> list[str]:
    """One command line each."""
    found: list[str] = []
    begun = ""
    for line in text.strip("\n").split("\n"):
        begun = f"{begun}\n{line}" if begun else line
        if not begun.endswith("\\") and (not re.search("<<'?X", begun) or begun.endswith("\nX")):
            found.append(begun)
            begun = ""
    return found


@pytest.mark.parametrize("line", lines(REFUSED))
def test_a_destructive_command_is_refused_wherever_it_stands(line: str) -> None:
    denied = GUARD(CALL, [Touch("run", line)])
    assert isinstance(denied, Deny) and denied.rule.startswith("guard.destructive: ")
    assert "Nothing was run" in denied.text


@pytest.mark.parametrize("line", lines(PASSED))
def test_text_and_ordinary_removal_are_not_the_guards_affair(line: str) -> None:
    assert GUARD(CALL, [Touch("run", line)]) is None


@pytest.mark.parametrize("line", lines(ASKED))
def test_what_may_well_destroy_is_asked_about_whatever_the_rules_say(line: str) -> None:
    asked = GUARD(CALL, [Touch("run", line)])
    assert isinstance(asked, Ask) and asked.rule.startswith("guard.destructive: ")


def test_what_is_plainly_destructive_is_refused_though_something_else_is_doubtful() -> None:
    assert isinstance(GUARD(CALL, [Touch("run", "rm -rf $x; rm -rf /")]), Deny)
    assert isinstance(GUARD(CALL, [Touch("run", "rm -rf $x"), Touch("run", "rm -rf /")]), Deny)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("rm -rf /", "rm of the root of the file system"),
        ("rm -rf ./*", "rm of all of the workspace root"),
        ("rm -rf .", "rm of the workspace root"),
        ("rm -r .git", "rm of the repository's .git"),
        ("rm -rf ~", "rm of a home folder"),
        ("rm -rf /etc", "rm of the system folder /etc"),
        ("rm -rf $x/", "rm of the root of the file system, where a variable is not set"),
        ("cat x > /dev/sda", "writing to a disk"),
        (":(){ :|:& };:", "a fork bomb"),
        ("mkfs.ext4 /dev/sda1", "mkfs.ext4, which formats a disk"),
    ],
)
def test_the_rule_says_what_would_be_lost(line: str, named: str) -> None:
    assert GUARD.found(line) == named


def test_only_commands_are_read() -> None:
    assert GUARD(CALL, [Touch("read", "rm -rf /"), Touch("edit", "rm -rf /")]) is None
    assert GUARD(CALL, [Touch("read", "a"), Touch("run", "ls"), Touch("run", "rm -rf /")]) is not None


def test_it_can_be_switched_off_and_is_on_by_default() -> None:
    def kinds(chosen: Settings | None) -> list[str]:
        return [type(guard).__name__ for guard in pegboard_guards(chosen)]

    assert "DestructiveCommands" in kinds(None)
    assert "DestructiveCommands" not in kinds(Settings(destructive=False))


def test_a_command_is_judged_without_loading_the_grammar() -> None:
    code = (
        "import sys; from pegboard.calls import Call, Touch; from pegboard_guard import pegboard_guards\n"
        "guards = list(pegboard_guards(None))\n"
        "assert guards[-1](Call(id='c', name='t'), [Touch('run', 'rm -rf /')])\n"
        "assert 'tree_sitter' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


HIDDEN = [r"\rm -rf /", 'bash -c "rm -rf /"', ":(){ :|:& };:", "cat x >/dev/sda"]


@pytest.mark.parametrize("line", HIDDEN)
def test_length_does_not_hide_a_command(line: str) -> None:
    for many in (9_000, 25_000, LONGEST, 2 * LONGEST):
        assert GUARD.found("#" + "a" * many + "\n" + line) is not None
        assert GUARD.found("ls;" * (many // 3) + line) is not None


def test_a_long_text_for_a_file_is_no_long_command() -> None:
    assert GUARD.found("cat > notes <<'X'\n" + "rm -rf / is text; $(here) `too`\n" * 1500 + "X\n") is None
    denied = GUARD(CALL, [Touch("run", "cat > notes <<'X'\n" + "a" * LONGEST + "\nX\n")])
    assert isinstance(denied, Deny) and "too long" in denied.text and "Nothing was run" in denied.text


@pytest.mark.parametrize(
    "line",
    [
        *("watch " * 800 + "x", "find " + "-exec " * 700, "eval " * 900, "ssh " * 900, "f(){ " + "a|" * 1500),
        *("rm " + "{a,b}" * 600, "rm " + "a/*b.c " * 1000, "x=$x$x;" * 1200, "f()(" * 1000, 'eval "' * 600),
    ],
)
def test_the_work_is_bounded(line: str) -> None:
    """Counted in calls, not in time: what is not bounded takes millions."""
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        GUARD(CALL, [Touch("run", line)])
    finally:
        sys.setprofile(None)
    assert steps < 1_500_000


TARGETS = [
    "/",
    "//",
    "/.",
    "/*",
    "/usr/..",
    "/etc",
    "/etc/",
    "~",
    "~/",
    "~/*",
    "$HOME",
    "${HOME}/",
    "~root",
    "/home/x",
    ".",
]
TARGETS += [
    "./",
    "*",
    "./*",
    "..",
    "../",
    "$PWD",
    ".git",
    "./.git/",
    "src/../.git",
    "/projects/ws",
    "/projects/ws/",
    "{/,a}",
]
REMOVES = [
    "rm -rf",
    "rm -fr",
    "rm -r",
    "rm -R -f",
    "rm --recursive",
    "rm -v -rf",
    "rm -rf --",
    "rm -rf a",
    "/bin/rm -rf",
    "\\rm -rf",
]
BEFORE = [
    "",
    "sudo ",
    "sudo -n ",
    "env A=1 ",
    "nice ",
    "timeout 9 ",
    "true; ",
    "true && ",
    "false || ",
    "ls | xargs ",
    "! ",
    "(",
    "{ ",
]
AFTER = ["", " b", "; ls", " && ls", " || true", " | cat", " 2>/dev/null", " &", " # x", "\n", " )", "; '"]


@settings(max_examples=80, deadline=None)
@given(
    *map(st.sampled_from, (BEFORE, REMOVES, TARGETS, AFTER)),
    st.sampled_from(["{}", "bash -c '{}'", "echo $({})", "if x; then {}; fi"]),
)
def test_no_spelling_of_a_removal_passes(before: str, remove: str, target: str, after: str, around: str) -> None:
    end = after if around == "{}" or after not in (" # x", "; '", " )") else ""
    line = around.format(f"{before}{remove} {target}{end}")
    assert GUARD.found(line) is not None


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,6}(/[a-z0-9_]{1,6}){0,2}", fullmatch=True).filter(lambda name: name != "work")


@settings(max_examples=50, deadline=None)
@given(
    NAMES,
    st.sampled_from(
        [
            "rm -rf {}",
            "rm -rf ./{}/*",
            "rmdir {}",
            "find {} -delete",
            "echo 'rm -rf / {}'",
            "cd {} && rm -rf *",
            "mv {} /tmp/x",
        ]
    ),
)
def test_no_removal_of_a_plain_name_is_refused(name: str, command: str) -> None:
    assert GUARD.found(command.format(name)) is None
