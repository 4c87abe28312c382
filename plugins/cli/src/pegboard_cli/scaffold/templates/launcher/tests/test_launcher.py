"""What it makes of a launch, and real programs that run so."""

import asyncio
import sys
from types import ModuleType
from typing import Annotated

import pytest
from pegboard import Board, Context, Runs, ToolError, hookimpl, tool
from pegboard.entries import Entry
from pegboard.kit.launch import Launch
from pegboard.plugins import given

from pegboard_sample_plugin import Settings, Wrapped

PRINTS = "import os; print(os.nice(0), os.environ.get('MY_TOKEN'), os.environ.get('CI'))"


def test_a_program_is_run_through_the_wrapper():
    made = Wrapped(Settings(wrapper=("env",)))(Launch(argv=("ls", "-l"), cwd="/"))
    assert made.argv == ("env", "ls", "-l")


def test_secrets_are_left_out_and_the_rest_stays():
    environ = {"PATH": "/usr/bin:/bin", "MY_TOKEN": "x", "db_password": "x", "LANG": "C"}
    made = Wrapped(Settings(set={"CI": "1"}))(Launch(argv=("ls",), cwd="/", env=environ))
    assert made.env == {"PATH": "/usr/bin:/bin", "LANG": "C", "CI": "1"}


def test_a_program_that_is_not_there_is_told_of():
    with pytest.raises(ToolError, match="nosuch is not on PATH"):
        Wrapped(Settings())(Launch(argv=("nosuch",), cwd="/", env={"PATH": "/usr/bin:/bin"}))


def test_it_says_when_it_does_not_work_here():
    assert Wrapped(Settings()).missing() is None
    assert Wrapped(Settings(wrapper=("nosuch",))).missing() == "nosuch is not on PATH"


@tool
async def shown(command: Annotated[str, Runs("What is run")], ctx: Context) -> str:
    """Show what a program gets."""
    done = await ctx.run([sys.executable, "-c", PRINTS], env={"MY_TOKEN": "x", "PATH": "/usr/bin"})
    return done.stdout.decode().strip()


@hookimpl
def pegboard_tools():
    return [shown]


def test_with_mode_require_every_program_of_a_tool_is_run_so(tmp_path):
    tools = ModuleType("tools_of_this_test")
    tools.pegboard_tools = pegboard_tools
    launcher = Entry(
        name="sample-plugin",
        group="pegboard.launchers",
        value="pegboard_sample_plugin:Wrapped",
        distribution="pegboard-sample-plugin",
        version="0",
        own=False,
    )
    board = Board.build(
        str(tmp_path),
        flags={
            "launcher": "sample-plugin",
            "sample-plugin.mode": "require",
            "sample-plugin.set": {"CI": "yes"},
        },
        user_file=tmp_path / "none.toml",
        state=tmp_path / "state",
        environ={},
        discover=False,
        extra=[launcher, given("tools-of-this-test", "pegboard.toolsets", tools, own=True)],
    )

    async def called():
        try:
            return await board.call("shown", {"command": "python"}, answers="--yes")
        finally:
            await board.close()

    record = asyncio.run(called())
    assert (record.outcome, record.text.split()[1:]) == ("ok", ["None", "yes"])
    assert int(record.text.split()[0]) >= 10
