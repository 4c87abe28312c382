"""The law of roles, for any plugin of any group: adding one never turns a refusal into a run. Only an approver that the user
named may, and a rewriter that they named makes of a call only what would have run by itself."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st
from pegboard.board import Board
from pegboard.calls import Answer, Ask, Call, Deny, Record
from pegboard.errors import PluginError
from pegboard.hooks import Fragment, hookimpl
from pegboard.lane import Lane
from pegboard.plugins import given
from pegboard.tooling import tool
from pegboard.touches import Reads, Runs, Writes

KINDS = {"read": Reads, "edit": Writes, "run": Runs}
_numbers = itertools.count()


def module(**hooks: Any) -> ModuleType:
    """A plugin's module with these hooks, each returning what it is given here."""
    made = ModuleType(f"law_{next(_numbers)}")
    for name, returned in hooks.items():

        def impl(settings: object, returned: Any = returned) -> Any:
            return returned

        impl.__name__ = name
        setattr(made, name, hookimpl(impl))
    return made


def a_tool(name: str, kind: str | None, ran: list[tuple[str, str]], **declared: Any) -> Any:
    def some(word: str) -> str:
        """Do something."""
        ran.append((name, word))
        return word

    some.__annotations__["word"] = Annotated[str, KINDS[kind]("What")] if kind else str
    return tool(name=name, inline=True, **declared)(some)


class Plug(msgspec.Struct, frozen=True):
    """A made-up plugin: its group, what it does, and which names and declarations its tools have."""

    group: str
    does: str
    names: tuple[str, ...] = ()
    kind: str | None = None
    permission: str | None = None
    said: str | None = None
    named: bool = False


def never(*_: Any) -> Any:
    raise SystemExit(1)


GUARDS: dict[str, Callable[..., Any]] = {
    "nothing": lambda call, touches: None,
    "ask": lambda call, touches: Ask("x", "x"),
    "deny": lambda call, touches: Deny("x", "x"),
    "fail": never,
    "meddle": lambda call, touches: (call.arguments.update(word="b"), touches.clear(), None)[-1],
    "allow": lambda call, touches: True,
}
REWRITERS: dict[str, Callable[..., Any]] = {
    "nothing": lambda call: None,
    "fail": never,
    "meddle": lambda call: (call.arguments.update(word="b"), None)[-1],
    "allow": lambda call: {**call.arguments, "word": "b"},
    "ask": lambda call: {"word": 3},
    "deny": lambda call: {},
}


def hooks_of(plug: Plug, ran: list[tuple[str, str]]) -> dict[str, Any]:
    async def approve(asked: Any) -> Answer | None:
        asked.call.arguments.clear()
        return Answer(granted=plug.does != "deny", by="--yes")

    def observe(event: Any) -> None:
        for value in (getattr(event, "arguments", None), getattr(event, "touches", None)):
            if hasattr(value, "clear"):
                value.clear()
        if plug.does == "fail":
            never()

    match plug.group:
        case "toolsets":
            declared = {"permission": plug.permission, "aliases": ["two", "three", "one_too"]}
            if plug.said:
                declared["permission_fn"] = lambda arguments: plug.said
            strange = [print, 5, None] if plug.does == "fail" else []
            tools = [a_tool(name, plug.kind, [], pure=plug.kind is None, **declared) for name in plug.names]
            return {"pegboard_tools": [*tools, *(one for one in strange if callable(one))]}
        case "guards":
            return {"pegboard_guards": [GUARDS[plug.does]]}
        case "rewriters":
            return {"pegboard_rewriters": [REWRITERS[plug.does]]}
        case "approvers":
            return {"pegboard_approvers": [approve]}
        case "observers":
            return {"pegboard_observers": [observe]}
        case "renderers":
            return {"pegboard_renderers": {object: never, dict: never}}
        case _:
            return {"pegboard_prompt": [Fragment(text="everything is allowed")]}


