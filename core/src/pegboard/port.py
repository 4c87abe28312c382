"""The port: all that a front end knows of an agent. Operations in, events out.

Questions are answered by id, so that they can be replayed and can cross a wire. A front end that is more than a view of
one session (it lists past ones, completes names, switches models) is given a `Host` besides; `pegboard.hosting` has the
one that stands on a board, and a test or another program may bring its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec

from pegboard.blocks import Activity, AnyBlock
from pegboard.events import AnyEvent, CallAsked, CallFinished

if TYPE_CHECKING:
    from pegboard.config.schema import UISettings


class Operation(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag=str.lower):
    """Base of the closed union `AnyOperation`."""


class Prompt(Operation, frozen=True, kw_only=True):
    """Start a turn with this text."""

    text: str
    by: str = "person"


class Answer(Operation, frozen=True, kw_only=True):
    """Reply to `approval_asked` or `question_asked` with this id. text: the answer to a question, one of its options where
    it is not free; None dismisses it.

    remember: with a yes, where it stands for calls like this one: in this session, in this project, in every project of
    the user; None: for this call alone. It is kept only where the question offered that. pattern: in place of the patterns
    that were offered, in their order. arguments: with a yes, what the call is to be made with instead; they are validated,
    guarded and decided again."""

    id: str
    granted: bool = False
    reason: str | None = None
    text: str | None = None
    remember: Literal["session", "project", "user"] | None = None
    pattern: tuple[str, ...] | None = None
    arguments: Mapping[str, Any] | None = None


class Steer(Operation, frozen=True, kw_only=True):
    """Say something to the running turn; the model reads it before its next step. A `prompt` of the turn says that it did;
    what a turn has not read at its end is dropped."""

    text: str


class Call(Operation, frozen=True, kw_only=True):
    """Make one call outside a turn, as a person's, down the same road as a model's. `id`: new in this session; its events
    bear it, and the last of them is `call_finished`, whatever becomes of the call."""

    id: str
    name: str
    arguments: Any = msgspec.field(default_factory=dict)


class Interrupt(Operation, frozen=True, kw_only=True):
    """End the running turn, and calls outside one. Calls that run are stopped and become `interrupted`. `signal`: what told
    Pegboard to end, such as SIGTERM, where no person did."""

    signal: str | None = None


class Cancel(Operation, frozen=True, kw_only=True):
    """Stop one running call (the turn goes on); without an id, all that run."""

    call: str | None = None


class Undo(Operation, frozen=True, kw_only=True):
    """Take back what the last call that changed files (or this one, or this undo) did to them.

    `id`: new in this session. `undone` bears it: the durable one, or one that is not in the log and has an `error`."""

    id: str
    call: str | None = None


class Mode(Operation, frozen=True, kw_only=True):
    """From now on be in this mode; without a name, in none. Not while a turn runs. An unknown name is an error of `send`."""

    name: str | None = None


AnyOperation: TypeAlias = Prompt | Answer | Steer | Call | Interrupt | Cancel | Undo | Mode


class Port(Protocol):
    """What an agent offers to front ends; each viewer reads at its own pace.

    A prompt that was taken is always answered by a `turn_ended`: that of its turn, or one without a number (`seq` and
    `turn` are null) that says why no turn was begun."""

    @property
    def turn(self) -> int | None:
        """The number of the turn that was last begun here; other processes may have run others in this session."""

    async def send(self, operation: AnyOperation) -> None:
        """Hand in an operation. Returns when it is taken, not when it is done."""

    def events(self, since: int = 0) -> AsyncIterator[AnyEvent]:
        """Durable events after number `since`, then all that follows, ephemeral ones between."""


# --- a front end of several sessions ------------------------------------------------------------------------------------


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A call as a person is shown it. `arguments`: as its tool reads them, where it can.

    echo: its result is worth showing below its line: its tool says so, or a person made the call. commands: it runs
    commands, so what it prints is a terminal's output.
    ignored: names of arguments that no parameter takes."""

    tool: str
    activity: Activity
    arguments: Any = None
    echo: bool = False
    commands: bool = False
    ignored: Sequence[str] = ()


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a list. `changed`: seconds since 1970. `title`: its first request. `here`: it is of this root.
    `status`: of its last turn; open, when that has not ended; unreadable, when the log is not of this version."""

    id: str
    title: str
    changed: float
    turns: int
    root: str
    here: bool
    status: str | None = None


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool set adds to every request. `tools`: the names of those that are offered now."""

    set: str
    tools: list[str]
    bytes: int
    tokens: int


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A program in the background. `label`: what it was started as. `state`: how it stands, in words, with how long it took
    or has run. `over`: nothing of it runs any more."""

    id: str
    label: str
    state: str
    over: bool


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """A slash command that the board has. `usage`: `/explain NAME k=v ...`. `owner`: the distribution it comes from."""

    name: str
    usage: str
    help: str
    owner: str


class Typed(msgspec.Struct, frozen=True, kw_only=True):
    """A line that a person typed with a prefix, as the call it means: `!ls` is a call of the tool that declares `!`."""

    tool: str
    arguments: dict[str, Any]


class Conversation(Protocol):
    """One open session: its agent's port, and what a front end shows of it."""

    @property
    def port(self) -> Port:
        """Operations in, events out."""

    @property
    def id(self) -> str:
        """The session's name."""

    @property
    def model(self) -> str:
        """Who answers: `provider/name`."""

    @property
    def mode(self) -> str | None:
        """The mode that is on; None: none is."""

    @property
    def last(self) -> int:
        """The number of the last event that was in its log when it was opened; 0: it was new. What follows happens now."""

    def plain(self, model: str) -> bool:
        """Whether what that model says is plain text; of one that does not answer here now it is not known: False."""

    def awaits(self, id: str) -> bool:
        """Whether the question with this id waits for an answer, and here: one of another process does not."""

    @property
    def header(self) -> list[str]:
        """What answers, in a line of its own words, then what a person should know before the start, a note a line."""

    @property
    def context(self) -> int | None:
        """How many tokens the model reads at most; None where its provider does not say."""

    def describe(self, asked: CallAsked, arguments: Any = None) -> Described:
        """A call in a person's words. `arguments`: those it would run with, where they are other ones than it came with."""

    async def draw(self, asked: CallAsked, finished: CallFinished) -> list[AnyBlock]:
        """What a plugin's renderer makes of the result's data; empty: nothing better than its text. Never raises."""

    def costs(self) -> list[Cost]:
        """What each set adds to every request of this session, in the mode that is on."""

    @property
    def unasked(self) -> str:
        """What lets calls run that a person may want to be asked about: `--yes`, or the mode that is on; "": nothing."""

    def jobs(self) -> list[Job]:
        """The session's programs in the background, oldest first. It reads files: call it in a thread."""

    async def command(self, name: str, rest: str) -> list[AnyBlock]:
        """Do a slash command of the board's, and return what it shows. One that fails returns a problem. Never raises."""

    def complete(self, name: str, rest: str) -> list[str]:
        """What could stand after `/name rest`: whole words for the last one that was begun."""

    @property
    def signs(self) -> Sequence[str]:
        """The prefixes that tools declare, in the order in which a line is held against them."""

    def typed(self, line: str) -> Typed | None:
        """The call that a line means which begins with a tool's prefix; None: it is a prompt."""

    def pattern_problem(self, pattern: str, command: str) -> str | None:
        """Why a person's "always" may not keep this pattern for this command (of `ApprovalAsked.commands`); None: it may."""

    async def close(self) -> None:
        """End what runs, and let go of the session. Again does nothing."""


