"""Searching the workspace: files by name, lines by pattern; `rg` and a Python engine behind one interface.

    hits = await grep(workspace, Query(pattern="TODO", include="*.py"), settings)
    paths = await glob(workspace, GlobQuery(pattern="src/**/*.ts"), settings)

`top_scope` and `Scope` are the ignore rules that both share, for walks of one's own (a listing of folders). Names are
looked up when first used: the Python engine's process needs few of these modules and should start quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.lazily import lazily

if TYPE_CHECKING:
    from pegboard.kit.walk.engine import Run as Run
    from pegboard.kit.walk.engine import find_rg as find_rg
    from pegboard.kit.walk.ignore import NEVER as NEVER
    from pegboard.kit.walk.ignore import Scope as Scope
    from pegboard.kit.walk.ignore import top_scope as top_scope
    from pegboard.kit.walk.query import GlobQuery as GlobQuery
    from pegboard.kit.walk.query import Hit as Hit
    from pegboard.kit.walk.query import Hits as Hits
    from pegboard.kit.walk.query import Paths as Paths
    from pegboard.kit.walk.query import Query as Query
    from pegboard.kit.walk.search import glob as glob
    from pegboard.kit.walk.search import grep as grep

__getattr__, __all__ = lazily(
    __name__,
    {
        "engine": ("Run", "find_rg"),
        "ignore": ("NEVER", "Scope", "top_scope"),
        "query": ("GlobQuery", "Hit", "Hits", "Paths", "Query"),
        "search": ("glob", "grep"),
    },
)
