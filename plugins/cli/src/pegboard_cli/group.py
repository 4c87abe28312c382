"""The group of commands: it lists them without importing them, and imports one when it is run.

Our own commands stand in a table here; those of plugins are entry points of the group `pegboard.commands`, each a
`typer.Typer`. One of ours is never replaced by a plugin's.
"""

from __future__ import annotations

import difflib
import importlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from pegboard.terminal import spelled, visible
from typer.core import TyperGroup
from typer.main import get_command

from pegboard_cli.options import started

if TYPE_CHECKING:
    from pegboard.entries import Entry

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("pegboard_cli.commands.run", "Ask the agent something: one turn, and the answer."),
    "tool": ("pegboard_cli.commands.tool", "Make one call of a tool, without a model."),
    "tools": ("pegboard_cli.commands.tools", "List the tools; with --cost, what each costs on every request."),
    "explain": ("pegboard_cli.commands.explain", "Say what a call would get, and by which rule, without making it."),
    "chat": ("pegboard_cli.commands.chat", "Talk with the agent, line by line."),
    "sessions": ("pegboard_cli.commands.sessions", "List, show, export, audit, delete or prune past sessions."),
    "undo": ("pegboard_cli.commands.undo", "Put files back as they were before a call."),
    "config": ("pegboard_cli.commands.config", "Show or change settings, and say where each comes from."),
    "init": ("pegboard_cli.commands.init", "Write a commented settings file of your own."),
    "models": ("pegboard_cli.commands.models", "List the models that can be reached, and which one answers."),
    "trust": ("pegboard_cli.commands.trust", "Let the settings and plugin files of a project count."),
    "plugins": ("pegboard_cli.commands.plugins", "List installed plugins, and what became of each."),
    "plugin": ("pegboard_cli.commands.plugin", "Begin, check, install, uninstall and look at plugins."),
    "doctor": ("pegboard_cli.commands.doctor", "Look for what is wrong, and say how to mend it."),
}
"""Our own commands: the module that holds each (its `app`), and the line that `--help` shows."""

GROUP = "pegboard.commands"
"""Entry points of plugins' commands."""
FALLBACK = "chat"
"""What `pegboard` alone is where the command that `ui.app` names is not installed."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What Typer raises for a command line that cannot be read; it gives no name to it."""


@contextmanager
def _told_safely() -> Iterator[None]:
    """A usage error repeats words of the command line: they reach the terminal spelled out."""
    try:
        yield
    except _UsageError as error:
        text = io.StringIO()
        error.show(file=text)
        typer.echo(spelled(text.getvalue()), err=True, nl=False)
        raise typer.Exit(error.exit_code) from None


