"""What a running tool is given.

A parameter annotated `Context` is injected and never part of the schema. In `async def` tools `ask`, `call` and `run` are
awaited and it is `async with ctx.commit()`; in `def` tools, which run in a worker thread, the same names block (annotate
`SyncContext` for exact types); in `inline` tools they raise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.calls import Record, Touch
    from pegboard.config.schema import Config
    from pegboard.kit.jobs import Job, Piece
    from pegboard.kit.output import Sink
    from pegboard.kit.process import Finished
    from pegboard.kit.ran import Moved
    from pegboard.kit.seen import SeenFiles
    from pegboard.kit.workspace import Workspace
    from pegboard.kit.writer import Writer

Lasts: TypeAlias = Literal["call", "turn", "session"]
"""How long a process holds a session: for one call, one turn, or for as many as come. What is not kept ends with it."""


class Commit(AbstractContextManager["Writer"], AbstractAsyncContextManager["Writer"], ABC):
    """`with ctx.commit() as files:` gives the only thing that changes files, under the workspace's edit lock.

    Entering raises once the call was cancelled, or when a file that the person was shown is not as it was shown:
    nothing is written after "interrupted", nor over what was not shown."""


class State(Protocol):
    """A durable value of this tool set, kept in the session's log."""

    def get(self, default: Any = None) -> Any: ...

    def set(self, value: Any) -> None: ...


class JobsOf(Protocol):
    """Programs in the background of a session: they outlive the call and the turn, and end with Pegboard unless kept.

    For `async def` tools. All but `run` and `start` raise ToolError for an id that there is none of.
    """

    @property
    def lasting(self) -> bool:
        """Whether the session stays open after this call. Where it does not, only kept jobs outlive the call."""

    async def run(
        self,
        argv: Sequence[str],
        *,
        label: str,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Finished | Moved:
        """As `Context.run`; where a loaded tool set looks after jobs, and its settings say after how many seconds, a
        program that runs longer goes on as a job. `label`: what it is called then."""

    async def start(
        self,
        argv: Sequence[str],
        *,
        label: str,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> Job:
        """Start a job. `keep`: it outlives this process, and others on the session find it. Raises as `Context.run`."""

    def all(self) -> list[Job]:
        """Every job of the session, oldest first, whichever process started it."""

    def get(self, id: str) -> Job:
        """One job as it stands now."""

    def output(self, id: str, since: int = 0) -> Piece:
        """What a job printed from byte `since` on, as much as a result takes."""

    async def wait(
        self, id: str, timeout: float, *, since: int = 0, each: Callable[[bytes], None] | None = None
    ) -> Job:
        """Wait at most `timeout` seconds for a job's end; what it prints from `since` on goes to `each` as it comes."""

    async def cancel(self, id: str) -> Job:
        """End a job and all that began with it."""

    def tell(self, job: Job) -> None:
        """The model was told how the job stands; otherwise it is told of its end at its next turn."""


class Context(ABC):
    """What a running tool is given, and nothing else.

    workspace: the door to files, read-only; files change inside `commit()` alone.
    settings: the tool's own plugin's validated settings, None if it has none. config: the whole configuration.
    output: where long output goes as it comes; `output.caps` for tools that page.
    seen: which part of a file the session was shown; tools that show or change files keep it.
    jobs: programs that go on in the background.
    touches: what this call was judged by, so that a tool may do that and no other thing; empty while they are asked for.
    """

    workspace: Workspace
    settings: Any
    config: Config
    output: Sink
    seen: SeenFiles
    touches: Sequence[Touch]

    @property
    @abstractmethod
    def jobs(self) -> JobsOf:
        """Programs in the background, for `async def` tools."""

    @abstractmethod
    def state(self, key: str) -> State:
        """The durable value under this key, of this tool set."""

    @abstractmethod
    def commit(self) -> Commit:
        """Change files: `with ctx.commit() as files: files.write(path, data)`."""

    @abstractmethod
    def panel(self, id: str, title: str, blocks: Sequence[AnyBlock]) -> None:
        """Show something beside the conversation from here on, in front ends that have room for it: what there is to do, how
        far something is. The same `id` again puts it anew; no blocks take it away. It is the tool's own plugin's: others may
        use the same id. Quick, and the same in all kinds of tools; in a preview it does nothing.

        id: `[a-z][a-z0-9-]*`, at most 64 letters. title: a line, cut at 80 characters. Blocks of more than 64 KiB are not
        shown, and a note in their place says so.

        Raises:
            ValueError: the id is none.
            TypeError: a block is none.
        """

    @abstractmethod
    async def ask(
        self, question: str, options: Sequence[str] = (), *, details: Sequence[str] = (), free: bool = True
    ) -> str | None:
        """Ask the person. None: dismissed.

        details: what each option means, in their order. free: whether another text than an option may be answered.

        Raises:
            ToolError: there is no one to answer.
            ValueError: more details than options; or not free, and no options.
        """

    @abstractmethod
    async def call(self, name: str, /, **arguments: Any) -> Record:
        """Call another tool: down the road again, with its own guard, decision and record."""

    @abstractmethod
    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        each: Callable[[str, bytes], bool | None] | None = None,
        quiet: bool = False,
    ) -> Finished:
        """Run a program under the board's launcher, this call's cancel and its output: the only way tools start programs.

        `cwd` is relative to the workspace root, `timeout` in seconds. `each` sees the raw chunks of "stdout" and
        "stderr"; returning True stops the program early. `quiet` keeps what it prints out of `output`. Previews run
        none, unless the tool declares `preview_runs`.

        Raises:
            ToolError: the program or the folder is not there; nothing was run.
        """


class SyncContext(Context):
    """`Context` as a `def` tool sees it, for type checkers: `ask`, `call` and `run` block and return their values."""

    def ask(  # type: ignore[override]
        self, question: str, options: Sequence[str] = (), *, details: Sequence[str] = (), free: bool = True
    ) -> str | None:
        raise NotImplementedError

    def call(self, name: str, /, **arguments: Any) -> Record:  # type: ignore[override]
        raise NotImplementedError

    def run(self, argv: Sequence[str], **options: Any) -> Finished:  # type: ignore[override]
        raise NotImplementedError
