"""The history of line sessions: kept, bounded, private, and never in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pegboard_cli.chat_history import KEPT, MOST_CHARS, History


def test_entries_of_several_lines_and_any_characters_come_back(tmp_path: Path) -> None:
    file = tmp_path / "state" / "history"
    kept = History(file)
    entries = ["one", "two\nlines\n\tindented", '日本 "quoted" \\ \x1b[31m\0']
    assert all(kept.add(entry) for entry in entries)
    assert History(file).load() == entries
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_is_blank_repeated_or_long_is_not_kept(tmp_path: Path) -> None:
    kept = History(tmp_path / "history")
    assert [kept.add(text) for text in ("a", "a", " ", "b", "a", "x" * (MOST_CHARS + 1))] == [
        True,
        False,
        False,
        True,
        True,
        False,
    ]
    assert kept.load() == ["a", "b", "a"]


def test_it_is_cut_back_to_the_newest(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(f'"{number}"\n' for number in range(2 * KEPT + 1)))
    assert History(file).load() == [str(number) for number in range(KEPT + 1, 2 * KEPT + 1)]
    assert len(file.read_text().splitlines()) == KEPT
    assert History(file).load()[-1] == str(2 * KEPT)


def test_lines_that_are_no_entries_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_bytes(b'"good"\nbroken\n5\n\xff\n"\n"also good"\n')
    assert History(file).load() == ["good", "also good"]


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "nowhere"])
def test_a_file_that_cannot_be_used_is_no_history_and_no_harm(tmp_path: Path, kind: str) -> None:
    file, elsewhere = tmp_path / "history", tmp_path / "elsewhere"
    match kind:
        case "folder":
            file.mkdir()
        case "fifo":
            os.mkfifo(file)
        case "link":
            elsewhere.write_text("untouched")
            file.symlink_to(elsewhere)
        case _:
            elsewhere.write_text("untouched")
            file = elsewhere / "history"
    kept = History(file)
    assert kept.load() == [] or kind == "link"
    kept.add("text")
    assert not elsewhere.exists() or elsewhere.read_text() == "untouched"


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    kept = History(None)
    assert kept.add("a") and kept.load() == []
