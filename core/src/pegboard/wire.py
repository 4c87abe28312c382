"""What can be written as JSON, whatever came in: lone surrogates and objects that no encoder knows are shown, not fatal.

A file name that is not UTF-8 comes from the system with surrogates in it; it is shown as `caf\\xe9`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
_encoder = msgspec.json.Encoder()
_encode = _encoder.encode


def encode(value: Any) -> bytes:
    """Compact JSON in valid UTF-8; what cannot be written is shown by `writable` first."""
    try:
        return _encode(value)
    except _UNWRITABLE:
        return _encode(writable(value))


def encode_lines(values: list[Any]) -> bytes:
    """The same for values of a line each; every line has its end."""
    try:
        return _encoder.encode_lines(values)
    except _UNWRITABLE:
        return b"".join([encode(value) + b"\n" for value in values])


def clean(text: str) -> str:
    """A text that is valid Unicode: undecodable bytes as `\\xNN`, other lone surrogates as `\\uNNNN`."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_shown(char) if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def writable(value: Any, depth: int = 64) -> Any:
    """The value as plain JSON values; an object that JSON has no form for by its `repr`."""
    if depth == 0:
        return "..."
    match value:
        case None | bool() | int():
            return value if not isinstance(value, int) or abs(value) < 1 << 63 else str(value)
        case str():
            return clean(value)
        case Mapping():
            return {clean(str(key)): writable(item, depth - 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [writable(item, depth - 1) for item in value]
    try:
        if isinstance(value, msgspec.Struct):
            tagged = (
                {value.__struct_config__.tag_field: value.__struct_config__.tag} if value.__struct_config__.tag else {}
            )
            return {**tagged, **{name: writable(getattr(value, name), depth - 1) for name in value.__struct_fields__}}
        _encode(value)
    except _UNWRITABLE:
        return clean(repr(value))
    return value


def _shown(char: str) -> str:
    code = ord(char)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
