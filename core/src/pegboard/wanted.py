"""What a declared type takes: in words for whoever sent something else, and in kind for reading what was sent."""

from __future__ import annotations

from typing import Any

from msgspec import inspect as mi

INEXACT = (mi.FloatType, mi.AnyType)
"""Kinds that may hold a number which JSON has no word for."""
_SINGLE = (mi.StrType, mi.IntType, mi.FloatType, mi.BoolType, mi.NoneType, mi.LiteralType)


def holding(declared: mi.Type, value: Any) -> mi.Type:
    """Of a union, the option that could hold this value; without the metadata around it."""
    declared = bare(declared)
    if isinstance(declared, mi.UnionType):
        wanted = mi.ListType if isinstance(value, list) else mi.StructType
        return next((option for option in map(bare, declared.types) if isinstance(option, wanted)), declared)
    return declared


def bare(declared: mi.Type) -> mi.Type:
    """The type without the metadata around it."""
    while isinstance(declared, mi.Metadata):
        declared = declared.type
    return declared


def holds(declared: mi.Type, wanted: type[mi.Type] | tuple[type[mi.Type], ...]) -> bool:
    """Whether a type of this kind lies anywhere in a type."""
    match declared := bare(declared):
        case _ if isinstance(declared, wanted):
            return True
        case mi.UnionType(types=types) | mi.TupleType(item_types=types):
            return any(holds(option, wanted) for option in types)
        case mi.ListType(item_type=item) | mi.VarTupleType(item_type=item) | mi.DictType(value_type=item):
            return holds(item, wanted)
        case mi.StructType(fields=fields):
            return any(holds(field.type, wanted) for field in fields)
        case _:
            return False


def single(declared: mi.Type) -> bool:
    """Whether the type takes single values only: text, numbers, true and false, null."""
    declared = bare(declared)
    if isinstance(declared, mi.UnionType):
        return all(single(option) for option in declared.types)
    return isinstance(declared, _SINGLE)


def takes_null(declared: mi.Type) -> bool:
    """Whether null is a value of the type."""
    declared = bare(declared)
    if isinstance(declared, mi.UnionType):
        return any(takes_null(option) for option in declared.types)
    return isinstance(declared, mi.NoneType | mi.AnyType)


def takes_text(declared: mi.Type) -> bool:
    """Whether any text is a value of the type."""
    declared = bare(declared)
    if isinstance(declared, mi.UnionType):
        return any(takes_text(option) for option in declared.types)
    return isinstance(declared, mi.StrType | mi.AnyType)


def expected(declared: mi.Type) -> str:
    """What a field takes, in words: `integer, at least 1`, `one of "a", "b"`."""
    declared = bare(declared)
    match declared:
        case mi.UnionType(types=types):
            return " or ".join(expected(option) for option in types)
        case mi.LiteralType(values=values):
            return "one of " + ", ".join(f'"{v}"' if isinstance(v, str) else str(v) for v in values)
        case mi.IntType(ge=ge, gt=gt, le=le, lt=lt) | mi.FloatType(ge=ge, gt=gt, le=le, lt=lt):
            noun = "integer" if isinstance(declared, mi.IntType) else "number"
            bounds = [(ge, "at least"), (gt, "above"), (le, "at most"), (lt, "below")]
            return ", ".join([noun, *(f"{words} {bound}" for bound, words in bounds if bound is not None)])
        case mi.StrType():
            return "string"
        case mi.BoolType():
            return "true or false"
        case mi.ListType(item_type=item) | mi.VarTupleType(item_type=item):
            return f"list of {expected(item)}"
        case mi.StructType(fields=fields):
            return "object with " + ", ".join(f.name for f in fields)
        case mi.DictType():
            return "object"
        case mi.NoneType():
            return "null"
        case _:
            return type(declared).__name__.removesuffix("Type").lower()
