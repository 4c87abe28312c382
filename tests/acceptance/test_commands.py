"""Sub-commands: listed without being imported, run when they are named, and never in place of ours."""

from __future__ import annotations

from typing import Any

from pegboard_cli.group import COMMANDS


def test_help_lists_our_commands_and_those_of_plugins(cli: Any) -> None:
    done = cli("--help")
    assert done.code == 0 and cli().out == done.out
    listed = [line.split()[0] for line in done.out.split("Commands:")[1].splitlines() if line.strip()]
    assert listed == [*COMMANDS, "broken", "hello", "plain", "tui"]
    assert {"run", "tool", "tools", "chat", "sessions"} <= set(COMMANDS)
    assert "pegboard-stranger 0.7" in done.out


def test_help_says_of_our_app_what_it_is_and_of_a_strangers_command_whose(cli: Any) -> None:
    lines = {line.split()[0]: line for line in cli("--help").out.split("Commands:")[1].splitlines() if line.strip()}
    assert lines["tui"].split(maxsplit=1)[1] == "Talk with the agent in an app in the terminal."
    assert lines["hello"].split(maxsplit=1)[1] == "From the plugin pegboard-stranger 0.7."


def test_a_plugins_command_is_run(cli: Any) -> None:
    assert cli("hello", "you").out == "hello you\n"
    assert "Usage: pegboard hello" in cli("hello", "--help").out
    assert cli("hello").code == 2


def test_a_plugin_does_not_replace_a_command_of_ours(cli: Any) -> None:
    assert "Ask the agent" in cli("run", "--help").out


def test_a_command_that_does_not_load_is_told_of_and_harms_no_other(cli: Any) -> None:
    for name, reason in [("broken", "ModuleNotFoundError"), ("plain", "not a typer.Typer")]:
        done = cli(name)
        assert (done.code, done.out) == (1, "")
        assert reason in done.err and "pegboard-stranger" in done.err and "Traceback" not in done.err
    assert cli("hello", "you").code == 0


def test_a_misspelt_command_names_the_nearest(cli: Any) -> None:
    assert "'sessions'" in cli("session").err and "'hello'" in cli("helo").err
