"""How the app is left: Ctrl-C, signals, and what nobody expected. What runs is ended first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from pegboard.errors import PegboardError
from pegboard.port import Host
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.widgets import TextArea

from pegboard_tui.clipboard import to_tmux
from pegboard_tui.looks import Looks
from pegboard_tui.session import SessionView
from pegboard_tui.sure import Sure
from pegboard_tui.transcript import Transcript
from pegboard_tui.working import work

OK, INTERRUPTED = 0, 130


class Ending(Looks):
    """An app that ends well. failure: what ended it that should not have. left: ids of the open sessions in which something
    happened. pressed: told of Ctrl-C in the thread that reads keys, whether the loop runs or not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+c", "interrupt", "copy what is selected, stop what runs, leave", id="app.interrupt", priority=True
        ),
        Binding("ctrl+q", "quit", "leave", id="app.quit", priority=True),
        Binding("ctrl+z", "suspend_process", "to the shell; fg comes back", id="app.suspend", priority=True),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.failure: BaseException | None = None
        self.left: list[str] = []
        self.pressed: Callable[[], object] = lambda: None
        self._leaving = False
        self._signal: str | None = None

    @property
    def views(self) -> Sequence[SessionView]:
        """The open sessions, in their order."""
        raise NotImplementedError

    @property
    def view(self) -> SessionView:
        """The one that is looked at."""
        raise NotImplementedError

    def get_driver_class(self) -> type[Driver]:
        """One that gives way when the terminal is gone, where there is one of ours."""
        found = super().get_driver_class()
        if found.__name__ != "LinuxDriver":
            return found
        from pegboard_tui.terminal import Terminal

        return Terminal

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _: self._came_back())

    def drawn_over(self) -> None:
        """Something else was written on the screen: Textual would draw only what has changed."""
        self._came_back()

    def _came_back(self) -> None:
        """From the shell, with an empty screen."""
        for screen in self.screen_stack:
            screen.refresh(layout=True)
            for widget in screen.walk_children():
                widget.refresh()

    # --- copying ------------------------------------------------------------------------------------------------------

    def on_transcript_copied(self, message: Transcript.Copied) -> None:
        self.copy(message.text, message.what)

    def copy(self, text: str, what: str = "text") -> None:
        """Put a text into the clipboard, as far as the terminal lets it."""
        self.copy_to_clipboard(text)
        work(self, partial(to_tmux, text, self.environ), "copying")
        lines = text.count("\n") + 1
        self.notify(f"copied {what}" + (f", {lines} lines" if lines > 1 else ""), markup=False, timeout=2)

    def _selected(self) -> str | None:
        """What is selected, in the input or elsewhere."""
        focused = self.focused
        if isinstance(focused, TextArea) and focused.selected_text:
            return focused.selected_text
        if text := self.screen.get_selected_text():
            return text
        return next((text for one in self.screen.query(Transcript) if (text := one.selected_text())), None)

    # --- ends ---------------------------------------------------------------------------------------------------------

    async def action_interrupt(self) -> None:
        """Ctrl-C."""
        if self._leaving:
            self.exit(INTERRUPTED)
        elif text := self._selected():
            self.copy(text)
            self.screen.clear_selection()
        elif isinstance(self.screen, Sure):
            self.screen.dismiss(True)
        elif len(self.screen_stack) > 1:
            self.screen.dismiss(None)
        else:
            match self.view.press():
                case "leave":
                    await self.action_quit()
                case "wait":
                    self.view.notify("once more, a moment later, leaves", markup=False, timeout=2)
                case _:
                    pass

    async def action_quit(self) -> None:
        """Leave; where that would lose something, ask before."""
        losses = []
        for view in self.views:
            lost = await self.losses(view)
            losses += [f"{view.title}: {one}" if len(self.views) > 1 else one for one in lost]
        if not losses:
            self.leave()
            return

        def sure(yes: bool | None) -> None:
            if yes:
                self.leave()

        self.push_screen(Sure(self.palette, "Leave? This ends, or is lost:", losses), sure)

    async def losses(self, view: SessionView) -> list[str]:
        """What closing a session would end, or lose."""
        try:
            jobs = await asyncio.to_thread(view.conversation.jobs)
        except (OSError, PegboardError):
            jobs = []
        return view.losses() + [f"in the background: {job.label}" for job in jobs if not job.over]

    def told_to_end(self, signal: str) -> None:
        """By a signal: what runs is ended first. Told again, the app ends now."""
        if signal == "SIGHUP" and self._driver is not None and not self.is_headless:
            from pegboard_tui.terminal import is_gone, let_go

            if is_gone():  # else somebody only said so: it is given back
                let_go()
        if self._leaving and self._signal == signal:
            self.exit(INTERRUPTED)
        self._signal = signal
        self.leave(signal)

    def leave(self, signal: str | None = None) -> None:
        """End what runs in every session, then the app."""
        if not self._leaving:
            self._leaving = True
            work(self, partial(self._leave, signal), "leaving")

    async def _leave(self, signal: str | None) -> None:
        try:
            if any(view.running for view in self.views):
                self.notify("ending what runs ...", markup=False)
            await asyncio.gather(*(view.end(signal) for view in self.views))
        finally:
            self.exit(INTERRUPTED if signal else OK)

    def _fatal_error(self) -> None:
        """Something was raised that nobody expected: it is told of in words when the terminal is restored."""
        self.failure = self.failure or self._exception
        self._close_messages_no_wait()
