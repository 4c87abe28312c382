"""The guard of destructive commands: what is refused wherever it stands in a line, and what is text or asked about."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import Call, Touch
from pegboard_guard import Settings, pegboard_guards
from pegboard_guard.destructive import LONGEST, DestructiveCommands

GUARD = DestructiveCommands(home="/home/me", here="/projects/ws")
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
sudo mkfs.ext4 x
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
rm -rf "$BUILD"
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
"""


def lines(text: str) -> list[str]:
    """One command line each."""
    found: list[str] = []
    begun = ""
    for line in text.strip("\n").split("\n"):
        begun = f"{begun}\n{line}" if begun else line
        if not begun.endswith("\\") and ("<<X" not in begun or begun.endswith("\nX")):
            found.append(begun)
            begun = ""
    return found


@pytest.mark.parametrize("line", lines(REFUSED))
def test_a_destructive_command_is_refused_wherever_it_stands(line: str) -> None:
    denied = GUARD(CALL, [Touch("run", line)])
    assert denied is not None and denied.rule.startswith("guard.destructive: ")
    assert "Nothing was run" in denied.text


@pytest.mark.parametrize("line", lines(PASSED))
def test_text_and_ordinary_removal_are_not_the_guards_affair(line: str) -> None:
    assert GUARD(CALL, [Touch("run", line)]) is None


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("rm -rf /", "rm of the root of the file system"),
        ("rm -rf ./*", "rm of all of the workspace root"),
        ("rm -rf .", "rm of the workspace root"),
        ("rm -r .git", "rm of the repository's .git"),
        ("rm -rf ~", "rm of a home folder"),
        ("rm -rf /etc", "rm of the system folder /etc"),
        ("cat x > /dev/sda", "writing to a disk"),
        (":(){ :|:& };:", "a fork bomb"),
        ("mkfs.ext4 x", "mkfs.ext4, which formats a disk"),
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


def test_the_grammar_is_not_loaded_before_a_command_is_judged() -> None:
    code = (
        "import sys; from pegboard.calls import Call, Touch; from pegboard_guard import pegboard_guards\n"
        "guards = list(pegboard_guards(None)); touches = [Touch('read', 'a')]\n"
        "[guard(Call(id='c', name='t'), touches) for guard in guards]\n"
        "assert 'tree_sitter' not in sys.modules\n"
        "assert guards[-1](Call(id='c', name='t'), [Touch('run', 'rm -rf /')])\n"
        "assert 'tree_sitter' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_length_does_not_hide_a_command() -> None:
    assert GUARD.found(": " + "a" * LONGEST + "; rm -rf /") is not None


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
