"""The checks of one target, in this process. A plugin that hangs or dies takes it along: `child` is for that."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pegboard.checking.declared import DECLARED, Offered, check_declared, tools_of
from pegboard.checking.ending import Endings
from pegboard.checking.loading import Hanging, load
from pegboard.checking.report import Begun, Finding, Findings, Key, Loaded, Report, report
from pegboard.checking.target import Target

_CALLED = (
    "tool.bad_arguments",
    "tool.timeout",
    "tool.output",
    "tool.read_only",
    "tool.errors",
    "tool.cancel",
    "tool.effect",
)


def check(
    target: Target,
    tell: Callable[[Begun | Finding | Loaded], None] = lambda _: None,
    *,
    known: Iterable[Finding] = (),
    ended: Iterable[Key] = (),
) -> Report:
    """Every check of a target. `tell` hears of each as it is made; `known` and `ended` as `Findings` has them."""
    findings = Findings(tell, known=known, ended=ended, only=target.only)
    sys.path[:0] = [path for path in target.paths if path not in sys.path]
    with Endings() as endings:
        found, size = _checked(target, findings)
    endings.check(found, findings)
    return report(target.target, target.distribution, target.version, findings.found.values(), size)


def _checked(target: Target, findings: Findings) -> tuple[list[Hanging], int]:
    """What was loaded, and the bytes of its tools."""
    found = load(target, findings)
    offered = tools_of(found, findings)
    if findings.wants(*DECLARED):
        check_declared(offered, target.wishes.budget, findings)
    size = sum(one.tool.wire_size() for one in offered if one.tool.declaration.advertised)
    with TemporaryDirectory(prefix="pegboard-check-", ignore_cleanup_errors=True) as folder:
        _check_tools(target, Path(folder), found, offered, findings)
        from pegboard.checking.roles import check_roles

        check_roles(found, findings)
    from pegboard.checking.written import check_manifest

    check_manifest(target, found, findings)
    return found, size


def _check_tools(
    target: Target, folder: Path, found: Sequence[Hanging], offered: Sequence[Offered], findings: Findings
) -> None:
    """Tools held against others, called, stopped and drawn."""
    draws = any(one.plugin and "pegboard_renderers" in one.plugin.contributions for one in found)
    if not offered and not draws:
        return
    from pegboard.checking import arguments, calling, drawing, phrases
    from pegboard.checking.bench import Bench

    if findings.wants("tool.aliases", "tool.examples"):
        (folder / "workspace").mkdir(exist_ok=True)
        around = phrases.others(target.distribution, os.fspath(folder / "workspace"))
        phrases.check_phrases(offered, around, findings)
    if not findings.wants(*_CALLED) and not any(one.startswith("render.") for one in findings.only):
        return
    wishes = target.wishes
    bench = Bench(found, folder, files=wishes.files, tables=wishes.settings)
    given = drawing.forms()
    try:
        made = {}
        for one in offered:
            samples = wishes.samples.get(one.tool.name, [])
            findings.make("tool.bad_arguments", one.subject, arguments.bad_arguments, one, bench, samples)
            if findings.wants(*_CALLED[1:]) or findings.wants(*(f"render.{name}" for name in given)):
                made[one.subject] = called = calling.check_called(one, bench, samples, findings)
                drawing.check_drawn(one, bench, called.all, given, findings)
                bench.renew()
        for one in offered:  # last: what does not end keeps others waiting
            if one.subject in made and findings.wants("tool.cancel", "tool.timeout"):
                calling.check_stopped(one, bench, made[one.subject], findings)
                bench.renew()
        for hanging in found:
            if hanging.plugin and "pegboard_renderers" in hanging.plugin.contributions:
                drawing.check_renderers(hanging, given, bench, findings)
    finally:
        bench.close()
