"""Touches from annotations: which arguments name a file, a folder, a command, a URL.

`Reads Writes Lists Runs Fetches` describe a parameter *and* declare a touch. They are `msgspec.Meta`, so they are found at
any depth, inside lists and structs too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import inspect as mi

from pegboard.calls import Effect, Touch, TouchKind

Declared = tuple[TouchKind, str]
TouchFunction = Callable[..., Iterable[Touch | Declared]]

_EFFECT: dict[TouchKind, Effect] = {
    "read": "read_only",
    "list": "read_only",
    "net": "read_only",
    "ask": "user_mediated",
}
PATHS: frozenset[TouchKind] = frozenset({"read", "list", "edit"})
"""Touches of files and folders."""
_ORDER: dict[Effect, int] = {"read_only": 0, "user_mediated": 1, "delegating": 2, "side_effecting": 3}


def _meta(kind: TouchKind, description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description or None, extra={"touch": kind})


def Reads(description: str = "") -> msgspec.Meta:  # noqa: N802 - reads as an annotation
    """The argument names a file that the call reads."""
    return _meta("read", description)


def Writes(description: str = "") -> msgspec.Meta:  # noqa: N802
    """The argument names a file that the call changes or makes."""
    return _meta("edit", description)


def Lists(description: str = "") -> msgspec.Meta:  # noqa: N802
    """The argument names a folder whose contents the call lists or searches."""
    return _meta("list", description)


def Runs(description: str = "") -> msgspec.Meta:  # noqa: N802
    """The argument is a command that the call runs."""
    return _meta("run", description)


def Fetches(description: str = "") -> msgspec.Meta:  # noqa: N802
    """The argument is a URL that the call requests, without a body."""
    return _meta("net", description)


def effect_of(touches: Iterable[Touch]) -> Effect:
    """The effect of what a call touches: the strictest of its touches; no touch at all reads only."""
    return strictest(("side_effecting" if t.sends else _EFFECT.get(t.kind, "side_effecting")) for t in touches)


def effect_of_kinds(kinds: Iterable[TouchKind]) -> Effect:
    """The upper bound of a tool whose annotations declare these kinds."""
    return strictest(_EFFECT.get(kind, "side_effecting") for kind in kinds)


def strictest(effects: Iterable[Effect]) -> Effect:
    """The strictest effect named, `read_only` when none is."""
    return max(effects, key=_ORDER.__getitem__, default="read_only")


def exceeds(effect: Effect, bound: Effect) -> bool:
    """Whether a call's effect is above what its tool declared."""
    return _ORDER[effect] > _ORDER[bound]


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """Where touches lie in a type: on the value itself, on its items, in its fields."""

    kind: TouchKind | None = None
    items: Node | None = None
    fields: dict[str, Node] = {}


def declared_in(declared: mi.Type) -> Node | None:
    """The touches that a type declares, or None."""
    kind: TouchKind | None = None
    while isinstance(declared, mi.Metadata):
        kind = (declared.extra or {}).get("touch", kind)
        declared = declared.type
    items: Node | None = None
    fields: dict[str, Node] = {}
    options = declared.types if isinstance(declared, mi.UnionType) else (declared,)
    for option in options:
        inner: mi.Type = option
        while isinstance(inner, mi.Metadata):
            kind = (inner.extra or {}).get("touch", kind)
            inner = inner.type
        if isinstance(inner, mi.ListType | mi.VarTupleType | mi.SetType):
            items = declared_in(inner.item_type) or items
        elif isinstance(inner, mi.StructType):
            fields.update({f.name: node for f in inner.fields if (node := declared_in(f.type))})
    if kind is None and items is None and not fields:
        return None
    return Node(kind=kind, items=items, fields=fields)


def kinds_in(node: Node) -> Iterator[TouchKind]:
    """Every kind declared below a node."""
    if node.kind:
        yield node.kind
    if node.items:
        yield from kinds_in(node.items)
    for inner in node.fields.values():
        yield from kinds_in(inner)


def collect(value: Any, node: Node) -> Iterator[Declared]:
    """The (kind, what) pairs of one argument's value."""
    if value is None:
        return
    if isinstance(value, str):
        if node.kind:
            yield node.kind, value
    elif isinstance(value, msgspec.Struct):
        for name, inner in node.fields.items():
            yield from collect(getattr(value, name), inner)
    elif isinstance(value, list | tuple | set | frozenset):
        inner_node = node.items or (Node(kind=node.kind) if node.kind else None)
        for item in value if inner_node else ():
            yield from collect(item, inner_node)  # type: ignore[arg-type]