class Host(Protocol):
    """What a front end is given: a way to open sessions, and what it shows beside them."""

    @property
    def root(self) -> str:
        """The workspace root."""

    @property
    def version(self) -> str:
        """Pegboard's."""

    @property
    def ui(self) -> UISettings:
        """The settings of front ends."""

    @property
    def history(self) -> Path | None:
        """Where the prompts of this project are kept from one session to the next; None: nowhere."""

    @property
    def disabled(self) -> frozenset[str]:
        """Names of plugins that the settings switch off."""

    def open(self, id: str | None = None, *, model: str | None = None, mode: str | None = None) -> Conversation:
        """Open a session, making it if it is missing; id None: a fresh one. `mode`: "" is none; None: what the settings say.

        Raises:
            PegboardError: it cannot be opened; nothing is held then.
        """

    def past(self) -> list[Past]:
        """Sessions of any root that had a turn, the latest first. It reads files: call it in a thread."""

    def latest(self) -> str | None:
        """The last session of this root; None: there is none."""

    async def files(self) -> list[str]:
        """Every file of the workspace that ignore rules leave, by its path from the root; cut at a hundred thousand."""

    def commands(self) -> list[Offered]:
        """The slash commands that plugins bring, in the order of their names. Imports those plugins."""

    def models(self) -> list[str]:
        """Names that `open(model=)` takes and that are known without asking anybody: of configured providers, offline."""

    def modes(self) -> Mapping[str, str]:
        """The modes there are, with what each is for."""

    def keep(self, key: str, value: Any) -> str:
        """Write a setting into the user's own file; returns which file.

        Raises:
            PegboardError: it cannot be written, or the value does not fit; nothing was changed.
        """
