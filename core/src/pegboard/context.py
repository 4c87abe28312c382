"""What a running tool is given.

A parameter annotated `Context` is injected and never part of the schema. In `async def` tools `ask`, `call` and `run` are
awaited and it is `async with ctx.commit()`; in `def` tools, which run in a worker thread, the same names block (annotate
`SyncContext` for exact types); in `inline` tools they raise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pegboard.calls import Record
    from pegboard.config.schema import Config
    from pegboard.kit.output import Sink
    from pegboard.kit.process import Finished
    from pegboard.kit.seen import SeenFiles
    from pegboard.kit.workspace import Workspace
    from pegboard.kit.writer import Writer


class Commit(AbstractContextManager["Writer"], AbstractAsyncContextManager["Writer"], ABC):
    """`with ctx.commit() as files:` gives the only thing that changes files, under the workspace's edit lock.

    Entering raises once the call was cancelled, or when a file that the person was shown is not as it was shown:
    nothing is written after "interrupted", nor over what was not shown."""


class State(Protocol):
    """A durable value of this tool set, kept in the session's log."""

    def get(self, default: Any = None) -> Any: ...

    def set(self, value: Any) -> None: ...


class Context(ABC):
    """What a running tool is given, and nothing else.

    workspace: the door to files, read-only; files change inside `commit()` alone.
    settings: the tool's own plugin's validated settings, None if it has none. config: the whole configuration.
    output: where long output goes as it comes; `output.caps` for tools that page.
    seen: which part of a file the session was shown; tools that show or change files keep it.
    """

    workspace: Workspace
    settings: Any
    config: Config
    output: Sink
    seen: SeenFiles

    @abstractmethod
    def state(self, key: str) -> State:
        """The durable value under this key, of this tool set."""

    @abstractmethod
    def commit(self) -> Commit:
        """Change files: `with ctx.commit() as files: files.write(path, data)`."""

    @abstractmethod
    async def ask(self, question: str, options: Sequence[str] = ()) -> str | None:
        """Ask the person. None: dismissed.

        Raises:
            ToolError: there is no one to answer.
        """

    @abstractmethod
    async def call(self, name: str, **arguments: Any) -> Record:
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
        "stderr"; returning True stops the program early. `quiet` keeps what it prints out of `output`.

        Raises:
            ToolError: the program or the folder is not there; nothing was run.
        """


class SyncContext(Context):
    """`Context` as a `def` tool sees it, for type checkers: `ask`, `call` and `run` block and return their values."""

    def ask(self, question: str, options: Sequence[str] = ()) -> str | None:  # type: ignore[override]
        raise NotImplementedError

    def call(self, name: str, **arguments: Any) -> Record:  # type: ignore[override]
        raise NotImplementedError

    def run(self, argv: Sequence[str], **options: Any) -> Finished:  # type: ignore[override]
        raise NotImplementedError
