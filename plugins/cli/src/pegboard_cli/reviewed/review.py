"""What a package declares, from its wheel alone, and what is new in it since the version that is installed.

A declaration is the author's word, not a fence: what the code does is judged call by call, and code that is malicious is
not held by it. Installing means that one trusts the author."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from pegboard.entries import Entry, normal
from pegboard.hooks import API, ROLES
from pegboard.manifest import MOST_BYTES, NAME, EntrySaid, Manifest, ToolSaid, decoded, role
from pegboard.plugins.claims import contested
from pegboard.plugins.loaded import LoadProblem
from pegboard.plugins.loading import check_entry

from pegboard_cli.reviewed.placing import refuse_misplaced, scripts, warnings
from pegboard_cli.reviewed.wheel import Wheel, unfit
from pegboard_cli.versions import fits

OURS = "pegboard."
_PROGRAMS = ("console_scripts", "gui_scripts")
_NAMED = {"pegboard.approvers": "approvers", "pegboard.rewriters": "rewriters"}


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """An entry point. `tools`: what its manifest says; None: nothing is known of them. `write`: the line that a person has
    to write into their own file before it does anything. `unused`: why it would not be used as it is."""

    group: str
    name: str
    object: str
    kind: str
    role: str
    tools: list[ToolSaid] | None = None
    help: str = ""
    write: str | None = None
    unused: str | None = None


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a wheel without running anything of it. `size` and `unpacked` in bytes. `manifest`: fresh, none,
    stale or unreadable. `programs`: commands that come onto PATH. `others`: entry points of no group of ours. `warnings`:
    what runs or lies where one does not look for it. `installed`: the version that it replaces. `news`: what that one did
    not have."""

    distribution: str
    version: str
    summary: str
    file: str
    sha256: str
    size: int
    unpacked: int
    files: int
    manifest: Literal["fresh", "none", "stale", "unreadable"]
    entries: list[Declared]
    programs: list[str]
    others: list[str]
    dependencies: list[str]
    warnings: list[str]
    installed: str | None = None
    news: list[str] = []


def review(wheel: Wheel, entries: Sequence[Entry], before: Review | None) -> Review:
    """Look at a wheel. `entries`: what is installed; `before`: the same look at the installed version.

    Raises:
        CannotInstall: it brings no plugin, would replace a part of Pegboard, or its metadata cannot be read.
    """
    try:
        points = wheel.entry_points()
        ours = [point for point in points if point[0].startswith(OURS)]
        if not ours:
            raise unfit(wheel.path, f"{wheel.distribution} brings no plugin for Pegboard")
        manifests = {module: _manifest(wheel, module) for module in {_module(value) for _, _, value in ours}}
        programs = sorted({name for group, name, _ in points if group in _PROGRAMS} | set(scripts(wheel.sizes)))
        parts = {"pegboard", "pegboard_cli", *(_module(e.value).partition(".")[0] for e in entries if e.own)}
        refuse_misplaced(wheel, parts, programs)
        found = Review(
            distribution=wheel.distribution,
            version=wheel.version,
            summary=" ".join(str(wheel.headers.get("Summary") or "").split())[:300],
            file=wheel.path.name,
            sha256=wheel.sha256,
            size=wheel.path.stat().st_size,
            unpacked=sum(wheel.sizes.values()),
            files=len(wheel.sizes),
            manifest=_worst([state for state, _ in manifests.values()]),
            entries=[_declared(wheel, *point, manifests[_module(point[2])][1], entries, ours) for point in ours],
            programs=programs,
            others=sorted(f"{g}: {n}" for g, n, _ in points if not g.startswith(OURS) and g not in _PROGRAMS),
            dependencies=[line for line in wheel.requires() if not only_with_extra(line)],
            warnings=[*_python(wheel), *warnings(wheel, programs)],
        )
    except (OSError, ValueError) as error:
        raise unfit(wheel.path, str(error)) from None
    if before is None:
        return found
    return msgspec.structs.replace(found, installed=before.version, news=list(news(before, found)))


def _python(wheel: Wheel) -> Iterator[str]:
    """What is said where it is for another Python: the installer, which knows for certain, is going to refuse it."""
    asked = str(wheel.headers.get("Requires-Python") or "").strip()[:100]
    here = platform.python_version()
    if asked and not fits(re.match(r"[\d.]*", here)[0], asked):  # type: ignore[index]  # an empty match is one
        yield f"it is for Python {asked}, and this is {here}: it is not going to be installed"


def write_line(group: str, name: str) -> str | None:
    """What a person has to write into their own file before an entry of this group does anything."""
    key = _NAMED.get(group)
    return f'[plugins]\n{key} = ["{name}"]' if key else None


def _module(value: str) -> str:
    return value.partition(":")[0]


def _manifest(wheel: Wheel, module: str) -> tuple[Literal["fresh", "none", "stale", "unreadable"], Manifest | None]:
    top = wheel.top(module)
    if top is None or f"{top}/{NAME}" not in wheel.sizes:
        return "none", None
    try:
        manifest = decoded(wheel.data(f"{top}/{NAME}", MOST_BYTES) or b"")
    except ValueError:
        return "unreadable", None
    fresh = manifest.digest == wheel.digest(top) and manifest.distribution == wheel.distribution
    return ("fresh", manifest) if fresh and manifest.api == API else ("stale", None)


