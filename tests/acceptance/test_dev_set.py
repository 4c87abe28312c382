"""The set dev at the command line: what a clone's configuration cannot do, and what a person sees before tests are run."""

from __future__ import annotations

from typing import Any

import pexpect


def test_a_clones_test_command_is_told_of_and_not_run(cli: Any) -> None:
    (cli.root / ".pegboard" / "config.toml").write_text('[dev]\ntest_cmd = "touch evil"\n')
    (cli.root / "test_a.py").write_text("import unittest\nclass T(unittest.TestCase):\n    def test_one(self): pass\n")

    done = cli("tool", "code_test", "--yes", "--json")

    assert done.code == 0 and done.json["data"]["passed"] == 1
    assert sorted(done.json["data"]) == sorted(
        ["passed", "failed", "skipped", "failures", "command", "exit_code", "signal"]
    )
    assert done.json["data"]["command"].endswith("-m unittest discover")
    assert not (cli.root / "evil").exists()
    assert "came with the project" in done.err and "dev.test_cmd (line 2)" in done.err


def test_the_person_is_shown_the_command_and_a_no_runs_nothing(cli: Any) -> None:
    cli.config('[dev]\ntest_cmd = "touch ran"\n')

    child = cli.terminal("tool", "code_test")
    child.expect_exact("$ touch ran")
    child.expect(r"Allow\?")
    child.sendline("n")
    child.expect(pexpect.EOF)

    assert not (cli.root / "ran").exists()
