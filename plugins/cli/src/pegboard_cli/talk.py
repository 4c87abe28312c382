"""One open session of `pegboard chat`, and how it is opened."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple

from pegboard.conversation import Talk as Conversation
from pegboard.events import AnyEvent

from pegboard_cli.chat_commands import last_exchange
from pegboard_cli.front import Front, Wishes
from pegboard_cli.screen import Screen
from pegboard_cli.styles import is_terminal
from pegboard_cli.turn import header

if TYPE_CHECKING:
    from pegboard.agent import Agent
    from pegboard.board import Board
    from pegboard.context import Lasts
    from pegboard.models import Provider
    from pegboard.slashes import Slashes


class Talk(NamedTuple):
    """One open session: its front, what the board's slash commands are given, what happens in it from here on, how it is
    called, and how it is closed."""

    front: Front[Agent]
    conversation: Conversation
    events: AsyncIterator[AnyEvent]
    header: list[str]
    history: list[str]
    close: AsyncExitStack


async def open_talk(
    board: Board,
    wishes: Wishes,
    id: str | None,
    *,
    slashes: Slashes,
    model: str | None,
    provider: Provider | None,
    screen: Screen,
    before_question: Callable[[], object],
    mode: str | None = None,
) -> Talk:
    """Open a session with an agent of its own. id None: a fresh one. `provider`: of a model that was chosen already. mode:
    that was chosen already, "" is none; left out, the configuration says.

    Raises:
        SessionError, ConfigError: it cannot be; nothing is held then.
    """
    async with AsyncExitStack() as stack:
        session = board.session(id)
        stack.callback(session.close)
        lasts: Lasts = "session" if is_terminal(sys.stdin) else "turn"  # prompts from a pipe end, and jobs with them
        agent = board.agent(session, answers=wishes.answers, model=model, provider=provider, lasts=lasts)
        stack.push_async_callback(agent.close)
        if mode is not None:
            agent.enter(mode or None)
        front = Front(board, session, agent, wishes, screen=screen, before_question=before_question)
        events = agent.events(session.last)
        history = last_exchange(list(session.read()), screen.styles) if session.last else []
        conversation = Conversation(board, session, agent, slashes)
        return Talk(front, conversation, aiter(events), header(front), history, stack.pop_all())
