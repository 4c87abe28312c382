"""The tool as an agent meets it: through the whole road, without discovery, network or model.

`pegboard_board` is a fixture that comes with pegboard-core. It makes a board around what it is given, rooted at `tmp_path`.
"""

import pegboard_words
import pytest


@pytest.fixture
def board(pegboard_board):
    return pegboard_board(modules={"words": pegboard_words})


def test_counts_the_words(board, tmp_path):
    (tmp_path / "notes.txt").write_text("one two\n  three\n", encoding="utf-8")
    record = board.call("word_count", path="notes.txt")
    assert (record.outcome, record.text, record.set) == ("ok", "3", "words")


def test_only_reads_so_nobody_is_asked(board, tmp_path):
    (tmp_path / "notes.txt").write_text("one", encoding="utf-8")
    assert board.call("word_count", path="notes.txt").decision.action == "allow"


def test_a_missing_file_is_an_error_that_names_it(board):
    record = board.call("word_count", path="gone.txt")
    assert record.outcome == "error"
    assert "gone.txt" in record.text


def test_a_file_outside_the_workspace_is_refused(board):
    record = board.call("word_count", path="../secret.txt")
    assert (record.outcome, record.block) == ("blocked", "denied")


def test_without_a_path_nothing_runs(board):
    record = board.call("word_count")
    assert (record.outcome, record.block) == ("blocked", "invalid_arguments")
