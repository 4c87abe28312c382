"""Arguments that do not fit: the road refuses them before the tool runs, and says which they are."""

from __future__ import annotations

from typing import Any

import msgspec

from pegboard.checking.bench import Bench
from pegboard.checking.declared import Offered
from pegboard.checking.report import Said, fine, skipped
from pegboard.checking.samples import CannotMake, arguments_for, wrong_for
from pegboard.plugins.loaded import told
from pegboard.wanted import takes_null

_EXTRA = "zz_no_such_parameter"


def bad_arguments(one: Offered, bench: Bench, given: list[dict[str, Any]]) -> Said:
    """Wrong types, missing, null, extra, no object: none of them reaches the tool."""
    tool = one.tool
    try:
        good = dict(given[0]) if given else arguments_for(tool)
    except CannotMake as error:
        return skipped(f"no arguments could be made up ({error})", "Give some in [tool.pegboard.check.samples].")
    tried: list[tuple[str, str, Any]] = [("what is no object", "", ["no", "object"]), ("broken JSON", "", '{"a": ')]
    anything = []
    for name, declared in tool.signature.fields.items():
        wrong = wrong_for(tool, name)
        if wrong is msgspec.UNSET:
            anything.append(name)
        else:
            tried.append((f"a wrong {name}", name, {**good, name: wrong}))
        if declared.required:
            tried.append((f"no {name}", name, {key: value for key, value in good.items() if key != name}))
            if not takes_null(declared.type):
                tried.append((f"{name} = null", name, {**good, name: None}))
    for what, name, arguments in tried:
        if (problem := _refused(one, bench, what, name, arguments)) is not None:
            return problem
    if (problem := _dropped(one, good)) is not None:
        return problem
    if anything:
        text = f"any value is taken for {', '.join(anything)}: nothing is checked before the tool runs"
        return Said("warn", text, "Give it a type: a list, a struct, a Literal.")
    return fine(f"{len(tried)} calls with wrong arguments were refused before it ran")


def _refused(one: Offered, bench: Bench, what: str, name: str, arguments: Any) -> Said | None:
    fix = "Leave it to the annotations to say what is taken; a struct's own check raises ValueError."
    seen = bench.call(one.tool, arguments)
    if seen.broke is not None:
        return Said("fail", f"with {what} the call broke: {told(seen.broke, one.hanging.entry.value)}", fix)
    if seen.ran:
        return Said("fail", f"with {what} it ran all the same", fix)
    record = seen.record
    if record is None or record.block != "invalid_arguments":
        came = "did not end" if record is None else f"came to {record.block or record.outcome}: {record.text[:200]}"
        return Said("fail", f"with {what} the call {came}", fix)
    if name and name not in record.text:
        return Said("fail", f"with {what} the error does not name it: {record.text[:200]}", fix)
    return None


def _dropped(one: Offered, good: dict[str, Any]) -> Said | None:
    """An argument that it has no parameter for does not reach it."""
    try:
        shaped = one.tool.read({**good, _EXTRA: "x"})
    except Exception as error:  # noqa: BLE001 - isolates tools: converters and structs are the author's code
        fix = "See that the sample arguments fit the tool."
        return Said("fail", f"with sample arguments the call broke: {told(error, one.hanging.entry.value)}", fix)
    if _EXTRA not in shaped.dropped:
        return Said("fail", "an argument without a parameter reaches it", "Take only what you declare.")
    return None
