"""Every hook: the page a plugin author reads first.

Hooks *register*; the road calls what they returned. Each hook is called once per plugin, at load, alone, with that
plugin's own validated settings (a hook may leave the argument out). A contribution may be `def` or `async def`.
One plugin's failure is its own, and what it contributed is known by its name.

    from pegboard import hookimpl

    @hookimpl
    def pegboard_tools(settings):
        return [my_tool]

The entry-point group a plugin stands in is its role: installing may narrow what an agent does, only naming a plugin in
the user's own configuration may widen it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec
import pluggy

from pegboard.calls import Ask, Call, Decision, Deny, Touch, TouchKind

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.calls import Answer
    from pegboard.events import AnyEvent

API = 1
"""The version of this page. A plugin may state the one it was written for as `pegboard_api = 1` in its module."""

hookspec = pluggy.HookspecMarker("pegboard")
hookimpl = pluggy.HookimplMarker("pegboard")


class Guard(Protocol):
    """A callable that sees every call before any decision; its own copy of it.

    Deny beats Ask beats None. One that raises, overruns its time or returns anything else refuses the call. It may also
    have a method `path(kind, relative_path) -> Deny | None`, asked by the workspace's door for each opened file."""

    def __call__(self, call: Call, touches: list[Touch], /) -> Deny | Ask | None | Awaitable[Deny | Ask | None]: ...


class PathGuard(Protocol):
    """The part of a guard that the door asks: synchronous, inline, no I/O. Raising refuses."""

    def path(self, kind: TouchKind, path: str) -> Deny | None: ...


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What an approver is asked: the call, what it touches, what policy said, what would change."""

    id: str
    call: Call
    tool: str
    touches: list[Touch]
    decision: Decision
    preview: list[Any] = []


class Fragment(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the system prompt. Evaluated once a session and ordered by owner, so that prompt caches hold."""

    text: str
    name: str = ""


Approver: TypeAlias = "Callable[[Asked], Awaitable[Answer | None]]"
Rewriter: TypeAlias = Callable[[Call], "Mapping[str, Any] | None | Awaitable[Mapping[str, Any] | None]"]
Renderer: TypeAlias = "Callable[[Any], list[AnyBlock] | None | Awaitable[list[AnyBlock] | None]]"
Observer: TypeAlias = "Callable[[AnyEvent], None | Awaitable[None]]"


@hookspec
def pegboard_tools(settings: object | None) -> Iterable[Callable[..., Any]]:  # type: ignore[empty-body]
    """Tools of this plugin: functions marked `@tool`. Group `pegboard.toolsets`.

    A name that another plugin registered first is left out, and both owners are told of."""


@hookspec
def pegboard_guards(settings: object | None) -> Iterable[Guard]:  # type: ignore[empty-body]
    """Guards of this plugin. Group `pegboard.guards`; on whenever installed.

    If one does not load, nothing starts, save with `--without-guard NAME`."""


@hookspec
def pegboard_approvers(settings: object | None) -> Iterable[Approver]:  # type: ignore[empty-body]
    """Approvers: asked before the person; the first that does not return None answers.

    Group `pegboard.approvers`; only when the user's own file names it under `plugins.approvers`. May not reach a deny
    rule or a guard's refusal. A no stands, also under `--yes`."""


@hookspec
def pegboard_rewriters(settings: object | None) -> Iterable[Rewriter]:  # type: ignore[empty-body]
    """Rewriters: return new arguments for a call, or None to leave it.

    Group `pegboard.rewriters`; only when the user's own file names it under `plugins.rewriters`. What they return is
    validated again, recorded and shown."""


@hookspec
def pegboard_renderers(settings: object | None) -> Mapping[type, Renderer]:  # type: ignore[empty-body]
    """Renderers by the type that tools return: data in, blocks out (None leaves it to the text).

    Group `pegboard.renderers` for any tool; of a tool set, for its own tools. Pulled by front ends, under 250 ms in a
    thread, never on the road. See docs/rendering.md."""


@hookspec
def pegboard_observers(settings: object | None) -> Iterable[Observer]:  # type: ignore[empty-body]
    """Observers: told of every durable event after it is in the log. They cannot change or hold up anything.

    Group `pegboard.observers`; on whenever installed. One that raises is told of nothing more."""


@hookspec
def pegboard_prompt(settings: object | None) -> Iterable[Fragment]:  # type: ignore[empty-body]
    """Fragments of the system prompt, evaluated once a session.

    Group `pegboard.prompts`; of a tool set (`pegboard.toolsets`), what goes with its tools."""


GROUPS: dict[str, frozenset[str]] = {
    "pegboard.toolsets": frozenset({"pegboard_tools", "pegboard_renderers", "pegboard_prompt"}),
    "pegboard.guards": frozenset({"pegboard_guards"}),
    "pegboard.approvers": frozenset({"pegboard_approvers"}),
    "pegboard.rewriters": frozenset({"pegboard_rewriters"}),
    "pegboard.renderers": frozenset({"pegboard_renderers"}),
    "pegboard.observers": frozenset({"pegboard_observers"}),
    "pegboard.prompts": frozenset({"pegboard_prompt"}),
}
"""Which hooks a plugin may implement, by the entry-point group it stands in."""

ROLES: dict[str, str] = {
    "pegboard.toolsets": "brings tools, each call of which is judged by what it touches",
    "pegboard.guards": "sees every call before it is decided, and may refuse it or have you asked",
    "pegboard.approvers": "answers questions for permission in your place; only when your own file names it",
    "pegboard.rewriters": "changes calls before they are judged; only when your own file names it",
    "pegboard.renderers": "draws what tools return",
    "pegboard.observers": "is told of everything that happens in a session",
    "pegboard.prompts": "adds to what the model is told at the start of a session",
    "pegboard.providers": "speaks to a model; only when `model` chooses it, and then it has all that is sent",
    "pegboard.launchers": "runs the programs that tools start; only when it is chosen",
    "pegboard.commands": "adds a command to `pegboard`; it runs when you type it",
    "pegboard.slash": "adds a slash command to sessions; it runs when it is typed",
    "pegboard.forms": "draws results for `pegboard plugin check`; it runs when that does",
}
"""What each entry-point group may do, in words for the person who installs from it; hooks or none. In those without, the
entry names the object itself: docs/plugins.md has the table."""
