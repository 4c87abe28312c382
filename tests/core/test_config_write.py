"""Changing the user's file: one key at a time, comments and order kept, whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.config import write
from pegboard.config.write import add_tables, create, set_key, unset_key
from pegboard.errors import ConfigError

FILE = """\
# Mine.
model = "a/b" # the good one

# About tools.
[tools] # t
deny = ["a"]  # never

# About searching.
[search]
max_hits = 1 # few

[guard]
# the end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "config.toml"
    made.write_text(FILE)
    return made


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("search.max_hits", 7, "max_hits = 1 # few", "max_hits = 7 # few"),
        ("model", "c/d", '"a/b" # the good one', '"c/d" # the good one'),
        ("toolSets", ["git"], "# the good one\n", '# the good one\ntoolSets = ["git"]\n'),
        ("tools.grep", False, "# never\n", "# never\ngrep = false\n"),
        ("search.rg", "/x", "# few\n", '# few\nrg = "/x"\n'),
        ("tools.deny", ["a", "b"], 'deny = ["a"]  # never', 'deny = ["a", "b"]  # never'),
        ("guard.protected", ["x"], "[guard]\n", '[guard]\nprotected = ["x"]\n'),
        ("ui.app", "chat", "# the end\n", '# the end\n\n[ui]\napp = "chat"\n'),
        ("providers.x.base_url", "u", "# the end\n", '# the end\n\n[providers.x]\nbase_url = "u"\n'),
    ],
)
def test_one_key_is_set_and_every_other_byte_stays(file: Path, key: str, value: Any, old: str, new: str) -> None:
    set_key(file, tuple(key.split(".")), value)
    assert file.read_text() == FILE.replace(old, new)


@pytest.mark.parametrize(
    ("key", "gone"),
    [("model", 'model = "a/b" # the good one\n'), ("search.max_hits", "[search]\nmax_hits = 1 # few\n")],
)
def test_one_key_is_taken_out_and_every_other_byte_stays(file: Path, key: str, gone: str) -> None:
    assert unset_key(file, tuple(key.split("."))) is True
    assert file.read_text().split() == FILE.replace(gone, "").split()
    assert unset_key(file, tuple(key.split("."))) is False


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("a = 1\n\n[words]\nlimit = 3\n", "words.limit", "a = 1\n\n"),
        ("[providers.x]\nurl = 'u'\n", "providers.x.url", ""),
        ("[providers.x]\nurl = 'u'\n[providers.y]\n", "providers.x.url", "[providers.y]\n"),
        ("[words] # mine\nlimit = 3\n", "words.limit", "[words] # mine\n"),
        ("[words]\nlimit = 3\n# less is more\n", "words.limit", "[words]\n# less is more\n"),
        ("[words]\nlimit = 3\nmost = 4\n", "words.limit", "[words]\nmost = 4\n"),
        ("words = {limit = 3}\n", "words.limit", "words = {}\n"),
        ("[words]\nlimit = 3\n[a]\n[words.deep]\nb = 1\n", "words.limit", "[a]\n[words.deep]\nb = 1\n"),
    ],
)
def test_a_table_that_says_nothing_any_more_goes_with_its_last_key(
    tmp_path: Path, before: str, key: str, after: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(before)
    assert unset_key(file, tuple(key.split("."))) is True
    assert file.read_text() == after


def test_a_missing_file_is_made_with_its_folder_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "config.toml"
    set_key(file, ("model",), "x/y")
    assert file.read_text() == 'model = "x/y"\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["config.toml"]


def test_the_files_own_mode_stays_and_a_link_is_followed(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    link = tmp_path / "link" / "config.toml"
    link.parent.mkdir()
    link.symlink_to(file)
    set_key(link, ("search", "max_hits"), 9)
    assert link.is_symlink() and "max_hits = 9" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("text", "key", "value", "says"),
    [
        ("[search]\nmax_hits = 1\n", "search.max_hits", "many", "config.toml:2: search.max_hits"),
        ("model =\n", "search.max_hits", 1, "config.toml:1: not valid TOML"),
        ("[search]\nmax_hits = 'x'\n", "model", "a", "config.toml:2: search.max_hits"),
        ("model = 'a'\nmodel = 'b'\n", "model", "c", "not valid TOML"),
    ],
)
def test_what_would_not_load_is_not_written(tmp_path: Path, text: str, key: str, value: Any, says: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        set_key(file, tuple(key.split(".")), value)
    assert says in str(caught.value) and str(caught.value).count("nothing was changed") == 1
    assert "nothing was started" not in str(caught.value)
    assert file.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("text", "key", "value", "after"),
    [
        ("[search]\nmax_hits = 'x' # oops\n", "search.max_hits", 5, "[search]\nmax_hits = 5 # oops\n"),
        ("[search]\nmax_hits = 'x'\nengine = 'rg'\n", "search.max_hits", None, "[search]\nengine = 'rg'\n"),
        ("# mine\ntools = 5\n", "tools", None, "# mine\n"),
    ],
)
def test_the_very_key_that_is_wrong_can_be_mended(tmp_path: Path, text: str, key: str, value: Any, after: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    parts = tuple(key.split("."))
    if value is None:
        assert unset_key(file, parts)
    else:
        set_key(file, parts, value)
    assert file.read_text() == after


def test_a_form_that_cannot_be_changed_cleanly_is_left_to_the_person(tmp_path: Path) -> None:
    text = (
        'zz = """\n[no table]\n"""\n'  # the new line would end up in the text, which is valid and says something else
    )
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"cannot be written without disturbing.*nothing was changed.*by hand"):
        set_key(file, ("model",), "x")
    assert file.read_text() == text


def test_a_write_that_fails_leaves_the_file_and_nothing_beside_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.os, "fsync", full)
    with pytest.raises(ConfigError, match=r"No space left on device.*nothing was changed"):
        set_key(file, ("model",), "x")
    assert file.read_text() == FILE
    assert [one.name for one in file.parent.iterdir()] == ["config.toml"]


