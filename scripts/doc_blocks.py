"""Execute every code block of the Markdown pages, for real: `doc_blocks.py [--record] [PAGE ...]`.

    python    a program of its own, or tests for pytest. If a block of TOML with entry points follows, it is the module that
              these name, and installed for the rest of the page; looked at as well, where the page has it installed by
              pegboard.
    toml      a person's configuration, which must load without complaint; the project of such a plugin; or what its author
              tells `pegboard plugin check`.
    json      must parse.
    sh        must exit with 0.
    console   lines after `$ ` are typed at a terminal, and what comes must be what stands below them. A line `...` stands
              for any lines; ids, times and folders may differ; questions are answered as they were answered there, and
              `> ` begins what is typed into a line session.

Blocks of one page share a folder, a copy of examples/word-count, and run in order. A page of an example finds that example
installed. Any other language, or none, is an error. A page that says that a test follows it begins in an empty folder, and
is left to that test, which names it and brings an environment that may be changed.
`--record` writes what was printed into the pages. Exit 1 when something is wrong; each is printed as page:line.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import at_terminal

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = os.pathsep.join(filter(None, [os.environ.get("DOC_BLOCKS_PATH"), str(Path(sys.executable).parent)]))
"""Where commands are looked for first; DOC_BLOCKS_PATH: a folder that comes before."""
SKIPPED = {".venv", ".tools", ".git", "build", "dist", "site", "shared", "templates"}
WORKSPACE = ROOT / "examples" / "word-count"
ANSWER = re.compile(r"^(?:Allow\?.*\)|.*\? \[y/N\]) (.+)$", re.MULTILINE)
PROMPTED = re.compile(r"^> (.+)$", re.MULTILINE)
FOLLOWED = re.compile(r"^<!-- followed word for word by (\S+) -->$", re.MULTILINE)
TESTS = re.compile(r"^def test_", re.MULTILINE)
COMMAND = re.compile(r"^(?=\$ (?!Run ))", re.MULTILINE)
"""Where a command begins. `$ Run ...` is what pegboard prints when a tool runs one."""
SAME = [
    (re.compile(r"^looking at new plugins: .*\n", re.MULTILINE), ""),  # said where it takes longer than a moment
    (re.compile(r"\b\d{8}-[0-9a-f]{4,8}\b"), "20261129-1a2b3c"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"), "2026-11-29 12:00"),
    (re.compile(r"\b\d+(\.\d+)? ms\b"), "1.0 ms"),
    (re.compile(r"\b\d+\.\d+s\b"), "0.01s"),
    (re.compile(r'"duration_ms":[\d.]+'), '"duration_ms":1.0'),
]


class Wrong(Exception):
    """A block does not do what the page says."""


@dataclass(kw_only=True)
class Block:
    """A fenced block: its language, its text, and the line (from 1) that its text begins on."""

    language: str
    text: str
    line: int


@dataclass(kw_only=True)
class Place:
    """Where a page's blocks run: a workspace, a home without settings, and a folder of installed plugins."""

    page: Path
    top: Path
    python: str | None = None
    root: Path = field(init=False)
    site: Path = field(init=False)

    def __post_init__(self) -> None:
        self.root, self.site = self.top / "word-count", self.top / "site"
        self.site.mkdir()
        if FOLLOWED.search(self.page.read_text("utf-8")):
            self.root.mkdir()
        else:
            shutil.copytree(WORKSPACE, self.root, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        if self.page.is_relative_to(ROOT / "examples"):
            install(tomllib.loads((self.page.parent / "pyproject.toml").read_text("utf-8"))["project"], self)
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, env=self.environ(), check=True)

    def environ(self, config: Path | None = None) -> dict[str, str]:
        """Nobody's settings; `config` may bring some."""
        foreign = ("PEGBOARD_", "GIT_", "XDG_", "OPENAI_")
        kept = {n: v for n, v in os.environ.items() if not n.startswith(foreign) and not n.endswith("_API_KEY")}
        return kept | {
            "PATH": os.pathsep.join([PROGRAMS, kept.get("PATH", os.defpath)]),
            "PYTHONPATH": os.pathsep.join(map(str, [self.site, self.page.parent, self.page.parent / "src"])),
            "PYTHONWARNINGS": "ignore::DeprecationWarning",
            "HOME": str(self.top),
            "XDG_CONFIG_HOME": str(config or self.top / ".config"),
            "XDG_STATE_HOME": str(self.top / ".local" / "state"),
            "XDG_CACHE_HOME": str(self.top / ".cache"),
            "LC_ALL": "C.UTF-8",
            "PEGBOARD_LOCAL_MODELS": "false",  # a model server that happens to run here is no part of a page
        }

    def run(self, *command: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program in the workspace, without a terminal.

        Raises:
            Wrong: it does not exit with 0.
        """
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environ or self.environ(),
            capture_output=True,
            text=True,
            timeout=at_terminal.LIMIT,
        )
        if done.returncode:
            raise Wrong(f"exit {done.returncode}\n{done.stdout}{done.stderr}".rstrip())
        return done

    def same(self, text: str) -> str:
        """The text with what differs from run to run made the same."""
        for real in {str(self.root), os.path.realpath(self.root)}:
            text = text.replace(real, "~/word-count")
        for pattern, example in SAME:
            text = pattern.sub(example, text)
        return "\n".join(line.rstrip() for line in text.split("\n"))


# --- one function a language ------------------------------------------------------------------------------------------


def run_python(block: Block, place: Place) -> None:
    """A program; a plugin's module is one that does nothing yet. One with tests is run by pytest."""
    place.python = block.text
    if not TESTS.search(block.text):
        place.run(sys.executable, "-c", block.text)
        return
    file = place.top / "test_of_a_page.py"
    file.write_text(block.text, "utf-8")
    alone = place.environ() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others are no part of a page, and cost a second
    options = ["-q", "-p", "no:cacheprovider", "-p", "pegboard.testing.fixtures"]
    place.run(sys.executable, "-m", "pytest", *options, str(file), environ=alone)


def run_toml(block: Block, place: Place) -> None:
    """Configuration, or a project's entry points."""
    table = tomllib.loads(block.text)
    project = table.get("project", {})
    if project:
        install(project, place)
        if "`pegboard plugin install" in place.page.read_text("utf-8"):  # which looks at what came, and says so
            place.run("pegboard", "tools")
        return
    if "tool" in table:
        read_wishes(table)
        return
    folder = Path(tempfile.mkdtemp(dir=place.top))
    (folder / "pegboard").mkdir()
    (folder / "pegboard" / "config.toml").write_text(block.text, "utf-8")
    done = place.run("pegboard", "tools", "--json", environ=place.environ(folder))
    if str(folder) in done.stderr:
        raise Wrong(f"the configuration is complained about:\n{done.stderr}")


def read_wishes(document: dict[str, Any]) -> None:
    """What an author tells `pegboard plugin check` in a pyproject.toml."""
    from pegboard.checking.target import NothingToCheck, wishes_in

    try:
        wishes_in(document, "the page")
    except NothingToCheck as error:
        raise Wrong(str(error)) from None


def install(project: dict[str, object], place: Place) -> None:
    """Make a project an installed one: its metadata, and as its modules the Python block before it, if there is one."""
    groups = project.get("entry-points")
    if not isinstance(groups, dict):
        raise Wrong("a project without entry points")
    lines: list[str] = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        for value in entries.values() if place.python is not None else ():
            (place.site / f"{value.partition(':')[0]}.py").write_text(place.python or "", "utf-8")
    name = str(project.get("name", "pegboard-page"))
    info = place.site / f"{name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")


