"""Plugins with one fault each, and for each one that comes near it and is sound. Read by `test_planted_faults`."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """
import asyncio, os, sys, threading, time
from typing import Annotated, Any
import msgspec
from pegboard import Context, Fetches, Lists, Reads, Result, Runs, ToolError, Writes, hookimpl, tool
"""
WHOLE = '''
@tool(pure=True)
def say_{word}(text: str) -> str:
    """Say a text back."""
    return text

@hookimpl
def pegboard_tools(settings):
    return [say_{word}]
'''
"""What a module has beside its fault, where that is not in its tool or its hooks."""
HOOK = """
@hookimpl
def pegboard_tools(settings):
    return [one]
"""


@dataclass(frozen=True, kw_only=True)
class Planted:
    """`id`: of the check that finds it. `fault`, `near`: code after HEAD. `status`: as which it is told.

    `after`: code that both have after it. value: what the entry names in its module, None: the module."""

    id: str
    fault: str
    near: str
    status: str = "fail"
    group: str = "pegboard.toolsets"
    after: str = HOOK
    value: str | None = None


def at_import(id: str, fault: str, near: str) -> Planted:
    """Code that runs when the module is imported."""
    return Planted(id=id, fault=fault, near=near, after=WHOLE)


def in_tool(id: str, fault: str, near: str, status: str = "fail") -> Planted:
    """A tool `one`."""
    return Planted(id=id, fault=fault, near=near, status=status)


DRAWS = """
class Sums(msgspec.Struct):
    total: int
    names: list[str]

    def __str__(self):
        return str(self.total)

@tool(pure=True)
def one() -> Sums:
    'Add things up.'
    return Sums(3, ['a'])
"""
RENDERS = f"""
@hookimpl
def pegboard_renderers(settings):
    return {{Sums: draw}}
{HOOK}"""


def in_renderer(id: str, fault: str, near: str) -> Planted:
    """A renderer `draw`, of what a tool returns."""
    return Planted(id=id, fault=DRAWS + fault, near=DRAWS + near, after=RENDERS)
