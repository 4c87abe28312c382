"""What is asked of the rules about a call: a question for each thing that it touches, and for each command of a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from pegboard.calls import Call, Effect, Touch
from pegboard.policy.conditions import host_fits, host_of, path_fits
from pegboard.tooling import Tool
from pegboard.touches import PATHS, effect_of

if TYPE_CHECKING:
    from pegboard.config.schema import PermissionSettings
    from pegboard.policy.operands import Operands
    from pegboard.policy.shell.line import Command, Line, Trouble, Word

KEY_OF: dict[str, str] = {"run": "bash", "net": "web"}


class Where(msgspec.Struct, frozen=True, gc=False):
    """What must be so for a rule to match, beside key and tool; all that is set must hold.

    outside: the touch leads out of the workspace. sends: it is a request with a body (True), or one without (False).
    changes: the call does more than read. acts: more than read, and than ask the person something. cautious: a model that
    asks to be asked about makes it. paths, hosts, commands: one of these patterns names what is touched. reads: it is a
    command that the shipped table knows to only read."""

    outside: bool = False
    sends: bool | None = None
    changes: bool = False
    cautious: bool = False
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    reads: bool = False
    acts: bool = False

    @property
    def looks(self) -> bool:
        """Whether it looks at what is touched, and not only at its kind and flags."""
        return bool(self.paths or self.hosts or self.commands or self.reads)


class Asking(msgspec.Struct, frozen=True, gc=False):
    """What is asked of the rules: a permission key of a call (None: it touches nothing), and what `Where` looks at.

    Of a command line each command is asked about (`command`), and each thing in it that may not pass unasked
    (`trouble`); `unread`: the line was not understood. operands: what a command that reads may read, where rules look at
    paths; barred: why it does not pass as reading, since one of them may deny that, or ask."""

    key: str | None
    outside: bool = False
    sends: bool = False
    changes: bool = False
    cautious: bool = False
    touch: Touch | None = None
    command: Command | None = None
    trouble: Trouble | None = None
    unread: bool = False
    acts: bool = False
    operands: Operands | None = None
    barred: Trouble | None = None

    @property
    def runs(self) -> bool:
        """Whether it is about a program that is started, which a sandbox can hold."""
        return self.touch is not None and self.touch.kind == "run"

    @property
    def nested(self) -> bool:
        """Whether it is a command inside something that is asked about itself: there for denies and asks by command."""
        return self.command is not None and self.command.nested

    def fits(self, where: Where, *, exactly: bool) -> bool:
        """Whether all conditions hold. exactly: for an allow (see `conditions`)."""
        if (
            (where.outside and not self.outside)
            or (where.sends is not None and where.sends is not self.sends)
            or (where.changes and not self.changes)
            or (where.acts and not self.acts)
            or (where.cautious and not self.cautious)
        ):
            return False
        return not where.looks or self._fits(where, exactly)

    def _fits(self, where: Where, exactly: bool) -> bool:
        touch, command = self.touch, self.command
        if touch is None:
            return False
        if where.paths and not self._names(where.paths, touch, exactly):
            return False
        if where.hosts:
            host = host_of(touch.what) if touch.kind == "net" else None
            if host is None or not host_fits(where.hosts, host, exactly=exactly):
                return False
        if where.reads and (
            command is None or command.reads is None or command.risk is not None or self.barred is not None
        ):
            return False
        return not where.commands or self._runs(where.commands, exactly)

    def _names(self, patterns: tuple[str, ...], touch: Touch, exactly: bool) -> bool:
        """Whether the path that is touched, or for a deny or an ask one that a command reads, is one of these."""
        if touch.kind not in PATHS:
            return not exactly and self.operands is not None and self.operands.are(patterns)
        at = touch.at if touch.at is not None else touch.what
        return path_fits(patterns, at, outside=touch.outside, folder=touch.kind == "list", exactly=exactly)

    def _runs(self, patterns: tuple[str, ...], exactly: bool) -> bool:
        from pegboard.policy.shell import matches

        command = self.command
        if command is None:
            return False
        return any(matches(pattern, command, exactly=exactly) for pattern in patterns)

    def doubtful(self, where: Where) -> bool:
        """Whether nobody can tell that the conditions do not hold: of a line that is not understood, of words that come
        about when it runs, of an address that may be read in two ways."""
        touch, command = self.touch, self.command
        if touch is None or (where.sends is not None and where.sends is not self.sends):
            return False
        if where.hosts:
            return touch.kind == "net" and host_of(touch.what) is None
        if not where.commands or touch.kind != "run":
            return False
        if command is None:
            return self.unread
        return any(_may_be(pattern, command) for pattern in where.commands)


def _may_be(pattern: str, command: Command) -> bool:
    """Whether words of a command that are only known when it runs may be those of a pattern."""
    wanted, words = pattern.split(), command.judged
    if not wanted or not words:
        return False
    if not _is_sure(words[0]):
        return True
    if wanted[0] != "*" and wanted[0].rpartition("/")[2].casefold() != words[0].text.rpartition("/")[2].casefold():
        return False
    return len(wanted) > 1 and not all(_is_sure(word) for word in words[1:])


def _is_sure(word: Word) -> bool:
    return word.inert and not word.glob


class Reading(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How command lines are read: by which settings, and from which root. None: they are not looked into."""

    settings: PermissionSettings | None = None
    root: str | None = None

    def line(self, touch: Touch, touches: Sequence[Touch]) -> Line:
        """A command line, read from the folder that it runs in: the one folder that the call names, else the root."""
        from pegboard.policy.shell import read_line

        return read_line(touch.what, settings=self.settings, root=self.root, cwd=folder_of(touches))


