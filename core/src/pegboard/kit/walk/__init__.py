"""Searching the workspace: files by name, lines by pattern; `rg` and a Python engine behind one interface.

    hits = await grep(workspace, Query(pattern="TODO", include="*.py"), settings)
    paths = await glob(workspace, GlobQuery(pattern="src/**/*.ts"), settings)

`top_scope` and `Scope` are the ignore rules that both share, for walks of one's own (a listing of folders).
"""

from pegboard.kit.walk.engine import Run, find_rg
from pegboard.kit.walk.ignore import NEVER, Scope, top_scope
from pegboard.kit.walk.query import GlobQuery, Hit, Hits, Paths, Query
from pegboard.kit.walk.search import glob, grep

__all__ = [
    "NEVER",
    "GlobQuery",
    "Hit",
    "Hits",
    "Paths",
    "Query",
    "Run",
    "Scope",
    "find_rg",
    "glob",
    "grep",
    "top_scope",
]
