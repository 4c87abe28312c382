"""The command as it is run, in a workspace and with settings of the test's own."""

import json

import pytest
from typer.testing import CliRunner

from pegboard_sample_plugin import app


@pytest.fixture
def run(pegboard_workspace, tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(home))
    root = pegboard_workspace({"a.py": "# TODO: one\nx = 1\n# FIXME: two\n", "b.py": "# TODO\n"})

    def run(*words):
        return CliRunner().invoke(app, [*words, "--path", str(root)])

    return run


def test_lines_are_counted_by_file_most_first(run):
    done = run()
    assert done.exit_code == 0
    assert done.stdout.split() == ["2", "a.py", "1", "b.py", "3", "in", "2", "files"]


def test_programs_get_json(run):
    assert json.loads(run("FIXME", "--json").stdout) == {"files": {"a.py": 1}, "lines": 1}


def test_words_are_words_and_no_patterns(run):
    assert json.loads(run("T.DO", "--json").stdout) == {"files": {}, "lines": 0}


def test_a_workspace_that_is_not_there_is_told_of(tmp_path):
    done = CliRunner().invoke(app, ["--path", str(tmp_path / "nosuch")])
    assert done.exit_code == 1
    assert "nosuch" in done.stderr
