"""What several commands share: options as annotations, and how a command ends."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Coroutine
from typing import Annotated, Any, NoReturn

import typer
from pegboard.terminal import plain, spelled, visible

from pegboard_cli.document import keep_stdout


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


def seconds(value: float | None) -> float | None:
    """A time in seconds as it was given.

    Raises:
        typer.BadParameter: no time passes so.
    """
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter(f"{value:g} is no time to wait; give seconds, more than 0")
    return value


Path = Annotated[str | None, typer.Option("--path", metavar="FOLDER", help="The workspace root.")]
ToolName = Annotated[str, typer.Argument(metavar="NAME", help="The tool: its name, SET:NAME, or an alias.")]
Words = Annotated[
    list[str] | None, typer.Argument(metavar="[K=V]...", help="Arguments: k=text, k:=JSON, k=@file (@- is stdin).")
]
Args = Annotated[
    str | None,
    typer.Option("--args", metavar="JSON", help="All arguments as one JSON object; - reads it from stdin."),
]
Yes = Annotated[bool, typer.Option("--yes", "--yolo", help="Answer every question for permission with yes.")]
No = Annotated[bool, typer.Option("--no", help="Answer every question for permission with no.")]
Json = Annotated[
    bool,
    typer.Option("--json", callback=keep_stdout, help="Print JSON on stdout, for programs; nobody is asked anything."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Ask about each call that does more than read, and remember no answer.")
]
WithoutGuard = Annotated[
    list[str] | None,
    typer.Option(
        "--without-guard", metavar="NAME", help="Start without this guard; what it protects is not protected."
    ),
]
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode", metavar="NAME", help="The mode to be in: plan, accept-edits, auto or one of yours; '': none."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show log lines, and where an error came from.")]
Session = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        callback=session_name,
        help="Continue this session of the folder; it is made if missing.",
    ),
]

Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model: provider/name, or offline.")]
ToolSets = Annotated[
    str | None,
    typer.Option("--toolsets", metavar="NAMES", help="Tool sets to load, with commas between; '' is core alone."),
]
Continue = Annotated[
    bool, typer.Option("--continue", help="Go on with this folder's last session; see pegboard sessions list.")
]
MaxSteps = Annotated[
    int | None,
    typer.Option("--max-steps", metavar="N", min=1, help="Replies of the model before a turn is stopped [50]."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", metavar="N", min=1, help="Tokens, in and out, before a turn is stopped."),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", callback=seconds, help="Seconds before a turn is stopped."),
]


def one_session(*, session: str | None, resume: bool) -> None:
    """Refuse `--session` together with `--continue`."""
    if resume and session is not None:
        raise typer.BadParameter("--continue and --session exclude each other")


def agent_flags(
    *,
    model: str | None,
    toolsets: str | None,
    max_steps: int | None,
    max_tokens: int | None,
    timeout: float | None,
) -> dict[str, object]:
    """Options that are settings, by dotted key."""
    flags: dict[str, object] = {} if model is None else {"model": plain(model)}
    if toolsets is not None:
        flags["toolSets"] = [name.strip() for name in plain(toolsets).split(",") if name.strip()]
    limits = {"limits.max_steps": max_steps, "limits.max_tokens": max_tokens, "limits.timeout": timeout}
    return flags | {key: value for key, value in limits.items() if value is not None}


def approval_flags(*, strict: bool, mode: str | None = None) -> dict[str, object]:
    """Options on what is allowed and when the person is asked, as settings by dotted key."""
    flags: dict[str, object] = {"approval.strict": True} if strict else {}
    return flags if mode is None else flags | {"mode": plain(mode)}


def one_answer(*, yes: bool, no: bool) -> None:
    """Refuse `--yes` together with `--no`."""
    if yes and no:
        raise typer.BadParameter("--yes and --no exclude each other")


def call_arguments(words: list[str] | None, args: str | None) -> dict[str, Any]:
    """The arguments of a call as they were given: `k=v` words, or one JSON object.

    Raises:
        typer.BadParameter: they cannot be read.
    """
    from pegboard.typed import BadWord

    from pegboard_cli.arguments import read_arguments

    try:
        return read_arguments(words or [], args)
    except BadWord as error:
        raise typer.BadParameter(str(error), param_hint="K=V") from None


def text_or_stdin(prompt: str) -> str:
    """A prompt as it was typed, or what stdin holds when it is `-`."""
    if prompt == "-":
        from pegboard.typed import BadWord

        from pegboard_cli.arguments import read_stdin

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
    """What a command needs is imported: collect garbage again (see `main`), but not among that; and Ctrl-C, which has
    ended the process until here, is the command's to hear."""
    import gc
    import signal

    gc.freeze()
    gc.enable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _tell_of_waits() -> None:
    """What the core logs of plugins that keep a start waiting is one dim line on a terminal."""
    import logging

    from pegboard_cli.styles import Styles, takes_colour

    class Dim(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return Styles(takes_colour(sys.stderr)).dim(visible(f"{super().format(record)}…"))

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Dim())
    waits = logging.getLogger("pegboard.plugins")
    waits.addHandler(handler)
    waits.setLevel(logging.INFO)


def finish(work: Coroutine[Any, Any, int], *, debug: bool = False) -> NoReturn:
    """Do the work of a command and exit with its code. What keeps it from working is said on stderr."""
    import asyncio

    if debug:
        import logging

        from pegboard.session.redaction import Redactor, secret_values

        redactor = Redactor(values=secret_values(os.environ))

        class Spelled(logging.Formatter):
            def format(self, record: logging.LogRecord) -> str:
                return spelled(redactor.text(super().format(record)))

        told = logging.StreamHandler(sys.stderr)
        told.setFormatter(Spelled("%(relativeCreated)7d ms %(name)s: %(message)s"))
        logging.basicConfig(level=logging.DEBUG, handlers=[told])
    elif sys.stderr.isatty():
        _tell_of_waits()
    from pegboard.errors import ConfigError, PegboardError, SessionElsewhere

    started()
    try:
        code = asyncio.run(work)
    except asyncio.CancelledError:
        code = 130
    except PegboardError as error:
        if debug:
            from traceback import format_exc

            typer.echo(spelled(redactor.text(format_exc())), err=True, nl=False)
        typer.echo(f"pegboard: {spelled(str(error))}", err=True)
        code = 2 if isinstance(error, (ConfigError, SessionElsewhere)) else 1
    raise typer.Exit(code)
