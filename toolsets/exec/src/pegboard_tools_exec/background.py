"""`bg`: commands in the background, which outlive the call and the turn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from pegboard.calls import Result
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.errors import ToolError
from pegboard.kit.jobs import Job, Piece, described, line_of, those_there
from pegboard.kit.process import shell_argv
from pegboard.kit.ran import DEFAULT_MS, LONGEST_MS, milliseconds
from pegboard.touches import Lists, Runs

Action = Literal["start", "list", "output", "wait", "cancel"]


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A job for programs. exit_code is null while it runs, and when a signal ended it, which `signal` names."""

    id: str
    command: str
    state: str
    exit_code: int | None
    signal: str | None
    keep: bool
    pid: int | None
    output: str
    next: int | None = None


class States(msgspec.Struct, frozen=True, kw_only=True):
    """Every job of the session."""

    jobs: list[State]


def _meant(action: Action | None, command: str | None) -> Action:
    """The action of a call: where none is named, a command is to be started.

    Raises:
        ToolError: a command that this action does not run, or none to start; so nobody is asked about it.
    """
    if action is None:
        action = "list" if command is None else "start"
    if action == "start":
        if not (command or "").strip():
            raise ToolError("action=start needs a command; nothing was started. Name the command line to run.")
    elif command is not None:
        raise ToolError(
            f"command is for action=start, and this says action={action}; nothing was started. Leave out one of the two."
        )
    return action


def _ends(arguments: Any) -> Iterator[tuple[Literal["state"], str]]:
    """Cancelling changes something; looking does not. What start runs, its annotation says."""
    if _meant(arguments.action, arguments.command) == "cancel":
        yield "state", f"job {arguments.id}"


def _summary(arguments: dict[str, Any]) -> str:
    action = arguments.get("action") or ("start" if arguments.get("command") else "list")
    what = arguments.get("command" if action == "start" else "id") or ""
    return f"{action} {what}".rstrip()


@tool(
    touches=_ends,
    aliases=[
        ("BashOutput", {"action": "output"}),
        ("bash_output", {"action": "output"}),
        ("KillShell", {"action": "cancel"}),
        ("KillBash", {"action": "cancel"}),
        ("kill_shell", {"action": "cancel"}),
    ],
    param_aliases={
        "cmd": "command",
        "job": "id",
        "job_id": "id",
        "jobId": "id",
        "shell_id": "id",
        "shellId": "id",
        "bash_id": "id",
        "bashId": "id",
        "workdir": "cwd",
        "cursor": "since",
        "offset": "since",
        "timeout_ms": "timeout",
        "timeoutMs": "timeout",
        "timeout_s": ("timeout", milliseconds),
    },
    category="exec",
    verb="Job",
    short="commands in the background",
    summary=_summary,
    key_arg="command",
    echo=True,
    pages=True,
    examples=[
        "start {command} in the background",
        "run {command} in the background",
        "which background jobs are running",
        "list the background jobs",
        "show the output of {id}",
        "show the output of the job {id}",
        "what did the job {id} print",
        "wait for {id}",
        "wait for the job {id}",
        "wait for the background job {id}",
        "{action} the job {id}",
        "{action} the background job {id}",
    ],
)
async def bg(
    ctx: Context,
    action: Annotated[Action | None, Meta(description="Default: start if there is a command, else list")] = None,
    command: Annotated[str | None, Runs("start: command line, run by bash")] = None,
    id: Annotated[str | None, Meta(description="output, wait, cancel: the job, such as j1")] = None,
    since: Annotated[int, Meta(description="output, wait: go on at this byte, as the last answer said", ge=0)] = 0,
    timeout: Annotated[int, Meta(description="wait: milliseconds at most", ge=1, le=LONGEST_MS)] = DEFAULT_MS,
    keep: Annotated[bool, Meta(description="start: go on when Pegboard ends")] = False,
    cwd: Annotated[str | None, Lists("start: folder to run in")] = None,
) -> Result:
    """Commands in the background (servers, long builds): start one and go on; look at its output or end it later. What ends
    soon, run with bash."""
    action = _meant(action, command)
    if action == "list":
        return _list(ctx)
    if action == "start":
        return await _start(ctx, command or "", cwd or ".", keep)
    if id is None:
        there = those_there([job.id for job in ctx.jobs.all()])
        raise ToolError(f"action={action} needs the job's id; nothing was done. {there}")
    match action:
        case "output":
            return _output(ctx, id, since)
        case "wait":
            return await _wait(ctx, id, since, timeout / 1000)
        case _:
            return await _cancel(ctx, id)


def _list(ctx: Context) -> Result:
    jobs = ctx.jobs.all()
    for job in jobs:
        ctx.jobs.tell(job)
    lines = [
        f"{job.id}  {described(job)}{' (kept)' if job.keep and not job.over else ''}: {line_of(job, 100)}"
        for job in jobs
    ]
    return Result(text="\n".join(lines) or "(no jobs)", data=States(jobs=[_data(job) for job in jobs]))


async def _start(ctx: Context, command: str, cwd: str, keep: bool) -> Result:
    job = await ctx.jobs.start(shell_argv(command, ctx.config.shell), label=command, cwd=cwd, keep=keep)
    text = f"started as job {job.id} (process {job.pid}); {_until_when(ctx, keep)}"
    return Result(text=text + f". action=output, wait or cancel with id={job.id}.", data=_data(job))


def _until_when(ctx: Context, keep: bool) -> str:
    if keep:
        return "it goes on when Pegboard ends"
    if ctx.jobs.lasting:
        return "it ends when Pegboard does, unless started with keep=true"
    return "it ends with this call, at once: nothing else holds the session open. keep=true leaves it running"


def _output(ctx: Context, id: str, since: int) -> Result:
    job = ctx.jobs.get(id)
    return _shown(ctx, job, ctx.jobs.output(id, since), since)


async def _wait(ctx: Context, id: str, since: int, timeout: float) -> Result:
    """Viewers see a page of output as it comes; the result has it as `output` has, so what is beyond is not passed over."""
    begin = min(since, ctx.jobs.get(id).size)
    job = await ctx.jobs.wait(id, timeout, since=begin, each=partial(ctx.output.feed, "stdout"))
    return _shown(ctx, job, ctx.jobs.output(id, begin), since)


async def _cancel(ctx: Context, id: str) -> Result:
    was = ctx.jobs.get(id)
    job = await ctx.jobs.cancel(id)
    ctx.jobs.tell(job)
    said = f"{id} was over already: {described(job)}" if was.over else f"{id}: {described(job)}"
    return Result(text=f"{said}. Its output: {job.output}", data=_data(job))


def _shown(ctx: Context, job: Job, piece: Piece, since: int) -> Result:
    """Output, and below it how the job stands and where to go on. `since`: where it was asked for from."""
    ctx.jobs.tell(job)
    text = piece.text if not piece.text or piece.text.endswith("\n") else f"{piece.text}\n"
    said = "" if text else "nothing printed; "
    if since > piece.since:
        said = f"since={since} is beyond the end, which was at {piece.since}; "
    goes_on = f"; more: since={piece.next}" if piece.more else "" if job.over else f"; go on with since={piece.next}"
    return Result(text=f"{text}({said}{job.id} {described(job)}{goes_on})", data=_data(job, piece.next))


def _data(job: Job, at: int | None = None) -> State:
    return State(
        id=job.id,
        command=job.label,
        state="cancelled" if job.cancelled and job.over else job.state,
        exit_code=job.exit_code,
        signal=job.signal,
        keep=job.keep,
        pid=job.pid,
        output=job.output,
        next=at,
    )
