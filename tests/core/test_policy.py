"""Policy: rules over touches. What a call gets, which rule says so, and where that rule stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import STRICTNESS, Action, Call, Decision, Source, Touch
from pegboard.config.load import load
from pegboard.policy import Policy, rules_of
from pegboard.tooling import Tool, tool
from pegboard.touches import Fetches, Lists, Reads, Runs, Writes

KINDS: dict[str, Any] = {"read": Reads, "list": Lists, "edit": Writes, "bash": Runs, "web": Fetches}
TOUCH_OF = {"bash": "run", "web": "net"}


def make(name: str, key: str | None, **declared: Any) -> Tool:
    """A tool whose one argument is touched in the way of a permission key."""

    @tool(name=name, **declared)
    def some(what: str) -> str:
        """Do something."""
        return what

    some.__annotations__["what"] = Annotated[str, KINDS[key]("What")] if key else str
    return Tool.of(some, owner="fs", set="fs")


READ, LIST, EDIT, BASH, WEB = (make(f"some_{key}", key) for key in KINDS)
SILENT = make("silent", None)
PURE = make("pure", None, pure=True)
HELPER = make("helper", None, effect="delegating")


class Rules:
    """Policies from settings: the user's file, the environment and flags."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "config.toml"

    def __call__(self, text: str = "", /, **flags: Any) -> Policy:
        self.file.write_text(text)
        dotted = {key.replace("__", "."): value for key, value in flags.items()}
        return Policy(rules_of(load(user_file=self.file, root=str(self.file.parent), environ={}, flags=dotted)))


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return Rules(tmp_path)


def decide(policy: Policy, made: Tool, what: str = "a", *, cautious: bool = False, **touch: Any) -> Decision:
    touches = [Touch(t.kind, t.what, t.what, **touch) for t in made.touches(made.read({"what": what}).value)]
    call = Call(id="c1", name=made.name, arguments={"what": what})
    return policy.decide(made, call, touches, cautious=cautious).decision


# --- permission keys --------------------------------------------------------------------------------------------------


@pytest.mark.row("R-088")
@pytest.mark.parametrize(
    ("made", "action", "rule"),
    [
        (READ, "allow", "tool_permission.read"),
        (LIST, "allow", "tool_permission.list"),
        (EDIT, "ask", "tool_permission.edit"),
        (BASH, "ask", "tool_permission.bash"),
        (WEB, "allow", "tool_permission.web"),
        (SILENT, "ask", "tool_permission.unknown"),
        (HELPER, "ask", "tool_permission.delegate"),
        (PURE, "allow", "touches nothing"),
    ],
)
def test_as_shipped(rules: Rules, made: Tool, action: Action, rule: str) -> None:
    assert decide(rules(), made) == Decision(action=action, rule=rule, layer="default")


@pytest.mark.row("R-088", "R-092")
def test_bash_runs_unasked_once_it_is_allowed_and_nothing_else_changes(rules: Rules) -> None:
    policy = rules("[tool_permission]\nbash = 'allow'\n")
    assert decide(policy, BASH).action == "allow"
    assert [decide(policy, made).action for made in (READ, LIST, EDIT, WEB)] == ["allow", "allow", "ask", "allow"]


@pytest.mark.row("R-007", "R-078", "R-092")
@pytest.mark.parametrize("key", [*KINDS, "mcp"])
def test_a_denied_key_denies_the_tools_of_that_key_alone_and_hides_them(rules: Rules, key: str) -> None:
    policy = rules(f"[tool_permission]\n{key} = 'deny'\n")
    by_key = dict(zip(KINDS, (READ, LIST, EDIT, BASH, WEB), strict=True))
    by_key |= {"mcp": make("remote", None, permission="mcp")}
    for other, made in by_key.items():
        found = decide(policy, made)
        assert (found.action == "deny") == (other == key)
        assert policy.hidden(made) == (other == key)
    denied = decide(policy, by_key[key])
    assert denied.rule == f"tool_permission.{key}"
    assert (denied.layer, denied.source) == ("user", Source(str(rules.file), 2))