class Commands(TyperGroup):
    """`pegboard`: every command by name, none imported before it is chosen."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Ours in the order of the table, then those of plugins by name."""
        return [*COMMANDS, *plugin_commands()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return one command; None when there is none of that name."""
        if cmd_name in COMMANDS:
            module = importlib.import_module(COMMANDS[cmd_name][0])
            command = get_command(module.app)
            command.name = cmd_name
            return command
        entry = plugin_commands().get(cmd_name)
        return _load(entry) if entry and not ctx.resilient_parsing else None  # a completion imports no plugin

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the words before the command."""
        with _told_safely():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Read the command's own words and run it."""
        with _told_safely():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names, else a usage error with the nearest name."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing and args[0] not in (names := self.list_commands(ctx)):
            if claims := _claims().get(args[0]):
                whose = " and ".join(f"{entry.distribution} {entry.version}" for entry in claims)
                ctx.fail(f"{whose} both bring a command {args[0]!r}, so neither is run. Uninstall one of them.")
            near = difflib.get_close_matches(args[0], names, 1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in `--help`, from data alone."""
        rows = [(name, line) for name, (_, line) in COMMANDS.items()]
        rows += [(name, visible(_line(entry))) for name, entry in plugin_commands().items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _line(entry: Entry) -> str:
    """What `--help` says of a plugin's command, which is not imported for it: of ours its distribution's own summary; what a
    stranger's says of itself stands in quotes behind whose it is, as if we said it otherwise."""
    from pegboard.entries import summary

    about = summary(entry) if entry.own else ""
    if about:
        return about
    from pegboard_cli.manifests import help_of

    said = help_of(entry)
    return f"From the plugin {entry.distribution} {entry.version}" + (f': "{said}"' if said else ".")


def is_word(name: str) -> bool:
    """Whether a command may have this name."""
    return _NAME.fullmatch(name) is not None


def plugin_commands() -> dict[str, Entry]:
    """The commands that installed plugins bring, by name. A name of ours, one that is no word, and one that two
    distributions claim, is passed over."""
    return {name: claims[0] for name, claims in _claims().items() if len({e.distribution for e in claims}) == 1}


def _claims() -> dict[str, list[Entry]]:
    """Every entry that may be a command, by name; where one of ours has the name, that alone."""
    from pegboard.entries import scan

    found: dict[str, list[Entry]] = {}
    for entry in scan():  # ours come first
        if entry.group == GROUP and is_word(entry.name) and entry.name not in COMMANDS:
            claims = found.setdefault(entry.name, [])
            if not any(other.own for other in claims):
                claims.append(entry)
    return dict(sorted(found.items()))


def _load(entry: Entry) -> Any:
    """A plugin's command.

    Raises:
        typer.Exit: it could not be imported or is no typer.Typer; said on stderr.
    """
    from pegboard.plugins import LoadProblem, import_guarded

    whose = f"command {entry.name!r} of {entry.distribution} {entry.version}"
    try:
        app = import_guarded(entry)
    except LoadProblem as problem:
        reason = str(problem)
    else:
        if isinstance(app, typer.Typer):
            command = get_command(app)
            command.name = entry.name
            started()
            return command
        reason = f"{entry.value} is a {type(app).__name__}, not a typer.Typer"
    told = f"pegboard: {whose} did not load: {reason}. Nothing was run. Update or uninstall {entry.distribution}."
    typer.echo(spelled(told), err=True)
    raise typer.Exit(1)


def _alone(ctx: Any) -> None:
    """`pegboard` without a command: the app at a terminal, help elsewhere."""
    import sys

    from pegboard_cli.styles import is_terminal

    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        typer.echo(ctx.get_help())
        return
    name = _app()
    command = ctx.command.get_command(ctx, name)
    with command.make_context(name, [], parent=ctx) as own:
        command.invoke(own)


def _app() -> str:
    """The command that `ui.app` names; the line session where there is none of that name."""
    import os

    from pegboard.config.load import load
    from pegboard.config.places import config_file, find_root
    from pegboard.config.schema import UISettings
    from pegboard.errors import ConfigError

    try:
        environ = os.environ
        loaded = load(user_file=config_file(environ), root=find_root(None)[0], environ=environ, flags={})
        name = loaded.config.ui.app
    except ConfigError:  # the line session reads the same, and tells of it
        return FALLBACK
    if name in COMMANDS or name in plugin_commands():
        return name
    if name != UISettings().app:
        told = f'note: ui.app names "{name}", and there is no such command; this is pegboard {FALLBACK}'
        typer.echo(visible(told), err=True)
    return FALLBACK


def root() -> Any:
    """The `pegboard` command itself."""
    app = typer.Typer(
        cls=Commands,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        invoke_without_command=True,
    )

    @app.callback()
    def pegboard(
        ctx: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
        show_completion: Annotated[
            bool,
            typer.Option("--show-completion", help="Print what makes this shell, or the one named, complete words."),
        ] = False,
        install_completion: Annotated[
            bool, typer.Option("--install-completion", help="Put that where the shell finds it.")
        ] = False,
    ) -> None:
        """An agent in the terminal, and its tools for scripts."""
        if version:
            from pegboard_cli.main import VERSION

            typer.echo(f"pegboard {VERSION}")
            raise typer.Exit(0)
        if show_completion or install_completion:  # `app.run` takes them where they stand alone
            raise typer.BadParameter(
                "give --show-completion or --install-completion first, with at most a shell's name"
            )
        if ctx.invoked_subcommand is None:
            _alone(ctx)

    return get_command(app)
