"""Plugins: found through entry points, looked at in a child process when they are new, loaded each alone.

    loading     import a module, read its `Settings`, check its hooks, call each once; one that fails harms nobody else
    claims      who has a name that several distributions claim
    loaded      what became of each, in words
    vetting     which strangers may be imported in this process: what is kept of earlier looks, and new looks
    probe       looks at strangers in a child process (`child`), which may hang or die
    kept        what was seen, on disk; and which import is under way, for the start after one that did not come back
    contained   puts back what an import changed in this process, and keeps what it prints off stdout
    stamps      whether a plugin's files are still those that were looked at
    project_files  the plugin files of a trusted project

Finding the entries themselves is `pegboard.entries`.
"""

from __future__ import annotations

from pegboard.entries import Entry as Entry
from pegboard.entries import scan as scan
from pegboard.plugins.loaded import Failure as Failure
from pegboard.plugins.loaded import Loaded as Loaded
from pegboard.plugins.loaded import LoadProblem as LoadProblem
from pegboard.plugins.loaded import Plugin as Plugin
from pegboard.plugins.loading import given as given
from pegboard.plugins.loading import import_guarded as import_guarded
from pegboard.plugins.loading import load_all as load_all
