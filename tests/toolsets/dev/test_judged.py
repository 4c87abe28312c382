"""What a call of the set dev is judged by: the command line that is run, found out before and run as it was judged."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard import port
from pegboard.blocks import Text
from pegboard.calls import Call, Deny, Record, Touch
from pegboard.events import ApprovalAsked, CallStarted

Write = Callable[[dict[str, str]], None]
Tool = Callable[..., Record]


def started(board: Any) -> list[Touch]:
    """The touches of the last call that was started."""
    return [event for event in board.events if isinstance(event, CallStarted)][-1].touches


@pytest.mark.parametrize("tool", ["code_test", "code_lint", "code_format"])
def test_the_command_line_is_what_rules_and_guards_see(board: Any, write: Write, tool: str) -> None:
    seen: list[list[Touch]] = []

    def guard(call: Call, touches: list[Touch]) -> Deny | None:
        seen.append(touches)
        return Deny("test.run", "Not now.") if any("forbidden" in touch.what for touch in touches) else None

    write({"a.py": "", "forbidden.py": ""})
    guarded = board(guards=[guard], settings={f"dev.{tool.removeprefix('code_')}_cmd": "echo ran {path}"})

    record = guarded.call(tool, path="a.py")
    assert record.data["command"] == "echo ran a.py" and "ran a.py" in record.text
    assert Touch("run", "echo ran a.py") in seen[0]
    assert Touch("read", "a.py", "a.py") in seen[0]
    assert (Touch("edit", "a.py", "a.py") in seen[0]) == (tool == "code_format")

    refused = guarded.call(tool, path="forbidden.py")
    assert (refused.outcome, refused.block) == ("blocked", "guard")


@pytest.mark.parametrize("tool", ["code_test", "code_lint", "code_format"])
def test_it_asks_as_a_command_does_and_shows_the_command(board: Any, write: Write, tmp_path: Path, tool: str) -> None:
    setting = {f"dev.{tool.removeprefix('code_')}_cmd": "touch ran"}
    refusing = board(answers="--no", settings=setting)
    record = refusing.call(tool)

    assert (record.block, record.decision.rule) == ("denied", "tool_permission.bash")
    assert not (tmp_path / "ran").exists()

    free = board(answers="--no", settings=setting | {"tool_permission.bash": "allow"}, state=tmp_path / "state")
    assert free.call(tool).outcome == "ok"
    assert (tmp_path / "ran").exists()

    asking = board(answers="--yes", settings=setting, state=tmp_path / "other")
    asking.call(tool)
    [asked] = [event for event in asking.events if isinstance(event, ApprovalAsked)]
    assert asked.preview == [Text(text="$ touch ran")]


def person(
    board: Any, tool: str, meanwhile: Callable[[], None], remember: Literal["session"] | None = None
) -> tuple[Record, bool]:
    """Call, and answer yes after `meanwhile`; whether it was asked at all."""
    import asyncio

    async def run() -> tuple[Record, bool]:
        async def answer() -> None:
            async for event in board.agent.events():
                if isinstance(event, ApprovalAsked):
                    meanwhile()
                    await board.agent.send(port.Answer(id=event.id, granted=True, remember=remember))

        answering = asyncio.ensure_future(answer())
        await asyncio.sleep(0)
        try:
            record = await board.agent.call(tool, {}, "person")
            return record, record.decision.action == "ask"
        finally:
            answering.cancel()

    return board.run(run())  # type: ignore[no-any-return]


def test_what_was_approved_is_run_though_the_project_changes_meanwhile(
    board: Any, write: Write, tmp_path: Path
) -> None:
    write({"Makefile": "test: ; @echo by make\n"})
    asking = board(answers="person")

    def change() -> None:
        write({"Cargo.toml": "", "package.json": '{"scripts": {"test": "touch evil"}}'})

    record, asked = person(asking, "code_test", change)

    assert asked and record.data["command"] == "make test" and "by make" in record.text
    assert Touch("run", "make test") in started(asking)
    assert not (tmp_path / "evil").exists()


def test_always_covers_the_command_that_was_shown_and_no_other(board: Any, write: Write) -> None:
    write({"Makefile": "test: ; @echo by make\n"})
    asking = board(answers="person")

    assert person(asking, "code_test", lambda: None, "session")[1]
    again, asked = person(asking, "code_test", lambda: None)
    assert not asked and again.decision is not None and again.decision.layer == "remembered"

    write({"package.json": '{"scripts": {"test": "echo other"}}'})
    _, asked = person(asking, "code_test", lambda: None)
    assert asked


def test_commands_of_an_untrusted_projects_configuration_are_not_run(board: Any, write: Write, tmp_path: Path) -> None:
    lines = [f'{name} = "touch {name}"' for name in ("test_cmd", "lint_cmd", "format_cmd")]
    write({".pegboard/config.toml": "[dev]\n" + "\n".join(lines) + "\ntimeout_s = 1\n", "a.py": "x = 1\n"})
    cloned = board()

    for tool in ("code_test", "code_lint", "code_format"):
        assert "touch" not in cloned.call(tool).data["command"]
    assert sorted(os.listdir(tmp_path)) == [".pegboard", ".ruff_cache", "a.py"]
    [note] = [note for note in cloned.board.notes if "came with the project" in note]
    for line, name in enumerate(("test_cmd", "lint_cmd", "format_cmd", "timeout_s"), 2):
        assert f"dev.{name} (line {line})" in note


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("-x", "would be taken for an option"),
        ("--collect-only", "would be taken for an option"),
        ("gone.py", "does not exist"),
        ("gone.py::test_x", "does not exist"),
        ("fifo", "neither a file nor a folder"),
        ("session:out/c1.txt", "no file of the project"),
        ("a\0b", "No file can be called"),
        ("", "path"),
    ],
)
@pytest.mark.parametrize("tool", ["code_test", "code_lint", "code_format"])
def test_paths_that_are_none_are_refused_before_anybody_is_asked(
    board: Any, tmp_path: Path, tool: str, path: str, said: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    asking = board(settings={f"dev.{tool.removeprefix('code_')}_cmd": "touch ran"})

    record = asking.call(tool, path=path)

    assert record.outcome == "error" and said in record.text, record.text
    assert not [event for event in asking.events if isinstance(event, ApprovalAsked)]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("arguments", [{"path": "../x"}, {"path": "/etc/passwd"}, {"path": "out"}, {"cwd": ".."}])
@pytest.mark.parametrize("tool", ["code_test", "code_lint", "code_format"])
def test_paths_that_lead_outside_are_refused_by_policy(
    call: Tool, tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    (tmp_path / "out").symlink_to("/etc")

    record = call(tool, **arguments)

    assert (record.outcome, record.block) == ("blocked", "denied")
    assert "Path escapes workspace" in record.text


@pytest.mark.parametrize("name", ["-k.py", "@args.py"])
def test_names_that_look_like_options_are_paths_all_the_same(board: Any, write: Write, name: str) -> None:
    write({f"{name}": "x = 1\n"})
    lint = board().call("code_lint", path=f"./{name}")

    assert lint.data["command"].endswith(f"ruff check {shlex.quote('./' + name)}") and lint.data["exit_code"] == 0


def test_a_filter_that_looks_like_an_option_is_refused(call: Tool) -> None:
    assert "would be taken for an option" in call("code_test", filter="-x").text
    assert call("code_test", filter="").block == "invalid_arguments"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("make test && touch ran", "&& would do nothing"),
        ("pytest | tee log", "| would do nothing"),
        ("pytest > log", "> would do nothing"),
        ("FOO=1 pytest", "FOO=1 would do nothing"),
        ("pytest 'unclosed", "No closing quotation"),
        ("", "names no program"),
        ([], "names no program"),
    ],
)
def test_a_command_that_only_a_shell_could_run_keeps_the_set_off_and_says_so(board: Any, line: Any, said: str) -> None:
    broken = board(settings={"dev.test_cmd": line})

    assert broken.call("code_test").block == "unavailable"
    assert said in str(broken.board.failures)


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("pytest -k 'a and b' --x='1|2'", ["pytest", "-k", "a and b", "--x=1|2"]),
        ('sh -c "exit 0 && true"', ["sh", "-c", "exit 0 && true"]),
        (["a b", "&&"], ["a b", "&&"]),
        ("pytest '&&' $HOME *.py", ["pytest", "&&", "$HOME", "*.py"]),
    ],
)
def test_configured_commands_are_argument_lists(line: Any, argv: list[str]) -> None:
    from pegboard_tools_dev.settings import Settings, argv_of

    assert list(argv_of(Settings(test_cmd=line).test_cmd or "")) == argv


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1, max_size=6))
def test_a_judged_line_is_the_argument_list_again(argv: list[str]) -> None:
    assert shlex.split(shlex.join(argv)) == argv


def test_a_program_that_is_not_there_is_told(board: Any) -> None:
    record = board(settings={"dev.lint_cmd": "no-such-linter"}).call("code_lint")

    assert record.outcome == "error" and "no-such-linter" in record.text and "Nothing was run" in record.text
    assert sys.executable not in record.text
