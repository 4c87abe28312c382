"""`pegboard models`."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from pegboard_cli import options

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.providers import Choice

app = options.new_app()

PATIENCE = 10.0
"""Seconds that one endpoint may take to list its models."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A provider. `origin`: config, installed or loopback. `models`: None where it was not asked, or does not say.

    `problem`: what keeps it from answering."""

    name: str
    origin: str
    banner: str | None = None
    models: list[str] | None = None
    problem: str | None = None


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What there is. `model` would answer now, for the reason `why`; `error`: why nothing would."""

    model: str | None
    why: str
    error: str | None
    providers: list[Row]


@app.command()
def models(
    probe: Annotated[
        bool, typer.Option("--probe", help="Ask every endpoint for its models; else only this machine is looked at.")
    ] = False,
    path: options.Path = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List the models that can be reached, and which one answers."""
    options.finish(_models(path, probe=probe, json=json), debug=debug)


async def _models(path: str | None, *, probe: bool, json: bool) -> int:
    from pegboard.board import Board
    from pegboard.terminal import visible

    board = Board.build(path)
    try:
        listed = await collect(board, probe=probe)
        for note in board.notes:
            typer.echo(f"note: {visible(note)}", err=True)
        if json:
            options.print_json(listed)
        else:
            sys.stdout.write("".join(f"{line}\n" for line in lines(listed, probe=probe)))
    finally:
        await board.close()
    return 0


async def collect(board: Board, *, probe: bool) -> Listed:
    """Every provider, none of them a reason to fail. Without `probe` nothing but this machine is dialled."""
    from pegboard.errors import ConfigError

    servers = board.providers.servers(fresh=True) if board.config.local_models else []
    choice = _chosen(board)
    error = None
    model: str | None = choice.model
    try:
        answering = board.providers.load(choice.model, choice.server)
        model = answering.model
        await answering.provider.close()
    except ConfigError as problem:
        model, error = None, str(problem)
    own = [entry.name for entry in board.providers.entries if entry.own and entry.name not in board.providers.tables]
    rows = await asyncio.gather(
        *(_row(board, name, "config", probe=probe) for name in board.providers.tables),
        *(_row(board, name, "installed", probe=probe) for name in own),
    )
    strangers = [
        Row(
            name=entry.name,
            origin="installed",
            problem=f"of {entry.distribution}; it is imported when its name is chosen",
        )
        for entry in board.providers.entries
        if not entry.own and entry.name not in board.providers.tables
    ]
    found = [Row(name="local", origin="loopback", banner=f"at 127.0.0.1:{s.port}", models=s.models) for s in servers]
    return Listed(model=model, why=choice.why, error=error, providers=[*rows, *strangers, *found])


def _chosen(board: Board) -> Choice:
    choice = board.choose()
    if choice.why or not board.config.model:
        return choice
    origin = board.origins.get("model")
    place = f", {origin.source.file}:{origin.source.line}" if origin is not None and origin.source else ""
    layer = origin.layer if origin is not None else "default"
    return msgspec.structs.replace(choice, why=f"model is set ({layer}{place})")


async def _row(board: Board, name: str, origin: str, *, probe: bool) -> Row:
    from pegboard.errors import ConfigError, PegboardError

    stated = board.providers.tables.get(name, {}).get("models") or None
    try:
        provider = board.providers.load(name).provider
    except ConfigError as problem:
        return Row(name=name, origin=origin, models=stated, problem=str(problem))
    ask = getattr(provider, "models", None)
    try:
        models = await asyncio.wait_for(ask(), PATIENCE) if probe and ask is not None else stated
        return Row(name=name, origin=origin, banner=provider.banner, models=models)
    except PegboardError as problem:
        return Row(name=name, origin=origin, banner=provider.banner, models=stated, problem=str(problem))
    except TimeoutError:
        late = f"it did not list its models within {PATIENCE:g} s"
        return Row(name=name, origin=origin, banner=provider.banner, models=stated, problem=late)
    finally:
        await provider.close()


def lines(listed: Listed, *, probe: bool) -> list[str]:
    """The list for a person: which model answers, then each provider with its models."""
    from pegboard.terminal import visible

    from pegboard_cli.styles import Styles, takes_colour

    styles = Styles(takes_colour(sys.stdout))
    answers = listed.model or "nothing"
    shown = [f"{styles.bold(visible(answers))} answers: {visible(listed.error or listed.why)}", ""]
    for row in listed.providers:
        shown.append(f"{styles.bold(visible(row.name))} ({row.origin}) {visible(row.banner or '')}".rstrip())
        shown += [f"  {visible(row.name)}/{visible(model)}" for model in row.models or ()]
        if row.problem:
            shown.append(styles.dim(f"  {visible(row.problem)}"))
    if not probe:
        shown += ["", styles.dim("`pegboard models --probe` asks every endpoint for its models.")]
    return shown
