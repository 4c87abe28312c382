"""The pages of the site, made from those of the repository: `site_sources.py FOLDER` writes them there.

The pages in docs/ read as they stand, on a code host. A site has docs/ alone, so what they link to outside of it comes
along: pages of Markdown as they are, any other file as a page that shows it. Three kinds of pages are made here: the API
from the docstrings (mkdocstrings reads them, and imports nothing), the directory of plugins from examples/, and the front
page, which is the README. Exit 1 when a page of docs/ has no place in the navigation.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIG = ROOT / "zensical.toml"
LINK = re.compile(r"(?P<before>!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()(?P<target>[^)\s]+)(?P<after>\))")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh", ".json": "json"}
API: Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
    "hooks": ("Hooks", {"pegboard.hooks": ()}),
    "tools": (
        "Tools",
        {
            "pegboard.tooling": ("tool", "Tool"),
            "pegboard.declaration": ("Declaration",),
            "pegboard.touches": ("Reads", "Writes", "Lists", "Runs", "Fetches"),
            "pegboard.context": (),
            "pegboard.kit.workspace": ("Workspace",),
            "pegboard.kit.walk.query": (),
            "pegboard.kit.walk.search": ("glob", "grep"),
            "pegboard.calls": (),
            "pegboard.errors": (),
        },
    ),
    "output": ("Blocks and slash commands", {"pegboard.blocks": (), "pegboard.slash": ()}),
    "models": ("Providers", {"pegboard.models": ()}),
    "programs": (
        "For programs",
        {
            "pegboard.board": ("Board",),
            "pegboard.agent": ("Agent",),
            "pegboard.calling": ("Calls",),
            "pegboard.port": (),
            "pegboard.events": (),
        },
    ),
    "testing": (
        "Testing",
        {
            "pegboard.testing": (),
            "pegboard.testing.fixtures": (),
            "pegboard.testing.bench": (),
            "pegboard.testing.called": ("Called",),
            "pegboard.testing.approvals": (),
            "pegboard.testing.underway": ("Underway",),
            "pegboard.testing.scripted": (),
        },
    ),
}
"""A page each: its title, and modules with the names shown of them; none: all that are public."""


def prose(text: str) -> Iterator[tuple[bool, str]]:
    """The lines of a page with their ends, each with whether it stands outside of fenced code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        outside = not fence and not mark
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        yield outside, line


class Sources:
    """Writes pages to a folder, and whatever they link to, once."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self._made: dict[Path, Path] = {}

    def place(self, source: Path) -> Path:
        """Where a file of the repository comes to lie, below the folder."""
        inside = source.relative_to(ROOT)
        if source == ROOT / "README.md":
            return Path("index.md")
        if source.is_relative_to(DOCS):
            return source.relative_to(DOCS)
        if source.is_dir():
            return Path("repository", inside, "index.md")
        if source.suffix == ".md":
            return Path("repository", inside)
        return Path("repository", inside.parent, f"{inside.name}.md")

    def add(self, source: Path) -> Path:
        """Write the page of a file or folder, and those that it links to; where it lies."""
        if source in self._made:
            return self._made[source]
        place = self._made[source] = self.place(source)
        target = self.out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            names = sorted(f"{one.name}/" if one.is_dir() else one.name for one in source.iterdir() if shown(one))
            rows = "".join(f"- [{name}]({source.name}/{name})\n" for name in names)
            target.write_text(self._linked(f"# {source.relative_to(ROOT)}\n\n{rows}", source, place), "utf-8")
        elif source.suffix == ".md":
            target.write_text(self._linked(source.read_text("utf-8"), source, place), "utf-8")
        elif source.is_relative_to(DOCS):
            shutil.copyfile(source, target)
        else:
            fence = f"````{LANGUAGES.get(source.suffix, 'text')}"
            text = source.read_text("utf-8").rstrip()
            target.write_text(f"# {source.relative_to(ROOT)}\n\n{fence}\n{text}\n````\n", "utf-8")
        return place

    def _linked(self, text: str, source: Path, place: Path) -> str:
        """The text with its links as they are on the site."""
        return "".join(
            LINK.sub(lambda match: self._link(match, source, place), line) if outside else line
            for outside, line in prose(text)
        )

    def _link(self, match: re.Match[str], source: Path, place: Path) -> str:
        link = urlsplit(match["target"])
        if link.scheme or link.netloc or not link.path:
            return match[0]
        target = (source.parent / unquote(link.path)).resolve()
        to = os.path.relpath(self.add(target), place.parent)
        return f"{match['before']}{to}{'#' + link.fragment if link.fragment else ''}{match['after']}"


def shown(path: Path) -> bool:
    """Whether a file belongs to what a folder's page lists."""
    return not path.name.startswith(".") and path.name not in ("__pycache__", "build", "dist")


def write_api(out: Path) -> None:
    """A page for each part of the API: what mkdocstrings puts the docstrings into."""
    (out / "api").mkdir()
    for name, (title, modules) in API.items():
        parts = [f"# {title}\n"]
        for module, names in modules.items():
            members = f"      members: [{', '.join(names)}]\n" if names else ""
            parts.append(f"::: {module}\n    options:\n      heading_level: 2\n{members}")
        (out / "api" / f"{name}.md").write_text("\n".join(parts), "utf-8")


def write_directory(out: Path, sources: Sources) -> None:
    """The directory of plugins: those in examples/, with their entry points as their projects name them."""
    rows = [
        "# Plugin directory\n\nComplete plugins to read and to begin from; each is tested as a stranger's package.\n"
    ]
    rows.append("\n| plugin | what it is | entry points |\n|---|---|---|\n")
    for project in sorted((ROOT / "examples").glob("*/pyproject.toml")):
        found = tomllib.loads(project.read_text("utf-8"))["project"]
        page = sources.add(project.parent / "README.md")
        groups = found.get("entry-points", {})
        entries = ", ".join(f"`{group}`: {', '.join(sorted(names))}" for group, names in sorted(groups.items()))
        rows.append(f"| [{found['name']}]({page}) | {found['description']} | {entries} |\n")
    (out / "directory.md").write_text("".join(rows), "utf-8")


def pages_of(navigation: Any) -> Iterator[str]:
    """The pages that a navigation names."""
    match navigation:
        case str():
            yield navigation
        case dict():
            for inner in navigation.values():
                yield from pages_of(inner)
        case list():
            for inner in navigation:
                yield from pages_of(inner)


def main(arguments: list[str]) -> int:
    out = Path(arguments[0]).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    sources = Sources(out)
    for source in [ROOT / "README.md", *sorted(DOCS.rglob("*.*"))]:
        if source.is_file():
            sources.add(source)
    write_api(out)
    write_directory(out, sources)
    named = set(pages_of(tomllib.loads(CONFIG.read_text("utf-8"))["project"]["nav"]))
    there = {str(path.relative_to(out)) for path in out.rglob("*.md")}
    lost = sorted(page for page in there - named if not page.startswith(("repository/", "decisions/")))
    problems = [f"docs/{page} has no place in the navigation of {CONFIG.name}" for page in lost]
    problems += [f"{CONFIG.name} names {page}, which is not there" for page in sorted(named - there)]
    print("\n".join([*problems, f"{len(there)} pages in {out.name}"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
