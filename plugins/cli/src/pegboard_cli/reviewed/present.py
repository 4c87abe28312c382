"""What the installed version of a package declares, as far as that is known without importing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from email.parser import HeaderParser

from pegboard import manifest
from pegboard.entries import Entry, installed

from pegboard_cli.installing import CannotInstall
from pegboard_cli.reviewed import lock
from pegboard_cli.reviewed.review import OURS, Declared, Review, only_with_extra, write_line


def present(distribution: str, entries: Sequence[Entry], prefix: str) -> Review | None:
    """The look at the installed version: the one that was kept when it was installed, while it is still that; else one at
    its metadata. None: it is not installed."""
    there = installed(distribution)
    if there is None:
        return None
    try:
        row = lock.read(prefix).row(distribution)
    except CannotInstall:
        row = None
    if row is not None and row.review is not None and row.version == there[1] and not row.editable:
        return row.review
    return _on_disk(distribution, *there, [entry for entry in entries if entry.distribution == distribution])


def _on_disk(distribution: str, info: str, version: str, entries: Sequence[Entry]) -> Review:
    try:
        with open(os.path.join(info, "METADATA"), encoding="utf-8", errors="replace") as file:
            headers = HeaderParser().parse(file)
    except OSError:
        headers = HeaderParser().parsestr("")
    requires = [" ".join(str(line).split()) for line in headers.get_all("Requires-Dist") or []]
    found = [declared(entry) for entry in entries]
    known = all(entry.tools is not None for entry in found)
    return Review(
        distribution=distribution,
        version=version,
        summary=" ".join(str(headers.get("Summary") or "").split())[:300],
        file="",
        sha256="",
        size=0,
        unpacked=0,
        files=0,
        manifest="fresh" if known else "none",
        entries=found,
        programs=[],
        others=[],
        dependencies=[line for line in requires if not only_with_extra(line)],
        warnings=[],
    )


def declared(entry: Entry) -> Declared:
    """An installed entry, with the tools that a manifest that is up to date names."""
    said = manifest.fresh(entry)
    return Declared(
        group=entry.group,
        name=entry.name,
        object=entry.value,
        kind=entry.group.removeprefix(OURS).removesuffix("s"),
        role=manifest.role(entry.group),
        tools=said.tools if said else None if entry.group == "pegboard.toolsets" else [],
        help=said.help if said else "",
        write=write_line(entry.group, entry.name),
    )
