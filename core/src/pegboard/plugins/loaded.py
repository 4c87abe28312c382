"""What became of each plugin: loaded, or not and why, in words that name the plugin and say how to switch it off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from pegboard.entries import Entry

PROJECT = "project"
"""Whose a project's plugin files are, where an installed plugin has its distribution."""
_NAMED = {"pegboard.approvers": "plugins.approvers", "pegboard.rewriters": "plugins.rewriters"}


class LoadProblem(Exception):
    """Why one plugin did not load. `what`: import, hook, duplicate, version, settings, hang or crash."""

    def __init__(self, what: str, text: str) -> None:
        super().__init__(text)
        self.what = what


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A plugin that did not load: what went wrong, and how to switch it off."""

    entry: Entry
    what: str
    error: str

    @property
    def fix(self) -> str:
        """What a person can do about it."""
        return how_to_mend(self.entry, self.what)

    @property
    def text(self) -> str:
        """One line for a person."""
        return f"{whose(self.entry)} did not load: {self.error}; {self.fix}"


def whose(entry: Entry) -> str:
    """A plugin by its name and distribution, for notes."""
    return f"plugin {entry.name!r} ({entry.distribution} {entry.version})"


def switch_off(entry: Entry) -> str:
    """How a person switches this plugin off, as the end of a sentence."""
    if entry.group == "pegboard.guards":
        return f"start with --without-guard {entry.name}"
    if entry.group == "pegboard.providers":
        return "choose another model"
    if entry.group in _NAMED:
        return f'take "{entry.name}" out of {_NAMED[entry.group]}'
    return f'put "{entry.name}" in plugins.disable'


def how_to_mend(entry: Entry, what: str) -> str:
    """What a person can do about a plugin that did not load."""
    if entry.distribution == PROJECT:
        return f"mend or rename {entry.value}, or {switch_off(entry)}"
    if what == "duplicate":  # to switch a name off would hit whoever else has it
        return f"uninstall {entry.distribution}"
    again = "; `pegboard doctor --retry` tries it again" if what in ("hang", "crash", "import") else ""
    mend = "mend the setting" if what == "settings" else "update or uninstall it"
    return f"{mend}, or {switch_off(entry)}{again}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """A loaded plugin and what each of its hooks returned. `import_ms`: what loading it took."""

    entry: Entry
    settings: Any
    contributions: Mapping[str, Any]
    import_ms: float = 0.0


@dataclass(kw_only=True, slots=True)
class Loaded:
    """Everything that was loaded, in order, and everything that was not. `notes`: what a person should be told."""

    plugins: list[Plugin] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def contributed(self, hook: str) -> list[tuple[Plugin, Any]]:
        """(plugin, what its hook returned), for the plugins that have this hook."""
        return [(plugin, plugin.contributions[hook]) for plugin in self.plugins if hook in plugin.contributions]


def told(error: BaseException, module: str = "") -> str:
    """An exception in one line, with the line of the author's that raised it (see `place_in`); its own text may be a
    stranger's code."""
    try:
        text = " ".join(str(error).split())
    except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: an exception's text is a stranger's code
        text = "(its text cannot be had)"
    return f"{type(error).__name__}: {text[:500]}{place_in(error, module)}"


def place_in(error: BaseException, module: str | None) -> str:
    """` (todos.py:12)`: the innermost frame of a traceback in the package of `module`; empty where there is none."""
    top, found = (module or "").partition(".")[0], ""
    trace = error.__traceback__
    while trace is not None and top:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] == top:
            file = PurePath(trace.tb_frame.f_code.co_filename)
            depth = name.count(".") + 1 + (file.name == "__init__.py")
            found = f" ({'/'.join(file.parts[-depth:])}:{trace.tb_lineno})"
        trace = trace.tb_next
    return found


def log_failure(what: str, error: BaseException | None = None, *, trace: str = "") -> None:
    """Write down where a failure of strangers' code came from, for `--debug`. `trace`: a traceback as a text."""
    import logging

    text = f"{what}\n{trace.rstrip()}" if trace else what
    logging.getLogger("pegboard.plugins").debug("%s", text, exc_info=error)
