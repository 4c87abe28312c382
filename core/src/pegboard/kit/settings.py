"""The settings of what tools stand on: plain data, so that reading a configuration imports none of the machinery."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta

MIB = 1024 * 1024
Count: TypeAlias = Annotated[int, Meta(ge=0)]
AtLeastOne: TypeAlias = Annotated[int, Meta(ge=1)]
Tolerance: TypeAlias = Literal["exact", "whitespace"]


class PathSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[paths]`: where file tools may go."""

    outside: Annotated[
        Literal["refuse", "ask", "allow"],
        Meta(
            description="What a path beyond the workspace root gets.",
            extra={"tightens": ("allow", "ask", "refuse")},
        ),
    ] = "refuse"


class EditSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[edit]`: what is asked of a change to a file."""

    require_read: Annotated[
        bool,
        Meta(description="A file must have been read in the session before it is changed.", extra={"tightens": True}),
    ] = False
    staleness: Annotated[
        Literal["refuse", "warn", "off"],
        Meta(
            description="What happens to a change of a file that is no longer as it was shown.",
            extra={"tightens": ("off", "warn", "refuse")},
        ),
    ] = "refuse"
    tolerance: Annotated[
        Tolerance,
        Meta(
            description="How text to replace must match: exactly; or, where nothing does and one place alone comes so near, "
            "up to trailing white space and one shift of all its indentation, which is told.",
            extra={"tightens": ("whitespace", "exact")},
        ),
    ] = "exact"
    max_bytes: Annotated[
        Count, Meta(description="The largest file that is edited, in bytes.", extra={"tightens": "lower"})
    ] = 64 * MIB


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[search]`: how files and their contents are found."""

    engine: Annotated[
        Literal["auto", "rg", "python"],
        Meta(description="ripgrep 14 or newer, or the walker in Python; auto falls back to it, and says so."),
    ] = "auto"
    rg: Annotated[str | None, Meta(description="The rg program to use. Left out: the one installed with Pegboard.")] = (
        None
    )
    grep_default: Annotated[
        Literal["regex", "literal"], Meta(description="How a pattern is read when a call does not say.")
    ] = "regex"
    max_hits: Annotated[AtLeastOne, Meta(description="Where the list of hits is cut.")] = 200
    max_line_chars: Annotated[AtLeastOne, Meta(description="Where a line that was found is cut, in characters.")] = 300
    require_git: Annotated[bool, Meta(description="Ignore files count inside git repositories only.")] = False
    follow_links: Annotated[bool, Meta(description="Enter linked folders that lie inside the root.")] = False
    list_dir_max_entries: Annotated[AtLeastOne, Meta(description="Where the listing of a folder is cut.")] = 300


class OutputSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[output]`: what a model gets of a result (the first limit that is hit wins), and what is kept of the rest."""

    max_chars: Annotated[Count, Meta(description="Characters of a result for the model; 0: no limit.")] = 30_000
    max_bytes: Annotated[Count, Meta(description="Bytes of a result for the model; 0: no limit.")] = 51_200
    max_lines: Annotated[Count, Meta(description="Lines of a result for the model; 0: no limit.")] = 2_000
    max_saved_bytes: Annotated[
        Count, Meta(description="Bytes of one result that are kept in the session's folder.")
    ] = 64 * MIB
    max_session_bytes: Annotated[Count, Meta(description="Bytes of results that are kept for one session.")] = (
        1024 * MIB
    )


class ShellSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[shell]`: how command lines are run."""

    login: Annotated[
        bool, Meta(description="Run `bash -lc`, which reads your profile first: slower, and it runs what that says.")
    ] = False


class JobSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of jobs in the background. A tool set that looks after jobs has a subclass as its `Settings`; while it is
    loaded, they hold for every tool that runs commands. `hint`: how a model goes on with a job, `{id}` being its id."""

    hint: ClassVar[str] = ""
    background_after: Annotated[
        float,
        Meta(ge=0, description="Seconds after which a command that still runs goes on in the background. 0: never."),
    ] = 0
    max_jobs: Annotated[
        AtLeastOne,
        Meta(description="Jobs that may run in the background of a session at once.", extra={"tightens": "lower"}),
    ] = 16