def _worst(
    states: Iterable[Literal["fresh", "none", "stale", "unreadable"]],
) -> Literal["fresh", "none", "stale", "unreadable"]:
    there = set(states)
    if "unreadable" in there:
        return "unreadable"
    return "stale" if "stale" in there else "fresh" if there == {"fresh"} else "none"


def _declared(
    wheel: Wheel,
    group: str,
    name: str,
    value: str,
    manifest: Manifest | None,
    entries: Sequence[Entry],
    points: Sequence[tuple[str, str, str]],
) -> Declared:
    said: EntrySaid | None = manifest.entry(group, name) if manifest else None
    said = said if said is not None and said.object == value else None
    return Declared(
        group=group,
        name=name,
        object=value,
        kind=group.removeprefix(OURS).removesuffix("s"),
        role=role(group),
        tools=said.tools if said else None if group == "pegboard.toolsets" else [],
        help=said.help if said else "",
        write=write_line(group, name),
        unused=_unused(wheel, (group, name, value), entries, points),
    )


def _unused(
    wheel: Wheel, point: tuple[str, str, str], entries: Sequence[Entry], points: Sequence[tuple[str, str, str]]
) -> str | None:
    """Why an entry would not be used, beside those that are installed."""

    def entry(group: str, name: str, value: str) -> Entry:
        return Entry(
            name=name,
            group=group,
            value=value,
            distribution=wheel.distribution,
            version=wheel.version,
            own=False,
        )

    others = [one for one in entries if one.distribution != wheel.distribution]
    every = sorted([*others, *(entry(*p) for p in points)], key=lambda e: (not e.own, e.distribution, e.group, e.name))
    this = next(one for one in every if one == entry(*point))
    if point[0] not in ROLES:
        return None
    try:
        check_entry(this, every)
    except LoadProblem as problem:
        if problem.what == "hook" and "no group" in str(problem):  # groups without hooks
            return contested(this, every)
        return str(problem)
    return None


def only_with_extra(line: str) -> bool:
    """Whether a line of `Requires-Dist` counts only for who asks for an extra; in doubt it does not."""
    address = "@" in line.partition(";")[0]  # in one, a semicolon is a letter as any other
    condition = line.partition(" ;" if address else ";")[2]
    return re.search(r"\bextra\s*==", condition) is not None and re.search(r"\bor\b", condition) is None


def news(before: Review, now: Review) -> Iterator[str]:
    """What a version has that the one before had not, the weightiest first; then what is gone."""
    known = {(entry.group, entry.name): entry for entry in before.entries}
    gone = dict(known)
    for entry in now.entries:
        old = gone.pop((entry.group, entry.name), None)
        if old is None:
            yield f"+ {entry.kind} {entry.name}"
            old = Declared(group="", name="", object="", kind="", role="", tools=[])
        yield from _tool_news(entry.name, old.tools, entry.tools)
    yield from (f"+ program {name}" for name in now.programs if name not in before.programs)
    yield from (f"+ entry point {other}" for other in now.others if other not in before.others)
    yield from (f"+ {warning}" for warning in now.warnings if warning not in before.warnings)
    wanted = {_wanted(line) for line in before.dependencies}
    yield from (f"+ depends on {line}" for line in now.dependencies if _wanted(line) not in wanted)
    yield from (f"- {entry.kind} {entry.name}" for entry in gone.values())


def _wanted(line: str) -> str:
    for index, char in enumerate(line):
        if not (char.isalnum() or char in "-_."):
            return normal(line[:index])
    return normal(line)


def _tool_news(name: str, before: Sequence[ToolSaid] | None, now: Sequence[ToolSaid] | None) -> Iterator[str]:
    if before is None or now is None:
        if before is not now:
            yield f"? which tools of {name} are new is not known: one of the versions does not say what it has"
        return
    known = {tool.name: tool for tool in before}
    for tool in now:
        old = known.pop(tool.name, None)
        if old is None:
            yield f"+ tool {name}:{tool.name} ({tool.effect}; {touches(tool)})"
            continue
        more = [kind for kind in tool.touches if kind not in old.touches]
        if more or (tool.by_arguments and not old.by_arguments):
            yield f"! tool {name}:{tool.name} touches more: {touches(tool)}; before: {touches(old)}"
        if tool.effect != old.effect:
            yield f"! tool {name}:{tool.name} is {tool.effect}; before: {old.effect}"
        if tool.permission != old.permission:
            yield f"! tool {name}:{tool.name} asks as {tool.permission}; before: {old.permission}"
    yield from (f"- tool {name}:{gone}" for gone in known)


def touches(tool: ToolSaid) -> str:
    """What a tool may touch, in words."""
    said = ", ".join(tool.touches)
    if tool.by_arguments:
        return f"{said}, and more by its arguments" if said else "what its arguments say"
    return {"": "touches nothing", "unknown": "what it touches is not said, so it asks"}.get(said, said)
