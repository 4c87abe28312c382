"""The whole app on a real board, with the core's own tools and a model that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import pegboard_tools_core
from pegboard.board import Board
from pegboard.conversation import Talk
from pegboard.entries import scan
from pegboard.hosting import Hosted
from pegboard.plugins import given
from pegboard.slashes import GROUP, Slashes
from pegboard.testing.scripted import Scripted, Step
from pegboard_tui.app import PegboardApp
from pegboard_tui.session import SessionView
from textual.pilot import Pilot


class Played(Hosted):
    """A host whose every session is answered by one script."""

    def __init__(self, board: Board, model: Scripted) -> None:
        super().__init__(board)
        self._model = model

    def open(self, id: str | None = None, *, model: str | None = None, mode: str | None = None) -> Talk:
        """Open a session."""
        session = self._board.session(id)
        agent = self._board.agent(session, answers="person", model=model or "scripted", provider=self._model)
        return Talk(self._board, session, agent, Slashes(self._board.assembled.entries, self._board.loaded))


class Playing:
    """The app while it runs, and what is on its screen."""

    def __init__(self, app: PegboardApp, pilot: Pilot[int | None], model: Scripted, root: Path) -> None:
        self.app = app
        self.pilot = pilot
        self.model = model
        self.root = root

    @property
    def view(self) -> SessionView:
        """The session that is looked at."""
        return self.app.view

    @property
    def screen(self) -> str:
        """What is on the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    async def send(self, line: str) -> None:
        """Write a line and send it."""
        self.view.composer.write(line)
        await self.pilot.press("enter")

    async def until(self, true: Callable[[str], object] | str, seconds: float = 60) -> str:
        """Wait until something is on the screen, or holds of it; returns the screen."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while not (true in (screen := self.screen) if isinstance(true, str) else true(screen := self.screen)):
            assert loop.time() < until, f"waited for {true!r}; the screen:\n{screen}"
            await self.pilot.pause(0.02)
        return screen


@asynccontextmanager
async def playing(
    folder: Path, *steps: Step, sets: Iterable[ModuleType] = (), settings: str = "", size: tuple[int, int] = (100, 40)
) -> AsyncIterator[Playing]:
    """The app in `folder/root`, which is made. sets: further modules that are tool sets, by their names."""
    root = folder / "root"
    root.mkdir(exist_ok=True)
    file = folder / "config.toml"
    file.write_text(settings, encoding="utf-8")
    board = Board.build(
        str(root),
        user_file=file,
        environ={"PEGBOARD_CONFIG": str(file)},
        state=folder / "state",
        extra=[
            given("core", "pegboard.toolsets", pegboard_tools_core, own=True),
            *(given(one.__name__, "pegboard.toolsets", one) for one in sets),
            *(entry for entry in scan() if entry.group == GROUP),
        ],
        discover=False,
    )
    model = Scripted(steps)
    host = Played(board, model)
    app = PegboardApp(host, host.open())
    try:
        async with app.run_test(size=size) as pilot:
            yield Playing(app, pilot, model, root)
    finally:
        await board.close()
