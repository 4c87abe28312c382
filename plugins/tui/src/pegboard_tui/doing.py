"""What the app's own slash commands do in one session. Those that are about the whole app are handed up to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from pegboard import port
from pegboard.blocks import AnyBlock, Diff, Note, Problem, Table, Text
from pegboard.errors import PegboardError
from pegboard.slash import BadCommand, Command
from pegboard.terminal import visible

from pegboard_tui.commands import LOCAL, offered, read_call
from pegboard_tui.items import Made, Said, Thought
from pegboard_tui.sending import fresh

if TYPE_CHECKING:
    from pegboard.port import Host, Offered

    from pegboard_tui.session import SessionView

PAGES = "tools"
"""The command of the board's that shows a tool's page, where it is installed."""
LONG = 1.0
"""Seconds after which it is said that a command goes on."""
NOTES = """\
A line goes to the model. One that begins with a slash and a word is a command; with a space in front, or a second slash, \
it is not.
While a turn runs, what is sent waits for its end; /keys says which key tells it to the running turn.
Ctrl-C stops the running call; pressed again, or with none running, it ends the turn, as Esc does; with nothing running \
it leaves."""


class Doing:
    """Does commands in one session."""

    def __init__(self, view: SessionView, host: Host) -> None:
        self._view = view
        self._host = host
        self._running: set[asyncio.Future[list[AnyBlock]]] = set()
        self._acts: dict[str, Callable[[str], Awaitable[None]]] = {
            "help": self._help,
            "tool": self._tool,
            "mode": self._mode,
            "model": self._model,
            "undo": self._undo,
            "copy": self._copy,
            "thinking": self._thinking,
        }

    async def do(self, command: Command) -> None:
        """Do a command of the app's or of the board's, and show what it shows.

        Raises:
            BadCommand, PegboardError: it cannot be done; nothing was.
        """
        view = self._view
        if command.name in self._acts:
            await self._acts[command.name](command.rest)
        elif command.name in LOCAL:
            view.post_message(view.Wanted(view, command.name, command.rest))
        else:
            await self._of_board(command)

    async def _of_board(self, command: Command) -> None:
        doing = asyncio.ensure_future(self._view.conversation.command(command.name, command.rest))
        self._running.add(doing)
        try:
            if not (await asyncio.wait([doing], timeout=LONG))[0]:
                self._view.tell(f"/{command.name} goes on; Ctrl-C stops it")
            await asyncio.wait([doing])
        finally:
            self._running.discard(doing)
            doing.cancel()
        if doing.cancelled():
            raise BadCommand(f"/{command.name} was stopped. What it had done until then is not known.")
        self._show(doing.result(), f"/{command.name} {command.rest}".strip())

    def stop(self) -> bool:
        """Stop commands of the board's that run; False: there are none."""
        running = list(self._running)
        for doing in running:
            doing.cancel()
        return bool(running)

    def _show(self, blocks: list[AnyBlock], title: str) -> None:
        view = self._view
        view.show([view.fold.show(blocks, visible(title))])

    async def _help(self, name: str) -> None:
        there = await asyncio.to_thread(offered, self._host)
        if not name:
            rows = [[one.usage, one.help] for one in there]
            self._show([Table(columns=["command", "what it does"], rows=rows), Note(text=NOTES)], "/help")
            return
        found = next((one for one in there if one.name == name.removeprefix("/")), None)
        if found is None:
            await self._help_on_tool(name, there)
            return
        whose = "" if found.name in LOCAL else f" ({found.owner})"
        self._show([Text(text=f"{found.usage}\n{found.help}{whose}")], f"/help {found.name}")

    async def _help_on_tool(self, name: str, there: Sequence[Offered]) -> None:
        """A tool's page, which a command of the board's shows."""
        blocks: list[AnyBlock] = []
        if not name.startswith("/") and any(one.name == PAGES for one in there):
            blocks = await self._view.conversation.command(PAGES, name)
        if not blocks or all(isinstance(block, Problem) for block in blocks):
            raise BadCommand(f"there is neither a command nor a tool {name}; /help and /tools list those there are")
        self._show(blocks, f"/help {name}")

    async def _tool(self, rest: str) -> None:
        name, arguments = await asyncio.to_thread(read_call, rest, self._host.root)
        await self._view.sending.call(name, arguments)

    async def _mode(self, name: str) -> None:
        view, modes = self._view, self._host.modes()
        now = view.conversation.mode
        if not name:
            rows = [["*" if one == now else "", one, text] for one, text in modes.items()]
            told = f"the mode is {now}" if now else "no mode is on"
            note = Note(text=f"{told}. /mode NAME changes it, /mode none ends it.")
            self._show([Table(columns=["", "mode", "what it is for"], rows=rows), note], "/mode")
            return
        wanted = None if name == "none" and name not in modes else name
        await view.conversation.port.send(port.Mode(name=wanted))
        view.post_message(view.Wanted(view, "mode", wanted or ""))
        view.tell(f"the mode is {wanted}" if wanted else "no mode is on")

    async def _model(self, name: str) -> None:
        view, now = self._view, self._view.conversation.model
        if not name:
            rows = [["*" if one == now else "", one] for one in dict.fromkeys([now, *self._host.models()])]
            self._show(
                [Table(columns=["", "model"], rows=rows), Note(text="/model NAME lets another answer.")], "/model"
            )
            return
        before, slash, after = name.partition("/")
        if slash and not (before and after):
            raise BadCommand(f"{name}: write /model PROVIDER/MODEL. The model is as it was.")
        gone = [job.label for job in await asyncio.to_thread(view.conversation.jobs) if not job.over]
        if view.running:  # now, and not before the thread: a turn may have begun meanwhile
            raise BadCommand("something runs; wait for its end, or stop it. The model is as it was.")
        try:
            await view.change_model(name)
        except PegboardError as error:
            raise BadCommand(
                f"{error} {view.conversation.model} goes on answering.".replace("--model ", "/model ")
            ) from None
        view.post_message(view.Wanted(view, "model", view.conversation.model))
        view.tell(view.conversation.header[0])
        if gone:
            view.tell(f"what ran in the background was ended: {', '.join(gone)}", "warning")

    async def _undo(self, call: str) -> None:
        view = self._view
        if call != "list":
            await view.conversation.port.send(port.Undo(id=fresh("u"), call=call or None))
            return
        changed = [made for made in view.fold.calls if _diffs(made)]
        if not changed:
            self._show([Note(text="no call of this session has changed files")], "/undo list")
            return
        rows = [[made.asked.id, made.asked.summary, ", ".join(d.path for d in _diffs(made))] for made in changed[::-1]]
        note = Note(text="/undo CALL puts back what that call changed; without it, the last one.")
        self._show([Table(columns=["call", "what it did", "files"], rows=rows), note], "/undo list")

    async def _copy(self, which: str) -> None:
        answers = [item.text for item in self._view.fold.items if isinstance(item, Said) and item.text.strip()]
        if which and not which.isdigit():
            raise BadCommand(f"/copy {which}: N is a number, 1 for the last answer. Nothing was copied.")
        number = int(which or 1)
        if not 1 <= number <= len(answers):
            there = f"there are {len(answers)} answers" if answers else "there is no answer yet"
            raise BadCommand(f"{there}; nothing was copied")
        self._view.post_message(self._view.transcript.Copied(answers[-number], "the answer"))

    async def _thinking(self, _: str) -> None:
        view = self._view
        view.thinking = not view.thinking
        thoughts = [item for item in view.fold.items if isinstance(item, Thought)]
        for item in thoughts:
            item.folded = not view.thinking
            item.touch()
        view.show(thoughts)
        self._view.notify("reasoning is shown" if view.thinking else "reasoning is hidden", markup=False, timeout=2)


def _diffs(made: Made) -> list[Diff]:
    return [block for block in (made.finished.blocks if made.finished else ()) if isinstance(block, Diff)]
