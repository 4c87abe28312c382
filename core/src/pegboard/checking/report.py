"""Findings, and the report that they make. The contract of the command line has these shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from pegboard.hooks import API

Status: TypeAlias = Literal["pass", "warn", "fail", "skip"]
STATUSES: tuple[Status, ...] = ("pass", "warn", "fail", "skip")
IDS: tuple[str, ...] = (
    "load.import",
    "load.time",
    "load.side_effects",
    "load.prints",
    "load.threads",
    "hook.known",
    "hook.signature",
    "api.version",
    "tool.docstring",
    "tool.parameters",
    "tool.effect",
    "tool.size",
    "tool.bad_arguments",
    "tool.cancel",
    "tool.timeout",
    "tool.output",
    "tool.read_only",
    "tool.errors",
    "tool.aliases",
    "tool.examples",
    "render.plain",
    "render.rich",
    "render.json",
    "render.app",
    "guard.answers",
    "approver.answers",
    "rewriter.answers",
    "observer.events",
    "prompt.fragments",
    "provider.shape",
    "launcher.shape",
    "command.help",
    "slash.shape",
    "form.draws",
    "manifest.fresh",
)
"""Every check there is. They are stable: programs go by them. A form that somebody else brings has `render.NAME`."""
Key: TypeAlias = tuple[str, str]
"""A check's id, and what it was made of."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found. `subject`: an entry's name, or `entry:tool`. `fix`: what to do, where there is something."""

    id: str
    subject: str
    status: Status
    text: str
    fix: str | None = None


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A check is about to be made: who reads this, and nothing after it, knows what did not come back."""

    id: str
    subject: str


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Modules of ours, and of the front end that an entry is made for, that were imported as an entry was loaded."""

    modules: list[str]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found of one target. `bytes`: what its tools cost on each request; `tokens`: about."""

    target: str
    distribution: str
    version: str | None
    api: int
    passed: bool
    summary: dict[str, int]
    bytes: int
    tokens: int
    checks: list[Finding]


class Said(NamedTuple):
    """What a check says: its finding without its name."""

    status: Status
    text: str
    fix: str | None = None


def fine(text: str) -> Said:
    """Nothing is wrong."""
    return Said("pass", text)


def skipped(why: str, fix: str | None = None) -> Said:
    """The check could not be made."""
    return Said("skip", why, fix)


class Findings:
    """Findings as they come. `known`: those of an earlier attempt, which are not made again; `ended`: checks that an earlier
    attempt did not come back from; `only`: the ids that are wanted, all where it is empty."""

    def __init__(
        self,
        tell: Callable[[Begun | Finding | Loaded], None] = lambda _: None,
        *,
        known: Iterable[Finding] = (),
        ended: Iterable[Key] = (),
        only: Iterable[str] = (),
    ) -> None:
        self._tell = tell
        self.only = frozenset(only)
        self.ended = frozenset(ended)
        self.found: dict[Key, Finding] = {(one.id, one.subject): one for one in known}

    def wants(self, *ids: str) -> bool:
        """Whether one of these checks is to be made."""
        return not self.only or not self.only.isdisjoint(ids)

    def loaded(self, modules: Iterable[str]) -> None:
        """Say which modules of ours loading took."""
        self._tell(Loaded(modules=list(modules)))

    def begin(self, id: str, subject: str) -> None:
        """Say what is about to be done."""
        self._tell(Begun(id=id, subject=subject))

    def add(self, id: str, subject: str, said: Said) -> None:
        """Keep what was found, unless it is known already or nobody wants it."""
        if not self.wants(id) or (id, subject) in self.found:
            return
        finding = Finding(id=id, subject=subject, status=said.status, text=said.text, fix=said.fix)
        self.found[id, subject] = finding
        self._tell(finding)

    def replace(self, id: str, subject: str, said: Said) -> None:
        """What was found turned out otherwise."""
        self.found.pop((id, subject), None)
        self.add(id, subject, said)

    def make(self, id: str, subject: str, look: Callable[..., Said], *given: Any) -> None:
        """Make one check, unless it was made."""
        if self.wants(id) and (id, subject) not in self.found:
            self.begin(id, subject)
            self.add(id, subject, look(*given))


def tokens_of(size: int) -> int:
    """Tokens that this many bytes take, about (decision 62)."""
    return -(-size // 4)


def report(target: str, distribution: str, version: str | None, found: Iterable[Finding], size: int) -> Report:
    """The report that findings make."""
    checks = list(found)
    summary: dict[str, int] = {status: sum(one.status == status for one in checks) for status in STATUSES}
    return Report(
        target=target,
        distribution=distribution,
        version=version,
        api=API,
        passed=not summary["fail"],
        summary=summary,
        bytes=size,
        tokens=tokens_of(size),
        checks=checks,
    )
