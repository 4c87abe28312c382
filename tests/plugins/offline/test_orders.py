"""Only plain orders change anything: negations, questions about an act, reports and retractions are asked back on."""

from __future__ import annotations

import pytest
from pegboard_offline import answer
from pegboard_offline.route import Router

ACTS = ('run "touch x"', "run touch x", 'write "x" to b.txt', 'append "x" to a.txt', "replace hello with bye in a.txt")


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    """A workspace with two files and a folder."""
    top = tmp_path_factory.mktemp("orders")
    for name in ("a.txt", "notes.txt"):
        (top / name).write_text("hello\n")
    (top / "src").mkdir()
    return Router(str(top))


@pytest.fixture(params=["real", "core", "everything"])
def offers(request):
    return request.getfixturevalue(request.param)


def changes(plan, offers) -> bool:
    """Whether a plan would call something that is not declared to only read."""
    effects = {offer.name: offer.effect for offer in offers}
    return plan.acts and any(effects[choice.tool] != "read_only" for choice in plan.choices)


@pytest.mark.parametrize("act", ACTS)
def test_each_of_them_as_a_plain_order_is_done(act, router, offers):
    for order in (act, f"please {act}", f"could you {act}?", f"I want you to {act}", f"go ahead and {act}, please"):
        assert changes(router.plan(order, offers), offers), order


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "around",
    [
        "could you please not {}",
        "can you not {}",
        "please not {}",
        "not {}",
        "no {}",
        "let us not {}",
        "would you please not {}",
        "rather not {}",
        "I'd rather not {}",
        "you needn't {}",
        "be careful not to {}",
        "in no case {}",
        "why not {}",
        "can't you {}",
        "nothing should {}",
        "no, {}",
        "do nothing. {}",
    ],
)
def test_a_negation_in_whatever_words_is_one(around, act, router, offers):
    assert not changes(router.plan(around.format(act), offers), offers)


@pytest.mark.parametrize(
    "request_",
    [
        'answer without running "touch x"',
        "avoid editing a.txt: replace hello with bye",
        "refrain from running touch x",
        "instead of running touch x, read a.txt",
        'nothing should be written "x" to b.txt',
        "leave a.txt alone and run touch x",
        "keep a.txt as it is, replace hello with bye in a.txt",
        'write no "x" to b.txt',
        "read a.txt and don't run touch x",
        "run `touch x`; tell me it is not needed",
        "can you not read a.txt",
        "read a.txt, not notes.txt",
    ],
)
def test_a_negation_elsewhere_stops_the_whole(request_, router, real):
    assert not router.plan(request_, real).acts


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "around",
    [
        "what command would {}",
        "what script did {}",
        "what made you {}",
        "which of these would {}",
        "who would you {}",
        "when would you {}",
        "where would you {}",
        "why did you {}",
        "how come you {}",
        "is it safe to {}",
        "what happens if I {}",
        "how about you {}",
        "tell me whether to {}",
        "I wonder whether to {}",
        "failed to {}",
        "I'm trying to {}",
        "I forgot to {}",
        "I like to {}",
        "I have to {}",
        "the docs say: {}",
        "he told me to {}",
        "did you {}",
    ],
)
def test_who_asks_about_an_act_or_reports_one_does_not_order_it(around, act, router, offers):
    assert not changes(router.plan(around.format(act), offers), offers)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "tail",
    [
        "? no",
        "? nah",
        " lol jk",
        " (just kidding)",
        ", just kidding",
        " never mind",
        "... never mind",
        "... on second thought don't",
        ". wait, no",
        " - no",
        " jk",
        ", not",
        " NOT",
        "? nope",
        ". Kidding!",
        " haha",
        " (or maybe not)",
        ", or not",
        ", scratch that",
        " ;)",
        " fails",
        " doesn't work",
        " is broken",
        " gives an error",
        " has no effect",
        " does nothing",
    ],
)
def test_what_is_taken_back_or_remarked_on_is_not_done(tail, act, router, offers):
    assert not changes(router.plan(act + tail, offers), offers)


@pytest.mark.parametrize(
    "request_",
    [
        "I ran pytest and it failed",
        "running make gives an error",
        "touch g7 has no effect",
        "pytest is broken",
        "npm test fails",
        "npm test nah",
        "git status is broken",
        "echo hi > c.txt is broken",
        "echo hi > c.txt lol",
        "what does `rm x` do",
        "create c.txt that says hi. just kidding",
        'writing "x" to b.txt fails',
        "run make slowly",
        "run touch e6 nah",
        "run touch x y z",
        "run touch x as an example",
        "run touch x /s",
        "run make sense",
        "run ls repeatedly",
        "run touch x...",
    ],
)
def test_prose_is_no_part_of_a_command(request_, router, real):
    assert not changes(router.plan(request_, real), real)


@pytest.mark.parametrize("request_", ["run touch e8 lol jk", "run touch e6? nah", "run touch e7 (just kidding)"])
def test_where_the_command_ends_is_asked_for(request_, router, real):
    plan = router.plan(request_, real)
    assert "between backticks: run `touch ...`" in answer.ask(plan, real)


@pytest.mark.parametrize(
    "command",
    [
        "ls -la /tmp",
        "npm install",
        "pytest -q",
        "make lint",
        "sleep 20",
        "echo hi; sleep 1; echo bye",
        "ls && pwd",
        "ls src",
        "git log --oneline -5",
        'git commit -m "not now"',
        "git checkout main",
        "pip install requests",
        "touch notes.txt",
        "touch foo",
        "cargo test --release",
        "python -m pytest -q",
        "docker compose up -d",
        "FOO=1 make test",
        "cat a.txt | wc -l",
        "echo hi > c.txt",
        "find . -name '*.py'",
        "sed -n 1,5p a.txt",
    ],
)
def test_an_honest_command_is_run_whole(command, router, real):
    for order in (f"run {command}", f"please execute {command}", f"run the command `{command}`"):
        plan = router.plan(order, real)
        assert plan.acts and [choice.arguments for choice in plan.choices] == [{"command": command}], order


@pytest.mark.parametrize(
    "request_",
    [
        "how many lines does a.txt have?",
        "how many lines are in a.txt",
        "how many tests are there?",
        "count the words in a.txt",
    ],
)
def test_what_are_no_files_is_not_counted_by_listing_files(request_, router, real):
    plan = router.plan(request_, real)
    assert not plan.acts
    if "a.txt" in request_:
        assert "cannot count" in answer.ask(plan, real)


def test_files_are_counted_by_listing_them(router, real):
    assert router.choose("how many python files are there", real).arguments == {"pattern": "**/*.py"}
    assert router.plan("how many files are in src", real).acts
