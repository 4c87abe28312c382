"""`pegboard config show`, `get`, `set`, `unset` and `schema`. No plugin is imported to show settings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from pegboard.terminal import plain, spelled, visible

from pegboard_cli import options

if TYPE_CHECKING:
    from pegboard_cli.configuring import Shown

app = options.new_app(help="Show or change settings, and say where each comes from.", no_args_is_help=True)

Key = Annotated[str, typer.Argument(metavar="KEY", help="The setting: table.name, such as search.max_hits.")]


@app.command("show")
def show(
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="One setting, or all of a table.")] = None,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
    path: options.Path = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Show the settings as they hold here.

    Yours, the project's as far as they count, the environment's, and what is left as shipped.
    """
    options.finish(_show(plain(key) if key is not None else None, path, origin=origin, json=json), debug=debug)


@app.command("get")
def get(key: Key, path: options.Path = None, json: options.Json = False, debug: options.Debug = False) -> None:
    """Print one setting's value, for scripts.

    Text as it is, all else as JSON; nothing where it is not set. A table's name prints all of the table.
    """
    options.finish(_get(plain(key), path, json=json), debug=debug)


@app.command("set")
def set_(
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value; a list with commas between, or as TOML.")],
    path: options.Path = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Write one setting into your own file.

    Comments and order in it stay. What would not load is not written.
    """
    options.finish(_set(plain(key), value, path, json=json), debug=debug)


@app.command("unset")
def unset(key: Key, path: options.Path = None, json: options.Json = False, debug: options.Debug = False) -> None:
    """Take one setting out of your own file.

    What is below it holds again.
    """
    options.finish(_set(plain(key), None, path, json=json), debug=debug)


@app.command("schema")
def schema(debug: options.Debug = False) -> None:
    """Print a JSON Schema of the settings file, for editors."""
    options.finish(_schema(), debug=debug)


async def _show(key: str | None, path: str | None, *, origin: bool, json: bool) -> int:
    from pegboard_cli.configuring import find, read, shown, whose_keys

    loaded = read(path)
    found = shown(loaded) if key is None else find(key, loaded)
    _tell(loaded.notes)
    if json:
        options.print_json({"values": found})
    else:
        lines = _lines(found, origin=origin) or [visible(f"nothing is set in [{key}]{whose_keys(key or '')}")]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _lines(found: dict[str, Shown], *, origin: bool) -> list[str]:
    """`key = value`, and behind a `#` where it comes from and what should be known of it."""
    from pegboard_cli.configuring import literal

    lines = []
    for name, one in found.items():
        words = [_where(one)] if origin else []
        words += [one.note] if one.note else []
        text = f"{name} = {literal(one.value)}" if one.value is not None else f"{name} is not set"
        lines.append(visible(text + (f"  # {'; '.join(words)}" if words else "")))
    return lines


def _where(one: Shown) -> str:
    from pegboard_cli.places import place_of

    return f"{one.layer}{place_of(one.source, ', ')}"


async def _get(key: str, path: str | None, *, json: bool) -> int:
    from pegboard_cli.configuring import find, literal, read

    loaded = read(path)
    found = find(key, loaded)
    _tell(loaded.notes)
    one = found.get(key)
    if one is None:
        if json:
            options.print_json({"values": found})
        else:
            sys.stdout.write("".join(f"{line}\n" for line in _lines(found, origin=False)))
    elif json:
        import msgspec

        options.print_json({"key": key, **msgspec.structs.asdict(one)})
    elif one.value is not None:
        sys.stdout.write(spelled(one.value if isinstance(one.value, str) else literal(one.value)) + "\n")
    return 0


async def _set(key: str, text: str | None, path: str | None, *, json: bool) -> int:
    from pegboard_cli.configuring import change

    changed = change(key, text, path)
    if not changed.done:
        typer.echo(visible(f"pegboard: {key} is not set in {changed.file}; nothing was changed"), err=True)
    elif json:
        options.print_json(
            {"key": changed.key, "value": changed.value, "file": str(changed.file), "note": changed.note}
        )
    else:
        typer.echo(visible(changed.line))
        _tell([f"{changed.key}: {changed.note}"] if changed.note else [])
    return 0


async def _schema() -> int:
    import msgspec
    from pegboard.config.published import schema
    from pegboard.entries import scan

    from pegboard_cli.manifests import with_tables

    whole = with_tables(schema(), scan())
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")
    return 0


def _tell(notes: list[str]) -> None:
    for note in notes:
        typer.echo(f"note: {visible(note)}", err=True)
