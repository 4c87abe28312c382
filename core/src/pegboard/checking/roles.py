"""What is no tool: guards, approvers, rewriters, observers, prompts, providers, launchers, commands, slash commands."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pegboard.arguments import Shaped
from pegboard.calls import Answer, Call, Decision, Touch
from pegboard.checking.loading import Hanging
from pegboard.checking.report import Findings, Said, fine
from pegboard.checking.watching import watched
from pegboard.guards import Guards, GuardSeat
from pegboard.hooks import Asked, Fragment
from pegboard.plugins.loaded import told
from pegboard.wire import encode

PATIENCE = 1.0
"""Seconds that a guard, an approver or a rewriter may take for one call: `plugins.guard_timeout` as shipped."""
_MOST_PROMPT = 4000
_ODD: tuple[tuple[str, dict[str, Any], tuple[Touch, ...]], ...] = (
    ("a call without arguments", {}, ()),
    ("a call of a tool that nobody knows", {"x": {"deep": [[[]]]}}, (Touch("unknown", "no_such_tool"),)),
    ("a path that is empty", {"path": ""}, (Touch("read", "", "."),)),
    ("a path outside", {"path": "/etc/hosts"}, (Touch("read", "/etc/hosts", "/etc/hosts", outside=True),)),
    (
        "a path with odd letters",
        {"path": "\u202e\u6f22 '\"\n"},
        (Touch("edit", "\u202e\u6f22 '\"\n", "\u202e\u6f22 '\"\n"),),
    ),
    ("many paths", {"paths": ["a"] * 200}, tuple(Touch("list", f"a/{n}", f"a/{n}") for n in range(200))),
    ("a command that cannot be parsed", {"command": "echo '$(("}, (Touch("run", "echo '$(("),)),
    ("an address that is none", {"url": "http://[::"}, (Touch("net", "http://[::", sends=True),)),
    (
        "arguments of other types",
        {"path": 5, "command": None, "url": ["x"]},
        (Touch("mcp", "server"), Touch("ask", "")),
    ),
)
"""Calls that a guard may meet, and that its author may not have thought of."""


def check_roles(found: Sequence[Hanging], findings: Findings) -> None:
    """What each entry contributes beside tools and renderers."""
    from pegboard.checking.objects import check_object

    for one in found:
        given = one.plugin.contributions if one.plugin else {}
        for hook, (id, look) in _LOOKS.items():
            if hook in given:
                findings.make(id, one.subject, look, one, given[hook])
        if one.made is not None:
            check_object(one, findings)


def _calls() -> Iterator[tuple[str, Call, list[Touch]]]:
    for number, (what, arguments, touches) in enumerate(_ODD):
        yield what, Call(id=f"c{number}", name="no_such_tool", arguments=arguments), list(touches)


def _guards(one: Hanging, given: Sequence[Any]) -> Said:
    """Every guard answers every call, in time: one that does not refuses the call, and all work stops."""
    fix = "Return Deny, Ask or None for every call there may be; what it cannot judge it refuses in its own words."
    count = 0
    for guard in given:
        for what, call, touches in _calls():
            guards = Guards([GuardSeat(guard, owner=one.entry.name, own=False, timeout=PATIENCE)])
            shaped = Shaped(value=None, body=encode(call.arguments), dropped=(), flat=False)
            with watched():
                _, said = asyncio.run(guards.judge_slow(call, shaped, touches))
            count += 1
            rule = said.rule if said is not None else ""
            if rule.startswith(one.entry.name) and rule.endswith((": failed", ": nonsense", ": no answer")):
                return Said("fail", f"for {what}, {said.text if said else ''}", fix)
        for kind in ("read", "list", "edit"):
            for path in ("", ".", "a/b.txt", "\u202e\u6f22", "x" * 300):
                said = Guards([GuardSeat(guard, owner=one.entry.name, own=True, timeout=PATIENCE)]).path(kind, path)
                if said is not None and said.rule.endswith((": failed", ": nonsense")):
                    return Said("fail", f"for the path {path!r}, {said.text}", fix)
    return fine(f"{len(given)} guards answered {count} odd calls")


def _asked(
    given: Sequence[Any], what_is_fine: Callable[[Any], bool], expected: str, make: Callable[[Call, list[Touch]], Any]
) -> Said:
    """Ask each of `given` about every odd call; what it says must be fine."""
    fix = f"Return {expected}, in time, for every call there may be."
    for one in given:
        for what, call, touches in _calls():
            try:
                with watched():
                    said = asyncio.run(_in_time(one, make(call, touches)))
            except TimeoutError:
                return Said("fail", f"for {what}, it did not answer within {PATIENCE:g} s", fix)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: it may raise anything
                return Said("fail", f"for {what}, it raised {told(error, getattr(one, '__module__', ''))}", fix)
            if not what_is_fine(said):
                return Said("fail", f"for {what}, it returned {type(said).__name__}", fix)
    return fine(f"answered {len(_ODD)} odd calls")


async def _in_time(function: Any, given: Any) -> Any:
    async def asked() -> Any:
        said = function(given) if _is_async(function) else await asyncio.to_thread(function, given)
        return await said if inspect.isawaitable(said) else said

    async with asyncio.timeout(PATIENCE):
        return await asked()


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _approvers(one: Hanging, given: Sequence[Any]) -> Said:
    plain = [each for each in given if not _is_async(each)]
    if plain:
        return Said(
            "fail", "an approver is a plain function", "Write it `async def`: it is awaited while a person waits."
        )

    def make(call: Call, touches: list[Touch]) -> Asked:
        return Asked(
            id=f"a{call.id}", call=call, tool=call.name, touches=touches, decision=Decision(action="ask", rule="sample")
        )

    return _asked(given, lambda said: said is None or isinstance(said, Answer), "an Answer or None", make)


def _rewriters(one: Hanging, given: Sequence[Any]) -> Said:
    return _asked(
        given,
        lambda said: said is None or isinstance(said, Mapping),
        "a mapping of arguments or None",
        lambda call, _: call,
    )


def _observers(one: Hanging, given: Sequence[Any]) -> Said:
    """An observer that raises is told of nothing more."""
    from pegboard.events import CallFinished, Note, Prompt, TurnEnded

    events = [
        Prompt(seq=1, turn=1, text="\u6f22 hello"),
        Note(seq=2, turn=None, level="warning", text=""),
        CallFinished(
            seq=3,
            turn=None,
            lane="root",
            id="c1",
            outcome="error",
            block=None,
            why=None,
            text="",
            data=None,
            truncated=False,
            decision=None,
            duration_ms=0.0,
        ),
        TurnEnded(seq=4, turn=1, status="error", text="", usage={}, error="sample"),
    ]
    fix = "Take every kind of event there is, and those that will be there: match on those you want, and pass over the rest."
    for observe in given:
        for event in events:
            try:
                with watched():
                    asyncio.run(_in_time(observe, event))
            except TimeoutError:
                return Said(
                    "warn", f"it took more than {PATIENCE:g} s for {type(event).__name__}", "Hand over what takes long."
                )
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: it may raise anything
                return Said("fail", f"for {type(event).__name__} it raised {told(error, one.entry.value)}", fix)
    return fine(f"{len(given)} observers heard {len(events)} events")


def _fragments(one: Hanging, given: Sequence[Fragment]) -> Said:
    """What is said to the model at the start of each session, and paid for on every request."""
    size = sum(len(fragment.text.encode("utf-8", "replace")) for fragment in given)
    if any(not fragment.text.strip() for fragment in given):
        return Said("fail", "a fragment of the prompt has no text", "Leave it out.")
    if size > _MOST_PROMPT:
        text = f"its part of the prompt takes {size:,} bytes on every request; more than {_MOST_PROMPT:,} is warned of"
        return Said("warn", text, "Say it shorter, or in the docstrings of tools.")
    return fine(f"its part of the prompt takes {size:,} bytes")


_LOOKS: Mapping[str, tuple[str, Callable[[Hanging, Any], Said]]] = {
    "pegboard_guards": ("guard.answers", _guards),
    "pegboard_approvers": ("approver.answers", _approvers),
    "pegboard_rewriters": ("rewriter.answers", _rewriters),
    "pegboard_observers": ("observer.events", _observers),
    "pegboard_prompt": ("prompt.fragments", _fragments),
}
