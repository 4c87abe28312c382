"""Every error a caller may catch, as one tree.

    PegboardError
    ├── ToolError              a tool's expected failure; the model reads the text and adapts
    │   ├── Pointless          raised by a preview: the call can do nothing, so nobody is asked
    │   └── DoorError          the workspace's door said no: outside, protected, not a regular file, stale ...
    ├── Blocked                the road stopped a call before it ran: nothing happened
    ├── Interrupted            the call was started and not finished: its effects may be unknown
    ├── ConfigError            a setting is wrong: which file, which line, what was expected
    ├── PluginError            one plugin is at fault; `owner` is the name to disable
    ├── ModelError             a model's endpoint cannot be reached, refused, or broke off
    │   └── ContextFull        the request is larger than the model takes
    ├── UndoError              what a call changed cannot be taken back
    └── SessionError           a session's log cannot be read, locked or written
        └── SessionElsewhere   it works in another root than the one it is to be used in

Texts say what happened, whether anything was changed, and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence


class PegboardError(Exception):
    """Base of all errors a caller may catch."""


class ToolError(PegboardError):
    """A tool's expected failure: what happened; what was changed; what to do next.

    The road records it as outcome `error` and adds the prefix `Error: ` once; raise it without.
    """


class Pointless(ToolError):
    """Whatever a person said, the call would do nothing: there is nothing to do, or it is sure to be refused.

    A preview that raises it ends the call there, and nobody is asked. So its text reaches the caller though nobody agreed
    to anything: it quotes no content of files.
    """


class DoorError(ToolError):
    """The workspace's door refused a path. Nothing was read or changed.

    `reason` is one word for programs: escapes, protected, missing, folder, special, loop, name,
    readonly, exists, stale, changed, too_large, permission, system.
    """

    def __init__(self, text: str, *, reason: str, path: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.path = path


class Interrupted(PegboardError):
    """A started call did not finish. `why`: timeout, person or turn_ended. The road writes the text where none is given.

    `limit`: the time limit that ended it, in seconds."""

    def __init__(self, why: str, text: str = "", *, limit: float | None = None) -> None:
        super().__init__(text or why)
        self.why = why
        self.text = text
        self.limit = limit


class ConfigError(PegboardError):
    """A setting is wrong. The text names file, line and what was expected."""

    def __init__(self, text: str, *, file: str | None = None, line: int | None = None) -> None:
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(place + text)
        self.file = file
        self.line = line


class PluginError(PegboardError):
    """One plugin is at fault. `owner` is the name that `plugins.disable` takes."""

    def __init__(self, owner: str, text: str) -> None:
        super().__init__(text)
        self.owner = owner


class ModelError(PegboardError):
    """A model's endpoint cannot be reached, refused the request, or broke off. What had been said is kept by the loop."""


class ContextFull(ModelError):
    """The request is larger than the model takes; the loop replaces old tool results and asks again.

    `limit`: the model's context in tokens, where its answer says so."""

    def __init__(self, text: str, *, limit: int | None = None) -> None:
        super().__init__(text)
        self.limit = limit


class SessionError(PegboardError):
    """A session's log cannot be read, locked or written."""


class SessionElsewhere(SessionError):
    """A session works in another root than the one it is to be used in, or in one that is not known any more."""


class UndoError(PegboardError):
    """What a call changed cannot be taken back; nothing was changed.

    `reason` is one word for programs: nothing, unknown, undone, running, command, lost, changed, failed, interrupted, root.
    `call`: it; `paths`: the files that are in the way."""

    def __init__(self, text: str, *, reason: str, call: str | None = None, paths: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.reason = reason
        self.call = call
        self.paths = list(paths)
