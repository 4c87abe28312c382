"""What `pegboard trust` shows and asks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from pegboard.config.places import PROJECT_FILE, PROJECT_PLUGINS, config_file, find_root, state_folder
from pegboard.config.project import Brought, brought
from pegboard.config.trust import record, records, standing
from pegboard.config.wishes import KINDS, Wish, wishes
from pegboard.entries import Entry, scan, set_names, table_names
from pegboard.terminal import plain, visible

from pegboard_cli.styles import Styles, is_terminal, takes_colour

QUESTION = "Trust this project as shown? [y/N] "


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a project, and the very bytes that it was read off. problem: why it cannot be trusted. same: files
    that changed in nothing that counts. unloadable: plugin files that would not be loaded all the same, and why."""

    root: str
    state: Literal["trusted", "changed", "untrusted", "nothing"]
    brought: Brought
    folder: Path
    wishes: list[Wish]
    gone: list[str]
    never: list[str]
    problem: str | None
    same: list[str] = []
    unloadable: list[str] = []


def look(path: str | None, environ: Mapping[str, str]) -> Shown:
    """Read what the project brings, once.

    Raises:
        ConfigError: the root is not a folder.
    """
    root, _ = find_root(path)
    found, folder, entries = brought(root, config_file(environ)), state_folder(environ), scan()
    state = standing(found, folder)
    names = table_names(entries)
    asked = wishes(found, state, record(found.root, folder), names, set_names(entries))
    unfit = [(PROJECT_FILE, found.unfit), (PROJECT_PLUGINS, found.plugins_unfit)]
    problem = "; ".join(f"{name} cannot be used: {why}" for name, why in unfit if why is not None) or None
    return Shown(
        root=plain(found.root),
        state="nothing" if found.nothing else state,
        brought=found,
        folder=folder,
        wishes=asked.wishes,
        gone=asked.gone,
        never=asked.never,
        problem=problem,
        same=asked.same,
        unloadable=list(_unloadable(found, entries)),
    )


def _unloadable(found: Brought, entries: Sequence[Entry]) -> Iterator[str]:
    from pegboard.plugins.loaded import LoadProblem
    from pegboard.plugins.project_files import check_file

    for file in found.plugins:
        try:
            check_file(file, entries)
        except LoadProblem as problem:
            yield f"{file.path}: {problem}"


def shown_lines(shown: Shown) -> list[str]:
    """All of it, spelled out, in full: what is not shown cannot be judged."""
    styles = Styles(takes_colour(sys.stdout))
    told = {
        "trusted": "is trusted, as it is",
        "changed": "changed since it was trusted: what is marked + is new, or not as it was",
        "untrusted": "is not trusted",
        "nothing": "brings no settings and no plugin files: there is nothing to trust",
    }
    out = [visible(f"{shown.root} {told[shown.state]}")]
    if shown.problem is not None:
        return [*out, visible(f"It cannot be trusted: {shown.problem}")]
    if shown.state == "nothing":
        return out
    for kind, title in KINDS.items():
        some = [wish for wish in shown.wishes if wish.kind == kind]
        out += ["", styles.bold(f"{title}:")] if some else []
        for wish in some:
            mark = "+ " if wish.news and shown.state == "changed" else "  "
            place = f"{wish.file}:{wish.line}: " if wish.line is not None else ""
            out.append(visible(f"{mark}{place}{wish.text}"))
    if shown.state == "changed" and shown.same:
        out += ["", *(visible(f"{file}: changed, nothing in it that counts is new") for file in shown.same)]
    if shown.unloadable:
        out += ["", styles.bold("These would not be loaded all the same; rename them:")]
        out += [visible(f"  {text}") for text in shown.unloadable]
    if not shown.wishes:
        out += ["", "It would switch nothing on that is off now."]
    if shown.gone:
        out += [
            "",
            styles.bold("Trusted before, and not there any more:"),
            *(visible(f"- {text}") for text in shown.gone),
        ]
    if shown.never:
        out += ["", styles.bold("These count for nothing that loosens, whoever trusts them:")]
        out += [visible(f"  {text}") for text in shown.never]
    return [*out, ""]


def document(shown: Shown, *, trusted: bool) -> dict[str, Any]:
    """The same for programs."""
    parts = shown.brought.parts()
    return {
        "root": shown.root,
        "state": shown.state,
        "trusted": trusted,
        "problem": shown.problem,
        "digest": None if shown.state == "nothing" or shown.problem is not None else shown.brought.digest,
        "wishes": [msgspec.to_builtins(wish) for wish in shown.wishes],
        "files": [{"path": path, "sha256": digest} for path, digest in sorted(parts.items())],
        "gone": shown.gone,
        "never": shown.never,
    }


async def agreed() -> bool | None:
    """Ask the person at the terminal; Enter means no, and so does the end of input. None: nobody is there to ask.

    What was typed before the question was there does not answer it."""
    if not is_terminal(sys.stdin) or not is_terminal(sys.stderr):
        return None
    from pegboard_cli.typed import forget_typed, read_line

    forget_typed()
    sys.stderr.write(QUESTION)
    sys.stderr.flush()
    line = await read_line()
    if line is None:
        sys.stderr.write("\n")
    return line is not None and line.strip().casefold() in ("y", "yes")


def trusted_projects(environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Every project that is trusted, and whether it still is as it was then."""
    folder, own = state_folder(environ), config_file(environ)
    rows = []
    for kept in records(folder):
        there = os.path.isdir(kept.root)
        state = standing(brought(kept.root, own), folder) if there else "gone"
        words = {"untrusted": "another folder is there now"}
        rows.append({"root": plain(kept.root), "state": words.get(state, state), "at": kept.at})
    return rows
