"""render.*: what tools return and renderers make of it, drawn in each form that is installed.

Forms come from the entry-point group `pegboard.forms`: the name of one, and a function `(blocks, width) -> str`, raising
what goes wrong. The core has none: the command brings `plain`, `rich` and `json`, the app brings `app`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from pegboard.activity import activity_of
from pegboard.blocks import AnyBlock, Custom, Text
from pegboard.checking.bench import Bench, Seen
from pegboard.checking.declared import Offered
from pegboard.checking.loading import Hanging
from pegboard.checking.report import Findings, Said, fine, skipped
from pegboard.checking.samples import CannotMake, value_of
from pegboard.entries import FORMS, Entry, scan
from pegboard.plugins.loaded import LoadProblem, told
from pegboard.plugins.loading import import_guarded
from pegboard.rendering import Renderers, to_json
from pegboard.wire import encode

KNOWN = ("plain", "rich", "json", "app")
"""The forms that a plugin is drawn in. Others that are installed come after them."""
_WIDTHS = (80, 24)
Form = Callable[[list[AnyBlock], int], str]


def forms() -> dict[str, Form | str]:
    """Every form by name; why not, for one that is not there."""
    found: dict[str, Form | str] = {name: f"no installed distribution draws the form {name!r}" for name in KNOWN}
    for entry in scan():
        if entry.group == FORMS and (entry.own or entry.name not in KNOWN) and not callable(found.get(entry.name)):
            try:
                made = import_guarded(entry)
                found[entry.name] = made if callable(made) else f"{entry.value} is no function"
            except LoadProblem as problem:
                found[entry.name] = f"the form does not load: {problem}"
    return found


def check_drawn(
    one: Offered, bench: Bench, calls: Iterable[Seen], given: dict[str, Form | str], findings: Findings
) -> None:
    """Draw what calls of a tool came to."""
    done = [seen for seen in calls if seen.record is not None and seen.record.outcome in ("ok", "error")]
    subject = one.subject
    if not done:
        for name in given:
            findings.add(f"render.{name}", subject, skipped("no call of it came to anything that could be drawn"))
        return
    drawn: list[list[AnyBlock]] = []
    for seen in done[:4]:
        assert seen.record is not None
        blocks = bench.run(bench.board.renderers.blocks(one.tool, seen.record.data))
        problems = bench.board.renderers.told()
        if problems:
            fix = "A renderer takes any value of its type and returns a list of blocks, or None, within 250 ms."
            for name in given:
                findings.add(f"render.{name}", subject, Said("fail", problems[0], fix))
            return
        activity = activity_of(one.tool, one.tool.name, seen.record.arguments)
        blocks = blocks or [*seen.record.blocks]
        if blocks or seen.record.text.strip():  # an empty text is an answer as well, of which nothing is seen
            drawn.append([activity, *(blocks or [Text(text=seen.record.text)])])
    for name, form in given.items():
        if drawn:
            findings.make(f"render.{name}", subject, _drawn, form, drawn)
        else:
            findings.add(f"render.{name}", subject, skipped("what it returned was an empty text"))


def check_renderers(one: Hanging, given: dict[str, Form | str], bench: Bench, findings: Findings) -> None:
    """Draw a made-up value of each type that a plugin has a renderer for, and what its author would not think of."""
    table = one.plugin.contributions.get("pegboard_renderers", {}) if one.plugin else {}
    drawn, made, why = [], 0, ""
    for kind, render in table.items():
        try:
            values = _values(kind)
        except CannotMake as error:
            why = str(error)
            continue
        for value in values:
            made += 1
            blocks, problem = _rendered(one.entry, kind, render, value, bench)
            if problem:
                fix = "A renderer takes any value of its type and returns a list of blocks, or None, within 250 ms."
                for name in given:
                    findings.add(f"render.{name}", one.subject, Said("fail", problem, fix))
                return
            drawn.append(blocks or [])
    for name, form in given.items():
        if made:
            findings.make(f"render.{name}", one.subject, _drawn, form, drawn)
        else:
            findings.add(
                f"render.{name}",
                one.subject,
                skipped(f"no value could be made up to be drawn ({why or 'it has none'})"),
            )


def _values(kind: Any) -> list[Any]:
    """Values of a type: with something in them, and with nothing."""
    value = value_of(msgspec.inspect.type_info(kind))
    found = [value]
    if isinstance(value, dict):
        bare = {key: _emptied(item) for key, item in value.items()}
        found.append(bare)
    converted = []
    for one in found:
        try:
            converted.append(msgspec.convert(one, kind))
        except msgspec.ValidationError:
            if one is value:
                raise CannotMake(f"none fits {getattr(kind, '__name__', kind)}") from None
    return converted


def _emptied(value: Any) -> Any:
    match value:
        case str():
            return ""
        case list():
            return []
        case bool():
            return value
        case int() | float():
            return 0
        case _:
            return value


def _rendered(entry: Entry, kind: Any, render: Any, value: Any, bench: Bench) -> tuple[list[AnyBlock] | None, str]:
    """What a renderer makes of a value, under the limits that front ends hold it to; or what went wrong."""
    renderers = Renderers([(entry, {kind: render})])
    blocks = bench.run(renderers.blocks(_returning(kind), msgspec.json.decode(encode(value))))
    problems = renderers.told()
    return blocks, problems[0] if problems else ""


def _returning(kind: Any) -> Any:
    """A tool that returns this type, to ask for what is drawn of it."""
    from pegboard.tooling import Tool, tool

    def sample() -> None:
        """Return a value."""

    sample.__annotations__["return"] = kind
    return Tool.of(tool(pure=True)(sample), owner="")


def _drawn(form: Form | str, drawn: Sequence[list[AnyBlock]]) -> Said:
    """Whether a form draws every list of blocks, at any width."""
    if isinstance(form, str):
        return skipped(form)
    for blocks in drawn:
        for width in _WIDTHS:
            try:
                text = form(list(blocks), width)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: what is drawn came from one
                fix = "Return blocks of pegboard.blocks with plain values; split what is very large."
                return Said("fail", f"it cannot be drawn at {width} columns: {told(error)}", fix)
            if not text.strip() and to_json(blocks) != b"[]":
                return Said(
                    "fail", f"nothing of it is seen at {width} columns", "Return blocks with something in them."
                )
    bare = [block.kind for blocks in drawn for block in blocks if isinstance(block, Custom) and not block.plain]
    if bare:
        text = f"a block of the kind {bare[0]!r} has no plain form: who does not know that kind sees nothing"
        return Said("fail", text, "Give it plain=[...], blocks that every front end draws.")
    return fine(f"{len(drawn)} results are drawn at {' and '.join(map(str, _WIDTHS))} columns")
