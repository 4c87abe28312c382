"""The ordered list: which rule decides, held against a naive reading of decision 14 and against what must never happen."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import STRICTNESS, Action, Call, Layer, Touch
from pegboard.config.load import Loaded, Stated, load
from pegboard.config.schema import Config
from pegboard.policy import Policy, Rule, Verdict, rules_of
from pegboard.policy.remembered import offer_of
from pegboard.policy.rules import Where, literal, ordered
from pegboard.tooling import Tool, tool

ACTIONS: list[Action] = ["allow", "ask", "deny"]
LAYERS: list[Layer] = ["default", "user", "project", "environment", "flag", "remembered"]
TOUCHES = [
    Touch("read", "a", "a"),
    Touch("edit", "a", "a"),
    Touch("edit", "/x", "/x", outside=True),
    Touch("net", "http://a"),
    Touch("net", "http://a", sends=True),
    Touch("run", "ls"),
]
KEY = {"run": "bash", "net": "web"}


@cache
def make(name: str, said: Action | None = None) -> Tool:
    @tool(name=name, pure=True, permission_fn=(lambda arguments: said) if said else None)
    def some() -> str:
        """Do something."""
        return ""

    return Tool.of(some, owner="fs", set="fs")


def judged(rules: list[Rule], made: Tool, touches: list[Touch], *, cautious: bool = False) -> Verdict:
    return Policy(ordered(rules)).decide(made, Call(id="c", name=made.name), touches, cautious=cautious)


# --- a naive reading --------------------------------------------------------------------------------------------------

NAMED = {
    None: {"some_edit", "some_other"},
    "*": {"some_edit", "some_other"},
    "some_*": {"some_edit", "some_other"},
    "some_[eo]*": {"some_edit", "some_other"},
    "fs": {"some_edit", "some_other"},
    "some_edit": {"some_edit"},
    "fs:some_edit": {"some_edit"},
    "*edit": {"some_edit"},
    "other": set(),
}
"""What each tool pattern of these tests names."""
LITERAL = {
    None: 0,
    "*": 0,
    "some_*": 5,
    "some_[eo]*": 5,
    "fs": 2,
    "some_edit": 9,
    "fs:some_edit": 12,
    "*edit": 4,
    "other": 5,
}


def naive(rules: list[Rule], name: str, touches: list[Touch], said: Action | None, cautious: bool) -> Action:
    """Decision 14, sentence by sentence, without an order of the list."""
    changes = any(t.kind not in ("read", "list", "net") or t.sends for t in touches)

    def speaks(rule: Rule, touch: Touch | None) -> bool:
        key = KEY.get(touch.kind, touch.kind) if touch else None
        where = rule.where or Where()
        return (
            rule.key in (None, key)
            and name in NAMED[rule.tool]
            and not (rule.others and any(name in NAMED[token] for token in rule.others))
            and not (where.outside and not (touch and touch.outside))
            and not (where.sends and not (touch and touch.sends))
            and not (where.changes and not changes)
            and not (where.cautious and not cautious)
        )

    def winner(matching: list[Rule], touch: Touch | None) -> Action:
        best, place = None, (-1,)
        for rule in matching:
            at = (LAYERS.index(rule.layer), rule.where is not None, LITERAL[rule.tool], rule.action == "ask")
            if best is None or at > place:
                best, place = rule, at  # type: ignore[assignment]
        return best.action if best else ("allow" if touch is None else "ask")

    answers, person, floor = [], False, False
    for touch in touches or [None]:  # type: ignore[list-item]
        matching = [rule for rule in rules if speaks(rule, touch)]
        if any(rule.action == "deny" for rule in matching):
            return "deny"
        floor = floor or any(rule.floor for rule in matching)
        trusted = [rule for rule in matching if not rule.floor and not rule.only_stricter]
        project = [rule for rule in matching if not rule.floor and rule.only_stricter and rule.action == "ask"]
        without, with_it = winner(trusted, touch), winner([*trusted, *project], touch)
        answers.append(max(without, with_it, key=STRICTNESS.__getitem__))
        person = person or bool(project) or any(rule.layer != "default" for rule in trusted)
    answer = max(answers, key=STRICTNESS.__getitem__)
    if said is not None and (STRICTNESS[said] > STRICTNESS[answer] or not person):
        answer = said
    return "ask" if answer == "allow" and floor else answer


WHERE = st.sampled_from([None, None, Where(outside=True), Where(sends=True), Where(changes=True), Where(cautious=True)])
TOKENS = st.sampled_from(list(NAMED))


@st.composite
def a_rule(draw: Any, actions: list[Action] = ACTIONS) -> Rule:
    action, layer = draw(st.sampled_from(actions)), draw(st.sampled_from(LAYERS))
    return Rule(
        action=action,
        name=draw(st.sampled_from(["r1", "r2"])),
        layer=layer,
        key=draw(st.sampled_from([None, "read", "edit", "bash", "web"])),
        tool=draw(TOKENS),
        others=draw(st.sampled_from([(), (), ("some_edit",), ("other", "*edit")])) if action == "deny" else (),
        where=draw(WHERE),
        only_stricter=layer == "project",
        floor=action == "ask" and draw(st.booleans()),
    )


RULES = st.lists(a_rule(), max_size=7)
CALL = {
    "name": st.sampled_from(["some_edit", "some_other"]),
    "touches": st.lists(st.sampled_from(TOUCHES), max_size=3),
    "said": st.sampled_from([None, None, *ACTIONS]),
    "cautious": st.booleans(),
}


@settings(max_examples=150, deadline=None)
@given(rules=RULES, **CALL)
def test_the_list_says_what_a_naive_reading_says(
    rules: list[Rule], name: str, touches: list[Touch], said: Action | None, cautious: bool
) -> None:
    verdict = judged(rules, make(name, said), touches, cautious=cautious)
    assert verdict.decision.action == naive(rules, name, touches, said, cautious)


@settings(max_examples=150, deadline=None)
@given(
    rules=RULES, more=st.lists(a_rule(["ask", "deny"]) | a_rule().filter(lambda r: r.only_stricter), max_size=3), **CALL
)
def test_more_asks_and_denies_and_any_project_never_make_an_answer_looser(
    rules: list[Rule], more: list[Rule], name: str, touches: list[Touch], said: Action | None, cautious: bool
) -> None:
    made = make(name, said)
    before, after = (judged(given, made, touches, cautious=cautious) for given in (rules, [*rules, *more]))
    assert STRICTNESS[after.decision.action] >= STRICTNESS[before.decision.action]


@settings(max_examples=80, deadline=None)
@given(rules=RULES, **CALL)
def test_a_remembered_answer_is_offered_exactly_where_it_would_hold(
    rules: list[Rule], name: str, touches: list[Touch], said: Action | None, cautious: bool
) -> None:
    made = make(name, said)
    rules = [rule for rule in rules if rule.layer != "remembered"]
    asked = judged(rules, made, touches, cautious=cautious)
    if asked.decision.action == "ask":
        kept = Rule(action="allow", name="remembered", layer="remembered", where=Where())
        again = judged([*rules, kept], made, touches, cautious=cautious)
        offer = offer_of(Policy(rules), made, Call(id="c", name=made.name), b"{}", touches, cautious=cautious)
        inside = not any(touch.outside for touch in touches)
        assert (offer is not None) == (inside and again.decision.action == "allow")


@settings(max_examples=80, deadline=None)
@given(rules=RULES, **CALL)
def test_who_asks_why_is_told_the_one_rule_that_decided(
    rules: list[Rule], name: str, touches: list[Touch], said: Action | None, cautious: bool
) -> None:
    made, policy, call = make(name, said), Policy(ordered(rules)), Call(id="c", name=name)
    decision = policy.decide(made, call, touches, cautious=cautious).decision
    considered = policy.considered(made, call, touches, cautious=cautious)
    (decided,) = [one for one in considered if one.decided]
    assert (decided.action, decided.rule, decided.layer, decided.source) == (
        decision.action,
        decision.rule,
        decision.layer,
        decision.source,
    )
    assert len(considered) <= len(rules) + 1


# --- one by one -------------------------------------------------------------------------------------------------------


def rule(action: Action, layer: Layer = "user", **rest: Any) -> Rule:
    return Rule(action=action, name=f"{action} of {layer}", layer=layer, **rest)


@pytest.mark.parametrize(
    ("first", "second", "decides"),
    [
        (rule("deny", "default"), rule("allow", "remembered"), "deny of default"),
        (rule("ask", "user"), rule("allow", "flag"), "allow of flag"),
        (rule("allow", "environment"), rule("ask", "user", tool="some_edit"), "allow of environment"),
        (rule("allow"), rule("ask", where=Where(outside=True)), "ask of user"),
        (rule("ask", tool="some_edit"), rule("allow", where=Where(outside=True)), "allow of user"),
        (rule("allow", tool="some_edit"), rule("ask", tool="some_*"), "allow of user"),
        (rule("allow", tool="some_*"), rule("ask", tool="some_*"), "ask of user"),
        (rule("ask", "default", floor=True), rule("allow", "remembered"), "ask of default"),
        (rule("allow", "project", only_stricter=True), rule("ask", "default"), "ask of default"),
        (rule("ask", "project", only_stricter=True), rule("allow", "user"), "ask of project"),
        (rule("ask", "project", only_stricter=True), rule("ask", "user"), "ask of user"),
        (rule("ask", "project", only_stricter=True), rule("allow", "flag"), "allow of flag"),
        (rule("deny", "project", only_stricter=True), rule("allow", "flag"), "deny of project"),
    ],
)
def test_of_two_rules_one_decides_whichever_stands_first(first: Rule, second: Rule, decides: str) -> None:
    touches = [Touch("edit", "/x", "/x", outside=True)]
    for rules in ([first, second], [second, first]):
        assert judged(rules, make("some_edit"), touches).decision.rule == decides


def test_a_tool_may_not_loosen_one_touch_because_another_one_was_asked_about_by_default() -> None:
    rules = [rule("ask", "default", key="edit"), rule("ask", "user", key="bash")]
    touches = [Touch("edit", "a", "a"), Touch("run", "ls")]
    assert judged(rules, make("some_edit", "allow"), touches).decision.action == "ask"
    assert judged(rules, make("some_edit", "allow"), touches[:1]).decision.action == "allow"


def test_a_projects_ask_is_a_word_of_a_person_to_a_tool_that_would_loosen() -> None:
    rules = [rule("ask", "default", key="edit"), rule("ask", "project", key="edit", only_stricter=True)]
    touches = [Touch("edit", "a", "a")]
    assert judged(rules, make("some_edit", "allow"), touches).decision.action == "ask"
    assert judged(rules[:1], make("some_edit", "allow"), touches).decision.action == "allow"


@pytest.mark.parametrize(
    ("pattern", "length"), [(None, 0), ("*", 0), ("git:*", 4), ("git_[ab]?", 4), ("grep", 4), ("[", 1)]
)
def test_what_is_literal_in_a_pattern(pattern: str | None, length: int) -> None:
    assert literal(pattern) == length


# --- from a configuration ---------------------------------------------------------------------------------------------

STATED = st.one_of(
    st.tuples(
        st.sampled_from(["read", "edit", "bash", "deploy"]).map(lambda k: ("tool_permission", k)),
        st.sampled_from(ACTIONS),
    ),
    st.tuples(
        st.sampled_from([("tools", "allow"), ("tools", "deny")]),
        st.lists(st.sampled_from(["some_edit", "some_*", "fs", "other"]), max_size=2),
    ),
    st.tuples(st.just(("paths", "outside")), st.sampled_from(["refuse", "ask", "allow"])),
    st.tuples(st.just(("approval", "strict")), st.booleans()),
)


@settings(max_examples=150, deadline=None)
@given(
    own=st.lists(st.tuples(st.sampled_from(["user", "environment", "flag"]), STATED), max_size=4),
    project=st.lists(STATED, max_size=4),
    **CALL,
)
def test_no_project_makes_an_answer_looser_even_if_all_it_says_came_through(
    own: list[Any], project: list[Any], name: str, touches: list[Touch], said: Action | None, cautious: bool
) -> None:
    rank: Any = {"user": 0, "project": 1, "environment": 2, "flag": 3}

    def policy(*more: Any) -> Policy:
        values = sorted([*own, *more], key=lambda one: rank[one[0]])
        stated = [Stated(layer, key, value) for layer, (key, value) in values]
        return Policy(rules_of(Loaded(config=Config(), origins={}, notes=[], stated=stated)))

    made, call = make(name, said), Call(id="c", name=name)
    before = policy().decide(made, call, touches, cautious=cautious).decision
    with_it = policy(*[("project", one) for one in project])
    after = with_it.decide(made, call, touches, cautious=cautious).decision
    assert STRICTNESS[after.action] >= STRICTNESS[before.action]
    assert not policy().hidden(made) or with_it.hidden(made)


@pytest.mark.parametrize(
    ("own", "project", "action"),
    [
        ([], (("tool_permission", "edit"), "allow"), "ask"),
        ([("user", ("tool_permission", "edit"), "allow")], (("tool_permission", "edit"), "ask"), "ask"),
        ([("user", ("approval", "strict"), True)], (("approval", "strict"), False), "ask"),
        ([("user", ("tools", "allow"), ["some_edit"])], (("tools", "allow"), ["other", "some_other"]), "deny"),
        ([("user", ("tools", "deny"), ["some_edit"])], (("tools", "deny"), []), "deny"),
        ([("user", ("paths", "outside"), "refuse")], (("paths", "outside"), "allow"), "deny"),
        ([("user", ("paths", "outside"), "allow")], (("paths", "outside"), "refuse"), "deny"),
        ([("flag", ("paths", "outside"), "allow")], (("paths", "outside"), "refuse"), "ask"),
    ],
)
def test_what_a_project_says_counts_where_it_is_stricter(own: Any, project: Any, action: Action) -> None:
    values = [*own, ("project", *project)]
    touch = Touch("edit", "/x", "/x", outside=True) if project[0][0] == "paths" else Touch("edit", "a", "a")
    if project[0] == ("approval", "strict"):
        values.append(("user", ("tool_permission", "edit"), "allow"))
    stated = [Stated(layer, key, value) for layer, key, value in values]
    policy = Policy(rules_of(Loaded(config=Config(), origins={}, notes=[], stated=stated)))
    found = policy.decide(make("some_edit"), Call(id="c", name="some_edit"), [touch]).decision
    assert found.action == action


def loaded(folder: Path, *, user: str = "", project: str = "", **flags: Any) -> Policy:
    (folder / ".pegboard").mkdir(exist_ok=True)
    (folder / "user.toml").write_text(user)
    (folder / ".pegboard" / "config.toml").write_text(project)
    dotted = {key.replace("__", "."): value for key, value in flags.items()}
    return Policy(rules_of(load(user_file=folder / "user.toml", root=str(folder), environ={}, flags=dotted)))


@pytest.mark.row("R-076")
def test_a_deny_of_an_earlier_layer_stands_over_every_later_allow(tmp_path: Path) -> None:
    policy = loaded(tmp_path, user="tool_permission.edit = 'deny'\n", tool_permission__edit="allow")
    found = policy.decide(make("some_edit"), Call(id="c", name="some_edit"), [Touch("edit", "a", "a")]).decision
    assert (found.action, found.layer) == ("deny", "user")
    assert found.source is not None and found.source.line == 1


def test_a_hostile_projects_file_loosens_nothing(tmp_path: Path) -> None:
    text = (
        "tool_permission = {edit = 'allow', bash = 'allow', unknown = 'allow', deploy = 'allow'}\n"
        "paths.outside = 'allow'\napproval.strict = false\ntools.deny = []\ntools.allow = ['other', 'some_edit']\n"
    )
    user = "approval.strict = true\ntools.deny = ['other']\ntools.allow = ['some_edit', 'other']\n"
    calls = [(make(name), [touch]) for name in ("some_edit", "other", "third") for touch in TOUCHES]
    for mine in ("", user):
        before, after = loaded(tmp_path, user=mine), loaded(tmp_path, user=mine, project=text)
        for made, touches in calls:
            call = Call(id="c", name=made.name)
            was, now = (policy.decide(made, call, touches).decision.action for policy in (before, after))
            assert STRICTNESS[now] >= STRICTNESS[was]
