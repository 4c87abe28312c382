"""Keys: what is bound, what the person binds otherwise (`[ui.keys]`), and the page that lists it all."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pegboard.terminal import visible
from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_TO_UNICODE_NAME, REPLACED_KEYS, Keys, format_key, key_to_character
from textual.screen import Screen
from textual.widgets import Input

from pegboard_tui.drawing.look import Palette
from pegboard_tui.sheet import Sheet
from pegboard_tui.signs import cut

_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
_AS_THEY_ARE = frozenset({"enter", "up", "down", "left", "right", "backspace"})
"""Keys that Textual would spell by signs."""
_INPUT = "input"
"""The group of keys that only count where text is written."""
_EVERYWHERE = frozenset({"PegboardApp", "SessionView"})
"""Whose keys count wherever the focus is."""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Something that keys do. `keys`: comma-separated, as Textual names them. scope: the class whose binding it is."""

    id: str
    keys: str
    description: str
    scope: str
    priority: bool = False

    @property
    def group(self) -> str:
        """What it belongs to: `approval` of `approval.yes`."""
        return self.id.partition(".")[0]


def bindings(package: str = "pegboard_tui") -> list[Bound]:
    """Every binding of the app that has an id, once, in the order of their groups. It imports all of the app."""
    root = importlib.import_module(package)
    names = [package, *(one.name for one in pkgutil.walk_packages(root.__path__, f"{package}."))]
    found: dict[tuple[str, str], Bound] = {}
    for name in names:
        for bound in _of_module(name):
            found.setdefault((bound.id, bound.scope), bound)
    once: dict[str, Bound] = {}
    for bound in found.values():
        held = once.get(bound.id)
        once[bound.id] = bound if held is None else _joined(held, bound)
    return sorted(once.values(), key=lambda one: one.group)


def _joined(one: Bound, other: Bound) -> Bound:
    """Two classes have a binding of one id: it is one to the person."""
    keys = dict.fromkeys([*one.keys.split(","), *other.keys.split(",")])
    first = one.priority or other.priority
    return Bound(id=one.id, keys=",".join(keys), description=one.description, scope=one.scope, priority=first)


def _of_module(name: str) -> Iterator[Bound]:
    module = importlib.import_module(name)
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, DOMNode) and value.__module__ == name:
            yield from _of_class(value)


def _of_class(owner: type[DOMNode]) -> Iterator[Bound]:
    keys: dict[str, list[Binding]] = {}
    for one in Binding.make_bindings(owner.__dict__.get("BINDINGS", ())):
        if one.id:
            keys.setdefault(one.id, []).append(one)
    for id, parts in keys.items():
        yield Bound(
            id=id,
            keys=",".join(part.key for part in parts),
            description=parts[0].description,
            scope=owner.__name__,
            priority=parts[0].priority,
        )


# --- what the person binds otherwise ------------------------------------------------------------------------------------


def keymap_of(wanted: Mapping[str, str], there: Sequence[Bound]) -> tuple[dict[str, str], list[str]]:
    """The keymap that Textual is given, and what to tell of the rest: a key that would do two things at one place is left as
    it was, for the wrong one of them might be a yes."""
    by_id = {bound.id: bound for bound in there}
    keymap: dict[str, str] = {}
    notes: list[str] = []
    for id, keys in wanted.items():
        bound = by_id.get(id)
        wrong = [key for key in _split(keys) if not _is_key(key)]
        if bound is None:
            near = difflib.get_close_matches(id, by_id, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            notes.append(f"ui.keys: there is no {visible(id)}.{hint} /keys lists all; nothing was bound.")
        elif wrong or not _split(keys):
            said = visible(", ".join(wrong)) or "nothing"
            notes.append(f"ui.keys.{id}: {said} is no key; it stays {spelled_keys(bound.keys)}.")
        elif why := _is_text(bound, keys):
            notes.append(f"ui.keys.{id}: {why} It stays {spelled_keys(bound.keys)}.")
        else:
            keymap[id] = ",".join(_normal(key) for key in _split(keys))
    return _without_clashes(keymap, by_id, notes), notes


def _without_clashes(keymap: dict[str, str], by_id: Mapping[str, Bound], notes: list[str]) -> dict[str, str]:
    """Those that stand: one that is left out has its old keys again, so the others are looked at anew."""
    while True:
        clash = next(_clashes(keymap, by_id), None)
        if clash is None:
            break
        id, other, key = clash
        del keymap[id]
        notes.append(f"ui.keys.{id}: {key} is {other} already; it stays {spelled_keys(by_id[id].keys)}.")
    for id, other, key in _clashes(keymap, by_id, apart=True):
        notes.append(f"ui.keys.{id}: {key} is also {other}; what is nearer to the focus has it.")
    return keymap


def _clashes(
    keymap: Mapping[str, str], by_id: Mapping[str, Bound], apart: bool = False
) -> Iterator[tuple[str, str, str]]:
    """What is bound to a key that does something else at the same place already: id, the other id, key. apart: at another
    place, from which the key would reach it."""
    for id, keys in keymap.items():
        mine = by_id[id]
        for other in by_id.values():
            shared = set(keys.split(",")) & {_normal(key) for key in keymap.get(other.id, other.keys).split(",")}
            together = other.scope == mine.scope or other.group == mine.group
            reaches = not together and bool({other.scope, mine.scope} & _EVERYWHERE)
            if other.id != id and shared and (reaches if apart else together):
                yield id, other.id, spelled_keys(",".join(sorted(shared)))


def _split(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",") if key.strip()]


