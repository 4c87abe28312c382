"""A tool function's signature, read once: the argument struct, its JSON Schema, where touches lie, what is injected."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import msgspec
from msgspec import inspect as mi

from pegboard.context import Context
from pegboard.touches import Node, declared_in

_REF = "#/$defs/{name}"


class BadSignature(Exception):
    """The signature cannot be a tool's; the text says what to change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """What a tool function's annotations say.

    struct: the arguments' type. fields, types: by parameter name. touched: parameters that declare touches.
    context: the name of the injected parameter. result: the annotated return type. inner_names: fields of nested structs."""

    struct: type[msgspec.Struct]
    fields: Mapping[str, mi.Field]
    types: Mapping[str, Any]
    schema: dict[str, Any]
    touched: Mapping[str, Node]
    inner_names: frozenset[str]
    context: str | None
    is_async: bool
    result: Any


_READ: WeakKeyDictionary[Callable[..., Any], tuple[str, Signature]] = WeakKeyDictionary()
"""What was read of plain functions, for as long as they live: a process may build many boards of the same tools."""


def signature_of(function: Callable[..., Any], name: str) -> Signature:
    """What `read_signature` gives. A plain function is read once in its life; nobody changes what was read.

    Raises:
        BadSignature: as there.
    """
    if not inspect.isfunction(function):
        return read_signature(function, name)
    known = _READ.get(function)
    if known is None or known[0] != name:
        known = _READ[function] = name, read_signature(function, name)
    return known[1]


def read_signature(function: Callable[..., Any], name: str) -> Signature:
    """Read a function's annotations.

    Raises:
        BadSignature: a parameter without annotation, `*args`, a type that JSON cannot carry, or a plain string as the
            metadata of a nested struct's field.
    """
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise BadSignature(f"an annotation cannot be resolved ({error}); import what it names at run time") from None
    context: str | None = None
    members: list[tuple[Any, ...]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise BadSignature(f"parameter {parameter.name!r}: *args, **kwargs and positional-only cannot be a tool's")
        if parameter.name not in hints:
            raise BadSignature(f"parameter {parameter.name!r} has no annotation")
        hint = hints[parameter.name]
        if _is_context(hint):
            context = parameter.name
            continue
        hint = _as_meta(hint, parameter.name)
        members.append(
            (parameter.name, hint) if parameter.default is parameter.empty else _with_default(parameter, hint)
        )
    try:
        struct = msgspec.defstruct(name, members, kw_only=True, frozen=True, omit_defaults=True)
        info = mi.type_info(struct)
        schema = _inlined(struct)
    except (TypeError, ValueError) as error:
        raise BadSignature(f"its parameters cannot be described as JSON: {error}") from None
    assert isinstance(info, mi.StructType)
    fields = {f.name: f for f in info.fields}
    touched = {f.name: node for f in info.fields if (node := declared_in(f.type))}
    return Signature(
        struct=struct,
        fields=fields,
        types={member[0]: member[1] for member in members},
        schema=schema,
        touched=touched,
        inner_names=frozenset(_inner_names(info, top=True)),
        context=context,
        is_async=inspect.iscoroutinefunction(function),
        result=hints.get("return"),
    )


def _with_default(parameter: inspect.Parameter, hint: Any) -> tuple[Any, ...]:
    default = parameter.default
    if isinstance(default, list | dict | set):
        kind = type(default)
        if default:
            raise BadSignature(f"parameter {parameter.name!r}: a mutable default must be empty")
        return parameter.name, hint, msgspec.field(default_factory=kind)
    return parameter.name, hint, default


def _is_context(hint: Any) -> bool:
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return isinstance(base, type) and issubclass(base, Context)


def _as_meta(hint: Any, name: str) -> Any:
    """Turn plain strings and annotated-types, which msgspec ignores, into Meta on a tool's own parameter."""
    if get_origin(hint) is not Annotated:
        return hint
    base, *metadata = get_args(hint)
    converted: list[Any] = []
    for item in metadata:
        if isinstance(item, msgspec.Meta):
            converted.append(item)
        elif isinstance(item, str):
            converted.append(msgspec.Meta(description=item))
        elif type(item).__module__.split(".")[0] == "annotated_types":
            converted.append(_constraint(item, name))
        else:
            raise BadSignature(f"parameter {name!r}: {item!r} is neither text, msgspec.Meta nor annotated-types")
    return Annotated[(base, *converted)] if converted else base


def _constraint(item: Any, name: str) -> msgspec.Meta:
    """annotated-types' Ge, Gt, Le, Lt, Interval, MultipleOf, MinLen, MaxLen, Len by their attributes."""
    names = {"min_length": "min_length", "max_length": "max_length", "multiple_of": "multiple_of"}
    names |= {key: key for key in ("ge", "gt", "le", "lt")}
    known = {meta: getattr(item, key) for key, meta in names.items() if getattr(item, key, None) is not None}
    if not known:
        raise BadSignature(f"parameter {name!r}: {item!r} has no counterpart in JSON Schema")
    return msgspec.Meta(**known)


def _inner_names(declared: mi.Type, *, top: bool = False) -> Iterator[str]:
    match declared:
        case mi.Metadata(type=inner) | mi.ListType(item_type=inner) | mi.VarTupleType(item_type=inner):
            yield from _inner_names(inner)
        case mi.UnionType(types=types):
            for option in types:
                yield from _inner_names(option)
        case mi.StructType(fields=fields):
            if not top:
                _check_notes(declared.cls)
            for field in fields:
                if not top:
                    yield field.name
                yield from _inner_names(field.type)
        case _:
            return


def _check_notes(struct: type) -> None:
    """msgspec passes over what it does not know in a struct's annotations; a description written so would be lost."""
    for name, hint in get_type_hints(struct, include_extras=True).items():
        notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        if any(not isinstance(note, msgspec.Meta) for note in notes):
            raise BadSignature(f"field {name!r} of {struct.__name__}: write its note as msgspec.Meta(description=...)")


def _inlined(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The struct's JSON Schema with every `$ref` replaced by what it names, and no titles."""
    (top,), parts = msgspec.json.schema_components((struct,), ref_template=_REF)

    def clean(node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [clean(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = str(node["$ref"]).removeprefix("#/$defs/")
            if target in inside:
                raise TypeError(f"{target} contains itself; a tool's schema is written out in full")
            # What a struct's docstring tells its readers is not for the model: fields and parameters have descriptions.
            part = {key: value for key, value in parts[target].items() if key != "description"}
            return {**clean(part, (*inside, target)), **{k: v for k, v in node.items() if k != "$ref"}}
        return {
            key: {name: _lean(clean(value, inside)) for name, value in item.items()}
            if key == "properties"
            else clean(item, inside)
            for key, item in node.items()
            if key != "title"
        }

    schema: dict[str, Any] = clean(top, ())
    schema.setdefault("properties", {})
    if not schema.get("required"):
        schema.pop("required", None)
    return schema


def _lean(part: dict[str, Any]) -> dict[str, Any]:
    """Leave out what every request would pay for and no model needs: "or null" of an optional parameter, and defaults
    that are empty or false."""
    part = {k: v for k, v in part.items() if k != "default" or (v is not False and v not in (None, [], {}, ""))}
    options = part.get("anyOf")
    if options and {"type": "null"} in options:
        kept = [option for option in options if option != {"type": "null"}]
        rest = {key: value for key, value in part.items() if key != "anyOf"}
        part = {**kept[0], **rest} if len(kept) == 1 else {**rest, "anyOf": kept}
    return part