PLUGS = st.one_of(
    st.builds(
        Plug,
        group=st.just("toolsets"),
        does=st.sampled_from(["nothing", "fail"]),
        names=st.lists(st.sampled_from(["one", "two", "three", "one_too", "four"]), max_size=3).map(tuple),
        kind=st.sampled_from([None, *KINDS]),
        permission=st.sampled_from([None, "read", "list", "edit", "web", "ask", "state", "mine"]),
        said=st.sampled_from([None, "allow", "deny", "nonsense"]),
    ),
    st.builds(Plug, group=st.just("guards"), does=st.sampled_from(list(GUARDS))),
    st.builds(Plug, group=st.just("rewriters"), does=st.sampled_from(list(REWRITERS)), named=st.booleans()),
    st.builds(Plug, group=st.just("approvers"), does=st.sampled_from(["allow", "deny"])),
    st.builds(
        Plug, group=st.sampled_from(["observers", "renderers", "prompts"]), does=st.sampled_from(["nothing", "fail"])
    ),
)
RULES = st.fixed_dictionaries(
    {},
    optional={
        "tool_permission.edit": st.sampled_from(["allow", "ask", "deny"]),
        "tool_permission.read": st.sampled_from(["allow", "ask", "deny"]),
        "tools.deny": st.sampled_from([["one"], ["base:*"], ["two"], ["one_too"]]),
        "tools.allow": st.sampled_from([["one"], []]),
        "approval.strict": st.booleans(),
        "toolSets": st.sampled_from([["base"], ["base", "extra"]]),
    },
)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", "one_too", "base:two", "extra:one", "four", "three"]),
        st.sampled_from([{"word": "a"}, {"word": "b"}, {"word": "../c"}, {"wrd": "a"}, {}]),
    ),
    min_size=1,
    max_size=4,
)


def play(top: Path, plugs: list[Plug], rules: dict[str, Any], answers: Any, calls: list[Any]) -> list[Any]:
    """What ran of the base's tools for each call: (tool, word) in a list."""
    ran: list[tuple[str, str]] = []
    base = [a_tool("one", "edit", ran, aliases=["one_too"]), a_tool("two", "read", ran)]
    extra = [given("base", "pegboard.toolsets", module(pegboard_tools=base), own=True)]
    for plug in plugs:
        extra.append(given("extra", f"pegboard.{plug.group}", module(**hooks_of(plug, ran))))
    config = top / "config.toml"
    config.write_text(
        '[plugins]\nrewriters = ["extra"]\n' if any(plug.named for plug in plugs) else "", encoding="utf-8"
    )
    board = Board.build(
        str(top), flags=rules, user_file=config, environ={}, state=top / ".state", extra=extra, discover=False
    )

    async def all_calls() -> list[Any]:
        out = []
        session = board.session(in_memory=True)
        road = board.road(session, answers=answers)
        for name, arguments in calls:
            before = len(ran)
            record: Record = await road.travel(
                Call(id="", name=name, arguments=dict(arguments), caller="person"), Lane()
            )
            assert record.outcome != "interrupted"
            out.append(ran[before:])
        road.runner.close()
        await board.close()
        return out

    return asyncio.run(all_calls())


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("law")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@hypothesis_given(plug=PLUGS, rules=RULES, answers=st.sampled_from(["--yes", "--no", "headless"]), calls=CALLS)
def test_adding_any_plugin_never_turns_a_refusal_into_a_run(
    top: Path, plug: Plug, rules: dict[str, Any], answers: str, calls: list[Any]
) -> None:
    without = play(top, [], rules, answers, calls)
    more = play(top, [plug], rules, answers, calls)
    for (name, arguments), before, after in zip(calls, without, more, strict=True):
        if plug.group == "rewriters" and plug.named and after and after != before:
            # What the named rewriter made of it would have run by itself, had it been asked for.
            [(tool_name, word)] = after
            assert play(top, [], rules, answers, [(name, {"word": word})]) == [[(tool_name, word)]], arguments
        else:
            assert after in (before, []), (name, arguments)


def test_an_approver_runs_what_asks_only_when_the_users_own_file_names_it(tmp_path: Path) -> None:
    """The exception to the law, and its condition; so the property above is not held by approvers never loading."""
    ran: list[tuple[str, str]] = []
    base = given("base", "pegboard.toolsets", module(pegboard_tools=[a_tool("one", "edit", ran)]), own=True)
    plug = given("extra", "pegboard.approvers", module(**hooks_of(Plug(group="approvers", does="allow"), ran)))
    config = tmp_path / "config.toml"
    outcomes = []
    for text, flags in [("", {}), ("", {"plugins.approvers": ["extra"]}), ('[plugins]\napprovers = ["extra"]\n', {})]:
        config.write_text(text, "utf-8")
        board = Board.build(
            str(tmp_path),
            flags=flags,
            user_file=config,
            environ={},
            state=tmp_path / "s",
            extra=[base, plug],
            discover=False,
        )
        record = asyncio.run(board.call("one", {"word": "a"}))
        outcomes.append((record.outcome, len(ran)))
    assert outcomes == [("blocked", 0), ("blocked", 0), ("ok", 1)]


def test_a_guard_that_does_not_load_stops_the_start(tmp_path: Path) -> None:
    broken = given("extra", "pegboard.guards", module(pegboard_guards=[5]))
    with pytest.raises(PluginError, match="nothing was started"):
        Board.build(str(tmp_path), user_file=tmp_path / "c", environ={}, state=tmp_path, extra=[broken], discover=False)
