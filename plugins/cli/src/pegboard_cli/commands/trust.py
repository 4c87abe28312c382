"""`pegboard trust`: show what a project would switch on, ask, and keep the answer for these bytes in this folder."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from pegboard.terminal import plain, visible

from pegboard_cli import options

if TYPE_CHECKING:
    from pegboard_cli.trusting import Shown

app = options.new_app()


@app.command()
def trust(
    path: options.Path = None,
    yes: Annotated[bool, typer.Option("--yes", help="Trust it without being asked.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Only show what it would switch on; nobody is asked.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no more.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the projects that are trusted.")] = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Let the settings and the plugin files of a project count, which came with it and so may only make rules stricter.

    Shown is all that they would switch on: rules, commands, servers, tool sets, Python files. Trust is for these bytes in
    this folder: a change of any of them asks again. Enter means no.
    """
    if sum((yes, show, revoke, list_)) > 1:
        raise typer.BadParameter("--yes, --show, --revoke and --list exclude each other")
    if list_:
        options.finish(_list(json=json), debug=debug)
    if revoke:
        options.finish(_revoke(path, json=json), debug=debug)
    options.finish(_trust(path, yes=yes, show=show, json=json), debug=debug)


async def _trust(path: str | None, *, yes: bool, show: bool, json: bool) -> int:
    from pegboard.config.trust import trust as keep

    from pegboard_cli.trusting import agreed, look, shown_lines

    shown = look(path, os.environ)
    if not json:
        sys.stdout.write("".join(f"{line}\n" for line in shown_lines(shown)))
        sys.stdout.flush()
    if shown.problem is not None or shown.state == "nothing":
        return _end(shown, json=json, code=1 if shown.problem is not None else 0)
    if show or shown.state == "trusted":
        return _end(shown, json=json, code=0)
    answer = True if yes else None if json else await agreed()
    if not answer:
        text = "nothing was trusted" if answer is False else "nobody is there to ask, so nothing was trusted; see --yes"
        typer.echo(f"pegboard: {text}", err=True)
        return _end(shown, json=json, code=2)
    keep(shown.brought, shown.folder)
    if not json:
        sys.stdout.write(
            visible(f"{shown.root} is trusted as shown. `pegboard trust --revoke` takes that back.") + "\n"
        )
    return _end(shown, json=json, code=0, trusted=True)


def _end(shown: Shown, *, json: bool, code: int, trusted: bool = False) -> int:
    if json:
        from pegboard_cli.trusting import document

        options.print_json(document(shown, trusted=trusted or shown.state == "trusted"))
    return code


async def _revoke(path: str | None, *, json: bool) -> int:
    from pegboard.config.places import find_root, state_folder
    from pegboard.config.trust import revoke

    # Trust in a folder that is not there any more can be taken back.
    gone = path is not None and not os.path.isdir(path)
    root = os.path.realpath(str(path) if gone else find_root(path)[0])
    was = revoke(root, state_folder(os.environ))
    if json:
        options.print_json({"root": plain(root), "revoked": was})
    else:
        text = f"{plain(root)} is trusted no more" if was else f"{plain(root)} was not trusted; nothing was changed"
        sys.stdout.write(visible(text) + "\n")
    return 0


async def _list(*, json: bool) -> int:
    from pegboard_cli.trusting import trusted_projects

    rows = trusted_projects(os.environ)
    if json:
        options.print_json({"projects": rows})
    else:
        lines = [visible(f"{row['root']}  {row['state']}, since {row['at']}") for row in rows]
        sys.stdout.write("".join(f"{line}\n" for line in lines or ["No project is trusted."]))
    return 0
