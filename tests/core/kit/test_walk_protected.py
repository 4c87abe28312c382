"""What grep says of protected files: as much for a pattern that is in one of them as for a pattern that is not."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard.calls import Deny, TouchKind
from pegboard.errors import DoorError
from pegboard.kit import process
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import Hits, Query, census, grep
from pegboard.kit.workspace import Workspace

SECRET = "hunter2"
ABSENT = "hunter3"
NAMES = (".env", "sub/deep/.env", "a.key", "sub/b.key", "ignored/c.key", "ignored/.env")
RANGES: list[tuple[dict[str, Any], int]] = [
    ({}, 2),
    ({"include_hidden": True}, 4),
    ({"include_ignored": True}, 3),
    ({"include_hidden": True, "include_ignored": True}, 6),
    ({"include": "*.key"}, 2),
    ({"include": "*.key", "include_ignored": True}, 3),
    ({"include": "!*.key", "include_hidden": True}, 2),
    ({"include": ".env"}, 2),
    ({"include": "sub/**"}, 1),
    ({"include": "*.txt"}, 0),
    ({"path": "sub"}, 1),
    ({"path": "sub", "include_hidden": True}, 2),
    ({"path": "ignored", "include_ignored": True}, 1),
]


def no_secrets(kind: TouchKind, path: str) -> Deny | None:
    name = path.rpartition("/")[2]
    protected = kind == "read" and (name.startswith(".env") or name.endswith(".key"))
    return Deny("secrets", f"{path} is protected.") if protected else None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    for name in NAMES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"PASSWORD={SECRET}\n" * 3)
    (root / ".gitignore").write_text("ignored/\n")
    (root / "plain.txt").write_text("hunter\nhunter\n")
    (root / "sub/z.txt").write_text("hunter\n")
    return root


def search(root: Path, engine: str, pattern: str, **options: Any) -> Hits:
    """What a grep says; the settings among the options apart."""
    changed = {name: options.pop(name) for name in ("follow_links", "rg") if name in options}
    chosen = SearchSettings(engine=engine, **changed)  # type: ignore[arg-type]
    return asyncio.run(grep(Workspace(str(root), [no_secrets]), Query(pattern=pattern, **options), chosen))


def said(hits: Hits, pattern: str) -> tuple[str, bytes]:
    """Text and data, the pattern itself left out."""
    data = msgspec.json.encode(msgspec.structs.replace(hits, pattern=""))
    return str(hits).replace(f'"{pattern}"', "..."), data


both = pytest.mark.parametrize("engine", ["rg", "python"])


@both
@pytest.mark.parametrize(("options", "number"), RANGES)
def test_the_number_is_of_names_in_the_range_whatever_the_pattern(
    root: Path, engine: str, options: dict[str, Any], number: int
) -> None:
    answers = {p: search(root, engine, p, **options) for p in (SECRET, ABSENT)}
    assert answers[SECRET].left_out == number and answers[SECRET].hits == []
    assert said(answers[SECRET], SECRET) == said(answers[ABSENT], ABSENT)
    found = search(root, engine, "hunter", **options)
    assert found.left_out == number and "key" not in str(found) and "env" not in str(found)


@both
@pytest.mark.parametrize("mode", ["content", "files", "count"])
@pytest.mark.parametrize("follow", [False, True])
def test_matches_in_protected_files_take_no_place_among_the_hits(
    root: Path, engine: str, mode: str, follow: bool
) -> None:
    options: dict[str, Any] = {"output_mode": mode, "include_hidden": True, "max_hits": 1, "follow_links": follow}
    os.link(root / ".env", root / "a-second-name")
    os.link(root / "a.key", root / "b-second-name")
    (root / "c-link").symlink_to(".env")
    for one, other in ((f"hunter$|{SECRET}", f"hunter$|{ABSENT}"), (SECRET, ABSENT)):
        assert said(search(root, engine, one, **options), one) == said(search(root, engine, other, **options), other)
    found = search(root, engine, f"hunter$|{SECRET}", **options)
    assert [hit.path for hit in found.hits] == ["plain.txt"]
    assert found.more and found.left_out == 4  # by name: second names and links are only left out


@both
def test_notes_say_nothing_of_what_is_in_a_protected_file(root: Path, engine: str) -> None:
    (root / "a.key").write_bytes((SECRET + "\n").encode() * 20_000 + b"\0")
    (root / "d.key").write_bytes(b"a" * 40 + b"!\n")
    os.link(root / "a.key", root / "a-second-name")
    os.link(root / "d.key", root / "d-second-name")
    assert said(search(root, engine, SECRET), SECRET) == said(search(root, engine, ABSENT), ABSENT)
    slow = ("(a+)+$", "(b+)+$")  # one takes for ever on d.key, in the Python engine
    assert said(search(root, engine, slow[0], path="."), slow[0]) == said(search(root, engine, slow[1]), slow[1])


@both
def test_a_secret_cannot_be_found_by_bisecting_it(root: Path, engine: str) -> None:
    answers = set()
    for known in ("", "h", "hunter"):
        for low, high in (("0", "1"), ("2", "5"), ("a", "m"), ("n", "z")):
            pattern = f"PASSWORD={known}[{low}-{high}]"
            answers.add(said(search(root, engine, pattern, include_hidden=True), pattern))
    assert len(answers) == 1


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("hunter2PASWOD=$^.*[]", min_size=1, max_size=8), st.sampled_from(["content", "files", "count"]))
def test_answers_are_those_of_a_tree_with_other_secrets(root: Path, text: str, mode: str) -> None:
    options: dict[str, Any] = {"regex": False, "include_hidden": True, "output_mode": mode, "max_hits": 2}
    answers = []
    for content in (f"PASSWORD={SECRET}\n", "", text + "\n"):
        for name in NAMES:
            (root / name).write_text(content)
        answers.append(said(search(root, "rg", text, **options), text))
    assert answers[0] == answers[1] == answers[2]


@both
def test_a_protected_file_that_is_named_is_refused(root: Path, engine: str) -> None:
    for pattern in (SECRET, ABSENT):
        with pytest.raises(DoorError, match=r"\.env is protected"):
            search(root, engine, pattern, path=".env")


# --- the listing beside the search ------------------------------------------------------------------------------------


class Recorder:
    """Runs programs, and remembers how."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def __call__(self, argv: Sequence[str], /, **options: Any) -> process.Finished:
        self.calls.append(list(argv))
        return await process.run(argv, **options)


