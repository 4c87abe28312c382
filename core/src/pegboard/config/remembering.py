"""Answers that outlive a session: rules in the user's own file, where `config show --origin` and `explain` find them.

Nothing is ever written into a project: a rule for one project names its root (`project = "/the/root"`).
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from pegboard.calls import Source
from pegboard.config.authority import RuleSettings

Lasting = Literal["project", "user"]
KEY = ("permission", "rules")
_WHERE: dict[Lasting, str] = {"project": "in this project", "user": "in every project"}


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """Where answers are written down: the user's own file, and the root of the project that they are given in."""

    file: Path
    root: str

    def keep(self, rules: Sequence[RuleSettings], lasting: Lasting) -> Source:
        """Add rules to the user's file, comments and order kept, in one step. Returns where the last of them stands;
        rules that are there already are not written again.

        Raises:
            ConfigError: the file cannot be written, or is wrong as it is; nothing was changed.
        """
        from pegboard.config.write import add_tables  # tomlkit, and only for who answers so

        tables = [table_of(rule, self.root if lasting == "project" else None) for rule in rules]
        remark = f'{time.strftime("%Y-%m-%d %H:%M")}, answered "always, {_WHERE[lasting]}".'
        text = add_tables(self.file, KEY, tables, remark)
        return Source(str(self.file), _line(text, tables[-1]))


def table_of(rule: RuleSettings, project: str | None) -> dict[str, Any]:
    """A rule as it is written: what it does not say is left out."""
    said = msgspec.structs.replace(rule, project=project)
    shipped = RuleSettings(action=rule.action)
    named: Mapping[str, Any] = msgspec.to_builtins(said)
    return {key: value for key, value in named.items() if key == "action" or value != getattr(shipped, key)}


def _line(text: str, table: dict[str, Any]) -> int | None:
    """The line of a rule's header; None where the rules are written as one list."""
    number = tomllib.loads(text)["permission"]["rules"].index(table)
    headers = [line for line, said in enumerate(text.split("\n"), 1) if said.strip().startswith("[[permission.rules]]")]
    return headers[number] if number < len(headers) else None
