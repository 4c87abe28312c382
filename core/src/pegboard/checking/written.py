"""manifest.fresh: whether `pegboard.json` in a package says what the package has; and writing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pegboard import manifest
from pegboard.checking.loading import Hanging
from pegboard.checking.report import Findings, Said, fine, skipped
from pegboard.checking.target import Target

ID = "manifest.fresh"
_WRITE = "Run `pegboard plugin check --write` in the project's folder, and build again."


def check_manifest(target: Target, found: Sequence[Hanging], findings: Findings) -> None:
    """Look at the manifest of each package that entries of the target stand in; write it first, where that is wanted."""
    if not findings.wants(ID):
        return
    packages: dict[Path | None, list[Hanging]] = {}
    for one in found:
        packages.setdefault(manifest.place(one.entry), []).append(one)
    for place, some in packages.items():
        for one in some:
            if place is None:
                said = skipped("it is a single module, beside which no pegboard.json can stand")
            elif any(other.plugin is None and other.made is None for other in some):
                said = skipped("not everything in its package loaded")
            else:
                said = _looked(place, one, some, write=target.write)
            findings.add(ID, one.subject, said)


def _looked(place: Path, one: Hanging, some: Sequence[Hanging], *, write: bool) -> Said:
    made = manifest.make(
        [other.plugin for other in some if other.plugin],
        {other.entry: other.made for other in some if other.plugin is None},
    )
    if write and one is some[0]:
        if place.is_symlink():  # which may lead anywhere, in a folder that came from somebody else
            told = f"{place.name} is a link to {place.readlink()}; it was not written through"
            return Said("fail", told, "Remove the link: the file has to stand in the package.")
        try:
            place.write_bytes(manifest.encoded(made))
        except OSError as error:
            return Said(
                "fail", f"{place.name} cannot be written: {error}", "See that the package's folder can be written."
            )
    if (why := manifest.unreadable(one.entry)) is not None:
        return Said("fail", f"{place.name} cannot be read: {why}", _WRITE)
    there = manifest.read(one.entry)
    if there is None:
        return skipped(f"there is no {place.name}, so it is imported to say what it has", _WRITE)
    if (why := manifest.stale(there, one.entry)) is not None:
        return Said("fail", f"{place.name} is stale: {why}", _WRITE)
    if there.entry(one.entry.group, one.entry.name) != made.entry(one.entry.group, one.entry.name):
        return Said("fail", f"{place.name} says other things than were seen when it was loaded", _WRITE)
    return fine(f"{place.name} says what was seen")
