"""What several commands share: options as annotations, and how a command ends."""

from __future__ import annotations

import re
import sys
from collections.abc import Coroutine
from typing import Annotated, Any, NoReturn

import typer

from pegboard_cli.terminal import plain, spelled


def new_app(**options: Any) -> typer.Typer:
    """A Typer without Rich: its help doubles the start."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False, **options)


def session_name(value: str | None) -> str | None:
    """A session's name as it was given.

    Raises:
        typer.BadParameter: it cannot be one.
    """
    if value is not None and not re.fullmatch(r"[A-Za-z0-9-]{1,64}", value):
        raise typer.BadParameter(f"{plain(value)!r} is not 1 to 64 letters, digits and hyphens")
    return value


Path = Annotated[str | None, typer.Option("--path", metavar="FOLDER", help="The workspace root.")]
Yes = Annotated[bool, typer.Option("--yes", "--yolo", help="Answer every question for permission with yes.")]
No = Annotated[bool, typer.Option("--no", help="Answer every question for permission with no.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for programs; nobody is asked anything.")]
WithoutGuard = Annotated[
    list[str] | None,
    typer.Option(
        "--without-guard", metavar="NAME", help="Start without this guard; what it protects is not protected."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show log lines, and where an error came from.")]
Session = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="ID", callback=session_name, help="Continue this session; it is made if it is missing."
    ),
]


def one_answer(*, yes: bool, no: bool) -> None:
    """Refuse `--yes` together with `--no`."""
    if yes and no:
        raise typer.BadParameter("--yes and --no exclude each other")


def text_or_stdin(prompt: str) -> str:
    """A prompt as it was typed, or what stdin holds when it is `-`."""
    if prompt == "-":
        from pegboard_cli.arguments import BadWord, read_stdin

        try:
            text = read_stdin()
        except BadWord as error:
            raise typer.BadParameter(str(error), param_hint="PROMPT") from None
    else:
        text = plain(prompt)
    if not text.strip():
        raise typer.BadParameter("it is empty", param_hint="PROMPT")
    return text


def print_json(value: Any) -> None:
    """One JSON document on stdout, as UTF-8 whatever the terminal's encoding."""
    from pegboard.wire import encode

    sys.stdout.buffer.write(encode(value) + b"\n")


def started() -> None:
    """What a command needs is imported: collect garbage again (see `main`), but not among that."""
    import gc

    gc.freeze()
    gc.enable()


def finish(work: Coroutine[Any, Any, int], *, debug: bool = False) -> NoReturn:
    """Do the work of a command and exit with its code. What keeps it from working is said on stderr."""
    import asyncio

    if debug:
        import logging

        class Spelled(logging.Formatter):
            def format(self, record: logging.LogRecord) -> str:
                return spelled(super().format(record))

        told = logging.StreamHandler(sys.stderr)
        told.setFormatter(Spelled("%(relativeCreated)7d ms %(name)s: %(message)s"))
        logging.basicConfig(level=logging.DEBUG, handlers=[told])
    from pegboard.errors import ConfigError, PegboardError

    started()
    try:
        code = asyncio.run(work)
    except asyncio.CancelledError:
        code = 130
    except PegboardError as error:
        if debug:
            from traceback import format_exc

            typer.echo(spelled(format_exc()), err=True, nl=False)
        typer.echo(f"pegboard: {spelled(str(error))}", err=True)
        code = 2 if isinstance(error, ConfigError) else 1
    raise typer.Exit(code)
