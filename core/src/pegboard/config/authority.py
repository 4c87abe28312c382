"""The keys of authority: what calls get, rules one by one, modes, how much goes on at once, commands around calls."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pegboard.calls import Action
from pegboard.config import never

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


class PermissionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tool_permission]`: what a call gets, by permission key. The `bash_*` keys rule command lines."""

    actions: Annotated[
        dict[str, Action],
        Meta(description="Any other key: a permission key that a plugin's tools declare; ask unless it is set."),
    ] = {}
    bash_allow: Annotated[
        list[str],
        Meta(description="Commands that run unasked: every command of a parsed line must begin with the words of one."),
    ] = []
    bash_read_only: Annotated[
        Literal["allow", "ask"],
        Meta(description="What commands that only read get.", extra={"tightens": ("allow", "ask")}),
    ] = "allow"
    bash_multiline: Annotated[
        Literal["parse", "reject"],
        Meta(
            description="Whether a command of several lines is judged like any other or refused.",
            extra={"tightens": ("parse", "reject")},
        ),
    ] = "parse"
    bash_max_chars: Annotated[
        int,
        Meta(ge=0, description="The longest command line that may run unasked.", extra={"tightens": "lower"}),
    ] = 10_000
    bash_max_commands: Annotated[
        int,
        Meta(
            ge=0,
            description="The most commands in one line that may run unasked.",
            extra={"tightens": "lower"},
        ),
    ] = 50
    bash_allow_env: Annotated[
        list[str],
        Meta(description="Environment variables that a command may set for itself unasked."),
    ] = []
    bash_reads: Annotated[
        list[str],
        Meta(
            description="Commands of your own that only read, whatever their options: every command that begins with the "
            "words of one counts as reading, unless it names a place outside the workspace or a secret.",
            examples=[["kubectl get", "just --list"]],
        ),
    ] = []
    bash_words: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=8)]],
        Meta(
            description='How many words name a command, where "always" should not offer the program alone.',
            examples=[{"just": 2}],
        ),
    ] = {}


class RuleSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of `[[permission.rules]]`: what calls get that fit all that it names."""

    action: Annotated[Action, Meta(description="What such a call gets.")]
    tool: Annotated[str | None, Meta(description="Tools: a name, `set:tool`, a set, a glob. Left out: any.")] = None
    key: Annotated[str | None, Meta(description="A permission key: `edit`, `bash`. Left out: any.")] = None
    path: Annotated[
        str | list[str] | None, Meta(description="Paths, as in an ignore file: `src/**`, `*.md`, `/docs/`.")
    ] = None
    host: Annotated[str | list[str] | None, Meta(description="Hosts: `example.org`, `*.example.org`.")] = None
    command: Annotated[
        str | list[str] | None,
        Meta(
            description="The words that a command begins with: `uv run pytest`; a word `*` stands for any one. In an ask or "
            "deny its options may stand anywhere, in any order."
        ),
    ] = None
    sends: Annotated[bool | None, Meta(description="Only what sends data (true), or only what does not (false).")] = (
        None
    )
    sandbox: Annotated[
        bool, Meta(description="Beside allow: only inside the sandbox; where there is none, the call is asked about.")
    ] = False
    project: Annotated[str | None, Meta(description="A folder: the rule holds where it is the workspace root.")] = None

    def __post_init__(self) -> None:
        """What could never match is a mistake, and a condition without a pattern would be none.

        Raises:
            ValueError: says which part is wrong.
        """
        if self.sandbox and self.action != "allow":
            raise ValueError('sandbox stands beside action = "allow" alone')
        looks = [name for name in never.OF_KIND if getattr(self, name) is not None]
        problem = never.conditions_problem(self.key, looks, sandbox=self.sandbox)
        if self.tool is not None:
            problem = problem or never.token_problem(self.tool, "match")
        for name in looks:
            value: str | list[str] = getattr(self, name)
            for pattern in [value] if isinstance(value, str) else value or [""]:
                problem = problem or _problem(name, pattern)
        if problem is not None:
            raise ValueError(problem)


def _problem(name: str, pattern: str) -> str | None:
    """Why a pattern can match nothing."""
    if not pattern.strip() or not pattern.isprintable():
        return f"{pattern!r} is no pattern for {name}"
    if name == "path":
        from pegboard.kit.walk.rules import parse  # only where there is such a rule

        found = parse(pattern.encode("utf-8", "surrogateescape"))
        fits = found is not None and all(rule.plain is not None or rule.source for rule in found.rules)
        return None if fits else f"{pattern!r} is no pattern for path"
    return never.host_problem(pattern) if name == "host" else never.command_problem(pattern)


class RulesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[permission]`: rules of your own, as lists of tools or one by one."""

    allow: Annotated[list[str], Meta(description="Tools whose calls run unasked: names, `set:tool`, sets, globs.")] = []
    ask: Annotated[list[str], Meta(description="Tools whose calls are asked about.", extra={"tightens": True})] = []
    deny: Annotated[list[str], Meta(description="Tools that are never run.", extra={"tightens": True})] = []
    dangerous_default_deny: Annotated[
        list[str],
        Meta(
            description="Tools that are not run unless allow, ask or a rule of yours names them more closely.",
            extra={"tightens": True},
        ),
    ] = []
    rules: Annotated[list[RuleSettings], Meta(description="`[[permission.rules]]`, one by one.")] = []


class ModeTools(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[modes.NAME.tools]`: which tools there are while the mode is on."""

    allow: Annotated[list[str], Meta(description="When not empty, in place of `tools.allow`.")] = []
    deny: Annotated[list[str], Meta(description="Denied beside what `tools.deny` names.")] = []


class ModeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[modes.NAME]`: what changes while the mode is on; all that it leaves out stays as it is."""

    description: Annotated[str, Meta(description="What it is for, in a line.")] = ""
    tool_permission: Annotated[
        dict[str, Action], Meta(description="Permission keys, each in place of the one of `[tool_permission]`.")
    ] = {}
    tools: Annotated[ModeTools, Meta(description="Which tools there are.")] = ModeTools()
    permission: Annotated[RulesSettings, Meta(description="Lists and rules as in `[permission]`, beside those.")] = (
        RulesSettings()
    )


_LATER = {"tightens": "lower", "effect": "no effect yet: what it limits comes with a later version"}


class ConcurrencySettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[concurrency]`: how many of a kind go on at the same time; 1: one after the other."""

    tool_calls: Annotated[
        int, Meta(ge=1, le=64, description="Calls of one reply that overlap.", extra={"tightens": "lower"})
    ] = 8
    delegations: Annotated[int, Meta(ge=1, le=64, description="Delegated agents.", extra=_LATER)] = 8
    mcp_connections: Annotated[
        int, Meta(ge=1, le=64, description="MCP servers that are being connected to.", extra=_LATER)
    ] = 8
    lsp_requests: Annotated[int, Meta(ge=1, le=64, description="Requests to language servers.", extra=_LATER)] = 4


class HookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of `[[hooks]]`: a command that is run before or after calls of the tools it matches."""

    event: Annotated[Literal["pre_tool", "post_tool"], Meta(description="Before a call runs, or after it.")]
    command: Annotated[list[str], Meta(min_length=1, description="The program and its arguments.")]
    match: Annotated[str, Meta(description="Tools: a name, `set:tool`, a set, a glob.")] = "*"
    timeout: Annotated[float, Meta(gt=0, description="Seconds.")] = 60.0
