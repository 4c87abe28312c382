"""A line session: `pegboard chat`. It knows the agent by its port alone; what the board has, slash commands show.

Prompts are read between turns, in the main thread (see `chat_lines`); during a turn the loop runs and shows what happens.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from pegboard import port
from pegboard.blocks import Problem
from pegboard.errors import ConfigError, PegboardError
from pegboard.events import AnyEvent, CallFinished, Note, Prompt, TurnEnded, Undone
from pegboard.policy import choices
from pegboard.restarting import Restart, hears_again, restarted
from pegboard.slash import BadCommand, Command
from pegboard.slashes import Slashes
from pegboard.terminal import spelled, visible

from pegboard_cli import chat_commands as slash
from pegboard_cli.app import INTERRUPTED, OK, USAGE
from pegboard_cli.call import belongs, show_result
from pegboard_cli.chat_again import watched
from pegboard_cli.chat_history import History
from pegboard_cli.chat_lines import Leave, TooLong, lines_of_stdin
from pegboard_cli.chat_signals import Signals
from pegboard_cli.front import Wishes, built, chosen
from pegboard_cli.interrupts import listening
from pegboard_cli.render import block_lines
from pegboard_cli.screen import Screen
from pegboard_cli.styles import Styles, columns, is_terminal, takes_colour
from pegboard_cli.talk import Talk, open_talk
from pegboard_cli.turn import EXIT
from pegboard_cli.typed_calls import read_call
from pegboard_cli.undo_lines import list_lines, undone_lines

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.models import Provider

MOST_ECHOED = 500
"""Characters of a prompt from a pipe that are repeated on stderr."""


class Chat:
    """A line session on one board. `code`: of the last turn, or what kept the session from going on."""

    def __init__(self, board: Board, wishes: Wishes) -> None:
        self.code = OK
        self._board = board
        self._wishes = wishes
        self._screen = Screen()
        self._out = Styles(takes_colour(sys.stdout))
        file = board.state / "history" if board.state else None
        self._slashes = Slashes(board.assembled.entries, board.loaded, board.switches.off)
        self._lines = lines_of_stdin(History(file), self._words, self._screen.say)
        self._echoes = not is_terminal(sys.stdin)
        self._model: str | None = None
        self._mode: str | None = None  # that the person chose here; "": none is to be on
        self._talk: Talk | None = None
        self.signals = Signals(self._give_up)
        self._me: asyncio.Task[object] | None = None
        self._again = False

    @property
    def talk(self) -> Talk:
        """The session that is open."""
        assert self._talk is not None, "run() opens one"
        return self._talk

    async def run(self) -> int:
        """Read prompts and answer them until there are no more; returns the exit code."""
        self._me = asyncio.current_task()
        await self._open(chosen(self._board, self._wishes))
        if self._again:
            hears_again()
        try:
            with listening(self.signals.press, self.signals.leave), watched(self._board, self._screen, self._where):
                await asyncio.sleep(0)  # Ctrl-C until here is the end
                self._show_where()
                while not self.signals.leaving and (line := self._read()) is not None:
                    await self._take(line)
        finally:
            if self._talk is not None:
                await self._talk.close.aclose()
        return self.code

    def _give_up(self) -> None:
        if self._me is not None:
            self._me.cancel()

    def _read(self) -> str | None:
        try:
            return self._lines.read(visible(self._mode_on))
        except Leave:
            self.signals.told_to_end = True
        except TooLong as error:
            self._complain(str(error))
            self.code = USAGE
        return None

    async def _take(self, line: str) -> None:
        """Do what one line says. What keeps it from being done is told; the session goes on."""
        if self._echoes:
            self._screen.say(
                *(self._screen.styles.dim(visible(f"> {part[:MOST_ECHOED]}")) for part in line.split("\n"))
            )
        try:
            meant = slash.read_line(line, self._slashes.names)
            if isinstance(meant, Command):
                await self._command(meant)
            elif meant:
                await self._ask(meant)
        except (BadCommand, PegboardError) as error:
            self._complain(str(error))

    async def _command(self, command: Command) -> None:
        board, width = self._board, columns(sys.stdout)
        match command.name:
            case "help":
                policy = self.talk.front.agent.policy
                self._print(slash.help_lines(board, command.rest, self._out, width, policy, self._slashes))
            case "tool":
                await self._call(*read_call(command.rest, board, usage=slash.COMMANDS["tool"][0]))
            case "sessions":
                self._print(slash.sessions_lines(board, self.talk.front.session.id, width))
            case "resume":
                meant = slash.session_meant(board, command.rest, self.talk.front.session.id)
                await self._open(meant.id)
                self._show_where()
            case "undo" if command.rest == "list":
                entries = board.undoing(self.talk.front.session).entries()
                self._print(list_lines(entries, width=width, sessions=False))
            case "undo":
                await self._undo(command.rest or None)
            case "new":
                await self._open(None)
                self._show_where()
            case "model":
                await self._choose(slash.read_model(command.rest))
            case "mode":
                await self._change_mode(command.rest)
            case "quit":
                self.signals.leaving = True
            case _:
                await self._of_board(command)

    async def _of_board(self, command: Command) -> None:
        """A slash command that the board has; a turn that it begins is followed."""
        agent = self.talk.front.agent
        before, begun = agent.turn, agent.begun
        doing = asyncio.ensure_future(self.talk.conversation.command(command.name, command.rest))
        async with self.signals.interruptible(self.talk.front, doing.cancel):
            await asyncio.wait([doing])
            if doing.cancelled():
                raise BadCommand(f"/{command.name} was stopped. What it had done until then is not known.")
            for block in doing.result():
                if isinstance(block, Problem):
                    self._complain(block.text)
                else:
                    self._print(block_lines(block, self._out, width=columns(sys.stdout)))
            if agent.begun != begun:
                ended = await self._follow(lambda event: event.turn is not None and event.turn == agent.turn != before)
                self.code = EXIT[ended.status]

    def _words(self, before: str) -> list[str]:
        return slash.completions(self._board, before, self._slashes, self._talk.conversation if self._talk else None)

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def _open(self, id: str | None, provider: Provider | None = None) -> None:
        """Open a session in the place of the one that is open. `provider`: of a model that was chosen already.

        Raises:
            SessionError, ConfigError: it cannot be; then the other one stays.
        """
        talk = await open_talk(
            self._board,
            self._wishes,
            id,
            slashes=self._slashes,
            model=self._model,
            provider=provider,
            screen=self._screen,
            before_question=self._lines.stash,
            mode=self._mode,
        )
        old, self._talk = self._talk, talk
        if old is not None:
            await old.close.aclose()

    def _where(self) -> Restart:
        """What a start in the place of this process would go on with."""
        return Restart(sessions=[self.talk.front.session.id], off=[], why="", model=self._model, mode=self._mode)

    def go_on(self, before: Restart) -> None:
        """With what a process before this one had chosen."""
        self._again, self._model, self._mode = True, before.model, before.mode
        self._board.notes.append(before.why)

    def _show_where(self) -> None:
        """What answers, where and with what; of a session that is gone on with, its last exchange."""
        self._screen.say(*self.talk.header)
        if self.talk.history:
            self._screen.say("", *self.talk.history, "")
        elif not self._echoes:
            self._screen.say(self._screen.styles.dim("/help lists commands, Ctrl-D leaves"))

    async def _choose(self, model: str) -> None:
        """`/model`: say which one answers, or go on with another."""
        if model:
            try:
                provider = self._board.provider(model)
            except ConfigError as error:
                raise BadCommand(str(error).replace("use --model ", "say /model ")) from None
            self._model = model
            old, self._talk = self.talk, None
            await old.close.aclose()  # two agents on one session at once would be one too many
            try:
                await self._open(old.front.session.id, provider)
            except PegboardError:
                self.signals.leaving = True  # there is nothing left to talk in
                raise
        self._screen.say(self.talk.header[0])

    @property
    def _mode_on(self) -> str:
        mode = self.talk.front.agent.mode
        return mode.name if mode is not None else ""

    async def _change_mode(self, name: str) -> None:
        """`/mode`: say which there are, or be in another from here on, in the sessions that follow in this process too."""
        if name:
            wanted = "" if name == "none" and name not in choices(self._board.loaded) else name
            await self.talk.front.agent.send(port.Mode(name=wanted or None))
            self._mode = wanted
            told = f"the mode is {wanted}" if wanted else "no mode is on"
            self._screen.say(self._screen.styles.dim(visible(told)))
            return
        self._print(slash.mode_lines(self._board, self._mode_on, self._out, columns(sys.stdout)))

    # --- a turn, or a call ----------------------------------------------------------------------------------------------

    async def _ask(self, text: str) -> None:
        """One turn, shown as it goes."""
        agent: port.Port = self.talk.front.agent
        before = agent.turn
        async with self.signals.interruptible(self.talk.front):
            await agent.send(port.Prompt(text=text))
            ended = await self._follow(lambda event: event.turn is not None and event.turn == agent.turn != before)
        self.code = EXIT[ended.status]

    async def _follow(self, ours: Callable[[AnyEvent], bool]) -> TurnEnded:
        """Show our turn until it is over. Of the turns that other processes ran here since, the prompts are shown."""
        front, styles = self.talk.front, self._screen.styles
        async for event in self.talk.events:
            mine = ours(event) or (isinstance(event, TurnEnded) and event.seq is None)
            if mine or (isinstance(event, Note | Undone) and event.turn is None):
                await front.take(event)
            elif isinstance(event, Prompt):
                told = visible(event.text.strip().split("\n", 1)[0])
                self._screen.say(styles.dim(f"(meanwhile, another process asked here: {told})"))
            if mine and isinstance(event, TurnEnded):
                await asyncio.sleep(0)  # let the turn let go of the session
                return event
        raise asyncio.CancelledError  # the agent was closed

    async def _undo(self, call: str | None) -> None:
        """`/undo`: take back what a call did to files."""
        agent, id = self.talk.front.agent, f"u{secrets.token_hex(4)}"
        async with self.signals.interruptible(self.talk.front):
            await agent.send(port.Undo(id=id, call=call))
            async for event in self.talk.events:
                if isinstance(event, Undone) and event.id == id:
                    if event.error is not None:
                        raise BadCommand(event.error)
                    self._print(undone_lines(event, self._out))
                    return

    async def _call(self, name: str, arguments: dict[str, object]) -> None:
        """`/tool`: one call by the person, and its result."""
        front, id = self.talk.front, f"t{secrets.token_hex(4)}"
        with front.quietly():
            async with self.signals.interruptible(self.talk.front):
                agent: port.Port = front.agent
                await agent.send(port.Call(id=id, name=name, arguments=arguments))
                async for event in self.talk.events:
                    if event.turn is None and belongs(event, id):
                        await front.take(event)
                    if isinstance(event, CallFinished) and event.id == id:
                        tool, told = self._board.registry.get(name), self._board.config.ui.show_errors
                        await show_result(event, tool, front.viewer, self._screen, told=told)
                        return

    # --- the rest -------------------------------------------------------------------------------------------------------

    def _print(self, lines: list[str]) -> None:
        self._screen.clear_tail()
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def _complain(self, text: str) -> None:
        self._screen.say(*(self._screen.styles.bad(f"! {line}") for line in spelled(text).split("\n")))


async def chat(wishes: Wishes) -> int:
    """Hold a line session; returns the exit code: 130 when it was told to end, else 0, or where prompts come from a pipe
    that of the last turn."""
    again = restarted()
    if again is not None:
        wishes = msgspec.structs.replace(wishes, session=again.sessions[0], resume=False, off=again.off)
    async with built(wishes) as board:
        held = Chat(board, wishes)
        if again is not None:
            held.go_on(again)
        code = await held.run()
        if held.signals.told_to_end:
            return INTERRUPTED
        return OK if is_terminal(sys.stdin) else code
