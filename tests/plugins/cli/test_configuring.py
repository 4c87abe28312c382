"""What `pegboard config set` takes, and what it says to what it does not take: the command line, run in this process."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pegboard_cli.app import run


@dataclass
class Said:
    """What a finished command left."""

    code: int
    out: str
    err: str


class Config:
    """`pegboard config` with a home of its own, in an empty folder."""

    def __init__(self, home: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.file = home / ".config" / "pegboard" / "config.toml"
        self._captured = captured

    def __call__(self, *words: str) -> Said:
        code = run(["config", *words])
        return Said(code, *self._captured.readouterr())


@pytest.fixture
def config(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Config:
    work = home.parent / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return Config(home, capsys)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("search.max_hits", "7", 7),
        ("tools.deny", "bash, git:*", ["bash", "git:*"]),
        ("tools.deny", '["bash"]', ["bash"]),
        ("toolSets", "", []),
        ("tools.bash", "false", False),
        ("model", "openai/gpt-5", "openai/gpt-5"),
        ("project_instructions", "12", "12"),
        ("project_instructions", "a=b # c", "a=b # c"),
        ("plugins.guard_timeout", "3", 3),
        ("limits.timeout", "1.5", 1.5),
        ("providers.my-llm.base_url", "http://localhost:1/v1", "http://localhost:1/v1"),
        ("providers.my-llm.models", "a,b", ["a", "b"]),
        ("providers.my-llm.headers.X-Team", "12", "12"),
        ("guard.protected", "migrations/,*.sql", ["migrations/", "*.sql"]),
        ("guard.read_secrets", "true", True),
        ('tools."git:*"', "false", False),
    ],
)
def test_a_value_is_read_as_its_key_wants(config: Config, key: str, text: str, value: Any) -> None:
    done = config("set", key, text)
    assert done.code == 0, done.err
    node: Any = tomllib.loads(config.file.read_text())
    for part in [part.strip('"') for part in key.split(".")]:
        node = node[part]
    assert node == value and type(node) is type(value)
    assert config("show").code == 0


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("search.max_hits", "many", "search.max_hits: expected integer, at least 1, got 'many'"),
        ("search.max_hits", "0", "expected integer, at least 1"),
        ("search.engine", "google", '"rg"'),
        ("tool_permission.edit", "yes", 'expected one of "allow", "ask", "deny"'),
        ("tools.denny", "bash", "did you mean tools.deny?"),
        ("serach.max_hits", "3", "did you mean search.max_hits?"),
        ("search.max_hit", "3", "did you mean search.max_hits?"),
        ("modle", "x", "did you mean model?"),
        ("guard.protectd", "x", "did you mean guard.protected?"),
        ("guard.read_secrets", "perhaps", "true or false"),
        ("search", "3", "search is a table"),
        ("tools", "3", "Name a key in it"),
        ("hooks", "3", "cannot be set"),
        ("providers.x", "3", "Name a key in it"),
        ("providers.x.models", "[3]", "list of string"),
        ("a\nb", "3", "is no key"),
        ("", "3", "is no key"),
        ("a..b", "3", "is no key"),
    ],
)
def test_what_is_wrong_is_not_written(config: Config, key: str, text: str, says: str) -> None:
    config.file.parent.mkdir(parents=True)
    config.file.write_text("# mine\n")
    done = config("set", key, text)
    assert (done.code, done.out) == (2, "")
    assert says in done.err and "nothing was changed" in done.err
    assert config.file.read_text() == "# mine\n"


def test_a_plugins_table_that_keeps_it_from_loading_can_be_mended(config: Config) -> None:
    config.file.parent.mkdir(parents=True)
    config.file.write_text("[guard]\nread_secrets = 3 # oops\n")
    assert config("set", "guard.protected", "x").code == 2
    assert config("set", "guard.read_secrets", "false").code == 0
    assert config.file.read_text() == "[guard]\nread_secrets = false # oops\n"


def test_unset_takes_out_a_key_that_no_program_knows_any_more(config: Config) -> None:
    config.file.parent.mkdir(parents=True)
    config.file.write_text("old = 1\n[gone]\na = 1\nb = 2\n")
    assert config("unset", "old").code == 0 and config("unset", "gone.a").code == 0
    assert config.file.read_text() == "[gone]\nb = 2\n"
    assert config("unset", "gone").code == 0 and config.file.read_text() == ""
