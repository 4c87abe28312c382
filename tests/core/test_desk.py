"""The desk: approvers the user named, then --yes or --no, then the person; headless: no."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pegboard import port
from pegboard.calls import Answer, Call, Decision, Source
from pegboard.config.remembering import Home
from pegboard.desk import Desk, Question
from pegboard.errors import ToolError
from pegboard.events import ApprovalAnswered, ApprovalAsked, QuestionAnswered, QuestionAsked
from pegboard.hooks import Asked
from pegboard.policy.asked import Where
from pegboard.policy.remembered import Offer
from pegboard.policy.rules import Rule
from pegboard.session import Session

ASKED = Asked(
    id="c1",
    call=Call(id="c1", name="act"),
    tool="act",
    touches=[],
    decision=Decision(action="ask", rule="r"),
    preview=[],
)


def desk(answers: Any, *approvers: Any) -> Desk:
    return Desk(Session("s", "/"), answers, [(f"p{n}", approver) for n, approver in enumerate(approvers)])


def says(answer: Any) -> Any:
    async def approver(asked: Asked) -> Any:
        return answer

    return approver


async def approve(made: Desk) -> Answer:
    return (await made.approve(ASKED, turn=1, lane="root")).answer


def logged(made: Desk) -> list[Any]:
    return list(made._session.read())


@pytest.mark.row("R-089", "R-090", "S-009")
@pytest.mark.parametrize(
    ("answers", "granted"), [("--yes", True), ("--no", False), ("headless", False)], ids=["yes", "no", "headless"]
)
async def test_without_a_person_the_answer_is_the_flags_and_both_events_come(answers: str, granted: bool) -> None:
    made = desk(answers)
    answer = await approve(made)
    assert (answer.granted, answer.by) == (granted, answers)
    asked, answered = logged(made)
    assert isinstance(asked, ApprovalAsked) and isinstance(answered, ApprovalAnswered)
    assert asked.id == answered.id
    assert (asked.call, asked.rule, answered.granted, answered.by) == ("c1", "r", granted, answers)


async def ask_person(made: Desk, *answers: port.Answer) -> Answer:
    waiting = asyncio.create_task(approve(made))
    await asyncio.sleep(0)
    (asked,) = [event for event in logged(made) if isinstance(event, ApprovalAsked)]
    for answer in answers:
        made.take(port.Answer(id=answer.id or asked.id, granted=answer.granted, reason=answer.reason))
    return await asyncio.wait_for(waiting, 60)


async def test_a_person_answers_by_the_events_id_with_a_reason() -> None:
    answer = await ask_person(desk("person"), port.Answer(id="", granted=False, reason="not there"))
    assert answer == Answer(granted=False, by="person", reason="not there")
    assert (await ask_person(desk("person"), port.Answer(id="", granted=True))).granted


async def test_an_answer_counts_once_and_for_its_question_alone() -> None:
    made = desk("person")
    answer = await ask_person(
        made, port.Answer(id="other", granted=True), port.Answer(id="", granted=False), port.Answer(id="", granted=True)
    )
    assert not answer.granted
    assert not made.take(port.Answer(id="other", granted=True))
    (asked, _) = logged(made)
    assert not made.take(port.Answer(id=asked.id, granted=True))  # it is over


async def test_an_answer_that_is_not_plainly_yes_is_no() -> None:
    granted: Any = "no"
    assert not (await ask_person(desk("person"), port.Answer(id="", granted=granted))).granted
    assert not (await approve(desk("--yes", says(Answer(granted=granted, by="x"))))).granted


def offered(pattern: str | None = None) -> Offer:
    where = Where(commands=(pattern,)) if pattern else Where(paths=("**",))
    rule = Rule(
        action="allow", name="r", layer="remembered", tool="fs:act", key="bash" if pattern else "edit", where=where
    )
    texts = (f"{pattern} …" if pattern else "act in the workspace",)
    return Offer(texts=texts, rules=(rule,), commands=(f"{pattern} -x a",) if pattern else (), lasts=True)


async def remembered_after(offer: Offer | None, home: Home | None = None, **said: Any) -> tuple[Desk, list[Any]]:
    made = Desk(Session("s", "/"), "person", home=home)
    waiting = asyncio.create_task(made.approve(ASKED, turn=1, lane="root", offer=offer))
    await asyncio.sleep(0)
    (asked,) = logged(made)
    assert asked.remember == (list(offer.texts) if offer else []), "it is said before it is answered"
    assert not made.remembered
    made.take(port.Answer(id=asked.id, **said))
    await asyncio.wait_for(waiting, 60)
    return made, logged(made)


@pytest.mark.row("S-007")
async def test_an_always_is_kept_where_it_was_offered_and_is_a_yes_once_elsewhere() -> None:
    made, (_, answered) = await remembered_after(offered(), granted=True, remember="session")
    assert made.remembered and answered.remember == ["act in the workspace"] and answered.granted
    assert (answered.scope, answered.source) == ("session", None)
    made, (_, answered) = await remembered_after(None, granted=True, remember="session")
    assert not made.remembered and answered.remember == [] and answered.granted and answered.scope is None


@pytest.mark.parametrize(
    "said",
    [
        {"granted": True},
        {"granted": False, "remember": "session"},
        {"granted": True, "remember": True},
        {"granted": True, "remember": "user"},
        {"granted": True, "remember": "session", "arguments": {"path": "b"}},
    ],
)
async def test_nothing_is_kept_but_what_was_offered_with_a_yes_to_that_very_call(said: dict[str, Any]) -> None:
    made, (_, answered) = await remembered_after(offered(), **said)
    assert not made.remembered and answered.remember == []
    assert answered.arguments == said.get("arguments")


@pytest.mark.parametrize("scope", ["project", "user"])
async def test_what_is_to_last_is_written_into_the_users_file_and_stands_at_once(tmp_path: Path, scope: str) -> None:
    home = Home(file=tmp_path / "sub" / "config.toml", root="/the/root")
    made, (asked, answered) = await remembered_after(offered("uv run pytest"), home, granted=True, remember=scope)
    assert asked.scopes == ["session", "project", "user"] and asked.commands == ["uv run pytest -x a"]
    (rule,) = tomllib.loads(home.file.read_text())["permission"]["rules"]
    project = {"project": "/the/root"} if scope == "project" else {}
    assert rule == {"action": "allow", "tool": "fs:act", "key": "bash", "command": "uv run pytest"} | project
    assert (answered.scope, answered.source) == (scope, Source(str(home.file), 2))
    assert [(one.layer, one.source) for one in made.remembered.rules] == [("remembered", answered.source)]


async def test_a_file_that_cannot_be_written_is_told_of_and_the_answer_stands_for_the_session(tmp_path: Path) -> None:
    home = Home(file=tmp_path / "config.toml", root="/")
    home.file.write_text("not = toml = at all")
    made, (_, note, answered) = await remembered_after(offered(), home, granted=True, remember="user")
    assert made.remembered and answered.granted and (answered.scope, answered.source) == ("session", None)
    assert note.level == "warning" and "this session alone" in note.text and str(home.file) in note.text
    assert home.file.read_text() == "not = toml = at all"


async def test_a_pattern_may_be_edited_and_one_that_does_not_fit_keeps_nothing(tmp_path: Path) -> None:
    home = Home(file=tmp_path / "config.toml", root="/")
    said: dict[str, Any] = {"granted": True, "remember": "user"}
    made, (_, answered) = await remembered_after(offered("uv run pytest"), home, **said, pattern=("uv run pytest -x",))
    assert answered.remember == ["uv run pytest -x …"]
    assert [one.where.commands for one in made.remembered.rules if one.where] == [("uv run pytest -x",)]
    for wrong in [(), ("uv",), ("*",), ("uv run pytest", "rm"), ("uv run ruff",)]:
        made, (_, note, answered) = await remembered_after(offered("uv run pytest"), home, **said, pattern=wrong)
        assert answered.granted and answered.remember == [] and not made.remembered and note.level == "warning"
    assert home.file.read_text().count("[[permission.rules]]") == 1


async def test_arguments_that_the_person_edited_come_back_with_a_yes_and_are_on_record() -> None:
    for granted in (True, False):
        made = desk("person")
        waiting = asyncio.create_task(made.approve(ASKED, turn=1, lane="root"))
        await asyncio.sleep(0)
        made.take(port.Answer(id=logged(made)[0].id, granted=granted, arguments={"path": "b"}))
        reply = await asyncio.wait_for(waiting, 60)
        assert reply.arguments == ({"path": "b"} if granted else None) == logged(made)[-1].arguments


async def test_an_approver_answers_before_the_flags_and_the_person() -> None:
    yes, no = says(Answer(granted=True, by="me")), says(Answer(granted=False, by="me", reason="policy"))
    for answers in ("--yes", "--no", "headless", "person"):
        assert await approve(desk(answers, yes)) == Answer(granted=True, by="plugin:p0")
        assert await approve(desk(answers, no)) == Answer(granted=False, by="plugin:p0", reason="policy")
        assert (await approve(desk(answers, says(None), no))).by == "plugin:p1"
    assert (await approve(desk("--yes", says(None)))).by == "--yes"


async def test_an_approver_that_fails_or_talks_nonsense_grants_nothing() -> None:
    async def fails(asked: Asked) -> Answer:
        raise RuntimeError("at approving")

    async def exits(asked: Asked) -> Answer:
        raise SystemExit(0)

    def plain(asked: Asked) -> Answer:
        return Answer(granted=True, by="x")

    for approver in (fails, exits, plain, says(True), says("yes"), says(0)):
        answer = await approve(desk("--yes", approver))
        assert (answer.granted, answer.by) == (False, "plugin:p0")
        assert answer.reason


async def test_one_who_stops_waiting_leaves_no_question_behind() -> None:
    made = desk("person")
    waiting = asyncio.create_task(approve(made))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    (asked,) = logged(made)
    assert not made.take(port.Answer(id=asked.id, granted=True))


async def test_ids_do_not_repeat() -> None:
    made = desk("--yes")
    for _ in range(3):
        await approve(made)
    assert len({event.id for event in logged(made)}) == 3


async def test_a_question_is_answered_by_its_id_or_dismissed() -> None:
    for text in ("blue", None):
        made = desk("person")
        waiting = asyncio.create_task(
            made.question("c1", Question(text="Which?", options=["red", "blue"]), turn=1, lane="root")
        )
        await asyncio.sleep(0)
        (asked,) = logged(made)
        assert isinstance(asked, QuestionAsked)
        assert (asked.call, asked.question, asked.options) == ("c1", "Which?", ["red", "blue"])
        assert made.take(port.Answer(id=asked.id, text=text))
        assert await waiting == text
        assert isinstance(logged(made)[-1], QuestionAnswered)
        assert logged(made)[-1].answer == text


async def test_a_question_that_is_not_free_takes_one_of_its_options_alone() -> None:
    made = desk("person")
    question = Question(text="Which?", options=["red", "blue"], details=["like fire"], free=False)
    waiting = asyncio.create_task(made.question("c1", question, turn=1, lane="root"))
    await asyncio.sleep(0)
    (asked,) = logged(made)
    assert isinstance(asked, QuestionAsked) and (asked.details, asked.free) == (["like fire"], False)
    seen = aiter(made._session.watch(made._session.last))
    assert not made.take(port.Answer(id=asked.id, text="green"))
    told = await anext(seen)
    assert "red, blue" in getattr(told, "text", "") and not waiting.done()
    assert made.take(port.Answer(id=asked.id, text="red"))
    assert await waiting == "red"


def test_a_question_that_nobody_could_answer_is_a_fault_of_its_author() -> None:
    with pytest.raises(ValueError, match="more details"):
        Question(text="?", options=["a"], details=["b", "c"])
    with pytest.raises(ValueError, match="free=False"):
        Question(text="?", free=False)


@pytest.mark.parametrize("answers", ["--yes", "--no", "headless"])
async def test_without_a_person_a_question_has_no_one_to_answer(answers: str) -> None:
    made = desk(answers)
    with pytest.raises(ToolError, match="ask has no one to answer"):
        await made.question("c1", Question(text="Which?"), turn=1, lane="root")
    assert logged(made) == []


def test_a_preview_is_made_where_someone_will_look_at_it() -> None:
    assert [desk(answers).shows_preview for answers in ("person", "--yes", "--no", "headless")] == [
        True,
        True,
        False,
        False,
    ]
    assert desk("headless", says(None)).shows_preview
