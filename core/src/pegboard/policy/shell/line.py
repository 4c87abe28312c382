"""What a command line is taken to be: its words, its commands, and what in it may not pass unasked.

Positions are character offsets in the line that was read."""

from __future__ import annotations

import msgspec

OUTSIDE = "outside"
"""The rule against a program that writes to where it should not: no pattern passes it that does not name these words."""


class Trouble(msgspec.Struct, frozen=True, gc=False):
    """A part of a line that may not pass unasked: which, by which rule (`R4`), and why, as a person reads it."""

    text: str
    start: int
    end: int
    rule: str
    why: str


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word of a command.

    text: what the program gets, quotes removed; a glob as it is spelled, and as it stands in the line, where something else
    expands. plain: spelled without quotes, backslashes and expansions. inert: nothing in it expands: `text` is what the
    program gets. glob: a `*`, `?` or `[` in it is not quoted."""

    text: str
    start: int
    end: int
    plain: bool = True
    inert: bool = True
    glob: bool = False


class Command(msgspec.Struct, frozen=True, gc=False):
    """A simple command: its words, without assignments and redirections.

    nested: it stands inside something that is a trouble itself (a substitution, a loop), or is what another command would
    run; deny rules and guards look at it. risk: why no allow pattern may pass it. reads: by which entry it only reads.
    offer: the pattern that "always" offers. behind: how many leading words (`time`, `nice -n 5`) only start the rest, which
    is judged instead."""

    text: str
    start: int
    end: int
    words: tuple[Word, ...] = ()
    nested: bool = False
    risk: Trouble | None = None
    reads: str | None = None
    offer: str | None = None
    behind: int = 0

    @property
    def judged(self) -> tuple[Word, ...]:
        """The words that patterns and tables are asked about."""
        return self.words[self.behind :]


class Line(msgspec.Struct, frozen=True, gc=False):
    """A command line as read. error: it was not understood, or not looked at; then `commands` are what could be made out."""

    text: str
    commands: tuple[Command, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    error: Trouble | None = None
