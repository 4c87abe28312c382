"""Blocks: pieces of output with meaning, which a front end draws as it can.

A tool or a renderer says *what* it shows (a diff, a table, a note); how it looks is the front end's. Blocks travel inside
events, so they are plain data.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec


class Block(msgspec.Struct, frozen=True, kw_only=True, tag_field="block", tag=str.lower):
    """Base of the closed union `AnyBlock`."""


class Activity(Block, frozen=True, kw_only=True):
    """One line that says what a call does: `← Read README.md [limit=20]`."""

    glyph: str
    verb: str
    subject: str
    details: str = ""


class Diff(Block, frozen=True, kw_only=True):
    """A change to one file. `text` is a unified diff body (hunks; no file headers)."""

    path: str
    change: Literal["created", "changed", "deleted", "moved"]
    added: int
    removed: int
    text: str
    to: str | None = None


class Note(Block, frozen=True, kw_only=True):
    """Something a person should know; nothing is wrong."""

    text: str


class Problem(Block, frozen=True, kw_only=True):
    """Something went wrong."""

    text: str


class Markdown(Block, frozen=True, kw_only=True):
    """Text in Markdown."""

    text: str


class Text(Block, frozen=True, kw_only=True):
    """Plain text, shown as it is. `title` stands above it."""

    text: str
    title: str = ""


class Table(Block, frozen=True, kw_only=True):
    """Rows under column names."""

    columns: list[str]
    rows: list[list[str]]


class Image(Block, frozen=True, kw_only=True):
    """A picture: media type and base64 data."""

    media_type: str
    data: str
    alt: str = ""


class Custom(Block, frozen=True, kw_only=True):
    """A block of a plugin's own. `kind` names it, `data` is plain JSON data, `plain` is how it looks where nobody knows that
    kind: front ends draw those blocks instead. A front end may have a group of entry points for widgets that know one."""

    kind: str
    data: Any = None
    plain: list[AnyBlock] = []


AnyBlock: TypeAlias = Activity | Diff | Note | Problem | Markdown | Text | Table | Image | Custom
