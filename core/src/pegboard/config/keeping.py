"""Keys as a person or a front end writes them, and whether there is such a setting of core's own."""

from __future__ import annotations

import tomllib
from typing import Annotated, Any, get_args, get_origin

from pegboard.config.checking import OPEN, nearest
from pegboard.config.layers import leaves, type_of
from pegboard.config.published import keys
from pegboard.config.write import UNCHANGED
from pegboard.errors import ConfigError


def key_of(text: str) -> tuple[str, ...]:
    """A key as TOML reads it; one with letters that TOML would have quoted is taken at its dots.

    Raises:
        ConfigError: it is none.
    """
    try:
        [(key, _)] = leaves(tomllib.loads(f"{text} = 0"))
    except (ValueError, RecursionError):
        key = tuple(text.split("."))
    if not all(key) or not text.isprintable() or len(key) > 8:
        raise ConfigError(
            f"{text!r} is no key; {UNCHANGED}. A key is written table.name, as `pegboard config show` lists them."
        )
    return key


def in_mapping(key: tuple[str, ...]) -> bool:
    """Whether a key is one of any name in a setting that holds names and texts: `ui.keys."input.send"`."""
    declared = type_of(".".join(key[:2])) if len(key) == 3 else None
    return get_origin(get_args(declared)[0] if get_origin(declared) is Annotated else declared) is dict


def insist_on_key(key: tuple[str, ...], value: Any) -> None:
    """There is such a setting of core's own, and a value for it. Whether the value fits is seen when it is written.

    Raises:
        ConfigError: there is not; the nearest is named.
    """
    name, known = ".".join(key), keys()
    opened = len(key) == 2 and key[0] in OPEN
    if value is None or not (name in known or opened or in_mapping(key)):
        near = nearest(name, known) or "; `pegboard config show` lists the keys there are"
        what = f"there is no setting {name!r}" if value is not None else f"{name}: there is no value to set"
        raise ConfigError(f"{what}; {UNCHANGED}{near if value is not None else ''}")
