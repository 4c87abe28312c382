"""Every key of core's own tables, with its type and default. Plugins bring their own tables (`[NAME]`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from pegboard.calls import Action
from pegboard.kit.settings import EditSettings, OutputSettings, PathSettings, SearchSettings, ShellSettings

RESERVED = frozenset(
    [
        "tools",
        "tool_permission",
        "plugins",
        "providers",
        "paths",
        "edit",
        "search",
        "output",
        "shell",
        "approval",
        "permission",
        "modes",
        "concurrency",
        "sessions",
        "limits",
        "ui",
        "hooks",
    ]
)
"""Core's own tables. An entry point so named does not load."""

DEFAULT_PERMISSION: dict[str, Action] = {
    "read": "allow",
    "list": "allow",
    "edit": "ask",
    "bash": "ask",
    "web": "allow",
    "mcp": "ask",
    "ask": "allow",
    "state": "allow",
    "delegate": "ask",
}
"""`tool_permission` as shipped (decisions 6, 8, 12, 14). A key not named here asks."""


class ToolsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tools]`. allow: when not empty, only these. deny: always wins. stuck: seconds a stopped thread may hold its tool.

    switches: any other key, a boolean that turns a tool or a set off (decision 13)."""

    allow: list[str] = []
    deny: list[str] = []
    stuck: Annotated[float, msgspec.Meta(ge=0)] = 30.0
    switches: dict[str, bool] = {}


class PermissionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tool_permission]`. actions: by permission key. The `bash_*` keys rule command lines (decision 51).

    Before the command parser of issue 4, `bash_allow` is read and has no effect."""

    actions: dict[str, Action] = {}
    bash_allow: list[str] = []
    bash_read_only: Literal["allow", "ask"] = "allow"
    bash_multiline: Literal["parse", "reject"] = "parse"
    bash_max_chars: int = 10_000
    bash_max_commands: int = 50
    bash_allow_env: list[str] = []


class PluginSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[plugins]`. disable: by name. approvers, rewriters: on only when named here, in the user's own file.

    guard_timeout: seconds a stranger's guard may take before the call is refused."""

    disable: list[str] = []
    approvers: list[str] = []
    rewriters: list[str] = []
    guard_timeout: Annotated[float, msgspec.Meta(gt=0)] = 2.0


class ApprovalSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[approval]`. strict: everything that is not read_only asks, and nothing is remembered."""

    strict: bool = False


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[limits]`. What one turn may take: model replies, tokens in and out together, seconds. None: no limit."""

    max_steps: Annotated[int, msgspec.Meta(ge=1)] = 50
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[sessions]`. redact: keep what looks like a credential out of logs and exports (decision 56)."""

    redact: bool = True


class UISettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[ui]`. What front ends show beside the answer."""

    status: bool = True
    glyph_lines: bool = True
    glyph_params: bool = True
    show_errors: bool = True
    show_notes: bool = True
    ctrl_c: Literal["command", "turn"] = "command"
    app: str = "tui"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole configuration, merged. `tables` holds what plugins read: `[NAME]` by name.

    toolSets: None means every installed set, [] the core set alone. model: None means the first that is there."""

    toolSets: list[str] | None = None  # noqa: N815 - the key's spelling in the file
    model: str | None = None
    tool_calling: bool = True
    project_instructions: str = "AGENTS.md"
    tools: ToolsSettings = ToolsSettings()
    tool_permission: PermissionSettings = PermissionSettings()
    plugins: PluginSettings = PluginSettings()
    providers: dict[str, dict[str, Any]] = {}
    paths: PathSettings = PathSettings()
    edit: EditSettings = EditSettings()
    search: SearchSettings = SearchSettings()
    output: OutputSettings = OutputSettings()
    shell: ShellSettings = ShellSettings()
    approval: ApprovalSettings = ApprovalSettings()
    limits: LimitSettings = LimitSettings()
    sessions: SessionSettings = SessionSettings()
    ui: UISettings = UISettings()
    tables: dict[str, dict[str, Any]] = {}


def known_keys() -> list[str]:
    """Every dotted key of core's own tables, for spelling help and environment names."""
    keys: list[str] = []
    for field in msgspec.structs.fields(Config):
        kind = field.type
        if field.name in ("tables", "providers"):
            continue
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            keys += [
                f"{field.name}.{inner.name}"
                for inner in msgspec.structs.fields(kind)
                if inner.name not in ("switches", "actions")
            ]
        else:
            keys.append(field.name)
    return keys + [f"tool_permission.{key}" for key in DEFAULT_PERMISSION]
