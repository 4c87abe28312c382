"""Every key of core's own tables, with its type and default. Plugins bring their own tables (`[NAME]`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from pegboard.config.authority import DEFAULT_PERMISSION as DEFAULT_PERMISSION
from pegboard.config.authority import ConcurrencySettings as ConcurrencySettings
from pegboard.config.authority import HookSettings as HookSettings
from pegboard.config.authority import ModeSettings as ModeSettings
from pegboard.config.authority import PermissionSettings as PermissionSettings
from pegboard.config.authority import RuleSettings as RuleSettings
from pegboard.config.authority import RulesSettings as RulesSettings
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


class ToolsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tools]`: which tools there are, and which are never run. Any other key switches a tool or a set."""

    allow: Annotated[
        list[str],
        Meta(
            description="When not empty, every tool that it does not name is denied: names, `set:tool`, sets, globs. "
            "A project's list counts only where you have none."
        ),
    ] = []
    deny: Annotated[
        list[str],
        Meta(
            description="Tools that are never run and never shown to the model, whatever else is said: names, "
            "`set:tool`, sets, globs. Lists of all layers are joined.",
            extra={"tightens": True},
        ),
    ] = []
    stuck: Annotated[
        float,
        Meta(
            ge=0, description="Seconds that a stopped tool's thread may go on before the tool is off for the session."
        ),
    ] = 30.0
    switches: Annotated[
        dict[str, bool],
        Meta(description="Any other key: `NAME = false` takes a tool or a set away.", extra={"tightens": False}),
    ] = {}


class PluginSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[plugins]`: which installed plugins are on."""

    disable: Annotated[
        list[str], Meta(description="Plugins that are not loaded, by name. A guard is never among them.")
    ] = []
    approvers: Annotated[
        list[str], Meta(description="Plugins that may answer for you; on only when your own file names them.")
    ] = []
    rewriters: Annotated[
        list[str], Meta(description="Plugins that may change a call; on only when your own file names them.")
    ] = []
    guard_timeout: Annotated[
        float, Meta(gt=0, description="Seconds a stranger's guard may take before the call is refused.")
    ] = 2.0
    loop_timeout: Annotated[
        float, Meta(ge=1, description="Seconds a stranger's code may hold up a session before it is started again.")
    ] = 10.0


class ApprovalSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[approval]`: when you are asked."""

    strict: Annotated[
        bool,
        Meta(description="Whatever does more than read asks, and no answer is remembered.", extra={"tightens": True}),
    ] = False


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[limits]`: what one turn may take. Left out: no limit."""

    max_steps: Annotated[int, Meta(ge=1, description="Replies of the model.", extra={"tightens": "lower"})] = 50
    max_tokens: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Tokens, in and out together.", extra={"tightens": "lower"})
    ] = None
    timeout: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Seconds.", extra={"tightens": "lower"})
    ] = None


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[sessions]`: what is kept of a session."""

    redact: Annotated[
        bool,
        Meta(description="Keep what looks like a credential out of logs and exports.", extra={"tightens": True}),
    ] = True
    redact_patterns: Annotated[
        list[str], Meta(description="Regular expressions for further texts that are to be kept out.")
    ] = []

    def __post_init__(self) -> None:
        """Raises ValueError for a pattern that is none, or that could take too long."""
        if self.redact_patterns:
            from pegboard.config.patterns import bounded

            for pattern in self.redact_patterns:
                bounded(pattern)


class UISettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[ui]`: what front ends show beside the answer."""

    status: Annotated[bool, Meta(description="Show what tools do while they do it.")] = True
    glyph_lines: Annotated[
        bool, Meta(description="One line a call, with a sign for its kind; else the plain `[tool: argument]`.")
    ] = True
    glyph_params: Annotated[bool, Meta(description="Show a call's further arguments in brackets.")] = True
    show_errors: Annotated[bool, Meta(description="Show the first line of a failed call's error.")] = True
    show_notes: Annotated[bool, Meta(description="Show notes that come with a result.")] = True
    show_thinking: Annotated[bool, Meta(description="Show the model's thinking, where it tells it.")] = False
    show_usage: Annotated[bool, Meta(description="Show what a turn took, in tokens.")] = False
    ctrl_c: Annotated[
        Literal["command", "turn"],
        Meta(description="What Ctrl-C stops first while a command runs: that command, or the whole turn."),
    ] = "command"
    app: Annotated[str, Meta(description="The command that `pegboard` alone runs at a terminal, where installed.")] = (
        "tui"
    )
    theme: Annotated[
        str, Meta(description="The colours of the app: dark, light, contrast, plain (none), or another that it has.")
    ] = "dark"
    side: Annotated[bool, Meta(description="Begin with the app's side pane open, where there is room for it.")] = True
    notify: Annotated[
        Literal["bell", "desktop", "both", "off"],
        Meta(description="How the app tells that a long turn has ended, or that a question waits."),
    ] = "bell"
    keys: Annotated[
        dict[str, str],
        Meta(description="Other keys for what the app does: an action and its keys, as `/keys` lists them."),
    ] = {}


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole configuration, merged. `tables` holds what plugins read: `[NAME]` by name."""

    toolSets: Annotated[  # noqa: N815 - the key's spelling in the file
        list[str] | None,
        Meta(
            description="The tool sets to load. Left out: every installed one; []: core alone, which is always on. "
            "A project's list takes sets away, and adds none."
        ),
    ] = None
    model: Annotated[
        str | None,
        Meta(description="Who answers: `provider/name`, or `offline`. Left out: the first that is there."),
    ] = None
    local_models: Annotated[
        bool,
        Meta(
            description="Look for a model server on this machine when `model` is left out and there is no key.",
            extra={"tightens": False},
        ),
    ] = True
    tool_calling: Annotated[bool, Meta(description="Offer tools to the model.")] = True
    project_instructions: Annotated[
        str, Meta(description="The file in the workspace that is added to the system prompt; empty: none.")
    ] = "AGENTS.md"
    tools: ToolsSettings = ToolsSettings()
    tool_permission: PermissionSettings = PermissionSettings()
    plugins: PluginSettings = PluginSettings()
    providers: Annotated[
        dict[str, dict[str, Any]], Meta(description="`[providers.NAME]`: how a model's endpoint is reached.")
    ] = {}
    paths: PathSettings = PathSettings()
    edit: EditSettings = EditSettings()
    search: SearchSettings = SearchSettings()
    output: OutputSettings = OutputSettings()
    shell: ShellSettings = ShellSettings()
    approval: ApprovalSettings = ApprovalSettings()
    permission: RulesSettings = RulesSettings()
    mode: Annotated[str | None, Meta(description="The mode that a session begins in: `plan`, or one of yours.")] = None
    modes: Annotated[dict[str, ModeSettings], Meta(description="`[modes.NAME]`: modes of your own.")] = {}
    concurrency: ConcurrencySettings = ConcurrencySettings()
    launcher: Annotated[
        str | None,
        Meta(description="The plugin that programs are confined by. Left out: `sandbox`, where it is installed."),
    ] = None
    limits: LimitSettings = LimitSettings()
    sessions: SessionSettings = SessionSettings()
    ui: UISettings = UISettings()
    hooks: Annotated[
        list[HookSettings], Meta(description="`[[hooks]]`: commands that are run before and after calls.")
    ] = []
    tables: dict[str, dict[str, Any]] = {}


def known_keys() -> list[str]:
    """Every dotted key of core's own tables, for spelling help and environment names."""
    keys: list[str] = []
    shipped = Config()
    for name in Config.__struct_fields__:
        value = getattr(shipped, name)
        if isinstance(value, msgspec.Struct):
            keys += [f"{name}.{inner}" for inner in value.__struct_fields__ if inner not in ("switches", "actions")]
        elif name not in ("tables", "providers", "hooks", "modes"):
            keys.append(name)
    return keys + [f"tool_permission.{key}" for key in DEFAULT_PERMISSION]