@pytest.mark.row("R-007")
@pytest.mark.parametrize("key", ["bash", "mcp", "edit"])
def test_a_declared_permission_replaces_the_touches_own(rules: Rules, key: str) -> None:
    made = make("special", "edit", permission=key)
    assert decide(rules(f"[tool_permission]\n{key} = 'deny'\n"), made).action == "deny"
    other = "read" if key != "read" else "list"
    assert decide(rules(f"[tool_permission]\n{other} = 'deny'\n"), made).action != "deny"


@pytest.mark.row("R-007")
@pytest.mark.parametrize("key", ["read", "list"])
def test_read_and_list_may_be_declared_by_tools_that_only_read(rules: Rules, key: str) -> None:
    made = make("special", "web", permission=key)
    assert decide(rules(f"[tool_permission]\n{key} = 'deny'\n"), made).action == "deny"
    assert rules(f"[tool_permission]\n{key} = 'deny'\n").hidden(made)
    assert decide(rules("[tool_permission]\nweb = 'deny'\n"), made).action == "allow"


def test_a_key_of_a_plugin_asks_until_it_is_set(rules: Rules) -> None:
    made = make("special", None, permission="deploy")
    assert decide(rules(), made).action == "ask"
    assert decide(rules("[tool_permission]\ndeploy = 'allow'\n"), made).action == "allow"


def test_denied_delegation_and_denied_unknowns_are_hidden_too(rules: Rules) -> None:
    policy = rules("[tool_permission]\ndelegate = 'deny'\nunknown = 'deny'\n")
    assert [policy.hidden(made) for made in (HELPER, SILENT, PURE, READ)] == [True, True, False, False]
    assert decide(policy, HELPER).action == decide(policy, SILENT).action == "deny"


def test_the_strictest_of_all_touches_wins(rules: Rules) -> None:
    made = make("many", "read")
    call = Call(id="c1", name="many")
    touches = [Touch("read", "a", "a"), Touch("edit", "b", "b"), Touch("list", ".", ".")]
    for policy, action, rule in (
        (rules(), "ask", "tool_permission.edit"),
        (rules("[tool_permission]\nlist = 'deny'\n"), "deny", "tool_permission.list"),
        (rules("[tool_permission]\nedit = 'allow'\n"), "allow", "tool_permission.read"),
    ):
        found = policy.decide(made, call, touches).decision
        assert (found.action, found.rule) == (action, rule)


def test_a_request_that_sends_something_asks_unless_a_person_allowed_the_web(rules: Rules) -> None:
    assert decide(rules(), WEB, sends=True).action == "ask"
    assert decide(rules(), WEB, sends=False).action == "allow"
    assert decide(rules("[tool_permission]\nweb = 'allow'\n"), WEB, sends=True).action == "allow"
    assert decide(rules("[tool_permission]\nweb = 'deny'\n"), WEB, sends=True).action == "deny"


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("R-076")
@pytest.mark.parametrize("token", ["some_read", "fs:some_read", "fs/some_read", "fs", "fs:*", "some_*", "*"])
def test_tools_deny_beats_everything(rules: Rules, token: str) -> None:
    policy = rules(
        f"[tools]\nallow = ['some_read', 'fs']\ndeny = ['{token}']\n[tool_permission]\nread = 'allow'\n",
    )
    found = decide(policy, READ)
    assert (found.action, found.rule, found.layer) == ("deny", f"tools.deny: {token}", "user")
    assert found.source == Source(str(rules.file), 3)
    assert policy.hidden(READ)


@pytest.mark.row("R-076")
def test_an_alias_in_tools_deny_means_its_tool(rules: Rules) -> None:
    made = make("read_file", "read", aliases=["view", ("head", {"what": "x"})])
    for token in ("view", "head"):
        assert decide(rules(f"[tools]\ndeny = ['{token}']\n"), made).action == "deny"


@pytest.mark.row("R-077")
def test_tools_allow_denies_every_other_tool_and_empty_restricts_nothing(rules: Rules) -> None:
    policy = rules("[tools]\nallow = ['some_read']\n")
    found = {made.name: decide(policy, made).action for made in (READ, LIST, EDIT, PURE)}
    assert found == {"some_read": "allow", "some_list": "deny", "some_edit": "deny", "pure": "deny"}
    assert [policy.hidden(made) for made in (READ, LIST)] == [False, True]
    empty = rules("[tools]\nallow = []\n")
    assert [decide(empty, made).action for made in (READ, LIST, EDIT, PURE)] == ["allow", "allow", "ask", "allow"]