def folder_of(touches: Sequence[Touch]) -> str:
    """The folder that a command line runs in."""
    folders = [other.at or other.what for other in touches if other.kind == "list"]
    return folders[0] if len(folders) == 1 else "."


def askings(
    tool: Tool,
    call: Call,
    touches: Sequence[Touch],
    *,
    cautious: bool = False,
    reading: Reading | None = None,
    guarded: Sequence[Guarded] = (),
) -> list[Asking]:
    """What a call asks of the rules: its permission key for each touch, and of a command line for each part.

    reading: None where no rule looks into command lines. guarded: what rules on paths keep from being read."""
    own, effect = own_key(tool), effect_in(tool, touches)
    changes, acts = effect != "read_only", effect not in ("read_only", "user_mediated")
    cautious = cautious and call.caller == "model"
    if not touches:
        return [Asking(own, changes=changes, cautious=cautious, acts=acts)]
    found: list[Asking] = []
    for touch in touches:
        key = own or KEY_OF.get(touch.kind, touch.kind)
        asking = Asking(key, touch.outside, touch.sends, changes, cautious, touch, acts=acts)
        if touch.kind == "run" and reading is not None:
            line = reading.line(touch, touches)
            asked = parts(asking, line)
            if guarded and reading.root is not None:
                asked = _barred(asked, line, guarded, reading.root, folder_of(touches))
            found += asked
        else:
            found.append(asking)
    return found


def parts(asking: Asking, line: Line) -> Iterator[Asking]:
    """A question for each command of a line and for each thing in it that may not pass unasked."""
    replace = msgspec.structs.replace
    for command in line.commands:
        yield replace(asking, command=command)
    for trouble in line.troubles:
        yield replace(asking, trouble=trouble)
    if line.error is not None:
        yield replace(asking, trouble=line.error, unread=True)
    elif all(command.nested for command in line.commands) and not line.troubles:
        yield replace(asking, unread=True)  # nothing to run: no allow by command may pass it


class Guarded(msgspec.Struct, frozen=True, gc=False):
    """What a rule says of paths that may not be read, or not unasked."""

    name: str
    paths: tuple[str, ...]


def _barred(askings: Iterable[Asking], line: Line, guarded: Sequence[Guarded], root: str, cwd: str) -> Iterator[Asking]:
    """The same with what reading commands may read. Where a rule may be meant, such a command does not pass as reading."""
    from pegboard.policy.operands import operands_of
    from pegboard.policy.shell.line import Trouble

    for asking in askings:
        command = asking.command
        if command is None or command.reads is None:
            yield asking
            continue
        operands = operands_of(line, command, root, cwd)
        rule = next((one.name for one in guarded if operands.may_be(one.paths)), None)
        barred = None
        if rule is not None:
            why = f"a rule on paths may deny what it reads ({rule})"
            barred = Trouble(command.text, command.start, command.end, "paths", why)
        yield msgspec.structs.replace(asking, operands=operands, barred=barred)


def own_key(tool: Tool) -> str | None:
    """The one permission key that stands for all touches of a tool, where it has one."""
    return tool.declaration.permission or ("delegate" if tool.effect == "delegating" else None)


def effect_in(tool: Tool, touches: Sequence[Touch]) -> Effect:
    """What a call with these touches does at most."""
    return "delegating" if tool.effect == "delegating" else effect_of(touches)
