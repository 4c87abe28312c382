"""What is read of a repository without git: its configuration, quoted names, revisions. git is the judge."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.kit.caps import Caps
from pegboard.kit.workspace import Workspace
from pegboard_tools_git.config import Setting, kept, parsed, written
from pegboard_tools_git.patches import Page, unquoted
from pegboard_tools_git.places import path_in_ref
from pegboard_tools_git.pushing import addresses, protocol_of
from pegboard_tools_git.repository import find

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)
SETTINGS = st.builds(
    Setting,
    st.sampled_from(["core", "remote", "branch"]),
    st.none() | WORDS.filter(lambda text: "\n" not in text),
    st.sampled_from(["url", "merge", "x-1"]),
    st.none() | WORDS,
)


@given(st.lists(SETTINGS, max_size=6))
def test_settings_that_are_written_are_read_as_the_same(given_: list[Setting]) -> None:
    assert parsed(written(given_)) == given_


@settings(max_examples=25)
@given(st.lists(SETTINGS, min_size=1, max_size=12))
def test_git_reads_what_is_written_as_it_was_meant(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Setting]
) -> None:
    file = tmp_path_factory.mktemp("config") / "config"
    file.write_text(written(given_), "utf-8")
    done = subprocess.run(["git", "config", "--file", file, "--list", "-z"], capture_output=True, check=True)
    wanted = []
    for section, name, key, value in given_:
        full = f"{section}.{name}.{key}" if name is not None else f"{section}.{key}"
        wanted.append(full if value is None else f"{full}\n{value}")
    assert done.stdout.decode().split("\0")[:-1] == wanted


@pytest.mark.parametrize(
    "text",
    [
        '[core]\n\tbare = false ; not so\n\tx = "a # b" c\\\n  d\n',
        '[remote "a\\"b\\\\c"]\n\turl = x\\ty\n',
        "[branch.Old]\n\tmerge=  spaced   out  \n",
        "[Core] fileMode = true\n[core]\nignorecase\n",
        '\ufeff[core]\r\n\tbare = "tr""ue"\r\n',
    ],
)
def test_odd_configuration_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_bytes(text.encode())
    done = subprocess.run(["git", "config", "--file", file, "--list", "-z"], capture_output=True, check=True)
    found = []
    for section, name, key, value in parsed(text):
        full = f"{section}.{name}.{key}" if name is not None else f"{section}.{key}"
        found.append(full if value is None else f"{full}\n{value}")
    assert found == done.stdout.decode().split("\0")[:-1]


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert parsed("[core]\n" + text) is not None


def test_only_settings_that_start_nothing_are_kept() -> None:
    text = """[core]\nbare = false\nfsmonitor = x\nsshCommand = x\nworktree = /\n[filter "a"]\nclean = x\n[remote "o"]
url = u\nreceivepack = x\nvcs = x\n[url "x"]\ninsteadOf = u\n[extensions]\nobjectFormat = sha256\npartialClone = o
worktreeConfig = true\n[include]\npath = x\n[branch "b"]\nremote = o\n[remote]\nurl = x\n[core "x"]\nbare = true\n"""
    assert [(s.section, s.name, s.key) for s in kept(parsed(text))] == [
        ("core", None, "bare"),
        ("remote", "o", "url"),
        ("extensions", None, "objectformat"),
        ("branch", "b", "remote"),
    ]


@given(st.binary(min_size=1, max_size=20))
def test_quoted_names_are_unquoted(name: bytes) -> None:
    octal = b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'
    assert unquoted(octal) == name
    assert isinstance(unquoted(b'"' + name + b'"'), bytes)


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("HEAD", None),
        ("HEAD:a b", "a b"),
        (":a", "a"),
        (":0:a", "a"),
        (":2:a:b", "a:b"),
        (":/fix: it", None),
        ("HEAD^{/fix: it}", None),
        ("HEAD^{/x}:.env", ".env"),
        ("main@{1 day ago}:d/x", "d/x"),
        ("HEAD:", ""),
    ],
)
def test_the_path_in_a_revision_is_found(ref: str, path: str | None) -> None:
    assert path_in_ref(ref) == path


@pytest.mark.parametrize(
    ("address", "protocol"),
    [
        ("https://example.org/x.git", "https"),
        ("HTTP://example.org/x", "http"),
        ("ssh://git@example.org/x", "ssh"),
        ("git+ssh://example.org/x", "ssh"),
        ("git@example.org:x/y.git", "ssh"),
        ("example.org:x", "ssh"),
        ("ext::sh -c x", "ext"),
        ("fd::17", "fd"),
        ("file:///srv/x.git", "file"),
        ("/srv/x.git", "file"),
        ("../x:y", "file"),
    ],
)
def test_how_an_address_is_reached(address: str, protocol: str) -> None:
    assert protocol_of(address) == protocol


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ada:secret@example.org/x", "https://example.org/x"),
        ("https://token@example.org/x", "https://example.org/x"),
        ("ssh://git:secret@example.org/x", "ssh://git@example.org/x"),
        ("ssh://git@example.org/x", "ssh://git@example.org/x"),
        ("git@example.org:x", "git@example.org:x"),
    ],
)
def test_addresses_are_told_without_passwords(tmp_path: Path, address: str, shown: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "remote", "add", "origin", address], cwd=tmp_path, check=True)
    assert addresses(find(Workspace(str(tmp_path)), "."), "origin") == [shown]


DIFF = b"""commit 1
diff --git a/keep b/keep
index 1..2 100644
--- a/keep
+++ b/keep
@@ -1 +1 @@
-diff --git a/hide b/hide
+kept
diff --git "a/hi\\144e" "b/hi\\144e"
--- "a/hi\\144e"
+++ "b/hi\\144e"
@@ -1 +1 @@
-secret
+secret
commit 2
    diff --git a/keep b/keep
diff --cc hide
--- a/hide
+++ b/hide
@@@ -1,1 -1,1 +1,1 @@@
++secret
diff --git a/touched b/touched
"""


@given(st.lists(st.integers(1, len(DIFF)), max_size=8))
def test_what_may_not_be_read_is_left_out_however_the_pieces_come(cuts: list[int]) -> None:
    page = Page(Caps(), refused=lambda name: name == "hide")
    at = 0
    for cut in [*sorted(cuts), len(DIFF)]:
        page.feed("stdout", DIFF[at:cut])
        at = cut
    page.close()
    text, data = page.result()
    assert "secret" not in text and data.left_out == ["hide"]
    assert text.startswith("commit 1\ndiff --git a/keep b/keep\n") and "+kept\ncommit 2\n" in text
    assert "-diff --git a/hide b/hide\n" in text and "touched" not in text