def run_json(block: Block, place: Place) -> None:
    """Parses."""
    json.loads(block.text)


def run_sh(block: Block, place: Place) -> None:
    """Exits with 0."""
    place.run("bash", "-euc", block.text)


def run_console(block: Block, place: Place) -> None:
    """Prints what stands below each command."""
    printed = played(block, place)
    if not agrees(place.same(block.text), place.same(printed)):
        raise Wrong(f"printed something else (doc_blocks.py --record writes it down):\n{printed}")


RUN: dict[str, Callable[[Block, Place], None]] = {
    "python": run_python,
    "toml": run_toml,
    "json": run_json,
    "sh": run_sh,
    "console": run_console,
}


def played(block: Block, place: Place) -> str:
    """The block as it would be written down now: its commands, each with what it prints."""
    out = ""
    for part in re.split(COMMAND, block.text):
        if not part.startswith("$ "):
            if part.strip():
                raise Wrong("a console block begins with a command: `$ ...`")
            continue
        typed, _, below = part.partition("\n")
        while typed.endswith("\\"):
            more, _, below = below.partition("\n")
            typed += f"\n{more}"
        shown: list[str] = []
        at_terminal.run(
            ["bash", "-c", typed[2:]],
            cwd=place.root,
            environ=place.environ(),
            answers=itertools.chain(ANSWER.findall(below), itertools.repeat("y")),
            prompts=iter(PROMPTED.findall(below)),
            show=shown.append,
        )
        printed = place.same("".join(shown)).strip("\n")
        out += f"{typed}\n" + (f"{printed}\n" if printed else "") + ("\n" if f"\n{below}".endswith("\n\n") else "")
    return out