@pytest.mark.parametrize("checks", [[], [no_secrets]])
async def test_nothing_is_listed_where_nothing_is_checked_or_one_file_is_named(root: Path, checks: list[Any]) -> None:
    run, workspace = Recorder(), Workspace(str(root), checks)
    await grep(workspace, Query(pattern="hunter"), SearchSettings(engine="rg"), run=run)
    assert sum("--files" in argv for argv in run.calls) == len(checks)
    run.calls.clear()
    await grep(workspace, Query(pattern="hunter", path="plain.txt"), SearchSettings(engine="rg"), run=run)
    assert not any("--files" in argv for argv in run.calls)


@pytest.mark.parametrize("pattern", [f"hunter$|{SECRET}", f"hunter$|{ABSENT}"])
def test_a_search_cut_short_waits_for_no_long_listing(
    root: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "MOST_NAMES", 2)
    cut = search(root, "rg", pattern, max_hits=1)
    assert cut.more and cut.left_out == 0 and "protected" not in str(cut)
    assert search(root, "rg", pattern).left_out == 2
    monkeypatch.undo()
    assert search(root, "rg", pattern, max_hits=1).left_out == 2


LISTS_FOR_EVER = 'case "$*" in *--files*) while :; do printf "./x\\0"; sleep 0.01; done;; esac\n'


def fake_rg(folder: Path, body: str) -> str:
    path = folder / "rg-fake"
    real = Path(sys.executable).parent / "rg"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "ripgrep 14.1.0"; exit 0; fi\n{body}exec {real} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


async def test_the_listing_ends_with_a_search_that_fails_or_is_stopped(root: Path, tmp_path: Path) -> None:
    workspace = Workspace(str(root), [no_secrets])
    chosen = SearchSettings(engine="rg", rg=fake_rg(tmp_path, LISTS_FOR_EVER))
    with pytest.raises(Exception, match="Invalid regex"):
        await grep(workspace, Query(pattern=r"\p{nonsense}"), chosen)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(grep(workspace, Query(pattern="hunter"), chosen), 1)
    assert len(asyncio.all_tasks()) == 1


def test_without_a_listing_nothing_is_said(root: Path, tmp_path: Path) -> None:
    rg = fake_rg(tmp_path, 'case "$*" in *--files*) printf "./a.key\\0"; kill -9 $$;; esac\n')
    found = search(root, "rg", "hunter", rg=rg)
    assert len(found.hits) == 3 and found.left_out == 0 and not re.search("protected", str(found))