def _normal(key: str) -> str:
    """A key as Textual names it: `?` is `question_mark`, in any order of modifiers and any case of them."""
    *modifiers, last = key.split("+") if key != "+" else [key]
    if len(last) == 1 and not last.isalnum():
        names = {char: name for name in KEY_TO_UNICODE_NAME if (char := key_to_character(name))}
        last = names.get(last, last)
        last = {old: new for new, old in REPLACED_KEYS.items()}.get(last, last)
    return "+".join([*sorted(one.lower() for one in modifiers), last if len(last) == 1 else last.lower()])


def _is_key(key: str) -> bool:
    *modifiers, last = _normal(key).split("+")
    known = len(last) == 1 or last in {one.value for one in Keys} or key_to_character(last) or last in REPLACED_KEYS
    return bool(known) and set(modifiers) <= _MODIFIERS


def _is_text(bound: Bound, keys: str) -> str:
    """Why a character among these keys cannot be a key there, and what to write instead; empty: it can, or none is one."""
    key = next((key for key in _split(keys) if _is_typed(key)), "")
    if not key or not (bound.priority or bound.group == _INPUT):
        return ""
    told = "could not be typed any more" if bound.priority else "is text in the input"
    other = f"ctrl+{key.lower()}" if len(key) == 1 and key.isalpha() else "a key with ctrl or alt"
    return f"{visible(key)} {told}; write {other}, or one of f1 to f12."


def _is_typed(key: str) -> bool:
    *modifiers, last = _normal(key).split("+")
    char = last if len(last) == 1 else key_to_character(last) or ""
    return set(modifiers) <= {"shift"} and len(char) == 1 and char.isprintable()


def spelled_keys(keys: str, most: int = 3) -> str:
    """Keys as a person reads them: `ctrl+p, ?`."""
    return ", ".join(_spelled(key) for key in _split(keys)[:most])


def _spelled(key: str) -> str:
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, last if last in _AS_THEY_ARE else format_key(last)])


def keys_now(screen: Screen[object], most: int = 3) -> dict[str, str]:
    """The keys that do something from where the focus is, as a person reads them, by the ids of what they do."""
    found: dict[str, str] = {}
    for active in screen.active_bindings.values():
        found.setdefault(active.binding.id or "", spelled_keys(active.binding.key, most))
    return found


# --- the page -----------------------------------------------------------------------------------------------------------


class KeysScreen(Sheet):
    """Every key, by what it belongs to, and searched as one types."""

    DEFAULT_CSS = "KeysScreen Input { height: 1; border: none; padding: 0; }"
    HEADING = "Keys"

    def __init__(self, palette: Palette, there: Sequence[Bound], keymap: Mapping[str, str]) -> None:
        super().__init__(palette)
        self._there = there
        self._keymap = keymap

    def above(self) -> ComposeResult:
        yield Input(placeholder="search: what it does, its keys or its id", id="search")

    def on_input_changed(self) -> None:
        self.redraw()
        self._scroll.scroll_home(animate=False)

    def page(self, width: int) -> Text:
        """The keys that the search finds."""
        return keys_page(self._there, self._keymap, self.query_one(Input).value, width, self.palette)


def keys_page(there: Iterable[Bound], keymap: Mapping[str, str], search: str, width: int, palette: Palette) -> Text:
    """The page: a group, then a line for each of its bindings; its id where there is room, else on the next line."""
    words = search.lower().split()
    text = Text(no_wrap=True, overflow="ellipsis")
    group = ""
    for bound in there:
        keys = spelled_keys(keymap.get(bound.id, bound.keys), most=4)
        if not all(word in f"{bound.id} {bound.description} {keys}".lower() for word in words):
            continue
        if bound.group != group:
            text.append("\n" if group else "").append(f"{bound.group}\n", palette.heading)
            group = bound.group
        text.append_text(_row(bound, keys, bound.id in keymap, width, palette))
    if not group:
        text.append("No key does that.\n", palette.note)
    own = " Your own are marked *." if keymap else ""
    told = f'To bind others: in the settings file, [ui.keys], then a line "ID" = "KEYS".{own}'
    text.append("\n" + "\n".join(textwrap.wrap(told, max(width, 10))), palette.note)
    text.rstrip()
    return text


def _row(bound: Bound, keys: str, own: bool, width: int, palette: Palette) -> Text:
    row = Text("  ").append(keys + ("*" if own else ""), palette.accent)
    if width < 60:
        fits = row.cell_len + 2 + len(bound.id) <= width
        row.append(f"{'  ' if fits else chr(10) + ' ' * 4}{bound.id}\n", palette.dim)
        return row.append(f"    {cut(bound.description, width - 4)}\n", palette.text)
    row.append(" " * max(20 - cell_len(row.plain), 2))
    row.append(cut(bound.description, max(width - cell_len(row.plain) - len(bound.id) - 1, 8)), palette.text)
    row.append(" " * max(width - cell_len(row.plain) - len(bound.id), 1)).append(bound.id, palette.dim)
    return row.append("\n")
