"""@tool and what may be said with it: the declarations of a tool beyond its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from pegboard.arguments import ParamAlias
from pegboard.calls import Action, Caller, Effect, Overlap, Replay, TouchKind
from pegboard.touches import TouchFunction

F = TypeVar("F", bound=Callable[..., Any])
Alias = str | tuple[str, Mapping[str, Any]]
EVERYONE: frozenset[Caller] = frozenset({"model", "person", "program", "tool", "mcp"})
MARK = "__pegboard_tool__"


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """What an author may say of a tool beyond its signature. Every default is the strict or plain one.

    effect: the upper bound; needed only where `touches` is a function, and for `delegating`.
    touches: gives the touches where no annotation can say them (paths inside a patch): a function of the arguments, and,
    if it has a second parameter, of a context that may look at the workspace, the settings and the state; such a function
    is called in a worker thread.
    kinds: what every call touches, of a tool whose `touches` is a function; a call that does not is an error. Where such a
    kind is denied, the tool can do nothing and is not shown.
    replay: whether a failed call may be tried again. The loop never replays by itself.
    overlap: `exclusive` (a two-sided barrier), `parallel`, `background`.
    pure: touches nothing; without it and without touches a call asks.
    batch: of a read_only tool, that it opens each path it is given through the workspace and tells of a refusal in that
    path's own part of the result: what the door would refuse then stops no call, and is no touch of it.
    permission: a key of `tool_permission`, instead of the touches' own. read and list: of tools that only read; web, ask
    and state: of tools that touch nothing else.
    permission_fn: looks at the arguments and may make the answer stricter.
    callers: who may call it. aliases: other names, or (name, preset arguments). param_aliases: other parameter names.
    category: decides glyph and verb of the activity line; `glyph` and `verb` override it.
    summary: the activity line's text from the arguments; later lines are details. key_arg: the argument it shows instead.
    note: an info line from the result. echo: show the result below the activity line. short: a label for listings.
    timeout: seconds; None leaves it to the tool. pages: it caps its own output. keep: which part of long output is kept.
    inline: a `def` that returns within a millisecond and never blocks; it runs on the loop.
    preview: blocks that show what would change, made while a person is asked. preview_runs: it runs programs for that, which
    look at something and change nothing.
    examples: phrases with slots, at most twelve.
    advertised: False: answered to when it is called by its name, and told of to nobody.
    prefix: a sign with which a person's line begins that is a call of this tool: the rest of the line is its key argument.
    """

    name: str | None = None
    effect: Effect | None = None
    replay: Replay = "never"
    overlap: Overlap = "exclusive"
    pure: bool = False
    batch: bool = False
    touches: TouchFunction | None = None
    kinds: tuple[TouchKind, ...] = ()
    permission: str | None = None
    permission_fn: Callable[[dict[str, Any]], Action] | None = None
    callers: frozenset[Caller] = EVERYONE
    aliases: tuple[Alias, ...] = ()
    param_aliases: Mapping[str, ParamAlias] | None = None
    category: str | None = None
    glyph: str | None = None
    verb: str | None = None
    summary: Callable[[dict[str, Any]], str] | None = None
    key_arg: str | None = None
    note: Callable[[Any], str | None] | None = None
    echo: bool = False
    short: str = ""
    timeout: float | None = None
    pages: bool = False
    inline: bool = False
    keep: Literal["head", "ends"] = "head"
    preview: Callable[..., Any] | None = None
    preview_runs: bool = False
    examples: tuple[str, ...] = ()
    advertised: bool = True
    prefix: str = ""


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    name: str | None = None,
    effect: Effect | None = None,
    replay: Replay = "never",
    overlap: Overlap = "exclusive",
    pure: bool = False,
    batch: bool = False,
    touches: TouchFunction | None = None,
    kinds: Sequence[TouchKind] = (),
    permission: str | None = None,
    permission_fn: Callable[[dict[str, Any]], Action] | None = None,
    callers: Iterable[Caller] = EVERYONE,
    aliases: Sequence[Alias] = (),
    param_aliases: Mapping[str, ParamAlias] | None = None,
    category: str | None = None,
    glyph: str | None = None,
    verb: str | None = None,
    summary: Callable[[dict[str, Any]], str] | None = None,
    key_arg: str | None = None,
    note: Callable[[Any], str | None] | None = None,
    echo: bool = False,
    short: str = "",
    timeout: float | None = None,
    pages: bool = False,
    inline: bool = False,
    keep: Literal["head", "ends"] = "head",
    preview: Callable[..., Any] | None = None,
    preview_runs: bool = False,
    examples: Sequence[str] = (),
    advertised: bool = True,
    prefix: str = "",
) -> Callable[[F], F]: ...


def tool(function: F | None = None, /, **declared: Any) -> F | Callable[[F], F]:
    """Mark a typed function as a tool. See `Declaration` for what may be said."""
    for name, kind in (("callers", frozenset), ("aliases", tuple), ("examples", tuple), ("kinds", tuple)):
        if name in declared:
            declared[name] = kind(declared[name])
    declaration = Declaration(**declared)

    def mark(marked: F) -> F:
        setattr(marked, MARK, declaration)
        return marked

    return mark(function) if function is not None else mark