def test_being_named_in_tools_allow_is_no_permission(rules: Rules) -> None:
    assert decide(rules("[tools]\nallow = ['some_edit']\n"), EDIT).action == "ask"


# --- the tool's own word ----------------------------------------------------------------------------------------------


@pytest.mark.row("R-008", "R-079")
@pytest.mark.parametrize("said", ["allow", "ask", "deny"])
@pytest.mark.parametrize("key", ["read", "edit"])
def test_permission_fn_sees_the_arguments_and_its_answer_counts(rules: Rules, key: str, said: Action) -> None:
    seen: list[dict[str, Any]] = []

    def judge(arguments: dict[str, Any]) -> Action:
        seen.append(arguments)
        return said

    found = decide(rules(), make("some", key, permission_fn=judge), "x")
    assert seen == [{"what": "x"}]
    assert found.action == said
    base = "allow" if key == "read" else "ask"
    assert (found.rule, found.layer) == (
        (f"tool_permission.{key}", "default") if said == base else ("some.permission_fn", "tool")
    )


@pytest.mark.row("R-079")
def test_permission_fn_is_not_asked_about_what_is_denied(rules: Rules) -> None:
    asked: list[Any] = []
    made = make("some", "edit", permission_fn=lambda arguments: asked.append(arguments) or "allow")
    for text in ("[tool_permission]\nedit = 'deny'\n", "[tools]\ndeny = ['some']\n"):
        assert decide(rules(text), made).action == "deny"
    assert decide(rules(), made, outside=True).action == "deny"
    assert asked == []


@pytest.mark.row("R-079")
def test_listing_tools_does_not_ask_permission_fn(rules: Rules) -> None:
    made = make("some", "edit", permission_fn=lambda arguments: 1 / 0)  # type: ignore[arg-type,return-value]
    assert not rules().hidden(made)


def test_permission_fn_loosens_only_where_no_person_said_anything(rules: Rules) -> None:
    made = make("some", "edit", permission_fn=lambda arguments: "allow")
    assert decide(rules(), made).action == "allow"
    assert decide(rules("[tool_permission]\nedit = 'ask'\n"), made).action == "ask"
    assert decide(rules(tool_permission__edit="ask"), made).action == "ask"


@pytest.mark.parametrize("said", [None, "yes", "", 1, [], {}, "ALLOW", True])
def test_an_answer_that_is_none_is_a_refusal(rules: Rules, said: Any) -> None:
    assert decide(rules(), make("some", "read", permission_fn=lambda arguments: said)).action == "deny"


def test_a_judgement_that_fails_is_a_refusal(rules: Rules) -> None:
    def fails(arguments: dict[str, Any]) -> Action:
        raise RuntimeError("at judging")

    found = decide(rules(), make("some", "read", permission_fn=fails))
    assert found.action == "deny" and "RuntimeError" in found.rule


def test_a_judgement_cannot_change_the_call(pegboard_board: Any) -> None:
    def changes(arguments: dict[str, Any]) -> Action:
        arguments["what"] = "other"
        return "allow"

    @tool(permission_fn=changes)
    def some(what: Annotated[str, Writes("What")]) -> str:
        """Do something."""
        return what

    assert pegboard_board(tools=[some]).call("some", what="mine").text == "mine"


# --- outside, strict, cautious ----------------------------------------------------------------------------------------


@pytest.mark.row("R-080", "S-088")
@pytest.mark.parametrize(
    ("setting", "made", "action", "rule"),
    [
        ("refuse", READ, "deny", "paths.outside"),
        ("refuse", EDIT, "deny", "paths.outside"),
        ("ask", READ, "ask", "paths.outside"),
        ("ask", LIST, "ask", "paths.outside"),
        ("ask", EDIT, "ask", "tool_permission.edit"),
        ("allow", READ, "allow", "tool_permission.read"),
        ("allow", EDIT, "ask", "tool_permission.edit"),
    ],
)
def test_paths_outside_the_workspace(rules: Rules, setting: str, made: Tool, action: Action, rule: str) -> None:
    policy = rules(f"[paths]\noutside = '{setting}'\n")
    outside = decide(policy, made, outside=True)
    assert (outside.action, outside.rule) == (action, rule)
    inside = decide(policy, made)
    assert inside.action == ("ask" if made is EDIT else "allow")


