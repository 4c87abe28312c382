"""A package's public names, imported when they are first used (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any


def lazily(package: str, where: Mapping[str, Collection[str]]) -> tuple[Callable[[str], Any], list[str]]:
    """`__getattr__` and `__all__` for a package whose modules, by their names in it, have these public names.

    A name that was used once stands in the package itself from then on. One that no module has is an AttributeError."""
    homes = {name: module for module, names in where.items() for name in names}

    def look_up(name: str) -> Any:
        import sys
        from importlib import import_module

        module = homes.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return look_up, sorted(homes)
