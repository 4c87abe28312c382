"""load.*, hook.*, api.version: a plugin is imported and its hooks are called, and nothing else happens by that."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard import hooks
from pegboard.checking.report import Findings, Said, fine, skipped
from pegboard.checking.target import Target
from pegboard.checking.watching import Deeds, watched
from pegboard.entries import Entry
from pegboard.plugins.contained import Containment
from pegboard.plugins.loaded import LoadProblem, Plugin
from pegboard.plugins.loading import check_entry, import_guarded, load_one
from pegboard.testing.writes import writes_detected

LIMIT_MS = 200
"""Milliseconds that a plugin may take to load, over the bare core."""
OBJECTS = frozenset(
    {"pegboard.providers", "pegboard.launchers", "pegboard.commands", "pegboard.slash", "pegboard.forms"}
)
"""Groups whose entries name an object, and have no hooks."""
LOADS = ("load.import", "load.time", "load.side_effects", "load.prints", "load.threads")
_KNOWN = (
    "is no hook of",
    "implements no hook",
    "unknown hook",
    "there is no group",
    "names a module",
    "an entry's name",
)
_AT_IMPORT = "Do it in a function that is called when it is needed, not when the module is imported."


@dataclass(kw_only=True, slots=True)
class Hanging:
    """An entry of the target, and what came of loading it. `subject`: how findings name it. `plugin`: with hooks;
    `made`: what an entry without hooks names. Both None: it did not load."""

    entry: Entry
    subject: str
    plugin: Plugin | None = None
    made: Any = None
    problem: LoadProblem | None = None
    module: Any = None
    remarks: list[str] = field(default_factory=list)
    took: float = 0.0


def load(target: Target, findings: Findings) -> list[Hanging]:
    """Load every entry of a target, and say what became of that."""
    entries = target.known
    names = [entry.name for entry in entries]
    found = []
    for entry in entries:
        kind = entry.group.removeprefix("pegboard.").removesuffix("s")
        subject = entry.name if names.count(entry.name) == 1 else f"{entry.name} ({kind})"
        one = Hanging(entry=entry, subject=subject)
        ended = [id for id, of in findings.ended if of == subject and id in LOADS]
        if ended:
            one.problem = LoadProblem("hang", "it did not load in an earlier attempt")
        else:
            findings.begin("load.import", subject)
            _load(one, entries, target.wishes.settings.get(entry.name, {}), findings)
        found.append(one)
    return found


def _load(one: Hanging, entries: Sequence[Entry], table: Mapping[str, Any], findings: Findings) -> None:
    before, modules = _Around(), set(sys.modules)
    with Containment() as containment, watched() as deeds, writes_detected() as wrote, containment.watched(one.remarks):
        began = time.perf_counter()
        try:
            _take(one, entries, table)
        except LoadProblem as problem:
            one.problem = problem
        one.took = (time.perf_counter() - began) * 1000
    one.remarks += before.changed()
    findings.loaded(sorted(name for name in sys.modules.keys() - modules if name.startswith("pegboard.")) + _host(one))
    _say_of_load(one, deeds, wrote, findings)
    _say_of_hooks(one, findings)


def _take(one: Hanging, entries: Sequence[Entry], table: Mapping[str, Any]) -> None:
    """Import it, and call its hooks.

    Raises:
        LoadProblem: what went wrong.
    """
    entry = one.entry
    if entry.group in OBJECTS:
        one.made = import_guarded(entry)
        return
    check_entry(entry, [other for other in entries if other.group not in OBJECTS])
    one.plugin = load_one(entry, table, None)


def _host(one: Hanging) -> list[str]:
    """The library that an object is made with and that whoever uses it has imported already."""
    made = type(one.made).__module__.partition(".")[0]
    return [made] if one.made is not None and made not in (one.entry.value.split(".")[0], "builtins") else []


class _Around:
    """What else an import may change for everybody, beside what `Containment` knows."""

    def __init__(self) -> None:
        root = logging.getLogger()
        self.handlers, self.level = list(root.handlers), root.level
        self.umask, self.parent = _umask(), os.getppid()

    def changed(self) -> list[str]:
        """What is otherwise now; it is put back."""
        root, said = logging.getLogger(), []
        if root.handlers != self.handlers or root.level != self.level:
            root.handlers[:] = self.handlers
            root.setLevel(self.level)
            said.append("sets up logging for the whole program")
        if (now := _umask()) != self.umask:
            os.umask(self.umask)
            said.append(f"sets the umask to {now:03o}")
        if os.getppid() != self.parent:
            said.append("ends the process that started this one")
        return said


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def _say_of_load(one: Hanging, deeds: Deeds, wrote: Sequence[str], findings: Findings) -> None:
    subject, problem = one.subject, one.problem
    if problem is not None and problem.what == "import":
        findings.add("load.import", subject, Said("fail", f"it cannot be imported: {problem}", _mend(str(problem))))
    elif problem is not None and problem.what == "settings":
        fix = f"Give every setting a default, or say in [tool.pegboard.check.settings.{one.entry.name}] what to check with."
        findings.add(
            "load.import", subject, skipped(f"it does not load with the settings that it was given: {problem}", fix)
        )
    else:
        findings.add("load.import", subject, fine("it is imported"))
    findings.add("load.time", subject, _time(one))
    prints = [remark for remark in one.remarks if remark.startswith("prints")]
    threads = [remark for remark in one.remarks if remark.startswith("leaves threads")]
    others = [remark.replace(" (put back)", "") for remark in one.remarks if remark not in (*prints, *threads)]
    others += [f"writes: {line}" for line in dict.fromkeys(wrote)]
    others += [f"starts a program: {line}" for line in dict.fromkeys(deeds.started)]
    others += [f"asks for the network: {line}" for line in dict.fromkeys(deeds.asked)]
    findings.add("load.side_effects", subject, _none_of(others, "loading it changes nothing else", _AT_IMPORT))
    findings.add(
        "load.prints",
        subject,
        _none_of(prints, "it prints nothing when it is loaded", "Take the print out, or log it."),
    )
    findings.add("load.threads", subject, _none_of(threads, "it leaves no thread running", _AT_IMPORT))


def _time(one: Hanging) -> Said:
    text = f"it loads in {one.took:.0f} ms over the bare core, of {LIMIT_MS}"
    if one.took <= LIMIT_MS:
        return fine(text)
    fix = "Import what is heavy inside the function that needs it; `python -X importtime -c 'import MODULE'` shows it."
    return Said("fail", text, fix)


def _none_of(found: Sequence[str], well: str, fix: str) -> Said:
    return Said("fail", f"when it is loaded, it {'; '.join(found)}", fix) if found else fine(well)


def _mend(text: str) -> str:
    if text.startswith("ModuleNotFoundError"):
        return "Install what it depends on (`pip install -e .` in its folder), and see that the entry names its module."
    return "Import the module by itself, and mend what it raises."


def _say_of_hooks(one: Hanging, findings: Findings) -> None:
    if one.entry.group in OBJECTS:
        return
    subject, problem = one.subject, one.problem
    if problem is not None and problem.what in ("import", "settings", "hang"):
        for id in ("api.version", "hook.known", "hook.signature"):
            findings.add(id, subject, skipped("it did not load"))
        return
    if problem is not None and problem.what == "version":
        fix = f"Write it for version {hooks.API} of the hooks, or take pegboard_api out of the module."
        findings.add("api.version", subject, Said("fail", str(problem), fix))
        for id in ("hook.known", "hook.signature"):
            findings.add(id, subject, skipped("it was written for another version of the hooks"))
        return
    findings.add("api.version", subject, fine(f"it fits version {hooks.API} of the hooks"))
    if problem is None:
        had = ", ".join(sorted(one.plugin.contributions)) if one.plugin else ""
        findings.add("hook.known", subject, fine(f"its hooks belong to {one.entry.group}: {had}"))
        findings.add("hook.signature", subject, fine("its hooks take and return what they should"))
        return
    text = str(problem)
    unknown = problem.what == "duplicate" or any(word in text for word in _KNOWN) or "own tables" in text
    unknown = unknown or "already stands in" in text
    allowed = ", ".join(sorted(hooks.GROUPS.get(one.entry.group, ())))
    if unknown:
        fix = f"Hooks of {one.entry.group}: {allowed}." if allowed else f"Groups are {', '.join(hooks.GROUPS)}."
        findings.add("hook.known", subject, Said("fail", text, fix))
        findings.add("hook.signature", subject, skipped("its hooks were not called"))
    else:
        findings.add("hook.known", subject, fine(f"its hooks belong to {one.entry.group}"))
        fix = "A hook takes `settings`, or nothing, and returns what pegboard.hooks says of it."
        findings.add("hook.signature", subject, Said("fail", text, fix))
