"""Modes: what `[modes.NAME]` changes while it is on, and what `plan`, `accept-edits` and `auto` are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import port
from pegboard.board import Board
from pegboard.calls import Call, Decision, Source, Touch
from pegboard.config.load import Loaded, load
from pegboard.errors import ConfigError
from pegboard.events import TurnStarted
from pegboard.hooks import hookimpl
from pegboard.plugins import given
from pegboard.policy import Policy, choices, mode_of, policy_of
from pegboard.testing.scripted import Scripted
from pegboard.tooling import Tool, tool
from pegboard.touches import Reads, Runs, Writes


@tool
def look(path: Annotated[str, Reads("f")]) -> str:
    """Look."""
    return path


@tool
def put(path: Annotated[str, Writes("f")]) -> str:
    """Put."""
    return path


@tool
def shell(command: Annotated[str, Runs("c")]) -> str:
    """Run."""
    return command


@tool(touches=lambda arguments: [("edit", "a")], kinds=["edit"])
def patched(patch: str) -> str:
    """Patch."""
    return patch


@tool(permission="edit", permission_fn=lambda arguments: "ask")
def pushed(to: Annotated[str, Runs("c")]) -> str:
    """Push."""
    return to


FUNCTIONS = {"look": look, "put": put, "shell": shell, "patched": patched, "pushed": pushed}
TOOLS = {name: Tool.of(function, owner="fs", set="fs") for name, function in FUNCTIONS.items()}


class Settings:
    def __init__(self, folder: Path) -> None:
        self.file, self.root = folder / "config.toml", folder / "root"
        (self.root / ".pegboard").mkdir(parents=True)

    def load(self, text: str = "", /, *, project: str = "", mode: str | None = None) -> Loaded:
        self.file.write_text(text)
        (self.root / ".pegboard" / "config.toml").write_text(project)
        flags = {} if mode is None else {"mode": mode}
        return load(user_file=self.file, root=str(self.root), environ={}, flags=flags)

    def policy(self, text: str = "", /, *, confined: bool = False, **more: Any) -> Policy:
        loaded = self.load(text, **more)
        return policy_of(loaded, mode=mode_of(loaded), confined=lambda: confined)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path)


def decide(policy: Policy, name: str, what: str = "a", *, outside: bool = False) -> Decision:
    made = TOOLS[name]
    kind = {"look": "read", "put": "edit", "patched": "edit"}.get(name, "run")
    touch = Touch(kind, what, what if kind != "run" else None, outside)  # type: ignore[arg-type]
    return policy.decide(made, Call(id="c", name=name, arguments={}), [touch]).decision


def actions(policy: Policy, *names: str) -> list[str]:
    return [decide(policy, name).action for name in names]


MINE = "[modes.mine.tool_permission]\nedit = 'allow'\nread = 'ask'\n"


@pytest.mark.row("R-081")
@pytest.mark.parametrize("base", ["mode = 'mine'\n", ""], ids=["of the file", "of a flag"])
def test_a_modes_permissions_override_the_base_key_by_key(settings: Settings, base: str) -> None:
    text = base + "[tool_permission]\nedit = 'ask'\nbash = 'allow'\n" + MINE
    policy = settings.policy(text, mode=None if base else "mine")
    assert actions(policy, "put", "look") == ["allow", "ask"]
    kept = decide(policy, "shell", "make")
    assert (kept.action, kept.rule) == ("allow", "tool_permission.bash"), "what the mode leaves out stays in force"
    line = text.count("\n") - 1
    layer = "user" if base else "flag"
    assert decide(policy, "put") == Decision(
        action="allow", rule="modes.mine: tool_permission.edit", layer=layer, source=Source(str(settings.file), line)
    )


@pytest.mark.row("R-081")
def test_a_deny_of_the_base_stands_in_every_mode(settings: Settings) -> None:
    policy = settings.policy("[tool_permission]\nedit = 'deny'\n" + MINE, mode="mine")
    assert decide(policy, "put").rule == "tool_permission.edit" and policy.hidden(TOOLS["put"])


@pytest.mark.row("R-082")
def test_what_a_mode_denies_is_denied_beside_what_the_base_denies(settings: Settings) -> None:
    policy = settings.policy("[tools]\ndeny = ['look']\n[modes.mine.tools]\ndeny = ['put',\n 'shell']\n", mode="mine")
    assert actions(policy, "look", "put", "shell", "patched") == ["deny", "deny", "deny", "ask"]
    assert decide(policy, "look").rule == "tools.deny: look"
    denied = decide(policy, "shell")
    assert (denied.rule, denied.source) == ("modes.mine: tools.deny: shell", Source(str(settings.file), 5))


@pytest.mark.row("R-083")
def test_a_modes_list_of_tools_replaces_the_bases_and_an_empty_one_leaves_it(settings: Settings) -> None:
    base = "[tools]\nallow = ['look']\n"
    assert actions(settings.policy(base), "look", "put", "shell") == ["allow", "deny", "deny"]
    replaced = settings.policy(base + "[modes.mine.tools]\nallow = ['put']\n", mode="mine")
    assert actions(replaced, "look", "put", "shell") == ["deny", "ask", "deny"]
    assert decide(replaced, "look").rule == "modes.mine: tools.allow"
    left = settings.policy(base + "[modes.mine.tools]\nallow = []\n", mode="mine")
    assert actions(left, "look", "put", "shell") == ["allow", "deny", "deny"]


def test_a_mode_may_bring_rules_and_lists(settings: Settings) -> None:
    text = "[modes.mine.permission]\nask = ['look']\n[[modes.mine.permission.rules]]\naction = 'deny'\npath = 'x/'\n"
    policy = settings.policy(text, mode="mine")
    assert decide(policy, "look").rule == "modes.mine: permission.ask: look"
    denied = decide(policy, "look", "x/a")
    assert (denied.rule, denied.source) == ("modes.mine: permission.rules: path x/", Source(str(settings.file), 3))
    assert actions(settings.policy(text), "look") == ["allow"], "and only while it is on"


@pytest.mark.row("R-084")
def test_in_plan_nothing_can_be_changed_or_run(settings: Settings) -> None:
    allowed = "[tool_permission]\nedit = 'allow'\nbash = 'allow'\n[permission]\nallow = ['*']\n"
    for text in (allowed, allowed + "[modes.plan.tool_permission]\nedit = 'allow'\nbash = 'ask'\n"):
        policy = settings.policy(text, mode="plan")
        assert actions(policy, "look", "put", "shell", "patched", "pushed") == ["allow", *["deny"] * 4]
        assert [policy.hidden(made) for made in TOOLS.values()] == [False, True, True, True, True]
    assert decide(policy, "put") == Decision(action="deny", rule="modes.plan: tool_permission.edit", layer="flag")


def test_in_accept_edits_files_of_the_workspace_are_changed_and_nothing_else(settings: Settings) -> None:
    policy = settings.policy("[paths]\noutside = 'allow'\n", mode="accept-edits")
    assert actions(policy, "put", "patched", "shell", "pushed") == ["allow", "allow", "ask", "ask"]
    assert decide(policy, "put", "/etc/x", outside=True).action == "ask"
    assert actions(settings.policy("[approval]\nstrict = true\n", mode="accept-edits"), "put") == ["ask"]


def test_in_auto_commands_run_in_the_sandbox_and_ask_without(settings: Settings) -> None:
    held, bare = settings.policy(mode="auto", confined=True), settings.policy(mode="auto")
    assert actions(held, "put", "shell") == ["allow", "allow"]
    assert decide(held, "shell").sandbox and not decide(held, "put").sandbox
    asked = decide(bare, "shell")
    assert asked.action == "ask" and asked.rule.endswith("(there is no sandbox here)")
    assert actions(bare, "put") == ["allow"]
    assert actions(held, "pushed") == ["ask"]


def test_a_mode_of_ones_own_extends_the_built_in_one(settings: Settings) -> None:
    text = "[modes.plan]\ndescription = 'Think.'\n[modes.plan.tools]\ndeny = ['look']\n"
    policy = settings.policy(text, mode="plan")
    assert actions(policy, "look", "put") == ["deny", "deny"]
    loaded = settings.load(text)
    assert choices(loaded)["plan"] == "Think." and choices(loaded)["auto"] != ""


def test_a_project_that_nobody_trusts_defines_no_mode_and_changes_none(settings: Settings) -> None:
    project = "mode = 'auto'\n[modes.plan.tool_permission]\nmcp = 'allow'\n[modes.own.tools]\ndeny = ['look']\n"
    loaded = settings.load(project=project)
    assert loaded.config.mode is None and loaded.config.modes == {}
    assert sorted(loaded.ignored) == [
        "mode (line 1)",
        "modes.own.tools.deny (line 5)",
        "modes.plan.tool_permission.mcp (line 3)",
    ]
    with pytest.raises(ConfigError, match="there is no mode 'own'"):
        mode_of(loaded, "own")


def test_an_unknown_mode_stops_the_start_and_says_what_there_is(settings: Settings) -> None:
    loaded = settings.load("\nmode = 'paln'\n[modes.mine]\n")
    with pytest.raises(ConfigError) as caught:
        mode_of(loaded)
    assert "did you mean plan? there are accept-edits, auto, mine, plan" in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(settings.file), 2)


# --- on a board -------------------------------------------------------------------------------------------------------


class Brings:
    @staticmethod
    @hookimpl
    def pegboard_tools(settings: Any) -> Any:
        return list(FUNCTIONS.values())


@asynccontextmanager
async def agent_in(tmp_path: Path, **flags: Any) -> AsyncIterator[tuple[Board, Any, Scripted]]:
    (tmp_path / "root").mkdir()
    board = Board.build(
        str(tmp_path / "root"),
        user_file=tmp_path / "none",
        environ={},
        state=tmp_path / "state",
        flags={"tool_permission.edit": "allow", **flags},
        extra=[given("fs", "pegboard.toolsets", Brings)],
        discover=False,
    )
    script = Scripted(["done"])
    agent = board.agent(board.session(in_memory=True), provider=script)
    try:
        yield board, agent, script
    finally:
        await board.close()


@pytest.mark.row("R-084")
def test_what_a_mode_denies_is_absent_from_the_schema_and_refused_when_called(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with agent_in(tmp_path, mode="plan") as (board, agent, _):
            assert [offer.name for offer in board.offers()] == ["look"]
            for name, arguments in (("put", {"path": "a"}), ("shell", {"command": "ls"}), ("patched", {"patch": ""})):
                record = await agent.call(name, arguments)
                assert (record.outcome, record.block) == ("blocked", "denied"), name
                assert record.decision.rule.startswith("modes.plan: tool_permission.")

    asyncio.run(scenario())


def test_the_mode_is_changed_between_turns_and_the_model_is_told(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with agent_in(tmp_path) as (_, agent, script):
            assert (await agent.call("put", {"path": "a"})).outcome == "ok" and agent.mode is None
            await agent.send(port.Mode(name="plan"))
            assert agent.mode.name == "plan"
            assert (await agent.call("put", {"path": "a"})).block == "denied"
            await agent.send(port.Prompt(text="x"))
            await agent.wait()
            assert "mode 'plan'. Look and plan" in script.requests[-1].system
            assert [offer.name for offer in script.requests[-1].tools] == ["look"]
            with pytest.raises(ConfigError, match="did you mean plan"):
                await agent.send(port.Mode(name="plann"))
            assert agent.mode.name == "plan"
            await agent.send(port.Mode())
            assert (await agent.call("put", {"path": "a"})).outcome == "ok" and agent.mode is None
            await agent.send(port.Prompt(text="x"))
            await agent.wait()
            modes = [event.mode for event in agent.session.read() if isinstance(event, TurnStarted)]
            assert modes == ["plan", None]

    asyncio.run(scenario())
