"""What confines the programs that tools start: which launcher that is, whether it works here, and when it is used.

`launcher = "NAME"` names an installed entry; left out, `sandbox` where that is installed. `[NAME] mode` says when:

    auto     what was allowed for the sandbox runs in it, where it works here; the default
    require  every program of a tool runs in it, and nothing starts where it does not work
    off      it is not used

It is imported once a program is to be confined. Whatever goes wrong with it refuses the program; none runs unconfined
instead.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from pegboard import plugins
from pegboard.calls import Effect
from pegboard.config.load import Loaded
from pegboard.entries import Entry
from pegboard.errors import ConfigError, PluginError, ToolError
from pegboard.kit import landlock
from pegboard.kit.launch import Launch, Launcher, View
from pegboard.kit.standins import Record, tidy
from pegboard.plugins.claims import contested, is_stranger

GROUP = "pegboard.launchers"
DEFAULT = "sandbox"
Mode = Literal["auto", "require", "off"]

STOPPED_BEFORE = "sandbox: stopped it before"
"""The rule by which a command is asked about that the sandbox has just stopped."""
HELD_BEFORE = "reading: it was stopped before"
"""The rule by which a command is asked about that ran because it only reads, and was kept from something."""


class Launchers:
    """The launcher of a board, and what it is used for. `hidden`: what no confined program may see."""

    def __init__(
        self, entries: Sequence[Entry], loaded: Loaded, *, hidden: Sequence[str] = (), state: Path | None = None
    ) -> None:
        """`state`: where it is written down what is made for the time of a run; what a killed one left is removed now.

        Raises ConfigError when the one that is named is not installed, or its mode is none.
        """
        self._entries = [entry for entry in entries if entry.group == GROUP]
        self._loaded = loaded
        self._hidden = tuple(hidden)
        self._record = _record(state)
        self.name = loaded.config.launcher or DEFAULT
        self._table = loaded.config.tables.get(self.name, {})
        self._entry = self._chosen(named=loaded.config.launcher is not None)
        self._launcher: Launcher | None = None
        self._why: str | None = None
        if loaded.config.launcher is not None and self._entry is None:
            raise self._unknown()
        mode = self._table.get("mode", "auto")
        if mode not in get_args(Mode):
            raise self._wrong(f"{self.name}.mode", f"{self.name}.mode may be auto, require or off; nothing was started")
        self.mode: Mode = mode

    @property
    def confined(self) -> bool:
        """Whether a program can be confined here. Looked at when it is first asked."""
        return self.mode != "off" and self.missing() is None

    def insist(self) -> None:
        """Where the mode is `require`, see to it that it can be held.

        Raises:
            ConfigError: the launcher does not work here; nothing was started.
        """
        if self.mode == "require" and (why := self.missing()) is not None:
            raise self._wrong(
                f"{self.name}.mode",
                f'{self.name}.mode = "require", and programs cannot be confined here: {why}. Nothing was started. Mend '
                f'that, or set mode = "auto".',
            )

    def note(self) -> str | None:
        """What a person is told who has allowed something for the sandbox, where there is none."""
        if self.mode == "off":
            return f'{self.name}.mode = "off": what is allowed in the sandbox alone is asked about'
        why = self.missing()
        return None if why is None else f"no sandbox ({why}): what is allowed in it alone is asked about"

    def missing(self) -> str | None:
        """Why programs cannot be confined here, in words; None where they can."""
        if self._launcher is None and self._why is None:
            try:
                self._launcher = self._load()
            except (ConfigError, PluginError) as error:
                self._why = str(error)
        if self._launcher is None:
            return self._why
        try:
            asked = getattr(self._launcher, "missing", None)
            why = asked() if asked is not None else None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: one that cannot say does not work
            return f"the launcher {self.name!r} failed ({type(error).__name__}: {error})"
        return None if why is None else str(why)

    def view(self, effect: Effect, *, sandbox: bool) -> View:
        """What the programs of a call are confined to. `sandbox`: that is what it was allowed for."""
        if effect == "read_only":
            return "read_only"
        return "workspace" if sandbox or self.mode == "require" else "open"

    def confine(self, launch: Launch) -> Launch:
        """What is started in the place of a program. A view that only reads is left to the system where it can hold it.

        Raises:
            ToolError: it cannot be confined as it has to be; nothing was run.
        """
        if launch.view == "open":
            return launch
        if launch.view == "read_only" and (landlock.available() or not (self.mode == "require" or self._ready())):
            return launch
        why = 'mode = "off"' if self.mode == "off" else self.missing()
        if why is not None or self._launcher is None:
            raise ToolError(f"{launch.argv[0]} is to run in the sandbox, and there is none: {why}. Nothing was run.")
        try:
            made = self._launcher(msgspec.structs.replace(launch, hidden=(*launch.hidden, *self._hidden)))
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # isolates plugins: one that fails confines nothing
            raise ToolError(
                f"the launcher {self.name!r} failed ({type(error).__name__}: {error}). Nothing was run."
            ) from error
        if not isinstance(made, Launch) or made.argv == launch.argv:
            raise ToolError(f"the launcher {self.name!r} did not confine {launch.argv[0]}. Nothing was run.")
        self._record.note(made.stand_ins, made.kept_while)
        return msgspec.structs.replace(made, view="open")

    def stopped(self, launch: Launch, output: bytes) -> str | None:
        """What the sandbox kept a program from that failed in it and printed this; None where that was not the reason."""
        say = getattr(self._launcher, "stopped", None)
        if say is None:
            return None
        try:
            said = say(launch, output)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: the result is told without that
            return f"(the launcher {self.name!r} cannot say why it failed: {type(error).__name__})"
        if not isinstance(said, str):
            return None
        if self.mode == "require":
            return f'(stopped by the sandbox: {said}. With {self.name}.mode = "require" nothing runs outside of it.)'
        return (
            f"(stopped by the sandbox: {said}. Running it outside is a new question: the same call once more asks the "
            "person.)"
        )

    def _chosen(self, *, named: bool) -> Entry | None:
        """The entry of this name; of a stranger's only where a person named it, for it makes allowed what was asked."""
        found = [entry for entry in self._entries if entry.name == self.name and (named or not is_stranger(entry))]
        return min(found, key=is_stranger, default=None)

    def _ready(self) -> bool:
        return self._entry is not None and self.confined

    def _load(self) -> Launcher:
        """The launcher, imported now.

        Raises:
            ConfigError: its settings are wrong.
            PluginError: it is not installed, switched off, or does not load.
        """
        entry = self._entry
        if entry is None:
            raise PluginError(self.name, f"no launcher {self.name!r} is installed; it comes with pegboard-{self.name}")
        if self.name in self._loaded.config.plugins.disable:
            raise PluginError(self.name, f"plugins.disable names {self.name}")
        if (why := contested(entry, self._entries)) is not None:
            raise PluginError(self.name, why)
        try:
            make = plugins.import_guarded(entry)
            return _made(make, self._settings(make))
        except plugins.LoadProblem as problem:
            raise PluginError(self.name, f"the launcher {self.name!r} does not load: {problem}") from None
        except ConfigError:
            raise
        except (Exception, SystemExit) as error:  # isolates plugins: what makes a launcher may raise anything
            text = f"the launcher {self.name!r} cannot be used ({type(error).__name__}: {error})"
            raise PluginError(self.name, text) from error

    def _settings(self, make: Any) -> Any:
        """Its table, as the `Settings` of the module that it comes from has it."""
        kind = settings_of(make)
        if kind is None:
            return dict(self._table)
        try:
            return msgspec.convert(dict(self._table), kind)
        except msgspec.ValidationError as error:
            key = re.search(r"at `\$\.(\w+)|unknown field `(\w+)`", str(error))
            told = re.sub(r" - at `.*`$", "", str(error))
            place = f"{self.name}.{key[1] or key[2]}" if key else self.name
            raise self._wrong(place, f"{place}: {told}") from None

    def _wrong(self, place: str, text: str) -> ConfigError:
        """An error at the line where this is set."""
        for stated, origin in self._loaded.origins.items():
            if f"{stated}.".startswith(f"{place}.") and origin.source:
                return ConfigError(text, file=origin.source.file, line=origin.source.line)
        return ConfigError(text)

    def _unknown(self) -> ConfigError:
        there = sorted({entry.name for entry in self._entries})
        near = difflib.get_close_matches(self.name, there, 1, 0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        text = f"launcher: {self.name!r} is not installed (installed: {', '.join(there) or 'none'}){hint}"
        return self._wrong("launcher", f"{text}; nothing was started")


def settings_of(make: Any) -> type[msgspec.Struct] | None:
    """The `Settings` of the module that a launcher comes from: what its table takes."""
    kind: type[msgspec.Struct] | None = getattr(sys.modules.get(getattr(make, "__module__", "")), "Settings", None)
    return kind


def _made(make: Any, settings: Any) -> Launcher:
    made = make(settings)
    if not callable(made):
        raise TypeError(f"it made {made!r}, which is no launcher")
    launcher: Launcher = made
    return launcher


def _record(state: Path | None) -> Record:
    folder = None if state is None else str(state / "stand-ins")
    if folder is not None:
        tidy(folder)
    return Record(folder)
