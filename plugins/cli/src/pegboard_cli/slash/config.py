"""/config: settings, shown and changed, with where each comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.blocks import AnyBlock, Note, Table
from pegboard.slash import Said, Slash

from pegboard_cli.places import place_of

if TYPE_CHECKING:
    from pegboard_cli.configuring import Changed, Shown

WORDS = ("show", "unset")


def _config(said: Said) -> list[AnyBlock]:
    from pegboard_cli.configuring import change, shown

    text = said.rest.strip()
    word, _, rest = text.partition(" ")
    key, sign, value = text.partition("=")
    if not text:
        stated = {name: one for name, one in shown(said.board.loaded).items() if one.layer != "default"}
        blocks: list[AnyBlock] = [_table(stated)] if stated else []
        return [*blocks, Note(text=f"{'the others are' if stated else 'all are'} as shipped · /config show lists them")]
    if word == "show":
        return _found(said, rest.strip()) if rest.strip() else [_table(shown(said.board.loaded))]
    if word == "unset" and rest.strip():
        return _told(change(rest.strip(), None, said.board.root))
    return _told(change(key.strip(), value.strip(), said.board.root)) if sign else _found(said, text)


def _found(said: Said, name: str) -> list[AnyBlock]:
    from pegboard_cli.configuring import find, whose_keys

    found = find(name, said.board.loaded)
    return [_table(found)] if found else [Note(text=f"nothing is set in [{name}]{whose_keys(name)}")]


def _table(found: dict[str, Shown]) -> Table:
    from pegboard_cli.configuring import literal

    rows = []
    for name, one in found.items():
        value = literal(one.value) if one.value is not None else "(not set)"
        rows.append([name, value, "; ".join(filter(None, (f"{one.layer}{place_of(one.source, ', ')}", one.note)))])
    return Table(columns=["setting", "value", "from"], rows=rows)


def _told(changed: Changed) -> list[AnyBlock]:
    if not changed.done:
        return [Note(text=f"{changed.key} is not set in {changed.file}; nothing was changed")]
    later = "it counts from the next start on"
    notes = [f"{changed.line}; {later}", *([f"{changed.key}: {changed.note}"] if changed.note else [])]
    return [Note(text=note) for note in notes]


def _complete(said: Said) -> list[str]:
    from pegboard_cli.completing import setting_keys

    first, _, rest = said.rest.lstrip().partition(" ")
    keys = [key for key, _ in setting_keys()]
    if first in WORDS and (rest or said.rest.endswith(" ")):
        return keys
    return [*WORDS, *(f"{key}=" for key in keys)]


config = Slash(
    usage="/config [KEY[=VALUE]]",
    help="settings and where each comes from; KEY=VALUE writes one into your own file; also show, unset KEY",
    run=_config,
    complete=_complete,
)
