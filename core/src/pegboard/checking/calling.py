"""Tools called down the road with sample arguments: what a call does, against what its tool says of itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.checking.bench import CALL, GRACE, Bench, Seen, encodable
from pegboard.checking.declared import Offered
from pegboard.checking.report import Findings, Said, fine, skipped
from pegboard.checking.samples import FILE, FOLDER, LARGE, TOUCHED, CannotMake, arguments_for
from pegboard.touches import Node, kinds_in

CALLED = ("tool.timeout", "tool.output", "tool.read_only", "tool.errors")
_MOST = 16 * 1024 * 1024
"""Bytes of text that a tool may build in memory; longer output goes through `ctx.output` as it comes."""
_GONE = "no/such/place.txt"
_SAMPLES = "Give arguments that work: [tool.pegboard.check.samples] in pyproject.toml, by the tool's name."


@dataclass(kw_only=True, slots=True)
class Called:
    """What is known of a tool's calls: with sample arguments, and with such as lead nowhere. `why`: none could be made."""

    good: list[tuple[dict[str, Any], Seen]] = field(default_factory=list)
    bad: list[tuple[dict[str, Any], Seen]] = field(default_factory=list)
    why: str = ""

    @property
    def well(self) -> list[Seen]:
        """Calls that came to a result."""
        return [seen for _, seen in self.good if seen.record is not None and seen.record.outcome == "ok"]

    @property
    def all(self) -> list[Seen]:
        """Every call."""
        return [seen for _, seen in (*self.good, *self.bad)]


