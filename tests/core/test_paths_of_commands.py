"""Rules on paths hold for commands that read: one that may read what a rule denies does not pass as reading."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import pytest
from pegboard.board import Board
from pegboard.errors import PegboardError
from pegboard.explaining import Explained, explain
from pegboard.testing.plugged import module_entry
from pegboard.tooling import tool
from pegboard.touches import Lists, Runs

DENY = '[[permission.rules]]\naction = "deny"\npath = "private/"\n'


@tool
def bash(command: Annotated[str, Runs("c")], cwd: Annotated[str | None, Lists("f")] = None) -> str:
    """Run."""
    return command


@tool
def bg(command: Annotated[str, Runs("c")]) -> str:
    """Run in the background."""
    return command


class Desk:
    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "work"
        for name in ("private", "src", "empty"):
            (self.root / name).mkdir(parents=True)
        (self.root / "private" / "p").write_text("secret")
        (self.root / "src" / "a").write_text("a")
        (self.root / "b").write_text("b")
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        (self.root / "link").symlink_to("private/p")
        (self.root / "src" / "to").symlink_to("../private")

    async def explain(
        self, command: str, settings: str = DENY, *, name: str = "bash", cwd: str | None = None
    ) -> Explained:
        (self.folder / "config.toml").write_text(settings)
        board = Board.build(
            str(self.root),
            user_file=self.folder / "config.toml",
            environ={},
            state=self.folder / "state",
            extra=[module_entry("test", "pegboard.toolsets", "pegboard_tools", [bash, bg], own=True)],
            discover=False,
        )
        return await explain(board, name, {"command": command} | ({"cwd": cwd} if cwd else {}))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def verdict(desk: Desk, command: str, settings: str = DENY, *, name: str = "bash", cwd: str | None = None) -> str:
    try:
        return (await desk.explain(command, settings, name=name, cwd=cwd)).action
    except PegboardError as error:
        raise AssertionError(command) from error


@pytest.mark.parametrize(
    "command",
    [
        "head private/p",
        "cat b private/p",
        "head ./src/../private/p",
        "head PRIVATE/../private/p",
        "ls private",
        "head link",
        "cat src/to/p",
        "grep -r x private",
        "wc -l < private/p",
        "cat pri*/p",
        "diff b private/p",
        "echo x | cat - private/p",
        "cd private && cat p",
        "git -C src diff ../private/p",
    ],
)
async def test_what_plainly_reads_a_denied_path_is_denied(desk: Desk, command: str) -> None:
    assert (await verdict(desk, command, "")) in ("allow", "ask")
    assert await verdict(desk, command) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "ls .",
        "grep -r x .",
        "grep -r x src",  # a link in it leads there
        "find . -name x",
        "git diff HEAD",
        "git show HEAD:private/q",
        "git log -p",
        "head private/gone",
        "cd src && cat a",
        "rg x",
    ],
)
async def test_what_may_read_it_asks_and_says_why(desk: Desk, command: str) -> None:
    told = await desk.explain(command)

    assert (told.action, told.sandbox) == ("ask", False)
    assert told.command is not None
    whys = [part.why or "" for part in told.command.parts]
    if await verdict(desk, command, "") == "allow":
        assert told.rule == "bash.paths"
        assert any("a rule on paths may deny what it reads (permission.rules: path private/)" in why for why in whys)


@pytest.mark.parametrize(
    "command",
    [
        "head b",
        "cat src/a b",
        "grep x b",
        "ls empty",
        "cat b | sort | head -n 3",
        "pwd",
        "echo hi",
        "wc -l < b",
        "grep -r x empty",
        "git diff b",
        "python3 --version",
    ],
)
async def test_what_cannot_read_it_runs_as_before(desk: Desk, command: str) -> None:
    assert (await verdict(desk, command, ""), await verdict(desk, command)) == ("allow", "allow")


async def test_it_counts_from_where_the_command_runs(desk: Desk) -> None:
    assert await verdict(desk, "head p", cwd="private") == "deny"
    assert await verdict(desk, "head ../private/p", cwd="src") == "deny"
    assert await verdict(desk, "head a", cwd="src") == "allow"
    assert await verdict(desk, "head private/p", name="bg") == "deny"


@pytest.mark.parametrize(
    ("settings", "command", "action"),
    [
        (DENY.replace("deny", "ask"), "head private/p", "ask"),
        (DENY.replace("deny", "ask"), "head b", "allow"),
        (DENY + 'key = "read"\n', "head private/p", "deny"),
        (DENY + 'key = "list"\n', "ls private", "deny"),
        (DENY + 'key = "edit"\n', "head private/p", "allow"),
        (DENY + 'tool = "read_file"\n', "head private/p", "allow"),
        (DENY + 'tool = "bash"\n', "head private/p", "deny"),
        (DENY.replace("private/", "*.pem"), "head b", "allow"),
        (DENY.replace("private/", "/src/a"), "ls private", "allow"),
        (DENY + '[tool_permission]\nbash_allow = ["head", "ls"]\n', "head private/p", "deny"),
        (DENY + '[tool_permission]\nbash_allow = ["head", "ls"]\n', "ls", "allow"),
        (DENY + '[tool_permission]\nbash = "allow"\n', "head private/p", "deny"),
    ],
)
async def test_rules_of_every_kind_that_speak_of_reading_count(
    desk: Desk, settings: str, command: str, action: str
) -> None:
    assert await verdict(desk, command, settings) == action
