"""`pegboard plugin new`, `pegboard plugin install` and `pegboard plugin uninstall`."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer
from pegboard.terminal import plain, visible

from pegboard_cli import options

app = options.new_app(help="Begin, install or uninstall a plugin.", no_args_is_help=True)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called: todos becomes pegboard-todos.")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", metavar="KIND", help="toolset, guard, approver, renderer, provider, launcher or command."
        ),
    ] = "",
    dir: Annotated[
        str, typer.Option("--dir", metavar="FOLDER", help="The folder that its folder is made in; else this one.")
    ] = ".",
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Write a plugin to begin with: a package that works, with tests, types, checks for CI and a licence.

    An existing folder is left as it is (exit 2). Nothing is installed.
    """
    options.finish(_new(plain(name), plain(kind), dir, json=json), debug=debug)


@app.command()
def install(
    target: Annotated[str, typer.Argument(metavar="NAME|PATH|WHEEL", help="A package's name, a folder, or a wheel.")],
    editable: Annotated[
        bool, typer.Option("--editable", "-e", help="Install a folder so that what you change in it counts.")
    ] = False,
    debug: options.Debug = False,
) -> None:
    """Install a plugin into the environment that Pegboard runs from, and say what came with it."""
    options.finish(_install(plain(target), editable=editable), debug=debug)


@app.command()
def uninstall(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The package, as `pegboard plugins` names it.")],
    debug: options.Debug = False,
) -> None:
    """Uninstall a plugin. It is not imported for that."""
    options.finish(_uninstall(plain(name)), debug=debug)


async def _new(name: str, kind: str, dir: str, *, json: bool) -> int:
    import os
    from pathlib import Path

    from pegboard.entries import survey

    from pegboard_cli.scaffold import naming, writing

    if kind not in naming.KINDS:
        raise typer.BadParameter(f"{naming.no_kind(kind)}; nothing was written", param_hint="--kind")
    if not os.path.isdir(dir):
        raise typer.BadParameter(f"{plain(dir)!r} is no folder; nothing was written", param_hint="--dir")
    try:
        names = naming.checked(name, kind, survey())
        folder = Path(dir, names.distribution)
        files = writing.write(folder, kind, names)
    except naming.BadName as error:
        raise typer.BadParameter(f"{error}; nothing was written", param_hint="NAME") from None
    except writing.Exists:
        there = plain(str(folder))
        raise typer.BadParameter(f"{there} is there already; nothing was written", param_hint="NAME") from None
    if json:
        place = plain(str(folder.absolute()))
        made = {"folder": place, "distribution": names.distribution, "module": names.module}
        options.print_json(made | {"kind": kind, "files": files})
        return 0
    _say(*writing.told(folder, files))
    return 0


async def _install(target: str, *, editable: bool) -> int:
    from pegboard.entries import own_distributions, survey

    from pegboard_cli.installing import insist_on_strangers, install_command, known, rows_now, run, target_of

    found = survey()
    insist_on_strangers(wanted := target_of(target), found.ours | own_distributions(found.entries))
    command = install_command(wanted, editable=editable)
    _say(f"running: {shlex.join(command)}")
    before = known()
    run(command)
    rows = rows_now()
    came = [row for row in rows if (row["group"], row["name"], row["distribution"], row["version"]) not in before]
    if not came:
        _say("installed; it brought no plugin that was not there before. `pegboard plugins` lists those there are.")
        return 0
    for row in came:
        _say(*_told(row))
    return 0 if all(row["problem"] is None for row in came) else 1


def _told(row: dict[str, Any]) -> list[str]:
    from pegboard.entries import Entry
    from pegboard.plugins.loaded import switch_off

    entry = Entry(name=row["name"], group=row["group"], value="", distribution="", version="", own=False)
    has = f": {', '.join(row['tools'])}" if row["tools"] else ""
    lines = [f"{row['kind']} {row['name']} ({row['distribution']} {row['version']}) is {row['state']}{has}"]
    lines += [f"  {row['reason']}"] if row["reason"] else []
    lines += [f"  {row['problem']['error']}", f"  to mend it: {row['problem']['fix']}"] if row["problem"] else []
    if row["kind"] not in ("provider", "launcher", "command") and not row["problem"]:
        lines.append(f"  to switch it off: {switch_off(entry)}")
    return lines


async def _uninstall(name: str) -> int:
    from pegboard.entries import scan

    from pegboard_cli.installing import run, uninstall_command

    entries = scan()
    command = uninstall_command(name, entries)
    _say(f"running: {shlex.join(command)}")
    run(command)
    wanted = command[-1]
    gone = [f"{e.group.removeprefix('pegboard.')} {e.name}" for e in entries if e.distribution == wanted]
    if any(entry.distribution == wanted for entry in scan()):
        _say(f"{wanted} is still there: another copy of it is on the path")
        return 1
    _say(f"{wanted} is gone, and with it: {', '.join(gone)}")
    return 0


def _say(*lines: str) -> None:
    """Lines on stdout, before whatever the installer prints next."""
    sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))
    sys.stdout.flush()
