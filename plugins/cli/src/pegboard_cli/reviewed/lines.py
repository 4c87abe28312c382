"""A review for a person: all of it, with everything of the stranger's spelled out."""

from __future__ import annotations

from collections.abc import Iterator

from pegboard.terminal import visible

from pegboard_cli.reviewed.coming import Coming
from pegboard_cli.reviewed.review import Declared, Review, touches
from pegboard_cli.styles import Styles

_MANIFEST = {
    "none": "It does not say what its tools are (no pegboard.json): they are known once it is installed.",
    "stale": "What it says of its tools is not of these sources, and is left out.",
    "unreadable": "What it says of its tools cannot be read, and is left out.",
}


def review_lines(found: Review, coming: Coming | None, source: str, styles: Styles) -> list[str]:
    """What is shown before a person is asked. `coming`: which dependencies would come; `source`: where it comes from."""
    out = [styles.bold(visible(f"{found.distribution} {found.version}")), *_about(found, source), ""]
    for entry in found.entries:
        out += [visible(line) for line in _entry(entry)]
    if found.manifest in _MANIFEST and any(entry.tools is None for entry in found.entries):
        out.append(_MANIFEST[found.manifest])
    out += [visible(f"programs on PATH: {', '.join(found.programs)}")] if found.programs else []
    out += [visible(f"other entry points: {', '.join(found.others)}")] if found.others else []
    out += [visible(line) for line in _dependencies(found, coming)]
    out += [styles.warn(visible(f"! {warning}")) for warning in found.warnings]
    if found.installed is not None:
        out += ["", styles.bold(visible(f"New since {found.installed}:")) if found.news else _same(found)]
        out += [visible(f"  {line}") for line in found.news]
    return out


def _same(found: Review) -> str:
    return visible(f"It declares nothing that {found.installed}, which is installed, did not.")


def _about(found: Review, source: str) -> Iterator[str]:
    if found.summary:
        yield visible(f'  it says of itself: "{found.summary}"')
    yield visible(f"  from {source}")
    yield visible(f"  {found.file}, {_size(found.size)} ({found.files} files, {_size(found.unpacked)} unpacked)")
    yield visible(f"  sha256 {found.sha256}")


def _entry(entry: Declared) -> Iterator[str]:
    yield f"{entry.kind} {entry.name}: it {entry.role}"
    if entry.help:
        yield f'  it says of itself: "{entry.help}"'
    for tool in entry.tools or ():
        asks = f", asks as {tool.permission}" if tool.permission else ""
        first = tool.description.split("\n", 1)[0]
        yield f"  {tool.name} ({tool.effect}; {touches(tool)}{asks}; {tool.bytes} bytes a request): {first}"
    if entry.unused:
        yield f"  ! it would not be used: {entry.unused}"
    if entry.write:
        yield "  It does nothing until your own file (`pegboard config show` names it) says:"
        yield from (f"    {line}" for line in entry.write.splitlines())


def _dependencies(found: Review, coming: Coming | None) -> Iterator[str]:
    yield f"depends on: {', '.join(found.dependencies) or 'nothing'}"
    if coming is None:
        return
    if coming.unknown:
        yield f"! what would come with these could not be found out: {coming.unknown}"
    elif coming.changes:
        yield "that would change here:"
        yield from (f"  {line}" for line in coming.changes)
    elif found.dependencies:
        yield "all of that is here already"


def _size(bytes: int) -> str:
    return f"{bytes} bytes" if bytes < 10_000 else f"{bytes / 1024:.0f} KB" if bytes < 1 << 20 else f"{bytes >> 20} MB"


def asked(found: Review) -> str:
    """The question."""
    verb = "Install" if found.installed is None else f"Install over {found.installed}"
    return visible(f"{verb}? [y/N] ")
