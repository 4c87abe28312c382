"""`pegboard doctor`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard_cli import options

if TYPE_CHECKING:
    from pegboard_cli.checks import Findings
    from pegboard_cli.plugin_list import Installed, PluginList

app = options.new_app()


@app.command()
def doctor(
    retry: Annotated[bool, typer.Option("--retry", help="Look again at plugins that failed.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Print a text for a bug report, without secrets and home folders.")
    ] = False,
    path: options.Path = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Look for what is wrong, and say how to mend it. Works also when nothing else does; exit 1 when something is wrong."""
    options.finish(_doctor(path, retry=retry, report=report, json=json), debug=debug)


async def _doctor(path: str | None, *, retry: bool, report: bool, json: bool) -> int:
    from pegboard_cli.checks import examine
    from pegboard_cli.plugin_list import Installed

    installed = Installed(path)
    findings, listed = examine(installed, retry=retry)
    if json:
        options.print_json(findings)
    elif report:
        sys.stdout.write(_report(findings, listed, installed))
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(findings)))
    return 0 if findings.ok else 1


def _lines(findings: Findings) -> list[str]:
    from pegboard.terminal import visible

    from pegboard_cli.styles import Styles, takes_colour

    styles = Styles(takes_colour(sys.stdout))
    out = []
    for check in findings.checks:
        mark = styles.good("ok   ") if check.ok else styles.bad("wrong")
        out.append(f"{mark}  {visible(check.text)}")
        if check.fix:
            out.append(f"       to mend it: {visible(check.fix)}")
    wrong = sum(not check.ok for check in findings.checks)
    return [
        *out,
        "",
        "Nothing is wrong." if findings.ok else f"{wrong} of {len(findings.checks)} checks found something.",
    ]


def _report(findings: Findings, listed: PluginList, installed: Installed) -> str:
    """Versions, plugins and findings; no settings' values, and no folder's name that tells who it is."""
    import os
    import platform

    from pegboard.session.redaction import Redactor, secret_values
    from pegboard.terminal import spelled

    from pegboard_cli.main import VERSION

    lines = [
        f"pegboard {VERSION}, Python {listed.python}, {platform.system()} {platform.release()} {platform.machine()}"
    ]
    lines += [
        f"{row.kind} {row.name} ({row.distribution} {row.version}): {row.state}"
        + (f", {row.problem.what}: {row.problem.error}" if row.problem else "")
        for row in listed.plugins
    ]
    lines += [f"{'ok' if check.ok else 'WRONG'} {check.id}: {check.text}" for check in findings.checks]
    text = Redactor(values=secret_values(os.environ)).text("\n".join(lines))
    own = [(installed.root, "ROOT"), (os.path.expanduser("~"), "~"), (sys.prefix, "PYTHON")]
    for folder, word in sorted(own, key=lambda pair: -len(pair[0])):
        if len(folder) > 1:
            text = text.replace(folder, word)
    return spelled(text) + "\n"
