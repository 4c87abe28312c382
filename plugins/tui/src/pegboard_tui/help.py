"""Help: what the keys, `/`, `@` and the signs of tools do, on a page; the welcome of a session without a word in it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from pegboard.blocks import AnyBlock, Markdown, Note
from pegboard.port import Conversation, Host, Offered
from pegboard.terminal import visible
from rich.cells import cell_len
from rich.text import Text

from pegboard_tui.drawing.look import Palette
from pegboard_tui.keys import Bound, spelled_keys
from pegboard_tui.sheet import Sheet
from pegboard_tui.signs import cut
from pegboard_tui.status import home

_KEYS = (
    "input.send",
    "input.newline",
    "input.steer",
    "session.end_turn",
    "app.interrupt",
    "app.palette",
    "app.side",
    "app.keys",
    "app.quit",
)
"""The keys that a person is told first; those that are not bound are left out."""
_SIGNS = (
    ("/name", "a command; Tab completes it, /help NAME says more"),
    ("@path", "a file of this folder, found as you type"),
)
_RUN = "a command that you run yourself, as the agent would"


def welcome(host: Host, conversation: Conversation) -> list[AnyBlock]:
    """What stands in a new session: who answers and where, what one should know, three things to try."""
    first, *notes = conversation.header or [conversation.model]
    tries = ["`/help` for the commands and keys", "`@file` to show it a file"]
    tries += [f"`{sign}command` to run a command yourself" for sign in conversation.signs[:1]]
    lines = [f"**Pegboard {host.version}** in `{home(host.root)}`", "", "Say what is to be done, or try", ""]
    return [
        Markdown(text="\n".join([*lines, *(f"- {one}" for one in tries)])),
        Note(text=first),
        *(Note(text=note) for note in notes),
    ]


class HelpScreen(Sheet):
    """The page. commands: those there are, of the app and of plugins. signs: with which a line begins that is run."""

    HEADING = "Help"

    def __init__(
        self,
        palette: Palette,
        there: Sequence[Bound],
        keymap: Mapping[str, str],
        commands: Sequence[Offered],
        *,
        signs: Sequence[str] = (),
    ) -> None:
        super().__init__(palette)
        self._there = {bound.id: bound for bound in there}
        self._keymap = keymap
        self._commands = commands
        self._signs = signs

    def page(self, width: int) -> Text:
        """What does what."""
        return help_page(self._there, self._keymap, self._commands, width, self.palette, signs=self._signs)


def help_page(
    there: Mapping[str, Bound],
    keymap: Mapping[str, str],
    commands: Sequence[Offered],
    width: int,
    palette: Palette,
    *,
    signs: Sequence[str] = (),
) -> Text:
    """The page, no line of it wider than there is room. signs: with which a line begins that is run."""
    text = Text(no_wrap=True, overflow="ellipsis")
    keys = [
        (spelled_keys(keymap.get(id, there[id].keys), 2 if width >= 60 else 1), there[id].description)
        for id in _KEYS
        if id in there
    ]
    _part(text, "Keys", keys, width, palette)
    _part(text, "In the input", [*_SIGNS, *((f"{sign}command", _RUN) for sign in signs)], width, palette)
    _part(text, "Commands", [(f"/{one.name}", one.help) for one in commands], width, palette)
    text.rstrip()
    return text


def _part(text: Text, title: str, rows: Sequence[tuple[str, str]], width: int, palette: Palette) -> None:
    if not rows:
        return
    text.append("\n" if text else "").append(f"{title}\n", palette.heading)
    column = min(max(cell_len(name) for name, _ in rows) + 2, width // 2)
    for name, what in rows:
        name = cut(visible(name), column - 1)
        text.append("  ").append(name, palette.accent).append(" " * (column - cell_len(name)))
        pieces = textwrap.wrap(visible(what), max(width - column - 2, 8)) or [""]
        text.append(f"\n{' ' * (column + 2)}".join(pieces) + "\n", palette.text)
