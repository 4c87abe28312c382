"""The wheels as a stranger gets them: built, installed from a folder into empty environments, and run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
from pegboard.manifest import MOST_BYTES, decoded
from pegboard.manifest import NAME as MANIFEST
from pegboard_cli.reviewed.wheel import Wheel

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

ROOT = Path(__file__).resolve().parents[2]
TOOL_SETS, PLUGINS = (
    [path.parent for path in sorted(ROOT.glob(f"{kind}/*/pyproject.toml"))] for kind in ("toolsets", "plugins")
)
MEMBERS = [ROOT / "core", *TOOL_SETS, *PLUGINS]
Run = Callable[..., str]
Environment = Callable[[Path, Sequence[Path | str]], Path]
TOGETHER = {
    "pegboard-core",
    "pegboard-cli",
    "pegboard-tools-core",
    "pegboard-guard",
    "pegboard-offline",
    "pegboard-openai",
    "pegboard-tui",
}


CACHES = {"__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache"}
NEEDING_MORE = {"pegboard.testing.fixtures", "pegboard_adapters.openai_agents", "pegboard_adapters.pydantic_ai"}
"""Modules for whoever has pytest, or the framework of an extra."""


def name_of(folder: Path) -> str:
    name: str = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    return name


def module_of(distribution: str) -> str:
    return "pegboard" if distribution == "pegboard-core" else distribution.replace("-", "_")


@pytest.fixture(scope="session")
def installed(wheels: dict[str, Path], environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with every wheel, as `pip install dist/*.whl` makes it."""
    return environment(tmp_path_factory.mktemp("installed") / "venv", list(wheels.values()))


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(inside).decode("utf-8"))


def requirements(wheel: Path) -> dict[str, str]:
    """What a wheel asks for without extras: name to version range."""
    asked = [line for line in metadata(wheel).get_all("Requires-Dist") or [] if "extra ==" not in line]
    found = [re.fullmatch(r"([A-Za-z0-9._-]+)\s*([^;]*)(?:;.*)?", line) for line in asked]
    return {match[1]: match[2].strip() for match in found if match}


def test_every_folder_builds_a_wheel(wheels: dict[str, Path]) -> None:
    assert set(wheels) == {"pegboard", *map(name_of, MEMBERS)}


def test_every_folder_is_built_alike() -> None:
    """So that the core's wheel, built in an environment of its own, speaks for all."""
    for folder in [ROOT, *MEMBERS]:
        system = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["build-system"]
        assert system == {"requires": ["hatchling"], "build-backend": "hatchling.build"}, folder


