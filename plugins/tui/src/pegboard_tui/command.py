"""`pegboard tui`: the one module here that builds a board."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pegboard.errors import ConfigError, PegboardError, SessionElsewhere
from pegboard.terminal import plain, spelled

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.restarting import Restart

    from pegboard_tui.app import PegboardApp
    from pegboard_tui.splash import Splash

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)

ERROR, USAGE, INTERRUPTED = 1, 2, 130
INSTEAD = "chat"
"""The command that is run where one of the standard streams is no terminal."""


def _session_name(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[A-Za-z0-9-]{1,64}", value):
        raise typer.BadParameter(f"{plain(value)!r} is not 1 to 64 letters, digits and hyphens")
    return value


def _seconds(value: float | None) -> float | None:
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter(f"{value:g} is no time to wait; give seconds, more than 0")
    return value


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the command line says. flags: settings by dotted key. resume: go on with the last session of this root."""

    path: str | None = None
    session: str | None = None
    resume: bool = False
    answers: Literal["person", "--yes", "--no"] = "person"
    flags: dict[str, Any] = field(default_factory=dict)
    without_guard: list[str] = field(default_factory=list)
    debug: bool = False


@app.command()
def tui(
    ctx: typer.Context,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model: provider/name, or offline.")
    ] = None,
    toolsets: Annotated[
        str | None,
        typer.Option("--toolsets", metavar="NAMES", help="Tool sets to load, with commas between; '' is core alone."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="ID",
            callback=_session_name,
            help="Continue this session of the folder; it is made if missing.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--continue", help="Go on with this folder's last session; /resume lists them.")
    ] = False,
    max_steps: Annotated[
        int | None,
        typer.Option("--max-steps", metavar="N", min=1, help="Replies of the model before a turn is stopped [50]."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", min=1, help="Tokens, in and out, before a turn is stopped."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", callback=_seconds, help="Seconds before a turn is stopped."),
    ] = None,
    path: Annotated[str | None, typer.Option("--path", metavar="FOLDER", help="The workspace root.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "--yolo", help="Answer every question for permission with yes.")
    ] = False,
    no: Annotated[bool, typer.Option("--no", help="Answer every question for permission with no.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Ask about each call that does more than read, and remember no answer.")
    ] = False,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode", metavar="NAME", help="The mode to be in: plan, accept-edits, auto or one of yours; '': none."
        ),
    ] = None,
    without_guard: Annotated[
        list[str] | None,
        typer.Option(
            "--without-guard", metavar="NAME", help="Start without this guard; what it protects is not protected."
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Say where an error came from.")] = False,
) -> None:
    """Talk with the agent in an app; /help there lists what else a line can say.

    Where stdin, stdout or stderr is no terminal, or a dumb one, this is `pegboard chat`.
    """
    if yes and no:
        raise typer.BadParameter("--yes and --no exclude each other")
    if resume and session is not None:
        raise typer.BadParameter("--continue and --session exclude each other")
    if not all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr))) or os.environ.get("TERM") == "dumb":
        _line_session(ctx)
        return
    flags: dict[str, Any] = {} if model is None else {"model": plain(model)}
    if toolsets is not None:
        flags["toolSets"] = [name.strip() for name in plain(toolsets).split(",") if name.strip()]
    limits = {"limits.max_steps": max_steps, "limits.max_tokens": max_tokens, "limits.timeout": timeout}
    flags |= {key: value for key, value in limits.items() if value is not None}
    flags |= {"approval.strict": True} if strict else {}
    flags |= {} if mode is None else {"mode": plain(mode)}
    wishes = Wishes(
        path=path,
        session=session,
        resume=resume,
        answers="--yes" if yes else "--no" if no else "person",
        flags=flags,
        without_guard=without_guard or [],
        debug=debug,
    )
    from pegboard_tui.splash import splash

    with splash() as shown:
        code = run(wishes, shown)
    raise typer.Exit(code)


def _is_terminal(stream: Any) -> bool:
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:  # it is closed
        return False


