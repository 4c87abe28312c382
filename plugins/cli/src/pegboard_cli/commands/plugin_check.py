"""`pegboard plugin check`: whether a plugin does what Pegboard asks of one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from pegboard.terminal import plain, visible

from pegboard_cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pegboard.checking.report import Finding, Report

    from pegboard_cli.styles import Styles

Write = Annotated[
    bool,
    typer.Option(
        "--write", help="Write what the plugin has into pegboard.json in its package, for its wheel; then check."
    ),
]
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="[TARGET]",
        help="A folder with a pyproject.toml, a wheel, or an installed package; left out: this folder.",
    ),
]
Whole = Annotated[bool, typer.Option("--all", help="List checks that passed as well.")]


def check(
    target: Target = None,
    whole: Whole = False,
    write: Write = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Check a plugin: it is loaded and its tools are called, in a process and a folder of their own.

    That runs its code, without a network as far as Python is asked for one. Exit 0: no check failed; 1: one did; 2: there
    is nothing to check."""
    named = plain(target) if target is not None else None
    options.finish(_check(named, whole=whole, write=write, json=json), debug=debug)


async def _check(named: str | None, *, whole: bool, write: bool, json: bool) -> int:
    import msgspec
    from pegboard.checking.child import run
    from pegboard.checking.target import NothingToCheck, found

    try:
        with found(named) as target:
            if write and not target.writable:
                raise NothingToCheck("--write is for the folder of a project. Nothing was written or checked.")
            if sys.stderr.isatty():
                typer.echo(f"checking {visible(target.distribution)} …", err=True)
            (report,) = run([msgspec.structs.replace(target, write=write)])
    except NothingToCheck as error:
        typer.echo(f"pegboard: {visible(str(error))}", err=True)
        return 2
    if json:
        options.print_json(report)
    else:
        from pegboard_cli.styles import Styles, takes_colour

        lines = _lines(report, Styles(takes_colour(sys.stdout)), whole=whole)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0 if report.passed else 1


def _lines(report: Report, styles: Styles, *, whole: bool) -> Iterator[str]:
    """What failed, then what is warned of, what could not be checked, and the counts."""
    for status in ("fail", "warn"):
        for finding in report.checks:
            if finding.status == status:
                yield from _finding(finding, styles)
    yield from _skipped([one for one in report.checks if one.status == "skip"], styles, whole=whole)
    if whole:
        for finding in report.checks:
            if finding.status == "pass":
                yield f"{styles.good('pass')}  {finding.id}  {visible(finding.subject)}: {visible(finding.text)}"
    counts = report.summary
    said = [f"{counts['pass']} passed"]
    said += [f"{counts['fail']} failed"] if counts["fail"] else []
    said += [f"{counts['warn']} warned of"] if counts["warn"] else []
    said += [f"{counts['skip']} not made"] if counts["skip"] else []
    cost = (
        f"; its tools take {report.bytes:,} bytes, about {report.tokens:,} tokens, on every request"
        if report.bytes
        else ""
    )
    version = f" {report.version}" if report.version else ""
    yield f"{styles.bold(visible(report.distribution) + visible(version))}: {', '.join(said)}{cost}"


def _finding(finding: Finding, styles: Styles) -> Iterator[str]:
    paint = styles.bad if finding.status == "fail" else styles.bold
    yield f"{paint(finding.status)}  {finding.id}  {visible(finding.subject)}: {visible(finding.text)}"
    if finding.fix:
        yield styles.dim(f"      {visible(finding.fix)}")


def _skipped(skipped: list[Finding], styles: Styles, *, whole: bool) -> Iterator[str]:
    """What could not be checked: one line for each reason, or all of it."""
    if whole:
        for finding in skipped:
            yield from _finding(finding, styles)
        return
    reasons: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in skipped:
        reasons.setdefault((finding.text, finding.fix), []).append(finding)
    for (text, fix), some in reasons.items():
        more = f" and {len(some) - 1} more" if len(some) > 1 else ""
        yield f"{styles.dim('skip')}  {some[0].id}  {visible(some[0].subject)}{more}: {visible(text)}"
        if fix:
            yield styles.dim(f"      {visible(fix)}")