@pytest.mark.parametrize("folder", MEMBERS, ids=name_of)
def test_a_wheel_carries_its_package_types_and_licence(wheels: dict[str, Path], folder: Path) -> None:
    name = name_of(folder)
    with ZipFile(wheels[name]) as archive:
        names = archive.namelist()
        licence = next(inside for inside in names if inside.endswith(".dist-info/licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    assert f"{module_of(name)}/__init__.py" in names
    assert f"{module_of(name)}/py.typed" in names
    source = folder / "src"
    data = [path for path in source.rglob("*") if path.is_file() and CACHES.isdisjoint(path.parts)]
    assert {path.relative_to(source).as_posix() for path in data} <= set(names)
    assert not [inside for inside in names if not CACHES.isdisjoint(inside.split("/"))]
    assert {inside.partition("/")[0] for inside in names if ".dist-info/" not in inside} == {module_of(name)}
    about = metadata(wheels[name])
    assert (about["License-Expression"], about["Requires-Python"]) == ("Apache-2.0", ">=3.11")
    assert len(str(about.get_payload())) > 50, "the readme is missing"


def test_a_wheel_with_plugins_says_what_they_are(wheels: dict[str, Path]) -> None:
    """A manifest that is up to date, as `plugin install` reads it; of those that bring none, there is none."""
    for folder in MEMBERS:
        wheel = Wheel(wheels[name_of(folder)])
        brings = any(group.startswith("pegboard.") for group, _, _ in wheel.entry_points())
        place = f"{module_of(name_of(folder))}/{MANIFEST}"
        assert (place in wheel.sizes) == brings
        if brings:
            said = decoded(wheel.data(place, MOST_BYTES) or b"")
            assert said.digest == wheel.digest(module_of(name_of(folder)))
            assert {(one.group, one.name, one.object) for one in said.entries} == {
                point for point in wheel.entry_points() if point[0].startswith("pegboard.")
            }


LOOKS = """
import os, sys
imported = set()
sys.addaudithook(lambda event, given: event == "import" and imported.add(given[0].partition(".")[0]))
from contextlib import redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pegboard_cli.main import main
kept = TextIOWrapper(BytesIO())
with redirect_stdout(kept):
    for words in (["--help"], ["config", "show"], ["config", "schema"]):
        sys.argv[1:] = words
        try:
            assert not main()
        except SystemExit as ended:
            assert not ended.code, words
kept.seek(0)
print(kept.read())
ours = sorted(name for name in imported if name.startswith("pegboard_") and name != "pegboard_cli")
sys.stderr.write(f"{ours}\\n")
sys.exit(1 if ours else 0)
"""


def test_what_plugins_take_is_known_without_importing_them(installed: Path, run: Run, home: Path) -> None:
    shown = run(installed, "python", "-c", LOOKS)
    assert "web.search_results" in shown, "config show: a default of a set's"
    assert "Further patterns of files that no tool may write" in shown, "config schema: a setting of the guard's"


@pytest.mark.parametrize("folder", TOOL_SETS, ids=name_of)
def test_a_tool_set_depends_on_the_core_only_of_ours(wheels: dict[str, Path], folder: Path) -> None:
    ours = {name for name in requirements(wheels[name_of(folder)]) if name.startswith("pegboard")}
    assert ours == {"pegboard-core"}


def test_the_core_tool_set_depends_on_nothing_but_the_core(wheels: dict[str, Path]) -> None:
    assert set(requirements(wheels["pegboard-tools-core"])) == {"pegboard-core"}


@pytest.mark.parametrize("folder", PLUGINS, ids=name_of)
def test_a_plugin_depends_on_the_core_and_on_no_other_plugin(wheels: dict[str, Path], folder: Path) -> None:
    ours = {name for name in requirements(wheels[name_of(folder)]) if name.startswith("pegboard")}
    assert ours == {"pegboard-core"}


def test_the_core_depends_on_nothing_of_ours(wheels: dict[str, Path]) -> None:
    assert not [name for name in requirements(wheels["pegboard-core"]) if name.startswith("pegboard")]


def test_the_distribution_people_install_holds_no_code_and_brings_what_belongs_together(
    wheels: dict[str, Path],
) -> None:
    with ZipFile(wheels["pegboard"]) as archive:
        assert all(".dist-info/" in name for name in archive.namelist())
    assert set(requirements(wheels["pegboard"])) == TOGETHER


def test_the_app_needs_no_library_of_pictures_unless_asked(wheels: dict[str, Path]) -> None:
    assert set(requirements(wheels["pegboard-tui"])) == {"pegboard-core", "textual", "typer"}
    asked = metadata(wheels["pegboard-tui"]).get_all("Requires-Dist") or []
    assert any(line.startswith("pillow") and "extra == 'images'" in line.replace('"', "'") for line in asked)


def test_a_framework_comes_with_its_extra_alone_and_not_with_all(wheels: dict[str, Path]) -> None:
    assert set(requirements(wheels["pegboard-adapters"])) == {"pegboard-core"}
    for name, brought in (("pegboard-adapters", "{}{}"), ("pegboard", "pegboard-adapters[{}]")):
        asked = [line.replace('"', "'") for line in metadata(wheels[name]).get_all("Requires-Dist") or []]
        for extra, slim in (("pydantic-ai", "-slim"), ("openai-agents", "")):
            [line] = [line for line in asked if f"extra == '{extra}'" in line]
            assert line.startswith(brought.format(extra, slim if name == "pegboard-adapters" else "")), line
        assert not any("adapters" in line and "extra == 'all'" in line for line in asked)


def test_extras_bring_each_further_set_and_all_of_them(wheels: dict[str, Path]) -> None:
    asked = metadata(wheels["pegboard"]).get_all("Requires-Dist") or []
    further = {name_of(folder) for folder in TOOL_SETS} - {"pegboard-tools-core"}
    for name in further:
        extra = name.removeprefix("pegboard-tools-")
        assert any(line.startswith(name) and f"extra == '{extra}'" in line.replace('"', "'") for line in asked), name
    everything = " ".join(line for line in asked if "extra == 'all'" in line.replace('"', "'"))
    assert all(name.removeprefix("pegboard-tools-") in everything for name in further)


TRIES = """
import asyncio, json, os, subprocess, sys, tempfile, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from pegboard import Board

class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<html><body><h1>Hello</h1><p>from a page</p></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
here = Path(tempfile.mkdtemp())
root = here / "root"
root.mkdir()
(root / "a.txt").write_text("one\\ntwo\\n")
(root / "test_a.py").write_text("import unittest\\nclass T(unittest.TestCase):\\n    def test_a(self): pass\\n")
for argv in (["init", "-qb", "main"], ["add", "a.txt"], ["commit", "-qm", "first"]):
    subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.com", *argv], cwd=root, check=True)
address = f"http://127.0.0.1:{server.server_port}/"
flags = {"web.allow_hosts": [f"127.0.0.1:{server.server_port}"]} if sys.argv[1] == "web" else {}

async def main():
    board = Board.build(str(root), flags=flags, user_file=here / "none.toml", state=here / "state")
    answers = {}
    for name, arguments in json.loads(sys.argv[2]):
        arguments = json.loads(json.dumps(arguments).replace("ADDRESS", address))
        record = await board.call(name, arguments, answers="--yes")
        answers[name] = [record.outcome, record.text]
    await board.close()
    modules = [name for name in sys.modules if name.startswith("pegboard_")]
    print(json.dumps([answers, sorted({name.partition(".")[0] for name in modules})]))

asyncio.run(main())
"""
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+uno\n two\n*** Add File: b.txt\n+new\n*** End Patch\n"
CALLS: dict[str, list[tuple[str, dict[str, object], str]]] = {
    "core": [("read_file", {"path": "a.txt"}, "1: one"), ("bash", {"command": "echo hi | tr h H"}, "Hi")],
    "edit-plus": [
        ("list_dir", {}, "a.txt"),
        ("read_many_files", {"files": ["a.txt", "gone.txt"]}, "No such file: gone.txt"),
        ("find", {"pattern": "*.txt"}, "a.txt"),
        ("line_count", {"path": "a.txt"}, "2"),
        ("multi_edit", {"path": "a.txt", "edits": [{"old_string": "one", "new_string": "one"}]}, ""),
        ("apply_patch", {"patch": PATCH}, "b.txt"),
        ("delete_files", {"paths": ["b.txt"]}, "b.txt"),
    ],
    "git": [
        ("git_status", {}, "On main"),
        ("git_diff", {}, ""),
        ("git_log", {}, "first"),
        ("git_show", {"ref": "HEAD"}, "first"),
        ("git_blame", {"path": "a.txt"}, "two"),
        ("git_branch", {}, "main"),
        ("git_rev_parse", {"ref": "HEAD"}, ""),
        ("git_add", {"paths": ["test_a.py"]}, "test_a.py"),
        ("git_commit", {"message": "second"}, "second"),
        ("git_branch_create", {"name": "side"}, "side"),
    ],
    "web": [
        ("web_fetch", {"url": "ADDRESS"}, "from a page"),
        ("http_request", {"url": "ADDRESS", "method": "GET"}, "200"),
    ],
    "dev": [("code_test", {}, "1 passed")],
    "exec": [
        ("exec", {"command": "echo", "args": ["*", "|"]}, "* |"),
        ("bg", {"action": "start", "command": "sleep 30"}, "j1"),
    ],
}
"""A try of each tool that needs no more than a wheel, the core and git; an empty text: only that it goes through."""
NO_CHANGE = {"multi_edit"}
"""Tries that must fail: they change nothing."""


@pytest.mark.parametrize("name", sorted(set(map(name_of, MEMBERS))))
def test_a_wheel_works_alone(
    wheels: dict[str, Path], environment: Environment, run: Run, tmp_path: Path, name: str
) -> None:
    """With the core and what it asks for itself, every module imports: no sibling, and none of our tools, is missed. A tool
    set's tools run."""
    alone = environment(tmp_path / "venv", list({wheels[name], wheels["pegboard-core"]}))
    walk = (
        "import importlib, pkgutil, sys\n"
        f"package = importlib.import_module({module_of(name)!r})\n"
        "for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        f"    if module.name not in {NEEDING_MORE} and not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )
    run(alone, "python", "-c", walk)
    if name.startswith("pegboard-tools-"):
        short = name.removeprefix("pegboard-tools-")
        calls = CALLS[short]
        sent = json.dumps([(tool, arguments) for tool, arguments, _ in calls])
        answers, imported = json.loads(run(alone, "python", "-c", TRIES, short, sent).splitlines()[-1])
        assert imported == [module_of(name)]
        for tool, _, wanted in calls:
            outcome, text = answers[tool]
            assert (outcome, wanted in text) == ("error" if tool in NO_CHANGE else "ok", True), (tool, outcome, text)


def test_the_installed_command_says_its_version(installed: Path, run: Run, wheels: dict[str, Path]) -> None:
    assert metadata(wheels["pegboard-cli"])["Version"] in run(installed, "pegboard", "--version")


def test_the_installed_command_lists_the_core_tools(installed: Path, run: Run) -> None:
    listed = json.loads(run(installed, "pegboard", "tools", "--json"))
    core = {tool["name"] for tool in listed["tools"] if tool["set"] == "core"}
    assert {"read_file", "write_file", "edit_file", "glob", "grep", "bash"} <= core


def test_the_installed_command_runs_a_tool(installed: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello from a wheel\n", encoding="utf-8")
    answer = json.loads(run(installed, "pegboard", "tool", "read_file", "path=a.txt", f"--path={tmp_path}", "--json"))
    assert (answer["outcome"], answer["set"]) == ("ok", "core")
    assert "hello from a wheel" in answer["text"]
