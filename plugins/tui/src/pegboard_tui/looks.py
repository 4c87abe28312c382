"""How the app looks and is handled as a whole: its theme, what a terminal without colours gets, its side pane, help, keys
and palette of commands, and what it tells a person who looks elsewhere."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pegboard.port import Host
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.widget import Widget

from pegboard_tui.commands import offered
from pegboard_tui.drawing.look import Palette
from pegboard_tui.help import HelpScreen
from pegboard_tui.hints import Hints
from pegboard_tui.keys import Bound, KeysScreen, bindings, keymap_of
from pegboard_tui.notify import Notifier
from pegboard_tui.palette import Models, Modes, Sessions, SlashCommands, Themes, Toggles
from pegboard_tui.session import SessionView
from pegboard_tui.side import Side
from pegboard_tui.signs import Encoded, unicode_fits
from pegboard_tui.status import Status, facts_of
from pegboard_tui.themes import PLAIN, THEMES, chosen, colourless, filtered, palette_of

NARROW = 100
"""Columns below which the side pane lies over the transcript, and only when it is asked for."""


class Looks(App[int]):
    """What every screen of the app has. `told`: what the person should know of their settings of it, a note a line."""

    CSS_PATH = Path(__file__).with_name("pegboard.tcss")
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012 - as Textual has it
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-tiny"), (8, "-low"), (16, "-high")]  # noqa: RUF012 - the same
    COMMANDS: ClassVar = {SlashCommands, Themes, Sessions, Modes, Models, Toggles}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", "commands", id="app.palette", priority=True),
        Binding("f1", "help", "help", id="app.help"),
        Binding("f2", "side", "side pane", id="app.side"),
        Binding("f3", "keys", "all keys", id="app.keys"),
    ]

    def __init__(self, host: Host, environ: Mapping[str, str] | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        super().__init__()
        self.host = host
        self.animation_level = "none"
        self.told: list[str] = []
        self.keys: dict[str, str] = {}
        self._palette: Palette | None = None
        self._looked: SessionView | None = None
        self._standing: list[Widget] = []
        self._encoding = getattr(sys.__stderr__, "encoding", None)  # Textual writes there
        self.notifier = Notifier(host.ui.notify, self.environ, self.write_to_terminal)
        for theme in THEMES:
            self.register_theme(theme)
        name, note = chosen(host.ui.theme, self.available_themes, self.environ)
        self.theme = name
        self.no_color = name == PLAIN
        self.told += [note] if note else []

    def on_mount(self) -> None:
        for side in self.query(Side):
            side.set_class(not self.host.ui.side, "-closed")
        self.bind_keys()
        self.show_standing()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        view = self.looked_at
        if view is not None:
            for note in self.told:
                view.tell(note, "warning")

    # --- colours ------------------------------------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        """The styles of text under the theme that is on."""
        if self._palette is None:
            self._palette = palette_of(self.current_theme)
        return self._palette

    def watch_theme(self) -> None:
        """Everything is drawn anew in the colours of the theme."""
        self._palette = None
        self.no_color = self.theme == PLAIN or colourless(self.environ)
        for screen in self.screen_stack if self.is_running else ():
            for widget in screen.walk_children():
                if isinstance(getattr(widget, "palette", None), Palette):
                    widget.palette = self.palette  # type: ignore[attr-defined]
                    widget.refresh(layout=True)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """No colour where none is wanted, and no sign that the terminal cannot show."""
        kept = filtered(super().get_line_filters(), self.theme, self.no_color)
        return kept if unicode_fits(self._encoding) else [*kept, Encoded(self._encoding or "ascii")]

    def chosen_theme(self, name: str) -> str | None:
        """Take a theme, and keep it in the settings. Returns what went wrong, None when it is on and kept.

        Raises:
            PegboardError: it is on, but could not be kept.
        """
        if name not in self.available_themes:
            return f"there is no theme {name}; there are {', '.join(self.themes)}. It is as it was."
        self.theme = name
        self.host.keep("ui.theme", name)
        return None

    @property
    def themes(self) -> list[str]:
        """The themes there are, ours first."""
        ours = [theme.name for theme in THEMES]
        return [*ours, *sorted(set(self.available_themes) - set(ours))]

    # --- keys ---------------------------------------------------------------------------------------------------------

    def bind_keys(self) -> None:
        """Bind what the settings bind otherwise, and note what of it cannot be."""
        if wanted := self.host.ui.keys:
            self.keys, notes = keymap_of(wanted, bindings())
            self.told += notes
            self.set_keymap(self.keys)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The palette is over sessions alone: what it does is done in their input, and over a list its key is the list's."""
        if action == "command_palette" and len(self.screen_stack) > 1:
            return False
        return super().check_action(action, parameters)

    async def action_help(self) -> None:
        """Show the page of help."""
        view = self.looked_at
        signs = view.conversation.signs if view is not None else ()
        commands = await asyncio.to_thread(offered, self.host)
        self.push_screen(HelpScreen(self.palette, self.bound(), self.keys, commands, signs=signs))

    def action_keys(self) -> None:
        """Show what each key does."""
        self.push_screen(KeysScreen(self.palette, self.bound(), self.keys))

    def bound(self) -> list[Bound]:
        """Every binding of the app."""
        return bindings()

    # --- the side pane ------------------------------------------------------------------------------------------------

    def action_side(self) -> None:
        """Open or close the side pane. Over the transcript it has the focus, so that Esc closes it."""
        narrow = self.size.width < NARROW
        for side in self.screen_stack[0].query(Side):
            had = side.has_focus_within
            if side.toggle(narrow=narrow):
                self.show_standing()
                if narrow:
                    side.take_focus()
            elif had and (view := self.looked_at):
                view.take_focus()

    def on_section_left(self) -> None:
        if self.size.width < NARROW:
            self.action_side()
        elif view := self.looked_at:
            view.take_focus()

    # --- how a session stands -----------------------------------------------------------------------------------------

    @property
    def looked_at(self) -> SessionView | None:
        """The session that is seen."""
        if not self.screen_stack:
            return None  # the app ends
        if self._looked is None or not (self._looked.is_attached and self._looked.display):
            there = self.screen_stack[0].query(SessionView)
            self._looked = next((view for view in there if view.display), None)
        return self._looked

    def show_standing(self) -> None:
        """Show how the session that is seen stands: above it, below it, and in the side pane."""
        view = self.looked_at
        if view is None or not view.is_mounted:
            return
        facts, screen = facts_of(view), self.screen_stack[0]
        if not self._standing:  # searching for them each time something streams costs more than showing it
            self._standing = list(screen.query("Status, Hints, Side"))
        for widget in self._standing:
            if isinstance(widget, Status | Hints):
                widget.show(facts)
            elif isinstance(widget, Side):
                widget.show(view.fold, view.conversation)

    def heard(self, message: SessionView.Changed) -> None:
        """Something happened in a session: it is shown, and told where nobody looks."""
        if message.view is self.looked_at:
            self.show_standing()
        waiting = len(message.view.fold.questions) if message.asks else 0
        self.notifier.saw(ended=message.ended, waiting=waiting)

    # --- telling ------------------------------------------------------------------------------------------------------

    def on_app_focus(self, event: events.AppFocus) -> None:
        self.notifier.focused = True

    def on_app_blur(self, event: events.AppBlur) -> None:
        self.notifier.focused = False

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence of ours, if there is a terminal."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
