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
def board(pegboard_board):
    commands = {
        "hello": [sys.executable, "-c", "print('hello')"],
        "fails": [sys.executable, "-c", "print('because'); raise SystemExit(3)"],
    }
    return pegboard_board(
        modules={SET: plugin},
        settings={f"{SET}.commands": commands},
        files={"page.md": PAGE, "plain.md": "no heading\n"},
    )


def test_the_outline_leaves_out_code_and_deep_headings(board):
    board.call(OUTLINE, path="page.md").expect("ok", text="1: # One\n9: ## Two")


def test_an_outline_only_reads_so_nobody_is_asked(board):
    board.call(OUTLINE, path="page.md").expect(touches=["read page.md"], asked=False)


def test_the_settings_say_how_deep_an_outline_goes(pegboard_board):
    board = pegboard_board(
        modules={SET: plugin},
        settings={f"{SET}.depth": 4},
        files={"page.md": PAGE},
    )
    assert board.call(OUTLINE, path="page.md").text.endswith("10: #### Four")


def test_a_file_without_headings_is_an_error_that_says_what_to_do(board):
    board.call(OUTLINE, path="plain.md").expect("error", says="Read the file itself")


def test_a_file_outside_the_workspace_is_refused(board):
    board.call(OUTLINE, path="../secret.md").expect("blocked", block="denied")


def test_a_command_of_the_settings_is_asked_about_and_run(board):
    board.call(RUN, name="hello").expect("ok", text="hello", decision="ask")


def test_a_command_that_fails_is_an_error_with_what_it_printed(board):
    board.call(RUN, name="fails").expect("error", says=["exit code 3", "because"])


def test_an_unknown_command_is_not_run_and_the_error_lists_those_there_are(board):
    board.call(RUN, name="nosuch").expect("error", says=["fails, hello", "nothing was run"])
