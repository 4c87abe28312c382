"""Which word is being written, and what would stand in its place."""

from __future__ import annotations

import asyncio
import shlex
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.port import Offered
from pegboard_tui.composer.completing import (
    Choice,
    of_commands,
    of_files,
    of_paths,
    of_prompts,
    of_words,
    quoted,
    shown,
    wanted,
)
from pegboard_tui.composer.files import Files
from pegboard_tui.composer.fuzzy import name_of, places, score
from scripted import ScriptedHost


@pytest.mark.parametrize(
    ("line", "kind", "query", "start"),
    [
        ("/", "command", "", 0),
        ("/mo", "command", "mo", 0),
        ("/mode pl", "word", "pl", 6),
        ("/mode  ", "word", "", 7),
        ("/tool grep pattern=x pa", "word", "pa", 21),
        ("//mo", None, "", 0),
        (" /mo", None, "", 0),
        ("/usr/bin", None, "", 0),
        ("look at @", "file", "", 8),
        ("look at @src/ap", "file", "src/ap", 8),
        ("(@ap", "file", "ap", 1),
        ('@"a b', "file", "a b", 0),
        ('@"a b" c', None, "", 0),
        ("me@example.org", None, "", 0),
        ("@a b", None, "", 0),
        ("plain words", None, "", 0),
    ],
)
def test_the_word_that_is_written_is_known(line: str, kind: str | None, query: str, start: int) -> None:
    found = wanted(line, len(line), first=True, command=False)
    assert (found.kind if found else None) == kind
    if found:
        assert (found.query, found.start, found.end) == (query, start, len(line))


def test_only_a_texts_first_line_is_a_slash_command() -> None:
    assert wanted("/mo", 3, first=False, command=False) is None
    named = wanted("/mode rest", 3, first=True, command=False)
    assert named is not None and (named.start, named.end, named.query) == (0, 5, "mo")
    rest = wanted("/tool a  b=c d", 14, first=True, command=False)
    assert rest is not None and (rest.command, rest.rest) == ("tool", "a  b=c d")


def test_words_of_a_command_are_paths_unquoted() -> None:
    for line, query, start in [
        ("!cat src/ap", "src/ap", 5),
        ("!ls", "ls", 1),
        ("!cat 'a b", "a b", 5),
        ("!a|b", "b", 3),
        ("!cat ", "", 5),
        ("!echo @x", "@x", 6),
    ]:
        found = wanted(line, len(line), first=True, command=True)
        assert found is not None and (found.kind, found.query, found.start) == ("path", query, start), line


def test_a_better_fit_comes_first() -> None:
    def best(query: str, *paths: str) -> list[str]:
        rated = [(score(query, path, name_of(path)), path) for path in paths]
        return [path for points, path in sorted(rated, reverse=True) if points]

    assert best("app", "src/map_play.py", "app/x.py", "src/app.py", "src/app")[:2] == ["src/app", "src/app.py"]
    assert best("app", "map.py", "my_app.py", "mapp.py") == ["my_app.py", "mapp.py", "map.py"]
    assert best("ta", "tests/test_app.py", "stab/x.py")[0] == "stab/x.py"
    assert best("tsapp", "tests/app.py", "tests/test_app.py") == ["tests/test_app.py", "tests/app.py"]
    assert best("src/ap", "src/app.py", "docs/src-ap.md") == ["src/app.py"]
    assert best("zz", "src/app.py") == []


@given(st.text(string.ascii_lowercase[:4] + "/_"), st.text(string.ascii_lowercase[:4] + "/_", min_size=1))
def test_a_name_fits_if_its_letters_come_in_this_order(text: str, query: str) -> None:
    rest = iter(text)
    fits = all(letter in rest for letter in query)
    at = places(query, text, name_of(text))
    assert bool(score(query, text, name_of(text))) == bool(at) == fits
    if fits:
        assert "".join(text[one] for one in at) == query
        assert list(at) == sorted(set(at))


def test_letters_that_are_all_alike_take_no_time() -> None:
    assert score("a" * 40 + "b", "a" * 4_000, 0) == 0
    assert score("a" * 40, "xa" * 4_000, 0) > 0


@given(st.text(min_size=1))
def test_a_path_is_one_word_of_a_prompt(path: str) -> None:
    said = quoted(path)
    if not any(char.isspace() or char in "\"'`" for char in path):
        assert said == path
    elif not all(sign in path for sign in "\"'`"):
        assert said[0] == said[-1] and said[1:-1] == path and said[0] not in path


def test_choices_are_what_fits_with_its_letters() -> None:
    offered = [
        Offered(name=name, usage=f"/{name} X", help=f"do {name}", owner="o") for name in ("mode", "model", "help")
    ]
    assert [one.text for one in of_commands(offered, "")] == ["/mode", "/model", "/help"]
    [first, second] = of_commands(offered, "mdl") + of_commands(offered, "mode")[:1]
    assert (first.text, list(first.hits), second.text) == ("/model", [1, 3, 5], "/mode")
    assert [one.text for one in of_words(["plan", "auto"], "AU")] == ["auto"]
    assert of_files(["a b/c"], "")[0] == Choice(text='"a b/c"', label="a b/c", hits=range(0))
    assert of_paths(["a b"], "a")[0].text == shlex.quote("a b")
    [prompt] = of_prompts(["fix it\nnow\n"], "it")
    assert (prompt.text, prompt.label, prompt.help, prompt.hits) == ("fix it\nnow\n", "fix it", "2 lines", [4, 5])


def test_a_hostile_name_is_spelled_out() -> None:
    one = shown(Choice(text="x", label="a\x1b[2J\nb", help="\u202eh", hits=[0]))
    assert (one.label, one.help, one.hits) == (r"a\x1b[2J\nb", r"\u202eh", ())


def listed(tmp_path: Path, *names: str) -> Files:
    host = ScriptedHost(tmp_path)
    host.names = list(names)
    return Files(host)


async def test_files_and_folders_are_found_hidden_ones_last(tmp_path: Path) -> None:
    files = listed(tmp_path, "src/deep/app.py", "README.md", ".env", ".github/app.yml", "src/app.py")
    assert await files.find("", 9) == []
    await files.read()
    assert (await files.find("", 4)) == ["README.md", "src/", "src/app.py", "src/deep/"]
    assert await files.find("app", 2) == ["src/app.py", "src/deep/app.py"]
    assert await files.find("appd", 9) == []
    assert await files.find("app", 9) == ["src/app.py", "src/deep/app.py", ".github/app.yml"]
    assert files.beginning("src/", 9) == ["src/app.py", "src/deep/"]
    assert files.beginning("", 9) == ["README.md", "src/", ".env", ".github/"]


async def test_many_files_are_looked_through_beside_others(tmp_path: Path) -> None:
    names = [f"d{n % 97}/e{n % 13}/file_{n}.py" for n in range(30_000)]
    files = listed(tmp_path, *names)
    await files.read()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    found = await files.find("fil29999", 5)
    beside.cancel()
    assert found == [names[29_999]]
    assert turns > 3  # it let go of the loop as it went


async def test_a_list_that_cannot_be_read_is_told_and_the_old_one_stays(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    files = Files(host)
    await files.read()
    assert files.trouble is None and not files.stale

    async def broken() -> list[str]:
        raise OSError("no disk")

    host.files = broken  # type: ignore[method-assign]
    await files.read()
    assert files.trouble == "OSError: no disk"
    assert await files.find("readme", 1) == ["README.md"]
