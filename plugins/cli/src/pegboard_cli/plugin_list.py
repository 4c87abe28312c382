"""What is installed, and what became of it: rows for `pegboard plugins` and `pegboard doctor`. No stranger is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from pegboard.config.load import Loaded, load
from pegboard.config.places import config_file, find_root, state_folder
from pegboard.config.schema import Config
from pegboard.entries import FORMS, Entry, set_names, survey, table_names
from pegboard.errors import ConfigError
from pegboard.hooks import API, GROUPS
from pegboard.plugins.claims import contested
from pegboard.plugins.kept import State, Verdict, state_of
from pegboard.plugins.loaded import Failure, LoadProblem, how_to_mend, switch_off
from pegboard.plugins.loading import check_entry, is_stranger, load_one, tools_of
from pegboard.plugins.vetting import Vetting
from pegboard.selection import at_its_key, file_standing, standing, where
from pegboard.slashes import GROUP as SLASH_GROUP
from pegboard.slashes import is_name

from pegboard_cli.chat_commands import COMMANDS as OWN_SLASHES
from pegboard_cli.group import COMMANDS, is_word
from pegboard_cli.group import GROUP as COMMANDS_GROUP

_CHOSEN = "imported when it is chosen"


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a plugin, and what to do. `what`: import, hook, duplicate, version, hang or crash."""

    what: str
    error: str
    fix: str


class PluginRow(msgspec.Struct, frozen=True, kw_only=True):
    """An installed plugin, as the contract's `plugins --json` has it. `remarks`: what it did beside when it was loaded."""

    name: str
    kind: str
    group: str
    distribution: str
    version: str
    object: str
    own: bool
    state: State
    reason: str | None = None
    problem: Trouble | None = None
    tools: list[str] = []
    aliases: list[str] = []
    hooks: list[str] = []
    import_ms: float | None = None
    remarks: list[str] = []


class PluginList(msgspec.Struct, frozen=True, kw_only=True):
    """Every installed plugin, ours first, in the order in which they are loaded."""

    python: str
    api: int
    plugins: list[PluginRow]


