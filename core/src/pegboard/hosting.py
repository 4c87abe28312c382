"""A `pegboard.port.Host` that stands on a board: what a front end of several sessions is given.

board = Board.build(root=".")
host = Hosted(board)
conversation = host.open()
await conversation.port.send(port.Prompt(text="hello"))
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard import __version__
from pegboard.board import EMBEDDED, Board
from pegboard.conversation import Talk
from pegboard.desk import Answers
from pegboard.policy import choices, mode_of
from pegboard.port import Offered, Past
from pegboard.session import latest, sessions
from pegboard.slashes import Slashes
from pegboard.wire import clean

if TYPE_CHECKING:
    from pegboard.config.schema import UISettings

MOST_FILES = 100_000
"""Files of a workspace that are offered by name."""
_UNREADABLE = "unreadable"


class Hosted:
    """A `pegboard.port.Host` on a board. answers: who answers questions for permission; see `Board.agent`."""

    def __init__(self, board: Board, *, answers: Answers = "person") -> None:
        self._board = board
        self._answers = answers
        self._slashes = Slashes(board.assembled.entries, board.loaded, board.switches.off)

    @property
    def root(self) -> str:
        """The workspace root."""
        return self._board.root

    @property
    def version(self) -> str:
        """Pegboard's."""
        return __version__

    @property
    def ui(self) -> UISettings:
        """`[ui]`."""
        return self._board.config.ui

    @property
    def history(self) -> Path | None:
        """Where this project's prompts are kept."""
        if self._board.state is None:
            return None
        return self._board.state / "prompts" / sha256(os.fsencode(self._board.root)).hexdigest()[:16]

    @property
    def disabled(self) -> frozenset[str]:
        """`plugins.disable`."""
        return frozenset(self._board.config.plugins.disable)

    def open(self, id: str | None = None, *, model: str | None = None, mode: str | None = None) -> Talk:
        """Open a session."""
        if mode:
            mode_of(self._board.loaded, mode)  # before anything is held
        session = self._board.session(id)
        try:
            agent = self._board.agent(session, answers=self._answers, model=model)
            if mode is not None:
                agent.enter(mode or None)
        except BaseException:
            session.close()
            raise
        return Talk(self._board, session, agent, self._slashes)

    def past(self) -> list[Past]:
        """Sessions, the latest first."""
        folder = self._board.sessions_folder
        here = clean(self._board.root)
        return [
            Past(
                id=one.id,
                title=one.title,
                changed=one.changed,
                turns=one.turns,
                root=one.root or "",
                here=one.root == here,
                status=one.status,
            )
            for one in (sessions(folder) if folder else [])
            if one.turns or one.status == _UNREADABLE
        ]

    def latest(self) -> str | None:
        """The last session of this root."""
        folder = self._board.sessions_folder
        return latest(folder, self._board.root) if folder else None

    async def files(self) -> list[str]:
        """Files that ignore rules leave and that may be read."""
        from pegboard.kit.walk.mention import mentionable

        board = self._board

        def refused(path: str) -> bool:
            return board.workspace.refusal("read", path) is not None or board.policy.door("read", path) is not None

        return await asyncio.to_thread(mentionable, board.root, board.config.search, refused, MOST_FILES)

    def commands(self) -> list[Offered]:
        """The slash commands there are."""
        return self._slashes.all()

    def models(self) -> list[str]:
        """Models that are known by name."""
        found = [self._board.config.model or ""]
        for name, table in self._board.config.providers.items():
            listed = table.get("models")
            models = [*(listed if isinstance(listed, list) else []), table.get("model")]
            named = [f"{name}/{model}" for model in models if isinstance(model, str) and model]
            found += named or [name]
        return list(dict.fromkeys([*filter(None, found), EMBEDDED]))

    def modes(self) -> Mapping[str, str]:
        """The modes there are."""
        return choices(self._board.loaded)

    def keep(self, key: str, value: Any) -> str:
        """Write a setting into the user's own file."""
        from pegboard.config.keeping import insist_on_key, key_of
        from pegboard.config.places import below_home
        from pegboard.config.write import set_key

        file, parts = self._board.assembled.user_file, key_of(key)
        insist_on_key(parts, value)
        set_key(file, parts, value)
        return below_home(file, self._board.environ)
