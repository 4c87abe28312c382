"""`pegboard sessions audit`: what each call was allowed by, or refused by."""

from __future__ import annotations

from typing import Any

import pytest
from pegboard import events
from pegboard.calls import Answer, Decision, Source
from pegboard_cli.auditing import audit_lines, audited, counts

ASK = Decision(action="ask", rule="tool_permission.edit", source=None)


def asked(id: str, **more: Any) -> events.CallAsked:
    given: dict[str, Any] = {"tool": "put", "requested": "put", "set": "fs", "arguments": {}, "caller": "model"} | more
    return events.CallAsked(seq=1, turn=1, lane="root", id=id, summary=f"Write {id}", **given)


def finished(id: str, decision: Decision | None, outcome: Any = "ok", block: Any = None) -> events.CallFinished:
    return events.CallFinished(
        lane="root", id=id, outcome=outcome, block=block, why=None, text="", data=None, truncated=False,
        decision=decision, duration_ms=1.5,
    )  # fmt: skip


def question(call: str, **answer: Any) -> list[Any]:
    id = f"a-{call}"
    first = events.ApprovalAsked(lane="root", id=id, call=call, rule="r", layer="default", remember=["put …"], batch=2)
    return [first, events.ApprovalAnswered(id=id, **answer)]


def started(id: str, decision: Decision) -> events.CallStarted:
    return events.CallStarted(lane="root", id=id, touches=[], decision=decision)


def log() -> list[Any]:
    kept: dict[str, Any] = {"remember": ["put …"], "scope": "user", "source": Source("/c.toml", 7)}
    yes = Decision(action="ask", rule="r", answer=Answer(granted=True, by="person"))
    no = Decision(action="ask", rule="r", answer=Answer(granted=False, by="person", reason="not \x1b[2J mine"))
    held = Decision(
        action="allow", rule="permission.rules: bash", layer="user", source=Source("/c.toml", 3), sandbox=True
    )
    guarded = Decision(action="deny", rule="guard.protected: .env*", layer="plugin")
    return [
        asked("c1"), *question("c1", granted=True, by="person", **kept), started("c1", yes), finished("c1", yes),
        asked("c2"), *question("c2", granted=False, by="person", reason="not \x1b[2J mine"),
        finished("c2", no, "blocked", "denied"),
        asked("c3"), started("c3", held), finished("c3", held),
        asked("c4"), finished("c4", guarded, "blocked", "guard"),
        asked("c5", tool=None, caller=None), finished("c5", None, "blocked", "unavailable"),
        asked("c6"), *question("c6", granted=True, by="person", arguments={"path": "b"}), started("c6", yes),
        asked("c7"), finished("c7", Decision(action="allow", rule="tool_permission.read"), "blocked", "denied"),
        asked("c8"), question("c8", granted=True, by="person")[0], finished("c8", ASK, "blocked", "denied"),
    ]  # fmt: skip


def test_each_call_has_its_decision_its_answers_and_its_end() -> None:
    first, second, third, fourth, fifth, last, *_ = audited(log())
    assert first.caller == "model" and first.decision and first.decision.answer
    (said,) = first.questions
    assert (said.granted, said.by, said.remember, said.scope) == (True, "person", ["put …"], "user")
    assert (said.source, said.batch, said.offered) == (Source("/c.toml", 7), 2, ["put …"])
    assert (second.outcome, second.started, second.questions[0].reason) == ("blocked", False, "not \x1b[2J mine")
    assert third.decision and third.decision.sandbox and third.duration_ms == 1.5
    assert (fourth.block, fifth.block, fifth.tool) == ("guard", "unavailable", None)
    assert (last.outcome, last.started, last.questions[0].edited) == (None, True, {"path": "b"})


def test_they_are_counted_by_how_they_were_decided() -> None:
    assert counts(audited(log())) == {
        "calls": 8,
        "unasked": 1,
        "asked": 4,
        "granted": 2,
        "refused": 1,
        "unanswered": 1,
        "denied": 1,
        "dropped": 1,
        "unmade": 1,
        "sandboxed": 1,
        "edited": 1,
    }


def test_the_totals_add_up_whatever_became_of_the_calls() -> None:
    for length in range(len(log()) + 1):
        found = counts(audited(log()[:length]))
        assert found["calls"] == sum(found[kind] for kind in ("unasked", "asked", "denied", "dropped", "unmade"))
        assert found["asked"] == found["granted"] + found["refused"] + found["unanswered"]


def test_what_ran_in_the_sandbox_ran_unasked() -> None:
    found = counts([call for call in audited(log()) if call.decision and call.decision.sandbox])
    assert (found["calls"], found["unasked"], found["sandboxed"]) == (1, 1, 1)


def test_a_call_that_the_end_of_its_turn_dropped_says_so() -> None:
    (row,) = [line for line in audit_lines(audited(log()), None) if line.startswith("c7")]
    assert "not begun: the turn ended" in row and "blocked" not in row


@pytest.mark.parametrize("width", [None, 60])
def test_as_a_table_everything_is_there_and_nothing_reaches_the_terminal_raw(width: int | None) -> None:
    lines = audit_lines(audited(log()), width)
    text = "\n".join(lines)
    for said in (
        "remembered in every project: put … (/c.toml:7)",
        "refused by person: not \\x1b[2J mine",
        "allow, in the sandbox: permission.rules: bash (user, /c.toml:3)",
        "blocked (guard)",
        'edited: {"path":"b"}',
        "not finished",
        "8 calls: 1 unasked, 4 asked (2 allowed, 1 refused, 1 unanswered), 1 denied by a rule or a guard, "
        "1 not begun when the turn ended, 1 not possible; of those 1 in the sandbox, 1 edited",
    ):
        assert said in text
    assert "\x1b" not in text


def test_of_a_session_without_calls_that_is_said() -> None:
    assert audit_lines(audited([]), None) == ["No calls."]


def test_a_call_that_a_person_changed_and_a_guard_refused_was_not_allowed_by_the_person() -> None:
    guarded = Decision(action="deny", rule="guard.protected: .env*", layer="plugin")
    edited = question("c1", granted=True, by="person", arguments={"path": ".env"})
    calls = audited([asked("c1"), *edited, finished("c1", guarded, "blocked", "guard")])
    text = "\n".join(audit_lines(calls, None))
    assert (
        "changed by person" in text and 'edited: {"path":".env"}' in text and "allowed" not in text.split("1 call")[0]
    )
    assert [counts(calls)[kind] for kind in ("asked", "granted", "denied", "edited")] == [0, 0, 1, 1]


def test_of_a_changed_call_the_last_yes_allowed_it() -> None:
    yes = Decision(action="ask", rule="r", answer=Answer(granted=True, by="person"))
    again = events.ApprovalAsked(lane="root", id="a2", call="c1", rule="r", layer="default", remember=[], batch=1)
    calls = audited(
        [
            asked("c1"), *question("c1", granted=True, by="person", arguments={"path": "b"}),
            again, events.ApprovalAnswered(id="a2", granted=True, by="person"), started("c1", yes), finished("c1", yes),
        ]
    )  # fmt: skip
    text = audit_lines(calls, None)
    assert [line.strip() for line in text if " by person" in line] == ["changed by person", "allowed by person"]
    assert counts(calls)["granted"] == 1