class Installed:
    """The installed plugins and the settings that choose among them, also where those cannot be read.

    `broken`: why the settings could not be read; then everything is as without them."""

    def __init__(self, path: str | None, environ: Mapping[str, str] = os.environ) -> None:
        found = survey()
        self.entries, self.copies, self.guarded = found.entries, found.copies, bool(found.ours)
        self.state = state_folder(environ)
        self.user_file = config_file(environ)
        self.broken: str | None = None
        self.notes: list[str] = []
        names = table_names(self.entries)
        self.root = os.path.abspath(os.sep)
        try:
            self.root, self.notes = find_root(path)
            self.loaded = load(
                user_file=self.user_file,
                root=self.root,
                environ=environ,
                flags={},
                entries=names,
                sets=set_names(self.entries),
                state=self.state,
            )
        except ConfigError as error:
            self.broken = str(error)
            self.loaded = Loaded(config=Config(), origins={}, notes=[])
        self.vetting = Vetting(self.state)

    def rows(self, refused: Mapping[Entry, Failure] | None = None) -> PluginList:
        """A row for each. `refused`: what a new look at the strangers found; without it, what is kept of earlier ones."""
        on = [e for e in self.entries if e.group in GROUPS and standing(e, self.loaded)[0] == "on"]
        rows = [self._row(entry, on, refused or {}) for entry in self.entries if entry.group != FORMS or not entry.own]
        rows += self._of_project()
        return PluginList(python=sys.version.split()[0], api=API, plugins=_without_duplicates(rows))

    def look(self, *, retry: bool) -> tuple[dict[Entry, Failure], list[str]]:
        """Look at the strangers that are on and new, in a child process; `retry`: at those that failed, too."""
        on = [e for e in self.entries if e.group in GROUPS and standing(e, self.loaded)[0] == "on"]
        strangers = [entry for entry in on if is_stranger(entry) and self._unsound(entry, on) is None]
        tables = self.loaded.config.tables
        notes: list[str] = []
        places = {name: where(self.loaded, name) for name in tables}
        refused = self.vetting.refused(strangers, tables, places, notes, retry=retry)
        spoilt = {entry.name for entry in refused} & self.loaded.untouched.keys()
        if spoilt:  # as the start does: not with what a project adds
            own = {**tables, **{name: self.loaded.untouched[name] for name in spoilt}}
            refused = self.vetting.refused(strangers, own, places, notes, retry=retry)
        return refused, notes

    def _of_project(self) -> list[PluginRow]:
        """The project's plugin files. A start runs them, when the project is trusted: here they are only read."""
        if self.loaded.project is None:
            return []
        from pegboard.plugins.project_files import check_file, compiled, entry_of

        rows = []
        for file in self.loaded.project.brought.plugins:
            state, reason = file_standing(file.name, self.loaded)
            entry = entry_of(file)
            row = _row(entry, state, reason, None)
            try:
                check_file(file, self.entries)
                if state == "on":
                    compiled(file)
            except LoadProblem as problem:
                row = _failed(row, entry, problem.what, str(problem))
            rows.append(row)
        return rows

    def _tables(self, entry: Entry) -> list[Mapping[str, Any]]:
        """The settings that an entry is loaded with: the first that it loads with, as `assembly` has it."""
        tables = [self.loaded.config.tables.get(entry.name, {})]
        return [*tables, *([self.loaded.untouched[entry.name]] if entry.name in self.loaded.untouched else [])]

    def _row(self, entry: Entry, on: Sequence[Entry], refused: Mapping[Entry, Failure]) -> PluginRow:
        state, reason = standing(entry, self.loaded)
        stranger = is_stranger(entry) and entry.group in GROUPS
        known = [self.vetting.known(entry, table) for table in self._tables(entry)] if stranger else []
        seen = [verdict for verdict in known if verdict is not None]
        verdict = next((verdict for verdict in seen if verdict.good), seen[-1] if seen else None)
        row = _row(entry, state, reason, verdict)
        if entry.group not in GROUPS:
            problem = self._unused(entry)
            if problem is not None:
                return _failed(row, entry, problem.what, str(problem))
            return row if state != "on" else msgspec.structs.replace(row, reason=_CHOSEN)
        if state != "on":
            return row
        if (problem := self._unsound(entry, on)) is not None:
            return _failed(row, entry, problem.what, str(problem))
        if entry in refused:
            error = at_its_key(refused[entry].error, entry.name, self.loaded)
            return _failed(row, entry, refused[entry].what, error)
        if not is_stranger(entry):
            return self._own(entry, row)
        if verdict is None:
            changed = "its settings changed; " if self.vetting.of_files(entry) else ""
            return msgspec.structs.replace(
                row, state="new", reason=f"{changed}it is looked at when Pegboard next starts"
            )
        if verdict.good and verdict.left_out:
            return _in_part(row, entry, verdict.left_out)
        error = at_its_key(verdict.error or "it failed", entry.name, self.loaded)
        return row if verdict.good else _failed(row, entry, verdict.what or "import", error)

    def _own(self, entry: Entry, row: PluginRow) -> PluginRow:
        """One of ours is imported to see what it has."""
        plugin, failed = None, row
        for table in self._tables(entry):
            try:
                plugin = load_one(entry, table, where(self.loaded, entry.name))
                break
            except LoadProblem as problem:
                failed = _failed(row, entry, problem.what, at_its_key(str(problem), entry.name, self.loaded))
        if plugin is None:
            return failed
        box = tools_of(plugin)
        hooks = sorted(plugin.contributions)
        row = msgspec.structs.replace(
            row, tools=box.names, aliases=box.aliases, hooks=hooks, import_ms=plugin.import_ms
        )
        return _in_part(row, entry, box.left_out) if box.left_out else row

    @staticmethod
    def _unsound(entry: Entry, on: Sequence[Entry]) -> LoadProblem | None:
        try:
            check_entry(entry, on)
        except LoadProblem as problem:
            return problem
        return None

    def _unused(self, entry: Entry) -> LoadProblem | None:
        """Why an entry without hooks is never used."""
        others = ("pegboard.providers", "pegboard.launchers", COMMANDS_GROUP, SLASH_GROUP, FORMS)
        if entry.group not in others:
            groups = ", ".join([*GROUPS, *others])
            return LoadProblem("hook", f"there is no group {entry.group!r}; groups are {groups}")
        if entry.group == COMMANDS_GROUP and entry.name in COMMANDS:
            return LoadProblem("duplicate", f"pegboard {entry.name} is one of Pegboard's own commands")
        if entry.group == COMMANDS_GROUP and not is_word(entry.name):
            return LoadProblem("hook", f"a command's name is [a-z][a-z0-9-]*, not {entry.name!r}")
        if entry.group == SLASH_GROUP and entry.name in OWN_SLASHES:
            return LoadProblem("duplicate", f"/{entry.name} is one of Pegboard's own commands")
        if entry.group == SLASH_GROUP and not is_name(entry.name):
            return LoadProblem("hook", f"a slash command's name is [a-z][a-z0-9-]*, not {entry.name!r}")
        claim = contested(entry, self.entries)
        return LoadProblem("duplicate", claim) if claim is not None else None


