"""The app: sessions in a window, and what goes for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from pegboard.errors import PegboardError
from pegboard.port import Conversation, Host
from pegboard.terminal import visible
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher

from pegboard_tui.composer import Composer
from pegboard_tui.ending import Ending
from pegboard_tui.hints import Hints
from pegboard_tui.session import SessionView
from pegboard_tui.side import Side
from pegboard_tui.status import Status
from pegboard_tui.sure import Sure
from pegboard_tui.switching import Open, OpenSessions
from pegboard_tui.working import work


class PegboardApp(Ending):
    """Pegboard in the terminal. It returns the exit code.

    model, mode: those that sessions are opened with from here on; None: what the settings say. at_first: done when it is
    there."""

    TITLE = "pegboard"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "switch", "open sessions", id="sessions.switch"),
        Binding("f6", "resume", "past sessions", id="sessions.resume"),
        Binding("f7,ctrl+pageup", "turn(-1)", "the session before", id="sessions.previous", show=False),
        Binding("f8,ctrl+pagedown", "turn(1)", "the next session", id="sessions.next", show=False),
        Binding("f9", "new", "a new session", id="sessions.new"),
    ]

    def __init__(self, host: Host, first: Conversation, *, model: str | None = None, mode: str | None = None) -> None:
        super().__init__(host)
        self.model = model
        self.mode = mode
        self._first = first
        self.at_first: Callable[[], Awaitable[None]] | None = None
        self._count = 0
        self._closes: set[SessionView] = set()  # those that are about to be closed

    def compose(self) -> ComposeResult:
        view = self._view(self._first)
        if self.at_first is not None:  # who pressed Ctrl-C more than once meant what was, and does not want to leave
            view.presses.begin()
        yield Status(self.palette)
        yield OpenSessions(self.palette)
        with Horizontal():
            with ContentSwitcher(initial=view.id, id="sessions"):
                yield view
            yield Side(self.palette)
        yield Hints(self.palette)

    def _view(self, conversation: Conversation) -> SessionView:
        self._count += 1
        return SessionView(self.host, conversation, self.palette, id=f"session-{self._count}")

    def on_mount(self) -> None:
        self._list_sessions()
        if self.at_first is not None:
            self.call_later(self.at_first)

    # --- sessions -----------------------------------------------------------------------------------------------------

    @property
    def views(self) -> list[SessionView]:
        """The open sessions, in their order."""
        return list(self.screen_stack[0].query(SessionView)) if self.screen_stack else []

    @property
    def view(self) -> SessionView:
        """The one that is looked at."""
        return self.screen_stack[0].query_one(f"#{self._switcher.current}", SessionView)

    @property
    def _switcher(self) -> ContentSwitcher:
        return self.screen_stack[0].query_one("#sessions", ContentSwitcher)

    def look_at(self, view: SessionView) -> None:
        """Show this session."""
        self._switcher.current = view.id
        view.news = False
        view.take_focus()
        self._list_sessions()
        self.show_standing()

    async def open_session(self, id: str | None, *, in_place: bool = True) -> None:
        """Open a session beside the others, or look at it if it is open; id None: a new one. in_place: the one that was
        looked at gives way to it if nothing happened there. What keeps it from being opened is told."""
        if there := next((view for view in self.views if view.conversation.id == id), None):
            self.look_at(there)
            return
        try:
            conversation = self.host.open(id, model=self.model, mode=self.mode)
        except PegboardError as error:
            self.view.tell(str(error), "problem")
            return
        before, view = self.view, self._view(conversation)
        await self._switcher.mount(view)
        self.look_at(view)
        if in_place and before.untouched:
            await self.close_session(before)

    async def close_session(self, view: SessionView) -> None:
        """End what runs in a session, and close it; it is kept. In the place of the last one a new one is opened."""
        if view in self._closes or view not in self.views:
            return
        self._closes.add(view)
        try:
            if not self._others():
                await self.open_session(None)
            if not self._others():
                return  # none could be opened, which was told
            await view.end()
            await view.conversation.close()
            if view.conversation.id in self.left:
                self.left.remove(view.conversation.id)
            if self.view is view:
                self.look_at(self._others()[-1])
            await view.remove()
            self._list_sessions()
        finally:
            self._closes.discard(view)

    def _others(self) -> list[SessionView]:
        """The open sessions that stay open."""
        return [one for one in self.views if one not in self._closes]

    def _list_sessions(self) -> None:
        bar = self.screen_stack[0].query_one(OpenSessions)
        bar.show(self._open())

    def _open(self) -> list[Open]:
        now = self._switcher.current
        return [Open(view.id or "", view.conversation.id, view.title, view.mark, view.id == now) for view in self.views]

    def on_open_sessions_chosen(self, message: OpenSessions.Chosen) -> None:
        self.look_at(self.screen_stack[0].query_one(f"#{message.key}", SessionView))

    def on_session_view_changed(self, message: SessionView.Changed) -> None:
        self.heard(message)
        id = message.view.conversation.id
        if message.view.used and id not in self.left:
            self.left.append(id)
        if len(self.views) > 1:
            self._list_sessions()

    def action_turn(self, by: int) -> None:
        """Look at the next session."""
        views = self.views
        self.look_at(views[(views.index(self.view) + by) % len(views)])

    async def action_new(self) -> None:
        """Begin another session."""
        if self.view.untouched:
            self.notify("this one is new", markup=False, timeout=2)
        else:
            await self.open_session(None)

    def action_switch(self) -> None:
        """Show the open sessions."""
        from pegboard_tui.switcher import Switcher

        async def chosen(key: str | None) -> None:
            if key == "+":
                await self.action_new()
            elif key and key.startswith("-"):
                self.want_closed(self.screen_stack[0].query_one(f"#{key[1:]}", SessionView))
            elif key:
                self.look_at(self.screen_stack[0].query_one(f"#{key}", SessionView))

        self.push_screen(Switcher(self.palette, self._open()), chosen)

    def action_resume(self, search: str = "") -> None:
        """Choose a past session."""
        from pegboard_tui.picker import Picker

        async def chosen(id: str | None) -> None:
            if id is not None:
                await self.open_session(id)

        self.push_screen(Picker(self.host, self.palette, [v.conversation.id for v in self.views], search), chosen)

    def want_closed(self, view: SessionView) -> None:
        """Close a session, after asking where that would lose something."""
        work(self, partial(self._want_closed, view), "closing")

    async def _want_closed(self, view: SessionView) -> None:
        def sure(yes: bool | None) -> None:
            if yes:  # what runs may take its time to end
                work(self, partial(self.close_session, view), "closing")

        if losses := await self.losses(view):
            self.push_screen(Sure(self.palette, f"Close this session? {view.title}", losses), sure)
        else:
            sure(True)

    # --- what commands want -------------------------------------------------------------------------------------------

    async def on_session_view_wanted(self, message: SessionView.Wanted) -> None:
        view, rest = message.view, message.rest
        match message.name:
            case "new":
                await self.action_new()
            case "sessions":
                self.action_resume()
            case "resume" if rest:
                await self._resume(rest)
            case "resume":
                self.action_resume()
            case "close":
                self.want_closed(view)
            case "theme":
                self._theme(view, rest)
            case "keys":
                self.action_keys()
            case "mode":
                self.mode = rest
            case "model":
                self.model = rest
            case "quit":
                await self.action_quit()
            case name:
                raise ValueError(f"no session can want {name}")

    async def _resume(self, given: str) -> None:
        """Open the session that has this id, or whose id alone begins so; else let the person choose."""
        past = await asyncio.to_thread(self.host.past)
        found = [one.id for one in past if one.id == given] or [one.id for one in past if one.id.startswith(given)]
        if len(found) == 1:
            await self.open_session(found[0])
        else:
            self.action_resume(given)

    def _theme(self, view: SessionView, name: str) -> None:
        if not name:
            there = "\n".join(f"{'*' if one == self.theme else ' '} {one}" for one in self.themes)
            view.tell(f"{there}\n/theme NAME takes another, from here on")
            return
        try:
            problem = self.chosen_theme(name)
        except PegboardError as error:
            problem = f"the theme is {name}, but not the next time: {error}"
        if problem:
            view.tell(problem, "problem")

    def on_composer_trouble(self, message: Composer.Trouble) -> None:
        self.notify(visible(message.text), severity="warning", markup=False)
