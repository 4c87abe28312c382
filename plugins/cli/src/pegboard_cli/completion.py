"""Completion in bash, zsh, fish and PowerShell, on Typer's own machinery, which is imported here and nowhere else.

A shell asks by running `pegboard` with `_PEGBOARD_COMPLETE` set. What it gets back becomes part of its own syntax, so only
harmless characters go there. Whatever goes wrong, nothing is printed: a key press may not spoil the line being typed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from pegboard.terminal import plain, spelled

from pegboard_cli import completing
from pegboard_cli.group import COMMANDS, Commands, plugin_commands, root

VARIABLE = "_PEGBOARD_COMPLETE"
CLASSES = {"bash": "Bash", "zsh": "Zsh", "fish": "Fish", "powershell": "PowerShell", "pwsh": "PowerShell"}
"""The shells, and how Typer's class for each begins."""
_NO_SPACE = "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n    return 0\n"
_PLAIN = re.compile(r"[\w.,:/@=+~%-]+")
_UNSAFE = re.compile(r"[^\w .,:;/+-]")
_MOST_HELP = 80


class NoShell(Exception):
    """There is no script for the shell that was asked about; the text says what to do. Nothing was changed."""


def complete(arguments: Sequence[str]) -> int:
    """Answer a shell, or a person who wants its script; returns the exit code."""
    if VARIABLE in os.environ:
        return _answer()
    match [part for word in arguments for part in word.split("=", 1)]:
        case ["--show-completion" | "--install-completion" as option, *shell] if len(shell) < 2:
            pass
        case _:
            root().main(args=list(arguments), prog_name="pegboard")  # it ends with a usage error
    try:
        name = _shell(shell[0] if shell else "")
        typer.echo(script(name) if option == "--show-completion" else installed(name))
    except NoShell as error:
        typer.echo(f"pegboard: {spelled(str(error))}. Nothing was changed.", err=True)
        return 2
    return 0


def _answer() -> int:
    """The possible next words on stdout, and nothing else anywhere."""
    told, sys.stderr = sys.stderr, open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - closed below
    try:
        _, _, shell = os.environ[VARIABLE].partition("_")
        if found := _class_for(shell)(root(), {}, "pegboard", VARIABLE).complete():
            typer.echo(found)
    except SystemExit as end:  # fish asks by the exit code whether there is anything
        return end.code if isinstance(end.code, int) else 1
    except Exception:  # noqa: BLE001 - isolates the shell: whatever it is, the line being typed stays as it is
        return 1
    finally:
        sys.stderr.close()
        sys.stderr = told
    return 0


def installed(shell: str) -> str:
    """Put the script where the shell finds it; says where that is.

    Raises:
        NoShell: PowerShell; its profile is left to the person, for Typer would loosen the execution policy too.
    """
    if shell in ("powershell", "pwsh"):
        raise NoShell("in PowerShell, add the script yourself: pegboard --show-completion powershell >> $PROFILE")
    _, path = import_module("typer._completion_shared").install(
        shell=shell, prog_name="pegboard", complete_var=VARIABLE
    )
    Path(path).write_text(script(shell) + "\n", "utf-8")
    return f"Completion for {shell} is in {path}; it works in shells that are started from now on."


def script(shell: str) -> str:
    """Typer's script for a shell; in bash, no space follows a `name=`."""
    shared = import_module("typer._completion_shared")
    text: str = shared.get_completion_script(prog_name="pegboard", complete_var=VARIABLE, shell=shell)
    return text.replace("    return 0\n", _NO_SPACE) if shell == "bash" else text


def _shell(named: str) -> str:
    name = plain(named) or import_module("typer._completion_shared")._get_shell_name()
    if name not in CLASSES:
        said = f"{name!r} is no shell that is known here" if name else "it cannot be seen which shell this is"
        raise NoShell(f"{said}; name one of {', '.join(CLASSES)}")
    return str(name)


# --- the machinery ----------------------------------------------------------------------------------------------------


def _machinery() -> Any:
    """Click's completion, wherever the Typer at hand keeps it."""
    return import_module(typer.Context.__mro__[1].__module__.rpartition(".")[0] + ".shell_completion")


def _class_for(shell: str) -> Any:
    """Typer's class for a shell, with our values. Its cleaning of help imports Rich; ours is stricter."""
    theirs = import_module("typer._completion_classes")
    vars(theirs)["_sanitize_help_text"] = str
    return type(f"Our{CLASSES[shell]}", (_Ours, getattr(theirs, f"{CLASSES[shell]}Complete")), {})


class _Ours:
    """What the classes for all shells do otherwise here."""

    cli: Any
    prog_name: str

    def get_completions(self, args: list[str], incomplete: str) -> list[Any]:
        """The possible words for the one being typed, as items of the machinery."""
        machinery = _machinery()
        ctx = machinery._resolve_context(self.cli, {}, self.prog_name, args)
        asked, piece = machinery._resolve_incomplete(ctx, args, incomplete)
        found = _values(ctx, asked, piece, [*args, incomplete])
        if found is None:
            found = [(item.value, item.help or "") for item in asked.shell_complete(ctx, piece) if item.type == "plain"]
        return [
            machinery.CompletionItem(value, help=_UNSAFE.sub("", help.split("\n", 1)[0])[:_MOST_HELP])
            for value, help in found
            if value.startswith(piece) and _PLAIN.fullmatch(value)
        ]


def _values(ctx: Any, asked: Any, piece: str, words: Sequence[str]) -> completing.Found | None:
    """Values of ours for what is being typed; None where the command itself knows what may stand there.

    `words`: the line so far; `piece`: what of its last word is to be completed."""
    folder = ctx.params.get("path")
    match _key(asked), ctx.command.name:
        case "", _ if isinstance(asked, Commands) and any(not word.startswith("-") for word in words[:-1]):
            return []  # the command is a plugin's, or none: what it takes is not known here
        case "", _ if isinstance(asked, Commands) and not piece.startswith("-"):
            return _commands()
        case "--session", _:
            return completing.session_ids(talks=ctx.command.name != "undo")
        case "CALL" | "--call", "undo":
            return completing.undo_ids(folder, ctx.params.get("session"))
        case "ID", _:
            return completing.session_ids()
        case "--toolsets", _:
            return completing.set_names(piece)
        case "--model", _:
            return completing.model_names(folder)
        case "--mode", _:
            return completing.mode_names(folder)
        case "--without-guard", _:
            return completing.guard_names()
        case "KEY", _:
            return completing.setting_keys()
        case "NAME", "tool" | "tools" | "explain":
            return completing.tool_names(folder)
        case "NAME", "uninstall":
            return completing.plugin_names()
        case "K=V", _:
            return completing.argument_words(folder, ctx.params["name"], ctx.params.get("words") or (), words[-1])
        case _:
            return None


def _commands() -> completing.Found:
    """Every command, from data alone: none is imported."""
    return [
        *((name, line) for name, (_, line) in COMMANDS.items()),
        *((name, entry.distribution) for name, entry in plugin_commands().items()),
    ]


def _key(asked: Any) -> str:
    """How an option is written, or what an argument is called in the help; nothing for a command."""
    if getattr(asked, "param_type_name", "") == "option":
        return str(max(asked.opts, key=len))
    return re.sub(r"[\[\].]", "", getattr(asked, "metavar", None) or "")
