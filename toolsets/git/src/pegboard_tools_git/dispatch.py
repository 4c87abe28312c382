"""`git`: one name for the read-only tools, as other agents know it. Accepted, and told to nobody."""

from __future__ import annotations

from typing import Any, Literal

from pegboard import Context, Result, ToolError, tool
from pegboard.errors import Interrupted

Action = Literal["status", "diff", "log", "show", "blame", "branch", "rev_parse"]
_NOT_SENT = (None, False)


def _spelled(action: Any) -> Any:
    """`rev-parse` and `git status` as well as `rev_parse` and `status`."""
    if not isinstance(action, str):
        return action
    return action.strip().removeprefix("git ").removeprefix("git_").strip().lower().replace("-", "_")


@tool(
    advertised=False,
    pure=True,
    permission="read",
    replay="safe",
    overlap="parallel",
    category="read",
    verb="Git",
    key_arg="action",
    pages=True,
    short="the git_ tools by action",
    param_aliases={
        "command": ("action", _spelled),
        "subcommand": ("action", _spelled),
        "cmd": ("action", _spelled),
        "operation": ("action", _spelled),
        "commit": "ref",
        "revision": "ref",
        "file": "path",
        "pathspec": "path",
        "cached": "staged",
        "n": "limit",
    },
)
async def git(
    action: Action,
    ctx: Context,
    ref: str | None = None,
    path: str | list[str] | None = None,
    staged: bool = False,
    limit: int | None = None,
    patch: bool = False,
    start_line: int | None = None,
    end_line: int | None = None,
) -> Result:
    """Look at the repository: one of the git_ tools, by its action."""
    given: dict[str, Any] = {
        "ref": ref,
        "path": path,
        "staged": staged,
        "limit": limit,
        "patch": patch,
        "start_line": start_line,
        "end_line": end_line,
    }
    sent = {name: value for name, value in given.items() if value not in _NOT_SENT}
    done = await ctx.call(f"git_{action}", **sent)
    if done.outcome == "interrupted":
        raise Interrupted(done.why or "person", done.text)
    if done.outcome != "ok":
        raise ToolError(done.text.removeprefix("Error: "))
    return Result(text=done.text, data=done.data)