def test_changes_by_several_processes_at_once_are_all_kept(file: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from pegboard.config.write import set_key\n"
        "for n in range(5): set_key(Path(sys.argv[1]), ('tools', f'{sys.argv[2]}{n}'), False)"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, str(file), name]) for name in "pqr"]
    assert [one.wait(60) for one in started] == [0, 0, 0]
    tools = tomllib.loads(file.read_text())["tools"]
    assert {key for key, on in tools.items() if on is False} == {f"{name}{n}" for name in "pqr" for n in range(5)}


def test_a_first_file_is_never_written_over_another(file: Path, tmp_path: Path) -> None:
    assert create(file, "# new\n") is False and file.read_text() == FILE
    dangling = tmp_path / "dangling.toml"
    dangling.symlink_to(tmp_path / "nowhere")
    assert create(dangling, "# new\n") is False and not (tmp_path / "nowhere").exists()
    fresh = tmp_path / "new" / "config.toml"
    assert create(fresh, "# new\n") is True and fresh.read_text() == "# new\n"


def test_line_ends_of_another_system_stay(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"# a\r\n[search]\r\nmax_hits = 1\r\n")
    set_key(file, ("search", "max_hits"), 2)
    assert file.read_bytes() == b"# a\r\n[search]\r\nmax_hits = 2\r\n"


WORDS = st.text(alphabet="ab#'\"\\ \n\té[]=.", max_size=8)
PATHS = st.sampled_from(["model", "search.rg", "guard.a b", "guard.x", "providers.p.headers.X-Y", "zz.a.b", "ui.app"])