def _row(entry: Entry, state: State, reason: str | None, verdict: Verdict | None) -> PluginRow:
    return PluginRow(
        name=entry.name,
        kind=entry.group.removeprefix("pegboard.").removesuffix("s"),
        group=entry.group,
        distribution=entry.distribution,
        version=entry.version,
        object=entry.value,
        own=entry.own,
        state=state,
        reason=reason,
        tools=verdict.tools if verdict else [],
        aliases=verdict.aliases if verdict else [],
        hooks=verdict.hooks if verdict else [],
        import_ms=verdict.import_ms if verdict else None,
        remarks=verdict.remarks if verdict else [],
    )


def _failed(row: PluginRow, entry: Entry, what: str, error: str) -> PluginRow:
    # The contract knows no word for wrong settings; they are converted for the hooks.
    fix = how_to_mend(entry, what) if entry.group in GROUPS else f"update or uninstall {entry.distribution}"
    trouble = Trouble(what="hook" if what == "settings" else what, error=error, fix=fix)
    return msgspec.structs.replace(row, state=state_of(what), problem=trouble)


def _in_part(row: PluginRow, entry: Entry, left_out: Sequence[str]) -> PluginRow:
    """On, without the tools that cannot be."""
    error = "; ".join(f"{why}; that tool is left out" for why in left_out)
    trouble = Trouble(what="hook", error=error, fix=how_to_mend(entry, "hook"))
    return msgspec.structs.replace(row, problem=trouble)


def _without_duplicates(rows: list[PluginRow]) -> list[PluginRow]:
    """Tools whose name an earlier set has are left out of the later one's, which is told of (decision 58)."""
    first: dict[str, PluginRow] = {}
    out: list[PluginRow] = []
    for row in rows:
        if row.state != "on":
            out.append(row)
            continue
        taken = [tool for tool in row.tools if tool in first]
        for tool in row.tools:
            first.setdefault(tool, row)
        if taken:
            whose = ", ".join(f"{tool!r} (of {first[tool].name!r})" for tool in taken)
            entry = Entry(name=row.name, group=row.group, value="", distribution="", version="", own=row.own)
            also = f"; {row.problem.error}" if row.problem else ""
            trouble = Trouble(
                what="duplicate",
                error=f"these names are taken, so its tools of that name are left out: {whose}{also}",
                fix=f"rename them, or {switch_off(entry)}",
            )
            kept = [tool for tool in row.tools if tool not in taken]
            row = msgspec.structs.replace(row, problem=trouble, tools=kept)
        out.append(row)
    return out
