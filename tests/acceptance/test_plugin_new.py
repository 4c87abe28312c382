"""`pegboard plugin new` as it is typed. What is in a new plugin is looked at in tests/plugins/cli and tests/packaging."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def test_it_says_the_folder_and_the_next_three_commands(cli: Any) -> None:
    done = cli("plugin", "new", "my-todos", "--kind", "toolset")
    assert (done.code, done.err) == (0, "")
    first, _, said, *rows = done.out.splitlines()
    assert first == "Wrote ./pegboard-my-todos: 10 files." and said == "Next:"
    install, test, check = (row.split("  ")[1] for row in rows)
    assert install == "pegboard plugin install --editable ./pegboard-my-todos"
    assert test.endswith("python -m pytest ./pegboard-my-todos")
    assert check == "pegboard plugin check ./pegboard-my-todos"
    assert (cli.root / "pegboard-my-todos" / "src" / "pegboard_my_todos" / "__init__.py").is_file()


def test_programs_get_where_it_is_and_which_files(cli: Any) -> None:
    (cli.root / "below it").mkdir()
    made = cli("plugin", "new", "x", "--kind", "guard", "--dir", "below it", "--json").json
    files = made.pop("files")
    folder = cli.root / "below it" / "pegboard-x"
    assert made == {"folder": str(folder), "distribution": "pegboard-x", "module": "pegboard_x", "kind": "guard"}
    there = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert files == sorted(there)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["My_Todos", "--kind", "guard"], "how about my-todos?"),
        (["hooks", "--kind", "guard"], "is a setting of Pegboard's own"),
        (["offline", "--kind", "provider"], "is the name of a part of Pegboard"),
        (["x", "--kind", "tolset"], "did you mean toolset?"),
        (["x", "--kind", "slash"], "an entry point of pegboard.slash"),
        (["x"], "say which kind: toolset (tools for a model and for people), guard"),
        (["x", "--kind", "guard", "--dir", "nosuch"], "'nosuch' is no folder"),
        (["there", "--kind", "guard"], "pegboard-there is there already"),
        (["--kind", "guard"], "Missing argument"),
        (["x\x1b[31m", "--kind", "guard"], "\\x1b[31m"),
    ],
)
def test_a_refusal_exits_with_two_and_writes_nothing(cli: Any, words: list[str], told: str) -> None:
    (cli.root / "pegboard-there").write_text("mine", "utf-8")
    before = sorted(os.listdir(cli.root))
    done = cli("plugin", "new", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err and "\x1b" not in done.err
    assert sorted(os.listdir(cli.root)) == before
    assert (cli.root / "pegboard-there").read_text("utf-8") == "mine"


def test_a_folder_that_cannot_be_written_to_is_an_error_that_says_so(cli: Any) -> None:
    done = cli("plugin", "new", "x", "--kind", "guard", "--dir", "/proc/self")
    assert (done.code, done.out) == (1, "")
    assert "cannot be made" in done.err and "nothing was written" in done.err
    assert not Path("/proc/self/pegboard-x").exists()
