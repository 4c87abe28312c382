"""Wheels of strangers, made by hand: what a package says and holds, as a test wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pegboard.hooks import API
from pegboard.manifest import FORMAT, EntrySaid, Manifest, ToolSaid, digest_of, encoded

HOOKS = {
    "loud": '''
from typing import Annotated
from pegboard import Reads, hookimpl, tool

@tool(pure=True)
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()

@hookimpl
def pegboard_tools(settings):
    return [shout]
''',
    "nod": """
from pegboard import hookimpl

@hookimpl
def pegboard_approvers(settings):
    return []
""",
}


def said(name: str, *touches: str, effect: str = "read_only", description: str = "A tool.") -> ToolSaid:
    """A tool as a manifest says it."""
    return ToolSaid(name=name, description=description, effect=effect, touches=[*touches], bytes=100)


def make_wheel(
    folder: Path,
    name: str = "loud",
    version: str = "0.1",
    *,
    module: str | None = None,
    groups: Mapping[str, Mapping[str, str]] | None = None,
    tools: Sequence[ToolSaid] | None = None,
    requires: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
    summary: str = "",
    settings: dict[str, Any] | None = None,
    help: str = "",
) -> Path:
    """A wheel `stranger-NAME`, with a package of that name whose source is `module`.

    `groups`: its entry points; left out: one tool set. `tools`: those that its manifest names; None: it has no manifest.
    `settings` and `help`: what that says of a set's table and of a command.
    """
    package, distribution = f"stranger_{name}", f"stranger-{name}"
    source = HOOKS.get(name, HOOKS["loud"]) if module is None else module
    groups = {"pegboard.toolsets": {name: package}} if groups is None else groups
    wheel = folder / f"{package}-{version}-py3-none-any.whl"
    info = f"{package}-{version}.dist-info"
    headers = [f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"]
    headers += [f"Summary: {summary}\n"] if summary else []
    headers += [f"Requires-Dist: {one}\n" for one in requires]
    sections = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in rows.items()) for group, rows in groups.items()]
    with ZipFile(wheel, "w") as archive:
        archive.writestr(f"{package}/__init__.py", source)
        if tools is not None:
            archive.writestr(
                f"{package}/pegboard.json", manifest_of(distribution, version, groups, source, tools, settings, help)
            )
        for path, text in (files or {}).items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/METADATA", "".join(headers))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", "".join(sections))
        archive.writestr(f"{info}/RECORD", "".join(f"{n},,\n" for n in [*archive.namelist(), f"{info}/RECORD"]))
    return wheel


def manifest_of(
    distribution: str,
    version: str,
    groups: Mapping[str, Mapping[str, str]],
    source: str,
    tools: Sequence[ToolSaid],
    settings: dict[str, Any] | None = None,
    help: str = "",
) -> bytes:
    """A manifest that is up to date: of these sources."""
    entries = [
        EntrySaid(
            group=group,
            name=name,
            object=value,
            role="",
            tools=[*tools] if group == "pegboard.toolsets" else [],
            settings=settings if group == "pegboard.toolsets" else None,
            help=help if group == "pegboard.commands" else "",
        )
        for group, rows in groups.items()
        if group.startswith("pegboard.")
        for name, value in rows.items()
    ]
    digest = digest_of([("__init__.py", source.encode())])
    manifest = Manifest(
        format=FORMAT, api=API, distribution=distribution, version=version, digest=digest, entries=entries
    )
    return encoded(manifest)
