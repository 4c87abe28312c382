"""`pegboard plugin info`: what an installed package declares, from its manifest, or from a look in a child process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from pegboard import manifest
from pegboard.believing import concealed
from pegboard.entries import Entry, installed, normal, summary
from pegboard.manifest import EntrySaid
from pegboard.plugins.claims import is_stranger
from pegboard.terminal import visible

from pegboard_cli.installing import CannotInstall
from pegboard_cli.plugin_list import Installed, PluginRow
from pegboard_cli.reviewed import lock
from pegboard_cli.reviewed.look import look
from pegboard_cli.reviewed.present import present
from pegboard_cli.reviewed.review import touches, write_line
from pegboard_cli.styles import Styles, takes_colour


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """An entry. `said_by`: where what it declares is from; None where it could not be had, which `problem` says. A
    `problem` beside a `look`: the manifest that is there is not true."""

    said: EntrySaid
    said_by: Literal["manifest", "look"] | None
    problem: str | None
    state: str
    reason: str | None
    write: str | None


class Info(msgspec.Struct, frozen=True, kw_only=True):
    """`plugin info --json`. `lock`: as `plugin list` has it; `source`, `at` and `sha256` from the lock."""

    distribution: str
    version: str
    summary: str
    lock: str | None
    source: str | None
    at: str | None
    sha256: str | None
    dependencies: list[str]
    entries: list[Known]


def show(name: str, path: str | None, *, json: bool) -> int:
    """The exit code. Raises CannotInstall: no installed plugin has this name, or several packages have one."""
    from pegboard_cli.options import print_json

    here = Installed(path)
    entries = _meant(name, here.entries)
    found = _info(entries, here)
    if json:
        print_json(found)
    else:
        first, *rest = [visible(line) for line in _lines(found)]
        title = Styles(takes_colour(sys.stdout)).bold(first)
        sys.stdout.write("".join(f"{line}\n" for line in [title, *rest]))
    return 0


def _meant(name: str, entries: Sequence[Entry]) -> list[Entry]:
    whole = [entry for entry in entries if entry.distribution == normal(name.strip())]
    named = [entry for entry in entries if entry.name == name.strip()]
    of = sorted({entry.distribution for entry in named})
    if whole:
        return whole
    if not of:
        raise CannotInstall(f"no installed plugin or package is named {name!r}. `pegboard plugin list` lists them.")
    if len(of) > 1:
        raise CannotInstall(f"{name!r} comes with {' and '.join(of)}; name one of these.")
    return named


def _info(entries: Sequence[Entry], here: Installed) -> Info:
    first = entries[0]
    row, state = _lock(first)
    rows = {(one.group, one.name, one.distribution): one for one in here.rows().plugins}
    there = installed(first.distribution)
    review = present(first.distribution, entries, sys.prefix)
    return Info(
        distribution=first.distribution,
        version=there[1] if there else first.version,
        summary=summary(first),
        lock="ours" if first.own else state,
        source=row.source if row else None,
        at=row.at if row else None,
        sha256=row.sha256 if row else None,
        dependencies=review.dependencies if review else [],
        entries=[_known(entry, here, rows.get((entry.group, entry.name, entry.distribution))) for entry in entries],
    )


def _lock(entry: Entry) -> tuple[lock.Row | None, str | None]:
    try:
        row = lock.read().row(entry.distribution)
    except CannotInstall:
        return None, None
    return row, lock.state(row)[0] if row else "not reviewed"


def _known(entry: Entry, here: Installed, row: PluginRow | None) -> Known:
    written = said = manifest.fresh(entry)
    by, problem = "manifest", None
    if said is None or (is_stranger(entry) and entry.group == "pegboard.toolsets"):
        answer = look(entry, dict(here.loaded.config.tables.get(entry.name, {})))
        lie = concealed(written, answer.said.tools) if written and answer.said else None
        if written is None or lie is not None:
            said, by, problem = answer.said, "look", answer.error
        if lie is not None:
            problem = f"its pegboard.json is not true: {lie}"
    return Known(
        said=said or EntrySaid(group=entry.group, name=entry.name, object=entry.value, role=manifest.role(entry.group)),
        said_by=None if said is None else "manifest" if by == "manifest" else "look",
        problem=problem,
        state=row.state if row else "off",
        reason=row.reason if row else None,
        write=write_line(entry.group, entry.name),
    )


def _lines(found: Info) -> Iterator[str]:
    yield f"{found.distribution} {found.version}"
    if found.summary:
        yield f"  {found.summary}"
    where = f": from {found.source}, {found.at}" if found.source else ""
    yield f"  {found.lock or 'the lock cannot be read'}{where}"
    yield f"  depends on: {', '.join(found.dependencies) or 'nothing'}"
    for known in found.entries:
        said = known.said
        yield ""
        yield (
            f"{said.group.removeprefix('pegboard.').removesuffix('s')} {said.name} ({said.object}) is {known.state}"
            + (f": {known.reason}" if known.reason else "")
        )
        yield f"  it {said.role}"
        yield from ([f"  {said.help}"] if said.help else [])
        if known.problem:
            yield f"  {known.problem}" if known.said_by else f"  what it declares could not be had: {known.problem}"
        for tool in said.tools:
            first = tool.description.split("\n", 1)[0]
            yield f"  {tool.name} ({tool.effect}; {touches(tool)}; {tool.bytes} bytes a request): {first}"
        yield from (f"  {line}" for line in _settings(said))


def _settings(said: EntrySaid) -> Iterator[str]:
    properties: dict[str, Any] = (said.settings or {}).get("properties", {})
    if properties:
        yield f"settings, in the table [{said.name}]:"
    for key, part in properties.items():
        default = msgspec.json.encode(part["default"]).decode() if "default" in part else "none"
        about = f": {part['description']}" if part.get("description") else ""
        yield f"  {key} (default {default}){about}"
