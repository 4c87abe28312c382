"""`pegboard run PROMPT`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from pegboard.terminal import plain

from pegboard_cli import options

app = options.new_app()


@app.command(context_settings={"allow_extra_args": True})
def run(
    ctx: typer.Context,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask; - reads it from stdin.")],
    model: options.Model = None,
    toolsets: options.ToolSets = None,
    session: options.Session = None,
    resume: options.Continue = False,
    max_steps: options.MaxSteps = None,
    max_tokens: options.MaxTokens = None,
    timeout: options.Timeout = None,
    path: options.Path = None,
    yes: options.Yes = False,
    no: options.No = False,
    strict: options.Strict = False,
    mode: options.Mode = None,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Ask the agent something: one turn.

    The answer goes to stdout, everything else to stderr. At a terminal you are asked before anything is changed.
    """
    if ctx.args:
        quoted = shlex.quote(plain(" ".join([prompt, *ctx.args])))
        ctx.fail(f"Got unexpected extra arguments. Put the prompt in quotes: pegboard run {quoted}")
    options.one_answer(yes=yes, no=no)
    options.one_session(session=session, resume=resume)
    text = options.text_or_stdin(prompt)
    from pegboard_cli.front import Wishes
    from pegboard_cli.turn import run_turn

    flags = options.agent_flags(
        model=model, toolsets=toolsets, max_steps=max_steps, max_tokens=max_tokens, timeout=timeout
    )
    flags |= options.approval_flags(strict=strict, mode=mode)
    wishes = Wishes(
        path=path,
        session=session,
        resume=resume,
        yes=yes,
        no=no,
        json=json,
        flags=flags,
        without_guard=without_guard or [],
    )
    options.finish(run_turn(text, wishes), debug=debug)
