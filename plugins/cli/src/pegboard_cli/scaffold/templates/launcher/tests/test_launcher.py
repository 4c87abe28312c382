"""What it makes of a launch, and real programs that run so."""

import sys
from typing import Annotated

import pytest
from pegboard import Context, Runs, ToolError, tool
from pegboard.kit.launch import Launch

from pegboard_sample_plugin import Settings, Wrapped

NAME = "sample-plugin"
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


def test_every_program_of_a_tool_is_run_so(pegboard_board):
    board = pegboard_board(
        tools=[shown],
        launchers={NAME: Wrapped},
        settings={f"{NAME}.set": {"CI": "yes"}},
    )
    record = board.call("shown", command="python").expect("ok")
    nice, *variables = record.text.split()
    assert int(nice) >= 10
    assert variables == ["None", "yes"]
