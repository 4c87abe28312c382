"""The settings of what tools stand on: plain data, so that reading a configuration imports none of the machinery."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

MIB = 1024 * 1024
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class PathSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[paths]`. outside: what a path beyond the workspace root gets."""

    outside: Literal["refuse", "ask", "allow"] = "refuse"


class EditSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[edit]`. require_read: a file must have been read in the session before it is changed.

    staleness: what happens to a file that changed on disk since it was shown. max_bytes: the largest file edited."""

    require_read: bool = False
    staleness: Literal["refuse", "warn", "off"] = "refuse"
    max_bytes: Count = 64 * MIB


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[search]`. engine: rg 14+ or the Python walker; `auto` falls back visibly. rg: the program to use.

    max_hits, max_line_chars, list_dir_max_entries: where results are cut. require_git: .gitignore counts inside
    repositories only. follow_links: whether a walk enters linked folders inside the root."""

    engine: Literal["auto", "rg", "python"] = "auto"
    rg: str | None = None
    grep_default: Literal["regex", "literal"] = "regex"
    max_hits: AtLeastOne = 200
    max_line_chars: AtLeastOne = 300
    require_git: bool = False
    follow_links: bool = False
    list_dir_max_entries: AtLeastOne = 300


class OutputSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[output]`. What the model gets of a result (first limit hit wins, 0 = off) and what is kept of the rest, in bytes."""

    max_chars: Count = 30_000
    max_bytes: Count = 51_200
    max_lines: Count = 2_000
    max_saved_bytes: Count = 64 * MIB
    max_session_bytes: Count = 1024 * MIB


class ShellSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[shell]`. login: run `bash -lc`, which reads the profile (slower, and runs what it says)."""

    login: bool = False
