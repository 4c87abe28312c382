"""`pegboard chat`."""

from __future__ import annotations

from pegboard_cli import options

app = options.new_app()


@app.command()
def chat(
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
    debug: options.Debug = False,
) -> None:
    """Talk with the agent, line by line; /help lists what else a line can say.

    Where stdin is no terminal each line of it is a prompt, nobody is asked, and the answers go to stdout.
    """
    options.one_answer(yes=yes, no=no)
    options.one_session(session=session, resume=resume)
    from pegboard_cli.chat import chat as hold
    from pegboard_cli.front import Wishes

    flags = options.agent_flags(
        model=model, toolsets=toolsets, max_steps=max_steps, max_tokens=max_tokens, timeout=timeout
    )
    flags |= options.approval_flags(strict=strict, mode=mode)
    wishes = Wishes(
        path=path, session=session, resume=resume, yes=yes, no=no, flags=flags, without_guard=without_guard or []
    )
    options.finish(hold(wishes), debug=debug)