@pytest.mark.row("R-080")
def test_an_answer_for_inside_is_not_taken_for_outside(rules: Rules) -> None:
    policy = rules("[paths]\noutside = 'ask'\n")
    for _ in range(2):  # whatever is remembered of one call
        assert decide(policy, READ).action == "allow"
        assert decide(policy, READ, outside=True).action == "ask"


def test_in_strict_mode_everything_that_does_more_than_read_asks(rules: Rules) -> None:
    text = "[approval]\nstrict = true\n[tool_permission]\nedit = 'allow'\nunknown = 'allow'\n"
    policy = rules(text)
    found = {made.name: decide(policy, made) for made in (READ, EDIT, SILENT, PURE)}
    assert {name: d.action for name, d in found.items()} == {
        "some_read": "allow",
        "some_edit": "ask",
        "silent": "ask",
        "pure": "allow",
    }
    assert found["some_edit"].rule == "approval.strict"


def test_a_cautious_model_is_asked_about_for_its_own_calls_that_do_more_than_read(rules: Rules) -> None:
    policy = rules("[tool_permission]\nedit = 'allow'\nbash = 'deny'\n")
    asked = decide(policy, EDIT, cautious=True)
    assert (asked.action, asked.rule) == ("ask", "model.cautious")
    assert decide(policy, EDIT).action == "allow"
    assert decide(policy, READ, cautious=True).action == "allow"
    assert decide(policy, BASH, cautious=True).action == "deny"
    person = Call(id="c1", name="some_edit", caller="person")
    assert policy.decide(EDIT, person, [Touch("edit", "a", "a")], cautious=True).decision.action == "allow"


# --- properties -------------------------------------------------------------------------------------------------------

ACTIONS: list[Action] = ["allow", "ask", "deny"]


@settings(max_examples=60, deadline=None)
@given(
    actions=st.dictionaries(st.sampled_from([*KINDS, "unknown"]), st.sampled_from(ACTIONS)),
    kinds=st.lists(st.sampled_from([*KINDS, "unknown"]), max_size=4),
    deny=st.booleans(),
    allow=st.booleans(),
    said=st.sampled_from([None, *ACTIONS]),
    outside=st.booleans(),
    strict=st.booleans(),
    cautious=st.booleans(),
)
def test_a_matching_deny_decides_and_nothing_makes_it_looser(
    tmp_path_factory: pytest.TempPathFactory,
    actions: dict[str, Action],
    kinds: list[str],
    deny: bool,
    allow: bool,
    said: Action | None,
    outside: bool,
    strict: bool,
    cautious: bool,
) -> None:
    flags: dict[str, Any] = {f"tool_permission.{key}": action for key, action in actions.items()}
    flags |= {"tools.deny": ["some"] if deny else [], "tools.allow": ["other"] if allow else []}
    flags["approval.strict"] = strict
    folder = tmp_path_factory.getbasetemp()
    policy = Policy(rules_of(load(user_file=folder / "none.toml", root=str(folder), environ={}, flags=flags)))
    made = make("some", None, pure=True, permission_fn=(lambda arguments: said) if said else None)
    touches = [Touch(TOUCH_OF.get(kind, kind), "a", "a", outside) for kind in kinds]  # type: ignore[arg-type]
    found = policy.decide(made, Call(id="c1", name="some"), touches, cautious=cautious).decision
    denied = deny or allow or said == "deny" or any(actions.get(kind) == "deny" for kind in kinds)
    denied = denied or (outside and bool(kinds))
    assert (found.action == "deny") == denied
    if found.action == "allow":
        assert not any(actions.get(kind) == "ask" for kind in kinds)
        assert said != "ask"
    least = max((STRICTNESS[actions[kind]] for kind in kinds if kind in actions), default=0)
    assert STRICTNESS[found.action] >= least
