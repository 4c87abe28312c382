"""`pegboard plugin`: what is installed as a plugin, and how it comes and goes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pegboard.terminal import plain, visible

from pegboard_cli import options
from pegboard_cli.commands.plugin_check import check

app = options.new_app(help="Begin, check, install, uninstall and look at plugins.", no_args_is_help=True)
app.command()(check)


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
    target: Annotated[
        str, typer.Argument(metavar="NAME|PATH|WHEEL|GIT", help="A package's name, a folder, a wheel, or git+URL.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what is shown, without being asked.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it declares, and install nothing.")] = False,
    editable: Annotated[
        bool, typer.Option("--editable", "-e", help="Install a folder so that what you change in it counts.")
    ] = False,
    build: Annotated[
        bool, typer.Option("--build", help="Where there is no wheel of a name, build its source; that runs code of it.")
    ] = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Install a plugin into the environment that Pegboard runs from, once you have seen what it declares.

    Shown are its tools with what they touch, its other roles, its size, the dependencies that would come, and what is new
    since the installed version. Just that file is installed, and its hash kept, which `pegboard doctor` checks. Enter
    means no.
    """
    from pegboard_cli.reviewed.install import Wish
    from pegboard_cli.reviewed.install import install as install_reviewed

    wish = Wish(target=plain(target), yes=yes, json=json, editable=editable, build=build, dry_run=dry_run)
    options.finish(install_reviewed(wish), debug=debug)


@app.command()
def uninstall(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The package, as `pegboard plugins` names it.")],
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Uninstall a plugin. It is not imported for that."""
    options.finish(_uninstall(plain(name), json=json), debug=debug)


@app.command("list")
def list_(path: options.Path = None, json: options.Json = False, debug: options.Debug = False) -> None:
    """List installed plugins, with whether each is as it was when it was looked at and installed."""
    options.finish(_list(path, json=json), debug=debug)


@app.command()
def info(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A plugin, or the package that it comes with.")],
    path: options.Path = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Show what an installed plugin declares: its tools with what they touch, its settings, where it came from."""
    options.finish(_info(plain(name), path, json=json), debug=debug)


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
    sys.stdout.write("".join(f"{visible(line)}\n" for line in writing.told(folder, files)))
    return 0


async def _uninstall(name: str, *, json: bool) -> int:
    from pegboard_cli.reviewed.uninstall import uninstall as uninstall_now

    return uninstall_now(name, json=json)


async def _list(path: str | None, *, json: bool) -> int:
    from pegboard_cli.reviewed.listing import show

    return show(path, json=json)


async def _info(name: str, path: str | None, *, json: bool) -> int:
    from pegboard_cli.reviewed.info import show

    return show(name, path, json=json)
