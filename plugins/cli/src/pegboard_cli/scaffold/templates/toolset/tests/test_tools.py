"""The tools as an agent meets them: down the whole road, without discovery, network or model.

`pegboard_board` comes with pegboard-core: a board around what it is given, rooted at `tmp_path`.
"""

import sys

import pytest

import pegboard_sample_plugin as plugin

SET = "sample-plugin"
OUTLINE, RUN = "sample_plugin_outline", "sample_plugin_run"
PAGE = "# One\n\ntext\n\n```sh\n# a comment\n```\n\n## Two\n#### Four\n"


@pytest.fixture
def board(pegboard_board, tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "plain.md").write_text("no heading\n", encoding="utf-8")
    commands = {
        "hello": [sys.executable, "-c", "print('hello')"],
        "fails": [sys.executable, "-c", "print('because'); raise SystemExit(3)"],
    }
    return pegboard_board(
        modules={SET: plugin},
        settings={f"{SET}.commands": commands},
    )


def test_the_outline_leaves_out_code_and_deep_headings(board):
    record = board.call(OUTLINE, path="page.md")
    assert (record.outcome, record.text) == ("ok", "1: # One\n9: ## Two")


def test_an_outline_only_reads_so_nobody_is_asked(board):
    assert board.call(OUTLINE, path="page.md").decision.action == "allow"


def test_the_settings_say_how_deep_an_outline_goes(pegboard_board, tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    board = pegboard_board(
        modules={SET: plugin},
        settings={f"{SET}.depth": 4},
    )
    assert board.call(OUTLINE, path="page.md").text.endswith("10: #### Four")


def test_a_file_without_headings_is_an_error_that_says_what_to_do(board):
    record = board.call(OUTLINE, path="plain.md")
    assert record.outcome == "error"
    assert "Read the file itself" in record.text


def test_a_file_outside_the_workspace_is_refused(board):
    record = board.call(OUTLINE, path="../secret.md")
    assert (record.outcome, record.block) == ("blocked", "denied")


def test_a_command_of_the_settings_is_asked_about_and_run(board):
    record = board.call(RUN, name="hello")
    assert (record.outcome, record.text) == ("ok", "hello")
    assert record.decision.action == "ask"


def test_a_command_that_fails_is_an_error_with_what_it_printed(board):
    record = board.call(RUN, name="fails")
    assert record.outcome == "error"
    assert "exit code 3" in record.text and "because" in record.text


def test_an_unknown_command_is_not_run_and_the_error_lists_those_there_are(board):
    record = board.call(RUN, name="nosuch")
    assert record.outcome == "error"
    assert "fails, hello" in record.text and "nothing was run" in record.text