@settings(max_examples=40, deadline=None)
@given(
    before=st.lists(st.tuples(PATHS, WORDS), max_size=4),
    key=PATHS,
    value=WORDS,
    comments=st.lists(st.sampled_from(["# one", "# two [x]", ""]), max_size=3),
)
def test_whatever_stands_there_the_key_is_set_alone_or_nothing_is_changed(
    tmp_path_factory: pytest.TempPathFactory, before: Any, key: str, value: str, comments: list[str]
) -> None:
    file = tmp_path_factory.mktemp("write") / "config.toml"
    file.write_text("".join(f"{line}\n" for line in comments))
    for name, text in before:
        set_key(file, tuple(name.split(".")), text, lambda said: None)
    old = tomllib.loads(file.read_text())
    set_key(file, tuple(key.split(".")), value, lambda said: None)
    new = tomllib.loads(file.read_text())
    node: Any = new
    for part in key.split("."):
        node = node[part]
    assert node == value
    for name, text in dict(before).items():
        if name != key:
            node = new
            for part in name.split("."):
                node = node[part]
            assert node == text
    assert all(line in file.read_text().splitlines() for line in comments)
    assert set(old) <= set(new)
    assert os.listdir(file.parent) == ["config.toml"]


# --- tables of an array: the rules that are remembered ----------------------------------------------------------------

RULES = ("permission", "rules")
ALLOW = {"action": "allow", "command": "make test"}
WRITTEN = '# Why.\n[[permission.rules]]\naction = "allow"\ncommand = "make test"\n'


@pytest.mark.parametrize(
    ("before", "between"),
    [
        (FILE, "\n"),
        ("", ""),
        ("# only this", "\n\n"),
        ("[[permission.rules]]\naction = 'deny' # mine\n\n[ui]\nstatus = true\n", "\n"),
        ("[permission]\nallow = ['git']\n\n", ""),
    ],
)
def test_a_rule_is_added_at_the_end_and_every_other_byte_stays(tmp_path: Path, before: str, between: str) -> None:
    file = tmp_path / "config.toml"
    if before:
        file.write_text(before)
    for _ in range(2):  # one that is there already is not written again
        assert add_tables(file, RULES, [ALLOW], "Why.") == before + between + WRITTEN == file.read_text()
    add_tables(file, RULES, [ALLOW, ALLOW | {"tool": "x"}], "More.")
    rules = tomllib.loads(file.read_text())["permission"]["rules"]
    assert rules[-2:] == [ALLOW, ALLOW | {"tool": "x"}] and file.read_text().count("# More.") == 1


def test_rules_that_are_written_as_one_list_get_another(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[permission]\nrules = [{action = 'deny', tool = 'x'}] # mine\n")
    add_tables(file, RULES, [ALLOW], "Why.")
    assert tomllib.loads(file.read_text())["permission"]["rules"] == [{"action": "deny", "tool": "x"}, ALLOW]
    assert file.read_text().endswith("# mine\n")


@pytest.mark.parametrize(
    "text",
    ["permission = {allow = ['x']}\n", "not = toml = at all\n", "[ui]\nstatus = 'x'\n", "[permission]\nrules = 5\n"],
)
def test_where_a_rule_cannot_be_added_nothing_is_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="nothing was changed"):
        add_tables(file, RULES, [ALLOW], "Why.")
    assert file.read_text() == text


@given(st.text(max_size=40))
def test_whatever_a_rule_says_is_read_back_as_it_was(said: str) -> None:
    table = {"action": "allow", "command": said}
    text = write._with_tables("x = 1\n", RULES, [table], "Why.")
    assert tomllib.loads(text)["permission"]["rules"] == [table]


def test_a_file_that_may_not_be_written_is_told_of_in_a_sentence_and_nothing_is_left(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted", "a.tmp", "b")

    monkeypatch.setattr(os, "replace", refused)

    with pytest.raises(ConfigError) as raised:
        set_key(file, ("model",), "c/d")

    assert str(raised.value) == (
        f"{file}: cannot be written (Operation not permitted); nothing was changed. See to it that you may write that file "
        "and its folder."
    )
    assert file.read_text() == FILE and os.listdir(file.parent) == [file.name]