def _line_session(ctx: typer.Context) -> None:
    """Run the line session with the same options, if whoever runs this command has one."""
    group: Any = ctx.parent
    command = group.command.get_command(group, INSTEAD) if group is not None else None
    if command is None:
        typer.echo("pegboard: the app needs a terminal on stdin, stdout and stderr. Nothing was started.", err=True)
        raise typer.Exit(USAGE)
    wanted = {parameter.name for parameter in command.params}
    with command.make_context(INSTEAD, [], parent=group) as own:
        own.params |= {name: value for name, value in ctx.params.items() if name in wanted}
        command.invoke(own)


def run(wishes: Wishes, shown: Splash | None = None) -> int:
    """Hold sessions in the app until it is left; returns the exit code. What keeps it from starting is said on stderr.

    shown: what is on the terminal until the app is."""
    gc.disable()  # what a start makes stays; looking through it again and again takes a fifth of the time
    try:
        return asyncio.run(_run(wishes, shown))
    except asyncio.CancelledError:
        return INTERRUPTED
    except PegboardError as error:
        if shown is not None:
            shown.take_away()
        _say(f"pegboard: {error}")
        _where(error, debug=wishes.debug)
        return USAGE if isinstance(error, ConfigError | SessionElsewhere) else ERROR
    finally:
        gc.enable()


async def _run(wishes: Wishes, shown: Splash | None) -> int:
    from pegboard.board import Board
    from pegboard.restarting import hears_again, restarted

    again = restarted()
    off = again.off if again is not None else []
    board = Board.build(root=wishes.path, flags=wishes.flags, without_guard=wishes.without_guard, off=off)
    try:
        made = _app(board, wishes, again)
        gc.freeze()
        gc.enable()
        if shown is not None:
            shown.give()
        if again is not None:
            hears_again()
        code = await _hold(made, board)
        _farewell(made, wishes)
    finally:
        await board.close()
    return code


def _app(board: Board, wishes: Wishes, again: Restart | None = None) -> PegboardApp:
    """The app with its first session. again: what a process before this one had open.

    Raises:
        ConfigError: the last session is to be gone on with, and there is none.
        PegboardError: the session cannot be opened.
    """
    from pegboard.hosting import Hosted

    from pegboard_tui.app import PegboardApp

    host = Hosted(board, answers=wishes.answers)
    if again is not None:
        from pegboard_tui.again import gone_on

        return gone_on(board, host, again)
    session = host.latest() if wishes.resume else wishes.session
    if wishes.resume and session is None:
        raise ConfigError(
            f"no session of {host.root} to continue; nothing was started. Leave out --continue to begin one, "
            "or go on with one of another folder there (--path; pegboard sessions list names those there are)."
        )
    return PegboardApp(host, host.open(session))


async def _hold(made: PegboardApp, board: Board) -> int:
    """Run the app, and hear signals meanwhile, whoever holds it up."""
    from pegboard_tui.again import watched
    from pegboard_tui.interrupts import hearing

    def press() -> None:
        made.call_next(made.action_interrupt)

    with hearing(press, made.told_to_end), watched(board, made):
        code = await made.run_async()
    if made.failure is not None:
        return ERROR
    return code if code is not None else INTERRUPTED


def _farewell(made: PegboardApp, wishes: Wishes) -> None:
    """What went wrong, if anything did, and how to go on with what was open."""
    failure = made.failure
    if failure is not None:
        _say(
            f"pegboard: the app failed ({type(failure).__name__}: {failure}). What had happened in its sessions is kept; "
            f"calls that ran were stopped.{'' if wishes.debug else ' --debug says where it failed.'}"
        )
        _where(failure, debug=wishes.debug)
    root = f" --path {shlex.quote(wishes.path)}" if wishes.path else ""
    for id in made.left:
        _say(f"To go on: pegboard tui{root} --session {id}")


def _say(text: str) -> None:
    typer.echo(spelled(text), err=True)


def _where(error: BaseException, *, debug: bool) -> None:
    """The traceback, without the values of variables: they may be secrets."""
    if debug:
        from traceback import format_exception

        _say("".join(format_exception(error)).rstrip())