def samples_of(one: Offered, given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The author's arguments for a tool, else one made from its schema.

    Raises:
        CannotMake: none are given, and none can be made.
    """
    return list(given) or [arguments_for(one.tool)]


def check_called(one: Offered, bench: Bench, given: Sequence[dict[str, Any]], findings: Findings) -> Called:
    """Call a tool, and say what is seen of that."""
    called, subject = Called(), one.subject
    if ("tool.timeout", subject) in findings.ended:
        for id in CALLED:
            findings.add(id, subject, skipped("its call did not come back"))
        called.why = "its call did not come back"
        return called
    findings.begin("tool.timeout", subject)
    _make_calls(one, bench, given, called)
    if called.why:
        for id in CALLED:
            findings.add(id, subject, skipped(f"it was not called: {called.why}", _SAMPLES))
        return called
    findings.add("tool.timeout", subject, _in_time(one, called))
    findings.add("tool.output", subject, _output(one, bench, called))
    findings.add("tool.read_only", subject, _read_only(one, called))
    findings.add("tool.errors", subject, _errors(called))
    wrong = _beyond(one, called)
    if wrong is not None and findings.found.get(("tool.effect", subject), None) is not None:
        findings.replace("tool.effect", subject, wrong)
    return called


def _make_calls(one: Offered, bench: Bench, given: Sequence[dict[str, Any]], called: Called) -> None:
    try:
        good = samples_of(one, given)
    except CannotMake as error:
        called.why = f"no arguments could be made up ({error})"
        return
    called.good = [(arguments, bench.call(one.tool, arguments)) for arguments in good]
    if not called.well and not given and (other := _elsewhere(good[0])) != good[0]:
        called.good.append((other, bench.call(one.tool, other)))
    if any(seen.record is None for _, seen in called.good):
        return
    for name, value in _leading_nowhere(one, good[0]):
        arguments = {**good[0], name: value}
        called.bad.append((arguments, bench.call(one.tool, arguments)))


def _elsewhere(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same with a folder for a file, and a file for a folder: what a path is to be, a schema does not say."""
    swapped = {FILE: FOLDER, FOLDER: FILE}
    return {name: swapped.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}


def _leading_nowhere(one: Offered, good: dict[str, Any]) -> list[tuple[str, Any]]:
    """Arguments that fit the schema, and that there is nothing for; and a large file."""
    found: list[tuple[str, Any]] = []
    for name, value in good.items():
        node = dict(one.tool.touched).get(name)
        kinds = set(kinds_in(node)) if isinstance(node, Node) else set()
        if value == TOUCHED["net"] or kinds & {"run", "net"}:
            continue
        if isinstance(value, str) and value in TOUCHED.values():
            found.append((name, _GONE))
            if value == FILE and "edit" not in kinds:
                found.append((name, LARGE))
        elif isinstance(value, str):
            found += [(name, ""), (name, "\u00e4\u6f22 no 'such' \"thing\" {0} %s")]
        elif value and isinstance(value, list) and all(isinstance(item, str) for item in value):
            found.append((name, [_GONE if item in TOUCHED.values() else "no such thing" for item in value]))
        elif isinstance(value, int) and not isinstance(value, bool):
            found.append((name, 10**9))
    fits = one.tool.shape
    return [(name, value) for name, value in found if _fits(fits, {**good, name: value})]


def _fits(shape: Any, arguments: dict[str, Any]) -> bool:
    from pegboard.arguments import InvalidArguments

    try:
        shape.read(arguments)
    except InvalidArguments:
        return False
    except Exception:  # noqa: BLE001 - isolates tools: a struct's own check may raise anything; tool.bad_arguments says so
        return False
    return True


def _in_time(one: Offered, called: Called) -> Said:
    limit = one.tool.declaration.timeout
    late = [arguments for arguments, seen in called.good if seen.record is None and seen.broke is None]
    if late:
        return Said(
            "fail",
            f"a call with {_spelled(late[0])} had not ended after {CALL:g} s, and did not end when it was stopped",
            "Declare a timeout=, and let CancelledError pass; see docs/plugins.md.",
        )
    longest = max((seen.took for seen in called.all), default=0.0)
    if limit is None and longest >= CALL:
        return Said(
            "fail", f"a call took {longest:.1f} s and was stopped", "Declare a timeout=, or give quicker samples."
        )
    return fine(f"its calls ended within {max(longest, 0.1):.1f} s" + (f"; its limit is {limit:g} s" if limit else ""))


def _output(one: Offered, bench: Bench, called: Called) -> Said:
    caps = bench.agent._road.runner.caps
    for seen in called.all:
        record, returned = seen.record, seen.returned
        if record is None or record.outcome != "ok":
            continue
        if isinstance(returned, str) and len(returned) > _MOST:
            text = f"it built {len(returned):,} characters in memory"
            return Said("fail", text, "Write long output to ctx.output as it comes; it is capped and kept there.")
        if one.tool.declaration.pages and isinstance(returned, str) and caps.exceeded_by(returned):
            text = f"it says that it caps its own output (pages), and returned {len(returned):,} characters"
            return Said("fail", text, "Keep to ctx.output.caps and say how to get the rest, or take pages=True away.")
        if returned is not None and not isinstance(returned, str) and not encodable(returned):
            text = f"it returned a {type(returned).__name__}, for which JSON has no form"
            return Said("fail", text, "Return text, or a msgspec.Struct of plain values whose str() is the text.")
        if returned is None and one.tool.signature.result not in (None, type(None)):
            return Said(
                "fail", "it returned None where it says that it returns something", "Return what the annotation says."
            )
    if not called.well:
        return skipped(f"no call came to a result ({_why_not(called)})", _SAMPLES)
    return fine(f"what it returned fits, and is capped at {caps.max_bytes:,} bytes for the model")


def _read_only(one: Offered, called: Called) -> Said:
    if one.tool.effect != "read_only":
        return fine(f"it is {one.tool.effect}: what it writes is asked about")
    wrote = list(dict.fromkeys(line for seen in called.all for line in seen.wrote))
    if wrote:
        return Said(
            "fail",
            f"it is read_only, and wrote: {'; '.join(wrote[:3])}",
            'Declare it (Writes, or effect="side_effecting") and write in ctx.commit(); or write nothing.',
        )
    if not any(seen.ran for seen in called.all):
        return skipped(f"no call of it ran ({_why_not(called)})", _SAMPLES)
    return fine("it is read_only, and its calls wrote nothing")


def _errors(called: Called) -> Said:
    """What it raises is a ToolError that says what happened, and what to do."""
    fix = 'raise ToolError("what happened; what was changed; what to do next") for what may be expected to fail.'
    for arguments, seen in (*called.good, *called.bad):
        if seen.raised or seen.broke:
            error = seen.broke or seen.raised[0]
            text = f"with {_spelled(arguments)} it raised {type(error).__name__}: {_line(error)}"
            return Said("fail", text, fix)
        for said in seen.said:
            if (wrong := _poor(str(said))) is not None:
                return Said("fail", f"with {_spelled(arguments)} it said {str(said)!r}, which {wrong}", fix)
        if isinstance(seen.returned, str) and re.match(
            r"\W*(error|exception|traceback|failed)\b", seen.returned[:40], re.I
        ):
            text = f"with {_spelled(arguments)} it returned {seen.returned[:60]!r} as a result"
            return Said("warn", text, f"A failure is raised, so that it is known for one: {fix}")
    count = sum(bool(seen.said) for seen in called.all)
    return fine(f"{count} of {len(called.all)} calls failed, and said what to do" if count else "no call of it failed")


def _poor(text: str) -> str | None:
    """Why a text does not tell a model how to go on; None where it may."""
    if re.match(r"\W*error\b", text, re.I):
        return "begins with Error, which the record adds"
    if len(re.findall(r"[^\W_]+", text)) < 4:
        return "says neither what happened nor what to do"
    if len([part for part in re.split(r"[.;:!?\u2014\n(,]+\s*", text) if len(part.split()) > 1]) < 2:
        return "does not say what to do next"
    return None


def _beyond(one: Offered, called: Called) -> Said | None:
    """What its calls did that they did not say they would touch."""
    tool, found = one.tool, []
    for seen in called.all:
        if not seen.ran:
            continue
        kinds = {touch.kind for touch in seen.touches}
        if kinds & {"unknown"}:
            continue
        if seen.deeds.started:
            found.append((f"starts a program by itself ({seen.deeds.started[0]})", "Start programs with ctx.run."))
        if seen.deeds.asked and not kinds & {"net", "mcp", "run"}:
            fix = "Mark the address with Fetches(), or give touches= with a net touch."
            found.append((f"asks for the network ({seen.deeds.asked[0]}), which it does not say", fix))
        if seen.opened and not kinds & {"read", "list", "edit", "run"}:
            fix = "Mark the path with Reads() or Writes(), and take pure=True away."
            found.append((f"opens {seen.opened[0][1]}, and says that it touches no file", fix))
        if seen.wrote and not kinds & {"edit", "run", "net", "mcp"} and tool.effect != "read_only":
            fix = "Mark what it writes with Writes(), or give touches= with an edit touch."
            found.append((f"writes ({seen.wrote[0]}), and says that it touches no file", fix))
    return Said("fail", f"a call of it {found[0][0]}", found[0][1]) if found else None


def _why_not(called: Called) -> str:
    for _, seen in called.good:
        if seen.record is not None and seen.record.outcome != "ok":
            return _line(seen.record.text)[:200]
    return "none was made"


def _spelled(arguments: dict[str, Any]) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return text if len(text) <= 120 else text[:119] + "…"


def _line(said: object) -> str:
    return " ".join(str(said).split())[:300]


def check_stopped(one: Offered, bench: Bench, called: Called, findings: Findings) -> None:
    """Calls that are told to stop, and such as come to their limit."""
    findings.make("tool.cancel", one.subject, _stopped, one, bench, called)
    if called.good and ("tool.timeout", one.subject) in findings.found and one.tool.declaration.timeout is not None:
        findings.begin("tool.timeout", one.subject)
        if (wrong := _at_the_limit(one, bench, called)) is not None:
            findings.replace("tool.timeout", one.subject, wrong)


def _stopped(one: Offered, bench: Bench, called: Called) -> Said:
    """A call that is told to stop ends soon, and leaves nothing running."""
    if not called.good:
        return skipped(f"it was not called: {called.why}")
    arguments = _lasting(one, called.good[0][0])
    seen = bench.call(one.tool, arguments, stop=0.03)
    fix = "Let asyncio.CancelledError pass, start programs with ctx.run, and end threads that you start; long work is async."
    if seen.broke is not None:
        return skipped("its call broke: see tool.errors")
    if seen.left or seen.record is None:
        left = ", ".join(seen.left) or "the call itself"
        return Said("fail", f"a call that was stopped had not ended {GRACE:g} s later: {left} went on", fix)
    if not seen.ran:
        return skipped(f"its call did not run ({_line(seen.record.text)[:120]})", _SAMPLES)
    if not seen.stopped:
        return fine("its call was over before it could be stopped, and left nothing running")
    return fine("a call that was stopped ended soon, and left nothing running")


def _at_the_limit(one: Offered, bench: Bench, called: Called) -> Said | None:
    """A tool that declares a time limit ends at it."""
    seen = bench.call(one.tool, _lasting(one, called.good[0][0]), limit=0.05)
    if seen.left or seen.record is None:
        left = ", ".join(seen.left) or "the call itself"
        fix = "Let asyncio.CancelledError and TimeoutError pass; what a thread does cannot be stopped, so let it be short."
        return Said("fail", f"it did not end at its time limit: {left} went on for {GRACE:g} s", fix)
    return None


def _lasting(one: Offered, arguments: dict[str, Any]) -> dict[str, Any]:
    """The same arguments; a command in them is one that lasts."""
    lasting = dict(arguments)
    for name, node in one.tool.touched:
        if "run" in kinds_in(node) and isinstance(arguments.get(name), str):
            lasting[name] = "sleep 30"
        elif "run" in kinds_in(node) and isinstance(arguments.get(name), list):
            lasting[name] = ["sleep", "30"]
    return lasting