def agrees(written: str, printed: str) -> bool:
    """Whether the page says what came; a line `...` stands for any lines."""
    lines = written.strip("\n").split("\n")
    expected = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(expected, printed.strip("\n") + "\n") is not None


# --- pages ------------------------------------------------------------------------------------------------------------


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    fence, block = "", Block(language="", text="", line=0)
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})\s*(\S*)", line)
        if mark and not fence:
            fence, block = mark[1], Block(language=mark[2], text="", line=number + 1)
        elif mark and mark[1].startswith(fence) and not mark[2]:
            fence = ""
            yield block
        elif fence:
            block.text += line + "\n"
    if fence:
        yield Block(language="(a fence that is not closed)", text="", line=block.line)


def problems(page: Path, *, recording: bool) -> Iterator[str]:
    """Run a page's blocks and say what is wrong; `recording` writes down what the consoles print."""
    found = list(blocks(page))
    if not found:
        return
    with tempfile.TemporaryDirectory(prefix="pegboard-page-", ignore_cleanup_errors=True) as top:
        place = Place(page=page, top=Path(os.path.realpath(top)))
        for block in found:
            try:
                if block.language not in RUN:
                    raise Wrong(f"{block.language or 'no language'}: known are {', '.join(RUN)}")
                if recording and block.language == "console":
                    record(page, block, place)
                else:
                    RUN[block.language](block, place)
            except (Wrong, ValueError, subprocess.TimeoutExpired) as error:
                yield f"{page.relative_to(ROOT)}:{block.line}: {error}"


def record(page: Path, block: Block, place: Place) -> None:
    """Put what a console prints now in the block's place, unless the page says the same already."""
    printed = played(block, place)
    if not agrees(place.same(block.text), place.same(printed)):
        text, fence = page.read_text("utf-8"), "```console\n"
        page.write_text(text.replace(f"{fence}{block.text}```", f"{fence}{printed.strip(chr(10))}\n```"), "utf-8")


def main(arguments: list[str]) -> int:
    """Run the pages named, or all."""
    recording = "--record" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--record"]
    every = (page for page in sorted(ROOT.rglob("*.md")) if SKIPPED.isdisjoint(page.relative_to(ROOT).parts))
    pages = named or [page for page in every if not FOLLOWED.search(page.read_text("utf-8"))]
    wrong = [problem for page in pages for problem in problems(page, recording=recording)]
    count = sum(1 for page in pages for _ in blocks(page))
    print("\n".join([*wrong, f"{count} blocks on {len(pages)} pages, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
